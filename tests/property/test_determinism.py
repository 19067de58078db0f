"""Promises 15, 16 and 18: equal inputs give equal output, failures are named, every hit explains itself."""

from __future__ import annotations

import math
from collections.abc import Iterable
from copy import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe import Memory
from eunoe.errors import Unavailable
from eunoe.ports.lane import Found
from eunoe.ports.text_index import Filter
from eunoe.retrieval.lanes.key import KeyLane
from eunoe.retrieval.lanes.keyword import KeywordLane
from eunoe.retrieval.pipeline import Searched, search
from eunoe.retrieval.question import Question
from eunoe.retrieval.reach import Reach
from eunoe.retrieval.recipes import DEFAULT, Recipe
from tests.strategies import Op, World, budget, changed, histories, reopened, sibling

QUERIES = (None, "deploy target frankfurt", "payment queue 3", "migration backup", "検索", "lemon AND cake*")
ORDERS = ("relevance", "newest", "oldest")


def answers(memory: Memory) -> list[Any]:
    """Return recalls of every kind, with scores, order and explanations."""
    recalls = [memory.recall(query, limit=50, order=order, explain=True) for query in QUERIES for order in ORDERS]
    return [*recalls, memory.recall("deploy target", limit=50, known_at=memory._context.clock.now_us())]


@budget(60)
@given(histories(most=12))
def test_the_same_history_gives_the_same_answers_down_to_the_last_digit(history: list[Op]) -> None:
    one, other = World(seed="same"), World(seed="same")
    assert one.run(history) == other.run(history)
    assert answers(one.memory) == answers(other.memory)
    assert one.do(("export", {})) == other.do(("export", {}))
    assert one.memory.head() == other.memory.head()


@budget(40)
@given(histories(most=10), histories(most=6))
def test_another_project_in_the_same_store_moves_no_score(history: list[Op], foreign: list[Op]) -> None:
    world = World()
    world.run(history)
    before = answers(world.memory)
    elsewhere = World(seed="elsewhere", clock=world.clock)
    elsewhere.memory.close()
    elsewhere.memory = sibling(world.memory, project="acme/elsewhere")
    now = world.clock.now
    elsewhere.run(foreign)
    world.clock.now = now
    assert answers(world.memory) == before


@budget(40)
@given(histories(most=12))
def test_every_hit_explains_where_its_score_comes_from(history: list[Op]) -> None:
    world = World()
    world.memory.remember("The deploy target is somewhere", session="noon", turn=0, speaker="Ana")
    world.memory.remember("Somebody guessed the deploy target", trust="inferred")
    world.run(history)
    for query in QUERIES[1:]:
        for hit in world.memory.recall(query, limit=50, explain=True).hits:
            told = hit.explanation
            assert (told["multipliers"]["trust"] < 1) == (hit.trust in ("inferred", "imported"))
            assert all(lane["rank"] >= 1 for lane in told["lanes"].values())
            assert told["lanes"] or hit.turn is not None  # what neighbours lent to no lane had to find
            assert math.isclose(hit.evidence * math.prod(told["multipliers"].values()), hit.score, abs_tol=2e-9)
            assert 0 <= hit.score <= hit.evidence <= 1
            assert all(0 < multiplier <= 1 for multiplier in told["multipliers"].values())
            assert ("dispute" in told["multipliers"]) == (hit.disputed_at is not None)
            assert told["judge"] == ("words chat" if hit.turn is not None and hit.session else "words plain")
            source = told["source"]
            assert source["event"] in {step.event for step in world.memory.history(hit.number)}
            assert (source["session"], source["turn"]) == (hit.session, hit.turn)


@budget(30)
@given(histories(most=12))
def test_terms_of_the_keyword_lane_add_up_to_its_number(history: list[Op]) -> None:
    world = World()
    world.memory.remember("The deploy target is somewhere")
    world.run(history)
    for hit in world.memory.recall("deploy target backup queue", limit=50, explain=True).hits:
        if (lane := hit.explanation["lanes"].get("keyword")) is not None:
            assert math.isclose(sum(lane["terms"].values()), lane["raw"], abs_tol=1e-7)


@budget(30)
@given(histories(most=12))
def test_hits_come_best_first_and_ties_by_id(history: list[Op]) -> None:
    world = World()
    world.memory.remember_many([{"body": f"lemon cake number {n}"} for n in range(5)])
    world.run(history)
    for query in QUERIES[1:]:
        hits = world.memory.recall(query, limit=50).hits
        assert list(hits) == sorted(hits, key=lambda hit: (-hit.score, -hit.evidence, hit.id))
        assert all(hit.score == round(hit.score, 9) and hit.evidence == round(hit.evidence, 9) for hit in hits)


@budget(30)
@given(histories(most=10), st.floats(0, 1), st.floats(0, 1))
def test_floors_keep_exactly_what_reaches_them(history: list[Op], evidence: float, score: float) -> None:
    world = World()
    world.memory.remember("The deploy target is somewhere")
    world.run(history)
    whole = world.memory.recall("deploy target queue", limit=50)
    kept = world.memory.recall("deploy target queue", limit=50, min_evidence=evidence, min_score=score)
    assert kept.hits == tuple(hit for hit in whole.hits if hit.evidence >= evidence and hit.score >= score)


class FailingLane:
    """A lane whose engine is away."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find(self, reach: Reach, *, explain: bool = False) -> list[Found]:
        raise Unavailable("locked", "the engine of this lane is away", retryable=True)


def recipe_of(lanes: Iterable[str]) -> Recipe:
    """Return the ordinary recipe with other lanes."""
    recipe = copy(DEFAULT)
    recipe.lanes = tuple(lanes)
    return recipe


def searched(memory: Memory, lanes: dict[str, Any], **given_: Any) -> Searched:
    context = memory._context
    with context.store.reading() as view:
        project = context.existing(view)
        accept = Filter(scopes=context.scopes(), now=context.moment(view, project))
        question = Question("deploy/current target", context.analyser, now=accept.now)
        return search(Reach(question, view.index(project.p), accept, recipe_of(lanes)), lanes=lanes, **given_)


def test_a_lane_that_fails_is_named_when_another_answers() -> None:
    memory = World().memory
    memory.remember("The deploy target is somewhere")
    answer = searched(memory, {"away": FailingLane("away"), "keyword": KeywordLane()})
    assert {name: exc.code for name, exc in answer.failures.items()} == {"away": "locked"}
    assert len(answer.hits) == 1
    assert searched(memory, {"keyword": KeywordLane()}).failures == {}


def test_the_error_of_the_last_lane_is_raised_and_never_looks_like_no_memories() -> None:
    memory = World().memory
    memory.remember("The deploy target is somewhere")
    for lanes in ({"away": FailingLane("away")}, {"a": FailingLane("a"), "b": FailingLane("b")}):
        with pytest.raises(Unavailable) as caught:
            searched(memory, lanes)
        assert caught.value.code == "locked"


def test_recall_says_which_lane_failed_and_raises_when_none_is_left() -> None:
    memory = World().memory
    memory.remember("The deploy target is somewhere")
    for names, degraded in ((("keyword", "away"), ("away: locked",)), (("keyword",), ())):
        lanes = {name: FailingLane(name) if name == "away" else KeywordLane() for name in names}
        context = changed(memory._context, lanes=lanes, recipe=recipe_of(lanes))
        found = reopened(memory, context).recall("deploy")
        assert (found.degraded, len(found.hits)) == (degraded, 1)
    context = changed(memory._context, lanes={"keyword": FailingLane("keyword")}, recipe=recipe_of(["keyword"]))
    with pytest.raises(Unavailable):
        reopened(memory, context).recall("deploy")


@budget(20)
@given(histories(most=8), st.permutations(("keyword", "key")))
def test_the_order_in_which_lanes_run_changes_nothing(history: list[Op], order: list[str]) -> None:
    world = World()
    world.memory.remember("The deploy target is somewhere")
    world.run(history)
    lanes = {"keyword": KeywordLane(), "key": KeyLane()}
    one = searched(world.memory, {name: lanes[name] for name in order}, explain=True)
    other = searched(world.memory, lanes, explain=True)
    assert [_told(hit) for hit in one.hits] == [_told(hit) for hit in other.hits]


def _told(hit: Any) -> Any:
    return hit.passage.memory, hit.evidence, hit.score, hit.explanation

"""The pipeline with a model: what decides an answer is what was said, never when or in which order it was written."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe import Memory, bootstrap
from eunoe.retrieval.recipes import DEFAULT
from eunoe.service.recall import Recalled
from eunoe.testing.clock import ManualClock, SeededEntropy
from tests.strategies import budget

WORDS = (
    *("deploy", "webhook", "stripe", "raw", "body", "friday", "lemon", "cake", "kiwi", "harbour", "engine", "ledger"),
    *("Ana", "Björn", "yesterday", "2024", "three", "because", "abc-417", "日本"),
)
QUERIES = ("When did Ana deploy the webhook?", "abc-417", "lemon cake because of the harbour", "3 May 2024", "日本")
MULTIPLIERS = ("importance", "freshness", "trust", "dispute")

Turn = tuple[str, str]


@contextmanager
def memory(model: str = "fake", seed: str = "search", **settings: str) -> Iterator[Memory]:
    """Yield a memory whose work is done by `flush` alone, on a clock that stands still."""
    session = bootstrap.open_session(
        store=":memory:",
        project="acme/api",
        user="kim",
        environ={"HOME": "/nowhere", "EUNOE_MODEL": model, **settings},
        clock=ManualClock(),
        entropy=SeededEntropy(seed),
        background=False,
    )
    with Memory(session) as opened:
        yield opened


@st.composite
def conversations(draw: st.DrawFn) -> dict[str, list[Turn]]:
    """Sessions of turns by two speakers; no two turns say the same."""
    sessions: dict[str, list[Turn]] = {}
    for name in draw(st.lists(st.sampled_from("abcdef"), unique=True, min_size=1, max_size=4)):
        count = draw(st.integers(1, 7))
        sessions[name] = [(draw(st.sampled_from(("Ana", "Björn"))), f"{draw(BODY)} {name}{at}x") for at in range(count)]
    return sessions


BODY = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


def say(opened: Memory, sessions: dict[str, list[Turn]], order: Sequence[str]) -> Memory:
    """Write whole sessions in an order, and let the model read them."""
    for name in order:
        for at, (speaker, body) in enumerate(sessions[name]):
            opened.remember(body, kind="message", session=name, turn=at, speaker=speaker, occurred_at="2024-05-03")
    opened.flush()
    return opened


def placed(answer: Recalled) -> dict[Any, tuple[float, float]]:
    return {(hit.session, hit.turn): (hit.evidence, hit.score) for hit in answer.hits}


@budget(40)
@given(conversations(), st.randoms(use_true_random=False))
def test_the_order_in_which_sessions_were_written_changes_no_number(
    sessions: dict[str, list[Turn]], shuffled: random.Random
) -> None:
    order = list(sessions)
    shuffled.shuffle(order)
    with memory() as one, memory(seed="other") as other:
        say(one, sessions, list(sessions))
        say(other, sessions, order)
        for query in QUERIES:
            found, again = one.recall(query, limit=100), other.recall(query, limit=100)
            assert placed(found) == placed(again)
            assert [hit.body for hit in found.hits] == [hit.body for hit in again.hits]


@budget(25)
@given(conversations(), st.lists(BODY, max_size=6, unique=True), st.sampled_from(["fake", "none"]))
def test_equal_inputs_give_equal_output_and_asking_changes_nothing(
    sessions: dict[str, list[Turn]], bodies: list[str], model: str
) -> None:
    answers = []
    for _ in range(2):
        with memory(model) as opened:
            opened.remember_many([{"body": body} for body in bodies])
            say(opened, sessions, list(sessions))
            first = [opened.recall(query, limit=100, explain=True) for query in QUERIES]
            assert [opened.recall(query, limit=100, explain=True) for query in QUERIES] == first
            answers.append(first)
    assert answers[0] == answers[1]


@budget(40)
@given(conversations(), st.lists(BODY, max_size=6, unique=True), st.sampled_from(["best", "light"]))
def test_scores_are_evidence_times_multipliers_rounded_best_first(
    sessions: dict[str, list[Turn]], bodies: list[str], quality: str
) -> None:
    with memory(EUNOE_RECALL_QUALITY=quality) as opened:
        for at, body in enumerate(bodies):
            opened.remember(body, trust="inferred" if at % 2 else None, importance=at / 6)
        if bodies:
            opened.dispute(1)
        say(opened, sessions, list(sessions))
        for query in QUERIES:
            hits = opened.recall(query, limit=100, explain=True).hits
            assert list(hits) == sorted(hits, key=lambda hit: (-hit.score, -hit.evidence, hit.id))
            assert len({hit.id for hit in hits}) == len(hits)
            for hit in hits:
                told = hit.explanation
                assert 0 <= hit.score <= hit.evidence <= 1
                assert (hit.score, hit.evidence) == (round(hit.score, 9), round(hit.evidence, 9))
                assert math.isclose(hit.evidence * math.prod(told["multipliers"].values()), hit.score, abs_tol=2e-9)
                assert set(told["multipliers"]) - {"dispute"} == {"importance", "freshness", "trust"}
                assert ("dispute" in told["multipliers"]) == (hit.disputed_at is not None)
                known = "late" if quality == "best" else "vector"
                assert told["judge"] == f"{known} {'chat' if hit.session else 'plain'}"
                assert told["recipe"] == "default"


@budget(30)
@given(conversations(), st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_floors_keep_exactly_what_reaches_them_and_count_the_rest(
    sessions: dict[str, list[Turn]], evidence: float, score: float, on_a_hit: bool
) -> None:
    with memory() as opened:
        say(opened, sessions, list(sessions))
        whole = opened.recall(QUERIES[0], limit=100)
        assert whole.hidden == 0
        if on_a_hit and whole.hits:
            middle = whole.hits[len(whole.hits) // 2]
            evidence, score = middle.evidence, middle.score
        kept = opened.recall(QUERIES[0], limit=100, min_evidence=evidence, min_score=score)
        assert kept.hits == tuple(hit for hit in whole.hits if hit.evidence >= evidence and hit.score >= score)
        assert (kept.hidden, kept.total) == (len(whole.hits) - len(kept.hits), len(kept.hits))


# ── multipliers ──────────────────────────────────────────────────────────────────────────────────────────────────────


def lowered(opened: Memory) -> dict[str, Any]:
    """Return how a memory that every multiplier lowers is explained."""
    opened.remember("The deploy target is Frankfurt", trust="inferred", importance=0.0, kind="state")
    opened.flush()
    opened._context.clock.advance(days=400)  # type: ignore[attr-defined]
    opened.dispute(1)
    (hit,) = opened.recall("deploy target", explain=True).hits
    factors: dict[str, float] = hit.explanation["multipliers"]
    assert hit.score == pytest.approx(hit.evidence * math.prod(factors.values()), abs=2e-9)
    return {"evidence": hit.evidence, **factors}


@pytest.mark.parametrize("model", ["fake", "none"])
def test_every_multiplier_lowers_what_it_is_about(model: str) -> None:
    with memory(model) as opened:
        told = lowered(opened)
    assert set(told) == {"evidence", *MULTIPLIERS}
    assert all(0 < told[name] < 1 for name in MULTIPLIERS)


@pytest.mark.parametrize("name", MULTIPLIERS)
@pytest.mark.parametrize("model", ["fake", "none"])
def test_a_multiplier_that_is_switched_off_is_gone_and_moves_no_other(model: str, name: str) -> None:
    with memory(model) as opened, memory(model, EUNOE_RECALL_OFF=name) as without:
        whole, rest = lowered(opened), lowered(without)
    assert rest == {other: value for other, value in whole.items() if other != name}


def test_with_all_of_them_off_the_score_is_the_evidence() -> None:
    with memory(EUNOE_RECALL_OFF=", ".join(MULTIPLIERS)) as opened:
        assert set(lowered(opened)) == {"evidence"}


# ── what is known of a candidate ─────────────────────────────────────────────────────────────────────────────────────


def judged(opened: Memory, query: str = "deploy target") -> dict[int, str]:
    return {hit.number: hit.explanation["judge"] for hit in opened.recall(query, explain=True).hits}


def test_what_is_not_embedded_yet_is_judged_by_its_words_beside_what_is() -> None:
    with memory() as opened:
        opened.remember("The deploy target is Frankfurt")
        assert judged(opened) == {1: "words plain"}
        assert opened.recall("deploy target").waiting == 1
        opened.flush()
        opened.remember("The deploy target is Dublin")
        assert judged(opened) == {1: "late plain", 2: "words plain"}
        opened.flush()
        assert judged(opened) == {1: "late plain", 2: "late plain"}
        assert opened.recall("deploy target").waiting == 0


def test_without_token_states_it_is_judged_by_vectors() -> None:
    with memory(EUNOE_RECALL_QUALITY="light") as opened:
        opened.remember("The deploy target is Frankfurt")
        opened.flush()
        assert judged(opened) == {1: "vector plain"}


def test_many_candidates_keep_their_order_behind_those_that_are_judged() -> None:
    with memory() as opened:
        opened.remember_many([{"body": f"The deploy target number {at} is harbour{at}"} for at in range(180)])
        opened.flush()
        hits = opened.recall("deploy target number 77 harbour", limit=1000, explain=True).hits
        most = DEFAULT.judged
        assert len(hits) > most
        assert sum("judge" in hit.explanation for hit in hits) == most
        assert all("judge" in hit.explanation for hit in sorted(hits, key=lambda hit: -hit.evidence)[:most])
        assert hits[0].body.split()[4] == "77"

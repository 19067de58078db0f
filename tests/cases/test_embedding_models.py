"""OPEN-09 and promises 15, 16 and 18: whatever is the matter with the model, words answer, and the answer says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.cases.conftest import Open
from tests.embedders import FailingEmbedder

from eunoe import Conflict, Memory, Unavailable
from eunoe.models.fake import FakeEmbedder
from eunoe.service.embedding import BATCH, LEASE_US
from eunoe.testing.clock import ManualClock

DEPLOY, WEBHOOK = "The deploy target is Frankfurt", "Stripe webhooks need the raw body"
SAID = ("Where is the deploy target now?", "It is in Frankfurt since Friday.", "Thanks, Ana!")
QUERIES = ("deploy target", "stripe webhooks raw", "where is it since Friday", "abc-417", "body")


def told(m: Memory) -> Memory:
    m.remember(DEPLOY)
    m.remember(WEBHOOK, trust="inferred", title="abc-417")
    for turn, body in enumerate(SAID):
        m.remember(body, kind="message", session="s", turn=turn, speaker="Ana" if turn == 1 else "Kim")
    return m


def bound(m: Memory) -> str:
    with m._context.store.reading() as view:
        found = view.models.bound()
    assert found is not None
    return found.fingerprint


def stored(m: Memory) -> dict[str, set[int]]:
    """Return the fingerprint of each model → the bytes of its vectors."""
    with m._context.store.reading() as view:
        p = m._context.existing(view).p
        found = {}
        for fingerprint in ALL:
            model = view.models.known(fingerprint)
            if model is not None:
                found[fingerprint] = {len(row[3]) for row in view.vectors(p, model.id).since(0)}
        return found


ONE, OTHER, LARGE = FakeEmbedder(), FakeEmbedder(variant="other"), FakeEmbedder(dim=64)
LARGE.name = "fake-large"
ALL = {each.fingerprint: each for each in (ONE, OTHER, LARGE)}
CHANGES = pytest.mark.parametrize("after", [OTHER, LARGE], ids=["of the same size", "of another size"])


# ── another model than the store's ───────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def embedded(opened: Open, clock: ManualClock) -> Memory:
    """A store that its model has read, some time ago."""
    m = told(opened(model=ONE, background=False))
    m.flush()
    clock.advance(us=LEASE_US)
    return m


@CHANGES
def test_open_09_with_another_model_words_answer_and_the_answer_says_why_and_what_to_do(
    embedded: Memory, opened: Open, after: FakeEmbedder
) -> None:
    m = opened(model=after, background=False)
    answer = m.recall("deploy target")
    assert answer.hits[0].body == DEPLOY
    assert answer.degraded == ("vector: other_model",)
    [note] = answer.notes
    assert "`eunoe reembed`" in note
    assert ONE.name in note
    assert after.name in note
    assert "vector: other_model" in (m.recall("deploy target", budget_tokens=500).text or "")


@CHANGES
def test_open_09_with_another_model_writes_are_kept_and_nothing_of_it_is_stored(
    embedded: Memory, opened: Open, after: FakeEmbedder
) -> None:
    m = opened(model=after, background=False)
    new = m.remember("The office moved to Lisbon")
    with pytest.raises(Unavailable) as caught:
        m.flush()
    assert caught.value.code == "other_model"
    assert [hit.number for hit in m.recall("office Lisbon").hits] == [new.number]
    assert stored(m) == {ONE.fingerprint: {ONE.dim}}
    with m._context.store.reading() as view:
        assert view.jobs.counts() == (1, 0, None)  # waits for the right model, and did not fail
    assert embedded.flush().embedded == 1
    assert embedded.recall("office Lisbon").degraded == ()


@CHANGES
def test_open_09_one_command_changes_over(embedded: Memory, opened: Open, after: FakeEmbedder) -> None:
    m = opened(model=after, background=False)
    m.remember("The office moved to Lisbon")
    steps: list[tuple[int, int]] = []
    done = m.reembed(progress=lambda now, total: steps.append((now, total)))
    assert (done.ok, done.model, done.before, done.dead) == (True, after.name, ONE.name, 0)
    assert bound(m) == after.fingerprint
    assert stored(m) == {ONE.fingerprint: set(), after.fingerprint: {after.dim}}
    assert steps == sorted(steps)
    answer = m.recall("deploy target", explain=True)
    assert (answer.degraded, answer.waiting) == ((), 0)
    assert answer.hits[0].explanation["judge"] == "late plain"
    assert embedded.recall("deploy target").degraded == ("vector: other_model",)
    fresh = told(opened("acme/fresh", at=":memory:", model=after, background=False))
    fresh.remember("The office moved to Lisbon")
    fresh.flush()
    for query in QUERIES:
        assert numbers(m, query) == numbers(fresh, query)


def test_changing_over_twice_comes_back_to_where_it_began(embedded: Memory, opened: Open) -> None:
    before = [numbers(embedded, query) for query in QUERIES]
    opened(model=OTHER, background=False).reembed()
    assert opened(model=ONE, background=False).reembed().ok
    assert [numbers(embedded, query) for query in QUERIES] == before
    assert stored(embedded) == {ONE.fingerprint: {ONE.dim}, OTHER.fingerprint: set()}


def test_the_old_vectors_serve_until_the_new_ones_are_there(embedded: Memory, opened: Open) -> None:
    class Watched(FakeEmbedder):
        def passages(self, texts: Any) -> Any:
            seen.append(embedded.recall("deploy target").degraded)
            return super().passages(texts)

    seen: list[tuple[str, ...]] = []
    embedded.remember_many([{"body": f"entry number {at}"} for at in range(BATCH + 5)])
    embedded.flush()
    opened(model=Watched(variant="other"), background=False).reembed()
    assert set(seen) == {()}


def test_a_change_of_model_that_breaks_off_changes_nothing_and_is_taken_up_again(
    embedded: Memory, opened: Open
) -> None:
    class Failing(FailingEmbedder):
        def __init__(self) -> None:
            super().__init__(lambda text: "webhooks" in text)
            self.fingerprint = OTHER.fingerprint

    before = numbers(embedded, "deploy target")
    with pytest.raises(Unavailable):
        opened(model=Failing(), background=False).reembed()
    assert bound(embedded) == ONE.fingerprint
    assert numbers(embedded, "deploy target") == before
    assert opened(model=OTHER, background=False).reembed().ok
    assert bound(embedded) == OTHER.fingerprint


def test_two_processes_do_not_change_the_model_at_once(embedded: Memory, opened: Open) -> None:
    other = opened(model=LARGE, background=False)

    class Reentrant(FakeEmbedder):
        def passages(self, texts: Any) -> Any:
            with pytest.raises(Conflict) as caught:
                other.reembed()
            codes.append(caught.value.code)
            return super().passages(texts)

    codes: list[str] = []
    opened(model=Reentrant(variant="other"), background=False).reembed()
    assert set(codes) == {"reembedding"}
    assert bound(embedded) == OTHER.fingerprint


def test_without_a_model_there_is_nothing_to_change_over_to(opened: Open) -> None:
    m = told(opened())
    with pytest.raises(Unavailable) as caught:
        m.reembed()
    assert caught.value.code == "no_model"


def test_embedding_everything_anew_gives_the_same(embedded: Memory) -> None:
    before = [numbers(embedded, query) for query in QUERIES]
    assert embedded.reembed(everything=True).embedded == 5
    assert [numbers(embedded, query) for query in QUERIES] == before


# ── promises 15, 16 and 18, in whatever state ────────────────────────────────────────────────────────────────────────


def numbers(m: Memory, query: str) -> list[Any]:
    """Return what a recall found, by what does not depend on when it was written."""
    return [(hit.body, hit.evidence) for hit in m.recall(query).hits]


def without(opened: Open) -> Memory:
    return told(opened("acme/state", at=":memory:"))


def missing(opened: Open) -> Memory:
    return told(opened("acme/state", at=":memory:", model="bge-small-en-v1.5"))


def other(opened: Open) -> Memory:
    first = told(opened("acme/state", model=ONE, background=False))
    first.flush()
    return opened("acme/state", model=OTHER, background=False)


def failing(opened: Open) -> Memory:
    return told(opened("acme/state", at=":memory:", model=FailingEmbedder(), background=False))


def failing_to_load(opened: Open) -> Memory:
    m = told(opened("acme/state", at=":memory:", model="fake", background=False))

    def load() -> Any:
        raise Unavailable("missing_extra", "a library is missing: pip install 'eunoe[local]'")

    m._context.semantics._load = load
    return m


def waiting(opened: Open) -> Memory:
    return told(opened("acme/state", at=":memory:", model=ONE, background=False))


def waiting_beside_others(opened: Open) -> Memory:
    elsewhere = opened("acme/elsewhere", model=ONE, background=False)
    elsewhere.remember("embedded")
    elsewhere.flush()
    return told(opened("acme/state", model=ONE, background=False))


STATES: dict[Callable[[Open], Memory], tuple[str, ...]] = {
    without: (),
    missing: (),
    other: ("vector: other_model",),
    failing: ("vector: model_failed",),
    failing_to_load: ("vector: missing_extra",),
    waiting: (),
    waiting_beside_others: (),
}
IN_EVERY_STATE = pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)


@IN_EVERY_STATE
def test_words_answer_with_the_same_numbers_as_without_a_model(opened: Open, state: Callable[[Open], Memory]) -> None:
    plain = told(opened("acme/plain", at=":memory:"))
    m = state(opened)
    for query in QUERIES:
        assert numbers(m, query) == numbers(plain, query)
        assert numbers(m, query) or query == "abc-417"


@IN_EVERY_STATE
def test_an_answer_that_is_not_whole_says_which_lane_failed(opened: Open, state: Callable[[Open], Memory]) -> None:
    m = state(opened)
    for _ in range(3):
        answer = m.recall("deploy target")
        assert answer.degraded == STATES[state]
        assert bool(answer.notes) == bool(STATES[state]) or state is missing
        assert answer.waiting == (5 if state in (waiting, waiting_beside_others) else 0)
    assert m.briefing(focus="deploy target").text
    assert m.why(1, "deploy target").found


def test_a_model_that_is_not_installed_is_said_once(opened: Open) -> None:
    m = missing(opened)
    notes = [m.recall("deploy target").notes for _ in range(3)]
    assert [len(each) for each in notes] == [1, 0, 0]
    assert "eunoe model install" in notes[0][0]


@IN_EVERY_STATE
def test_equal_questions_get_equal_answers(opened: Open, state: Callable[[Open], Memory]) -> None:
    m = state(opened)
    m.recall("the first answer may say more")
    for query in QUERIES:
        assert m.recall(query, explain=True) == m.recall(query, explain=True)


@IN_EVERY_STATE
def test_every_hit_explains_itself(opened: Open, state: Callable[[Open], Memory]) -> None:
    m = state(opened)
    for query in QUERIES:
        for hit in m.recall(query, explain=True).hits:
            told_ = hit.explanation
            assert told_["judge"].startswith("words ")
            assert told_["lanes"] or hit.turn is not None
            assert told_["source"]["event"] == hit.event
            assert set(told_["multipliers"]) == {"importance", "freshness", "trust"}

"""What is written is embedded behind everybody's back: acknowledged first, done once, never lost."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from tests.cases.conftest import Open
from tests.embedders import PATIENCE_S, FailingEmbedder, InterruptedEmbedder, SlowEmbedder

from eunoe import Memory, Unavailable
from eunoe.service.embedding import BATCH, LEASE, LEASE_US, Embedding
from eunoe.testing.clock import ManualClock

MOST_ATTEMPTS = 5
WHERE = pytest.mark.parametrize("at", [":memory:", None], ids=["memory", "file"])


@pytest.fixture
def place(store: Path, at: str | None) -> Path | str:
    return store if at is None else at


def embedding(m: Memory) -> Embedding:
    found = m._context.embedding
    assert found is not None
    return found


def sizes(m: Memory) -> dict[str, int]:
    """Return how much the bound model made of the project."""
    with m._context.store.reading() as view:
        bound = view.models.bound()
        return {} if bound is None else view.vectors(m._context.existing(view).p, bound.id).sizes()


def vectors(m: Memory) -> dict[str, bytes]:
    """Return the body of each version that has a vector, with the vector."""
    with m._context.store.reading() as view:
        bound = view.models.bound()
        p = m._context.existing(view).p
        assert bound is not None
        held = view.vectors(p, bound.id)
        rids = [row[1] for row in held.since(0)]
        bodies = {text.rid: text.body for text in view.jobs.texts(p, rids)}
        return {bodies[rid]: row[0] for rid, row in held.exact(rids).items() if rid in bodies}


# ── acknowledged first ───────────────────────────────────────────────────────────────────────────────────────────────


@WHERE
def test_a_write_is_acknowledged_and_found_before_the_model_has_read_it(opened: Open, place: Path | str) -> None:
    slow = SlowEmbedder()
    m = opened(at=place, model=slow)
    receipt = m.remember("Stripe webhooks need the raw body")
    assert slow.reading.wait(PATIENCE_S)
    assert m.remember("Deploys run on Fridays").outcome == "recorded"
    assert embedding(m).counts()[0] == 2
    assert sizes(m).get("vectors", 0) == 0
    found = m.recall("stripe webhooks")
    assert ([hit.id for hit in found.hits], found.waiting, found.degraded) == ([receipt.id], 2, ())
    slow.go_on.set()
    assert m.flush().waiting == 0
    assert sizes(m)["vectors"] == 2
    assert m.recall("stripe webhooks").waiting == 0


@WHERE
def test_flush_empties_the_queue_and_says_what_it_did(opened: Open, place: Path | str) -> None:
    m = opened(at=place, model="fake", background=False)
    m.remember_many([{"body": f"entry number {at}"} for at in range(2 * BATCH + 5)])
    steps: list[tuple[int, int]] = []
    done = m.flush(progress=lambda now, total: steps.append((now, total)))
    assert done == (2 * BATCH + 5, 0, 0, None)
    assert steps == sorted(steps)
    assert steps[-1] == (2 * BATCH + 5, 2 * BATCH + 5)
    assert sizes(m)["vectors"] == 2 * BATCH + 5
    assert m.flush() == (0, 0, 0, None)


def test_all_projects_of_a_store_are_embedded(opened: Open) -> None:
    one, other = (opened(project, model="fake", background=False) for project in ("acme/api", "acme/web"))
    one.remember("of the one")
    other.remember("of the other")
    assert one.flush().embedded == 2
    assert (sizes(one)["vectors"], sizes(other)["vectors"]) == (1, 1)


def test_the_background_empties_the_queue_by_itself(opened: Open) -> None:
    slow = SlowEmbedder()
    m = opened(model=slow)
    m.remember_many([{"body": f"entry number {at}"} for at in range(BATCH + 1)])
    slow.go_on.set()
    m.close()  # ends after the batch that it is at
    again = opened(model="fake", background=False)
    assert sizes(again).get("vectors", 0) in (0, BATCH, BATCH + 1)
    again.flush()
    assert sizes(again)["vectors"] == BATCH + 1


def test_without_a_model_nothing_is_embedded_and_everything_waits_for_one(opened: Open) -> None:
    without = opened()
    without.remember("Stripe webhooks need the raw body")
    assert without.flush() == (0, 0, 0, None)
    assert without.recall("stripe").waiting == 0
    later = opened(model="fake")
    assert later.recall("stripe").waiting == 1
    assert later.flush().waiting == 0
    assert sizes(later)["vectors"] == 1


def test_what_is_embedded_survives_a_rebuild_an_export_and_an_import(opened: Open) -> None:
    m = opened(model="fake", background=False)
    m.remember_many([{"body": f"entry number {at}", "session": "s", "turn": at} for at in range(9)])
    m.flush()
    before, answer = vectors(m), m.recall("entry number 4")
    assert m.rebuild().differences == {}
    assert (vectors(m), m.recall("entry number 4")) == (before, answer)
    other = opened("acme/web", at=":memory:", model="fake", background=False)
    other.import_(m.export())
    other.flush()
    assert vectors(other) == before


# ── one worker a store ───────────────────────────────────────────────────────────────────────────────────────────────


def test_of_two_sessions_on_a_file_one_works_at_a_time(opened: Open, clock: ManualClock) -> None:
    slow = SlowEmbedder()
    one, other = opened(model=slow, background=False), opened(model="fake", background=False)
    one.remember("of the one")
    at_work = Thread(target=one.flush)
    at_work.start()
    assert slow.reading.wait(PATIENCE_S)
    other.remember("of the other")
    assert embedding(other).step() is None
    slow.go_on.set()
    at_work.join(PATIENCE_S)
    assert not at_work.is_alive()
    assert other.recall("other").waiting == 0
    assert sizes(other)["vectors"] == 2


def test_whoever_holds_the_lease_and_is_gone_loses_it_in_time(opened: Open, clock: ManualClock) -> None:
    m = opened(model="fake", background=False)
    m.remember("Stripe webhooks need the raw body")
    with m._context.store.writing() as tx:
        assert tx.models.lease(LEASE, "who is gone", now=clock.now, until=clock.now + LEASE_US)
    assert embedding(m).step() is None
    clock.advance(us=LEASE_US)
    assert embedding(m).step() == 1


def test_a_session_that_has_nothing_left_to_do_gives_the_lease_back(opened: Open) -> None:
    one, other = opened(model="fake", background=False), opened(model="fake", background=False)
    one.remember("of the one")
    one.flush()
    other.remember("of the other")
    assert embedding(other).step() == 1


@pytest.mark.parametrize("background", [True, False])
def test_a_session_that_ends_gives_the_lease_back(opened: Open, background: bool) -> None:
    opened().remember("from before there was a model")
    one = opened(model="fake", background=background)
    assert one.flush().waiting == 0
    one.close()
    other = opened(model="fake", background=False)
    other.remember("of the other")
    assert embedding(other).step() == 1


def test_a_session_that_waits_for_another_one_does_not_spin(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    m = opened(model="fake")
    with m._context.store.writing() as tx:
        tx.models.lease(LEASE, "another one", now=0, until=10**18)
    many, counted = Event(), embedding(m).step
    calls: list[None] = []

    def step() -> int | None:
        calls.append(None)
        if len(calls) > 10:
            many.set()
        return counted()

    monkeypatch.setattr(embedding(m), "step", step)
    m.remember("Stripe webhooks need the raw body")
    assert not many.wait(0.5)


# ── failures ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def step(m: Memory) -> str | None:
    """Let the model try once; return the code of its failure."""
    try:
        embedding(m).step()
    except Unavailable as exc:
        return exc.code
    return None


def test_what_always_fails_is_dead_after_some_attempts_and_not_tried_for_ever(opened: Open, clock: ManualClock) -> None:
    failing = FailingEmbedder()
    m = opened(at=":memory:", model=failing, background=False)
    m.remember("Stripe webhooks need the raw body")
    for attempt in range(1, MOST_ATTEMPTS + 1):
        assert step(m) == "model_failed"
        assert failing.attempts == attempt
        clock.advance(days=30)
    assert embedding(m).counts() == (0, 1, "model_failed")
    assert (step(m), failing.attempts) == (None, MOST_ATTEMPTS)
    assert m.flush() == (0, 0, 1, "model_failed")
    failing.fails = lambda text: False
    assert m.flush().dead == 1
    assert m.reembed().ok
    assert embedding(m).counts()[:2] == (0, 0)
    assert sizes(m)["vectors"] == 1


def due_in(m: Memory) -> int:
    """Return after how many microseconds something is due again."""
    now, low, high = m._context.clock.now_us(), 0, 10**13
    while low < high:
        middle = (low + high) // 2
        with m._context.store.reading() as view:
            if view.jobs.due(now=now + middle, limit=1):
                high = middle
            else:
                low = middle + 1
    return low


def test_what_failed_is_tried_again_later_and_later(opened: Open, clock: ManualClock) -> None:
    m = opened(at=":memory:", model=FailingEmbedder(), background=False)
    m.remember("Stripe webhooks need the raw body")
    waits = []
    for _ in range(MOST_ATTEMPTS - 1):
        step(m)
        waits.append(due_in(m))
        clock.advance(us=waits[-1])
    assert waits == sorted(set(waits))


def test_a_text_that_the_model_cannot_read_takes_no_other_with_it(opened: Open, clock: ManualClock) -> None:
    m = opened(at=":memory:", model=FailingEmbedder(lambda text: "poison" in text), background=False)
    m.remember_many([{"body": f"entry number {at}"} for at in range(5)])
    m.remember("this one is poison to the model")
    for _ in range(2 * MOST_ATTEMPTS):
        step(m)
        clock.advance(days=30)
    assert embedding(m).counts()[:2] == (0, 1)
    assert sizes(m)["vectors"] == 5


def test_an_address_that_does_not_answer_for_a_while_kills_nothing(opened: Open, clock: ManualClock) -> None:
    away = FailingEmbedder(retryable=True)
    m = opened(at=":memory:", model=away, background=False)
    m.remember("Stripe webhooks need the raw body")
    for _ in range(30):
        step(m)
        clock.advance(s=2)
    assert embedding(m).counts()[:2] == (1, 0)
    away.fails = lambda text: False
    clock.advance(days=1)
    assert m.flush() == (1, 0, 0, None)


def test_a_failure_in_the_background_stays_there(opened: Open) -> None:
    failing = FailingEmbedder()
    m = opened(at=":memory:", model=failing)
    for at in range(3):
        assert m.remember(f"entry number {at}").outcome == "recorded"
    assert len(m.recall("entry").hits) == 3
    m.close()


# ── what changes while the model reads ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("turn", [None, 3], ids=["single", "turn"])
def test_what_is_forgotten_while_the_model_reads_it_is_not_stored(opened: Open, turn: int | None) -> None:
    model = InterruptedEmbedder()
    m = opened(at=":memory:", model=model, background=False)
    said: dict[str, Any] = {} if turn is None else {"session": "s", "turn": turn}
    m.remember("The moon is made of cheese", **said)
    model.meanwhile = lambda: m.forget(1)
    m.flush()
    assert model.meanwhile is None
    assert sizes(m)["vectors"] == sizes(m)["states"] == 0
    assert embedding(m).counts()[:2] == (0, 0)


@pytest.mark.parametrize("turn", [None, 3], ids=["single", "turn"])
def test_what_is_revised_while_the_model_reads_it_is_stored_as_it_is_now(opened: Open, turn: int | None) -> None:
    model = InterruptedEmbedder()
    m = opened(at=":memory:", model=model, background=False)
    said: dict[str, Any] = {} if turn is None else {"session": "s", "turn": turn}
    m.remember("The deploy runs on Fridays", **said)
    model.meanwhile = lambda: m.update(1, body="The deploy runs on Mondays")
    m.flush()
    assert set(vectors(m)) == {"The deploy runs on Mondays"}
    fresh = opened("acme/fresh", at=":memory:", model="fake", background=False)
    fresh.remember("The deploy runs on Mondays", **said)
    fresh.flush()
    assert vectors(fresh) == vectors(m)


def test_what_is_written_while_the_model_reads_is_read_next(opened: Open) -> None:
    model = InterruptedEmbedder()
    m = opened(at=":memory:", model=model, background=False)
    m.remember("one", session="s", turn=1)
    model.meanwhile = lambda: m.remember("two", session="s", turn=2)
    assert m.flush().waiting == 0
    assert set(vectors(m)) == {"one", "two"}
    assert sizes(m)["states"] == 2


def test_the_oldest_token_states_go_when_there_are_too_many(opened: Open) -> None:
    m = opened(at=":memory:", model="fake", background=False, EUNOE_MAX_STATES_MB="1")
    assert embedding(m)._most_state_bytes == 1 << 20
    embedding(m)._most_state_bytes = 4096
    m.remember_many([{"body": f"amber basalt cobalt dolomite number{at}"} for at in range(BATCH)])
    m.flush()
    assert sizes(m)["vectors"] == BATCH
    assert 0 < sizes(m)["state_bytes"] <= 4096
    assert m.recall("amber number5", limit=1).hits[0].number == 6

"""Promise 15: what is noted beside the ledger never makes a read fail or wait, and losing it harms nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cases.conftest import Open
from tests.engines import locked, raw

from eunoe import Memory
from eunoe.domain.instants import DAY_US
from eunoe.testing.clock import START_US, ManualClock

READS: dict[str, Callable[[Memory], object]] = {
    "get": lambda m: m.get(1),
    "recall": lambda m: m.recall("webhooks"),
    "browse": lambda m: m.recall(None),
    "briefing": lambda m: m.briefing(),
    "related": lambda m: m.related(2),
}
NO_READS: dict[str, Callable[[Memory], object]] = {
    "nothing found": lambda m: m.recall("zanzibar"),
    "count": lambda m: m.count(),
    "history": lambda m: m.history(1),
    "why": lambda m: m.why(1, "webhooks"),
    "export": lambda m: m.export(),
    "review": lambda m: m.review(),
    "links": lambda m: m.links(1),
}


def noted(store: Path) -> list[tuple[int, int]]:
    """Return (day, times) of what the store holds of the first memory."""
    with raw(store) as database:
        return database.execute(
            "select a.at, a.n from accesses a join memories m on m.p = a.p and m.id = a.memory where m.number = 1"
        )


@pytest.fixture
def written(opened: Open) -> Memory:
    m = opened()
    m.remember("Stripe webhooks need the raw body")
    m.remember("Hooks are parsed late", links=[1])
    return m


@pytest.mark.parametrize("name", READS)
def test_delivering_a_text_is_a_read_and_is_written_at_the_end(written: Memory, store: Path, name: str) -> None:
    READS[name](written)
    READS[name](written)
    assert noted(store) == []
    written.close()
    assert noted(store) == [(START_US, 2)]


@pytest.mark.parametrize("name", NO_READS)
def test_what_delivers_no_text_is_none(written: Memory, store: Path, name: str) -> None:
    NO_READS[name](written)
    written.close()
    assert noted(store) == []


def test_reads_are_folded_by_day(written: Memory, store: Path, clock: ManualClock) -> None:
    for days in (0, 0.25, 1, 1):
        clock.now = START_US + round(days * DAY_US)
        written.get(1)
        written._context.signals.flush()
    assert noted(store) == [(START_US, 2), (START_US + DAY_US, 2)]


def test_a_process_that_reads_on_and_on_writes_now_and_then(written: Memory, store: Path, clock: ManualClock) -> None:
    for _ in range(25):
        written.get(1)
        clock.advance(s=2)
    assert sum(n for _, n in noted(store)) in range(15, 25)


def test_a_read_of_a_locked_store_writes_nothing_and_does_not_wait(
    written: Memory, store: Path, clock: ManualClock
) -> None:
    written.get(1)
    clock.advance(s=60)  # what was noted is old enough to be written with the next read
    with locked(store):
        started = time.perf_counter()
        for name, read in READS.items():
            assert read(written), name
            clock.advance(s=60)
        assert not written._context.signals.flush()
        assert time.perf_counter() - started < 2  # a writer waits for 10 s; a read for a moment
        assert noted(store) == []
    assert written._context.signals.flush()
    assert noted(store) == [(START_US, 1 + len(READS))]


def test_closing_while_the_store_is_locked_does_not_wait_either(written: Memory, store: Path) -> None:
    written.get(1)
    with locked(store):
        started = time.perf_counter()
        written.close()
        assert time.perf_counter() - started < 2
    assert noted(store) == []


def test_reading_a_store_whose_signals_cannot_be_written_never_fails(
    written: Memory, store: Path, clock: ManualClock
) -> None:
    with raw(store) as database:
        database.execute("drop table accesses")
    for _ in range(3):
        for read in READS.values():
            assert read(written)
        clock.advance(days=1)
    written.close()


def test_a_rebuild_leaves_them_alone_and_an_export_leaves_them_out(opened: Open, store: Path) -> None:
    m = opened()
    m.remember("Stripe webhooks need the raw body")
    before = m.export()
    m.get(1)
    m._context.signals.flush()
    with m._context.store._engine.writing() as connection:  # type: ignore[attr-defined]
        connection.run("update memories set occurrences = 9")
    assert m.rebuild().swapped
    assert noted(store) == [(START_US, 1)]
    assert m.export() == before
    copy = opened("acme/copy", at=":memory:")
    copy.import_(before)
    assert copy._context.signals.last_reads(1, [m.get(1).id]) == {}

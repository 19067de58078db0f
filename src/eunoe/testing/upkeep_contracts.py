"""The contract suites of `eunoe.ports.signals` and `eunoe.ports.upkeep`; see `eunoe.testing.contracts`."""

from __future__ import annotations

from typing import Any

from eunoe.domain.ids import NIL
from eunoe.domain.instants import DAY_US
from eunoe.ports.signals import Signals
from eunoe.ports.store import Store
from eunoe.testing.clock import START_US
from eunoe.testing.contracts import BOTH, LATER_US, now_filter
from eunoe.testing.records import Recorder

NOON_US = START_US + DAY_US // 2


class SignalsContract:
    """`eunoe.ports.signals.Signals`, of a store with the projects 1 and 2 that were made at the clock's start."""

    def test_a_read_is_known_at_once_and_by_its_day(self, signals: Signals) -> None:
        assert signals.last_reads(1, [NIL]) == {}
        signals.note_reads(1, [NIL], NOON_US)
        assert signals.last_reads(1, [NIL, "other"]) == {NIL: START_US}

    def test_flushing_changes_no_answer(self, signals: Signals) -> None:
        signals.note_reads(1, ["a", "b"], NOON_US)
        assert signals.flush()
        assert signals.last_reads(1, ["a", "b"]) == {"a": START_US, "b": START_US}
        assert signals.flush()

    def test_the_last_of_several_days_counts_in_whatever_order_they_are_noted(self, signals: Signals) -> None:
        for day in (1, 3, 2):
            signals.note_reads(1, ["a"], NOON_US + day * DAY_US)
            signals.flush()
        signals.note_reads(1, ["a"], NOON_US)
        assert signals.last_reads(1, ["a"]) == {"a": START_US + 3 * DAY_US}

    def test_another_project_knows_nothing_of_it(self, signals: Signals) -> None:
        signals.note_reads(1, ["a"], NOON_US)
        signals.flush()
        assert signals.last_reads(2, ["a"]) == {}
        assert signals.last_reads(1, ["a"]) == {"a": START_US}

    def test_many_reads_are_all_known(self, signals: Signals) -> None:
        names = [f"m{at}" for at in range(1200)]
        for at, name in enumerate(names):
            signals.note_reads(1, [name], NOON_US + at)
        assert signals.last_reads(1, names).keys() == set(names)

    def test_it_tells_since_when_reads_are_noted(self, signals: Signals) -> None:
        assert signals.since(1) == START_US


class UpkeepContract:
    """`eunoe.ports.upkeep.Upkeep`."""

    def test_believed_counts_all_scopes_and_what_is_scheduled_but_nothing_that_ended(self, store: Store) -> None:
        recorder = Recorder(store)
        assert believed(recorder) == 0
        recorder.remember("one")
        recorder.remember("private", scope="user:kim")
        recorder.remember("scheduled", valid_from=LATER_US + 1)
        recorder.remember("waits", status="pending")
        recorder.remember("short", tier="stm", expires_at=LATER_US + 1)
        recorder.remember("expired", tier="stm", expires_at=LATER_US)
        recorder.remember("ended", valid_to=LATER_US)
        gone = recorder.remember("gone")
        Recorder(store, slug="acme/other").remember("elsewhere")
        assert believed(recorder) == 5
        recorder.record("memory.archived", {"memory": gone, "by": "application"})
        assert believed(recorder) == 4
        recorder.record("memory.restored", {"memory": gone, "status": "active", "valid_from": START_US})
        assert believed(recorder) == 5

    def test_the_first_are_by_number_within_the_scopes_and_no_turns(self, store: Store) -> None:
        recorder = Recorder(store)
        private, one = recorder.remember("private", scope="user:kim"), recorder.remember("one")
        recorder.remember("said", session="s", turn=1)
        two = recorder.remember("two")
        with store.reading() as view:
            upkeep = view.upkeep(recorder.p)
            assert [each.memory for each in upkeep.first(now_filter(), limit=9)] == [one, two]
            assert [each.memory for each in upkeep.first(now_filter(BOTH), limit=2)] == [private, one]

    def test_disputed_and_pending_are_found_by_number_within_the_scopes(self, store: Store) -> None:
        recorder = Recorder(store)
        one, two = recorder.remember("one"), recorder.remember("two", scope="user:kim")
        waiting = recorder.remember("waits", status="pending")
        for ident in (two, one):
            recorder.record("memory.disputed", {"memory": ident})
        assert find(recorder, "disputed", scopes=BOTH) == [one, two]
        assert find(recorder, "disputed") == find(recorder, "disputed", scopes=BOTH, limit=1) == [one]
        assert find(recorder, "pending") == [waiting]
        recorder.record("memory.archived", {"memory": one, "by": "application"})
        recorder.record("memory.archived", {"memory": waiting, "by": "application"})
        assert find(recorder, "disputed") == find(recorder, "pending") == []

    def test_stale_states_are_those_neither_changed_nor_confirmed_since(self, store: Store) -> None:
        recorder = Recorder(store)
        old, other = recorder.remember("old", kind="state"), recorder.remember("other", kind="state")
        confirmed = recorder.remember("confirmed", kind="state")
        recorder.remember("no state")
        before = recorder.now + 1
        recorder.record("memory.revised", {"memory": old, "version": 2}, {"tags": ["t"]})
        recorder.record("memory.confirmed", {"memory": confirmed, "how": "explicit", "counts_as_confirmation": True})
        assert find(recorder, "stale", before=before) == [other]
        assert find(recorder, "stale", before=LATER_US) == [other, confirmed, old]
        assert find(recorder, "stale", before=START_US) == []

    def test_what_was_read_or_is_pinned_or_young_is_not_unread(self, store: Store) -> None:
        recorder = Recorder(store)
        one, read = recorder.remember("one"), recorder.remember("read")
        recorder.remember("pinned", pinned=True)
        recorder.remember("said", session="s", turn=1)
        before = START_US + DAY_US
        store.signals.note_reads(recorder.p, [read], before)
        store.signals.note_reads(recorder.p, [one], START_US)
        store.signals.flush()
        recorder.now = before
        recorder.remember("young")
        assert find(recorder, "unread", before=before) == [one]

    def test_an_orphan_has_no_link_to_anything_that_passes(self, store: Store) -> None:
        recorder = Recorder(store)
        one = recorder.remember("one")
        two = recorder.remember("two", links=[one])
        recorder.remember("private", links=[one, two], scope="user:kim")
        alone = recorder.remember("alone")
        recorder.remember("pinned", pinned=True)
        recorder.remember("said", session="s", turn=1)
        assert find(recorder, "orphans") == [alone]
        recorder.record("memory.archived", {"memory": two, "by": "application"})
        assert find(recorder, "orphans") == [one, alone]
        assert find(recorder, "orphans", scopes=BOTH) == [alone]

    def test_what_is_oversized_is_found_the_longest_first(self, store: Store) -> None:
        recorder = Recorder(store)
        long, longer = recorder.remember("long", tokens_full=601), recorder.remember("longer", tokens_full=900)
        recorder.remember("just right", tokens_full=600)
        recorder.remember("not counted")
        assert find(recorder, "oversized", above=600) == [longer, long]
        assert find(recorder, "oversized", above=700) == [longer]


def believed(recorder: Recorder) -> int:
    """Return what the project believes long after all that a suite wrote."""
    with recorder.store.reading() as view:
        return view.upkeep(recorder.p).believed(LATER_US)


def find(recorder: Recorder, question: Any, *, scopes: Any = ("project",), limit: int = 9, **bounds: int) -> list[str]:
    """Return what a question finds."""
    with recorder.store.reading() as view:
        return view.upkeep(recorder.p).find(question, now_filter(scopes), limit=limit, **bounds)

"""Contract suites: one class a port. Whoever implements a port runs its class; no test may be overridden.

A suite asks for fixtures by name: `store`, an empty `Store`, and where it needs one `case`, `clock` or `entropy`. It
reaches the store through ports alone, so that it holds for every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eunoe.domain.chain import ChainChecker
from eunoe.domain.event import GENESIS, Event
from eunoe.domain.ids import NIL
from eunoe.errors import Conflict, EunoeError, Unavailable
from eunoe.ports.clock import Clock, Entropy
from eunoe.ports.store import Store
from eunoe.ports.text_index import Filter
from eunoe.testing.clock import START_US
from eunoe.testing.records import Recorder

SECOND_US = 1_000_000
LATER_US = START_US + 10**12
SHARED = ("project",)
BOTH = ("project", "user:kim")
SECRET = b"s" * 32


def refusal(act: Callable[[], Any]) -> EunoeError:
    """Return the error that an act raises on purpose; fail when it succeeds."""
    try:
        act()
    except EunoeError as exc:
        return exc
    raise AssertionError("nothing was refused")


def now_filter(scopes: Sequence[str] = SHARED, **given: Any) -> Filter:
    """Return the filter for everything that is believed long after all that a suite wrote."""
    return Filter(scopes=scopes, now=LATER_US, **given)


class StoreContract:
    """`eunoe.ports.store.Store`."""

    def test_what_was_written_is_read_by_the_next_reader(self, store: Store) -> None:
        ident = Recorder(store).remember("one")
        with store.reading() as view:
            project = view.projects.find("acme/api")
            assert project is not None
            assert list(view.memories(project.p).read([ident], now=LATER_US)) == [ident]

    def test_an_error_in_a_write_transaction_takes_all_of_it_back(self, store: Store) -> None:
        recorder = Recorder(store)
        recorder.remember("kept")
        try:
            with store.writing() as tx:
                recorder.within(tx, "project.created", {"uuid": recorder.project.uuid})
                tx.projects.register(uuid=NIL, slug="lost", identity=None, secret=SECRET, now=START_US)
                raise KeyError
        except KeyError:
            pass
        with store.reading() as view:
            assert view.ledger(recorder.p).count() == 1
            assert view.ledger(recorder.p).position(store.uuid).seq == 1
            assert view.projects.find("lost") is None

    def test_the_uuid_stays_the_same(self, store: Store) -> None:
        assert store.uuid == store.uuid
        assert len(store.uuid) == 36

    def test_snapshots_hold_the_rows_of_the_memories_that_are_there(self, store: Store) -> None:
        recorder = Recorder(store)
        one = recorder.remember("one", key="k", value="v", key_fp="kf", value_fp="vf")
        other = recorder.remember("other", links=[one])
        with store.reading() as view:
            found = view.snapshots(recorder.p, [one, other, NIL])
        assert set(found) == {one, other}
        assert (found[one].memory["number"], found[one].version["body"], len(found[one].keys)) == (1, "one", 1)
        assert found[one].links == found[other].links
        assert found[other].passage is not None

    def test_a_rebuild_without_a_change_finds_no_difference(self, store: Store) -> None:
        recorder = Recorder(store)
        recorder.remember("one")
        with store.rebuilding(recorder.p) as rebuilding:
            assert rebuilding.snapshots(recorder.p, [NIL]) == {}
            with rebuilding.locked() as ledger:
                assert ledger.count() == 1
                assert "memories" in rebuilding.differences()

    def test_swapping_in_nothing_leaves_the_ledger_alone(self, store: Store) -> None:
        recorder = Recorder(store)
        ident = recorder.remember("one")
        with store.rebuilding(recorder.p) as rebuilding, rebuilding.locked():
            rebuilding.differences()
            rebuilding.swap()
        with store.reading() as view:
            assert view.ledger(recorder.p).count() == 1
            assert view.memories(recorder.p).read([ident], now=LATER_US) == {}
            assert view.index(recorder.p).candidates(["one"], now_filter(), limit=5) == []

    def test_it_describes_itself(self, store: Store) -> None:
        assert {"uuid", "engine", "version", "schema"} <= store.describe().keys()

    def test_after_closing_it_is_closed_and_closing_again_is_allowed(self, store: Store) -> None:
        store.close()
        store.close()
        for transaction in (store.reading, store.writing):
            error = refusal(lambda transaction=transaction: transaction().__enter__())  # type: ignore[misc]
            assert isinstance(error, Unavailable)
            assert error.code == "closed"


class ProjectsContract:
    """`eunoe.ports.projects.Projects`."""

    def test_a_project_is_found_by_slug_identity_and_uuid(self, store: Store) -> None:
        project = Recorder(store).project
        with store.reading() as view:
            assert view.projects.find("acme/api") == project
            assert view.projects.find_identity("host/acme/api") == project
            assert view.projects.find_uuid(project.uuid) == project
            for found in (view.projects.find("acme"), view.projects.find_identity("x"), view.projects.find_uuid(NIL)):
                assert found is None

    def test_a_name_or_identity_is_taken_once(self, store: Store) -> None:
        project = Recorder(store).project
        for slug, identity in (("acme/api", None), ("another", project.identity)):
            with store.writing() as tx:
                named = {"uuid": NIL, "slug": slug, "identity": identity, "secret": SECRET, "now": START_US}
                error = refusal(lambda tx=tx, named=named: tx.projects.register(**named))  # type: ignore[misc]
            assert isinstance(error, Conflict)
            assert error.code == "slug_taken"

    def test_adopting_gives_another_uuid_and_secret_and_keeps_the_name(self, store: Store) -> None:
        project = Recorder(store).project
        with store.writing() as tx:
            adopted = tx.projects.adopt(project, uuid=NIL, secret=b"t" * 32)
        assert (adopted.p, adopted.slug, adopted.uuid, adopted.secret) == (project.p, project.slug, NIL, b"t" * 32)
        with store.reading() as view:
            assert view.projects.find("acme/api") == adopted

    def test_counts_are_by_slug_and_within_the_scopes(self, store: Store) -> None:
        recorder = Recorder(store)
        recorder.remember("one")
        recorder.remember("private", scope="user:kim")
        Recorder(store, slug="a/first")
        with store.reading() as view:
            shared, both = (view.projects.counts(scopes, now=LATER_US) for scopes in (SHARED, BOTH))
        assert [each.project.slug for each in shared] == ["a/first", "acme/api"]
        assert [(each.memories, each.active) for each in shared] == [(0, 0), (1, 1)]
        assert [(each.memories, each.events) for each in both] == [(0, 0), (2, 2)]


class LedgerContract:
    """`eunoe.ports.ledger.Ledger`."""

    def test_an_empty_ledger_stands_at_its_beginning(self, store: Store) -> None:
        recorder = Recorder(store)
        with store.reading() as view:
            at = view.ledger(recorder.p).position(store.uuid)
            assert (at.seq, at.id, at.number, at.n, at.hash) == (0, NIL, 0, 0, GENESIS)
            assert (view.ledger(recorder.p).heads(), view.ledger(recorder.p).count()) == ([], 0)

    def test_events_are_read_back_as_they_were_written_in_both_orders(self, store: Store) -> None:
        recorder = Recorder(store)
        written = [recorder.record("project.created", {"uuid": NIL, "n": n}, {"slug": "ä\u2028"}) for n in range(5)]
        with store.reading() as view:
            ledger = view.ledger(recorder.p)
            assert list(ledger.events()) == written
            assert list(ledger.events(after=3)) == written[3:]
            assert list(ledger.events(newest_first=True)) == written[::-1]
            assert ledger.count() == 5
            at = ledger.position(store.uuid)
            assert (at.seq, at.id, at.n, at.hash) == (5, written[-1].id, 5, written[-1].hash)
            assert [(head.stream, head.n, head.hash) for head in ledger.heads()] == [(store.uuid, 5, written[-1].hash)]

    def test_events_of_one_memory_are_read_in_both_orders(self, store: Store) -> None:
        recorder = Recorder(store)
        ident = recorder.remember("one")
        recorder.remember("another")
        confirmed = recorder.record("memory.confirmed", {"memory": ident, "how": "restated"})
        with store.reading() as view:
            ledger = view.ledger(recorder.p)
            assert [event.id for event in ledger.events(memory=ident)] == [ident, confirmed.id]
            assert [event.id for event in ledger.events(memory=ident, newest_first=True)] == [confirmed.id, ident]
            assert list(ledger.events(memory=NIL)) == []

    def test_an_event_is_found_by_id_seq_and_dedupe_key(self, store: Store) -> None:
        recorder = Recorder(store)
        with store.writing() as tx:
            event = recorder.within(tx, "project.created", {}, dedupe_key="once")
        with store.reading() as view:
            ledger = view.ledger(recorder.p)
            assert ledger.find(ident=event.id) == ledger.find(seq=1) == ledger.find(dedupe_key="once") == event
            assert ledger.find(ident=NIL) is ledger.find(seq=9) is ledger.find(dedupe_key="never") is None

    def test_an_id_or_dedupe_key_is_taken_once(self, store: Store) -> None:
        recorder = Recorder(store)
        with store.writing() as tx:
            first = recorder.within(tx, "project.created", {}, dedupe_key="once")
        with store.reading() as view:
            at = view.ledger(recorder.p).position(store.uuid)
        following, _ = recorder.event(at, "project.created", {}, None)
        for taken in ({"id": first.id}, {"dedupe_key": "once"}, {"n": first.n}):
            event = following._replace(**taken)
            error = refusal(lambda event=event: self.append(store, recorder.p, event))  # type: ignore[misc]
            assert isinstance(error, Conflict)
            assert error.code == "duplicate_event"

    def append(self, store: Store, p: int, event: Event) -> None:
        with store.writing() as tx:
            tx.ledger(p).append(event, number=0)

    def test_stored_bytes_are_those_that_were_hashed(self, store: Store) -> None:
        recorder = Recorder(store)
        for n in range(4):
            recorder.remember(f"number {n} ü")
        with store.reading() as view:
            ledger = view.ledger(recorder.p)
            checker = ChainChecker(recorder.project.uuid)
            assert checker.run(ledger.stored()) is None
            assert checker.finish((head.stream, head.n, head.hash) for head in ledger.heads()) is None
            assert [row[0] for row in ledger.stored(after_seq=2)] == [3, 4]

    def test_projects_of_a_store_have_ledgers_of_their_own(self, store: Store) -> None:
        one, other = Recorder(store), Recorder(store, slug="acme/other")
        one.remember("one")
        with store.reading() as view:
            assert (view.ledger(one.p).count(), view.ledger(other.p).count()) == (1, 0)


class ClockContract:
    """`eunoe.ports.clock.Clock`."""

    def test_it_tells_whole_microseconds_of_this_age(self, clock: Clock) -> None:
        now = clock.now_us()
        assert type(now) is int
        assert 1_500_000_000 * SECOND_US < now < 5_000_000_000 * SECOND_US


class EntropyContract:
    """`eunoe.ports.clock.Entropy`."""

    def test_it_gives_as_many_bytes_as_asked_and_never_the_same(self, entropy: Entropy) -> None:
        assert [len(entropy.random_bytes(size)) for size in (0, 1, 10, 100)] == [0, 1, 10, 100]
        assert len({entropy.random_bytes(16) for _ in range(100)}) == 100

"""The contract suites of the queue and of the models in `eunoe.ports.vectors`; see `eunoe.testing.contracts`."""

from __future__ import annotations

from eunoe.ports.store import Store
from eunoe.testing.clock import START_US
from eunoe.testing.contracts import refusal
from eunoe.testing.records import Recorder
from eunoe.testing.vectors_contract import Embedded, vector

MOST_ATTEMPTS = 5


class JobsContract:
    """`eunoe.ports.vectors.Jobs`."""

    def test_what_is_believed_is_queued_by_the_transaction_that_records_it(self, store: Store) -> None:
        made = Embedded(store)
        one, two = made.remember("one"), made.remember("two")
        waits = made.recorder.remember("three", status="pending")
        assert made.due() == [one, two]
        assert made.due(limit=1) == [one]
        assert made.due(limit=0) == []
        made.recorder.record("memory.archived", {"memory": waits, "by": "application"})
        made.recorder.record("memory.restored", {"memory": waits, "status": "active", "valid_from": START_US})
        assert made.due() == [one, two, made.rid(waits)]

    def test_what_is_done_is_off_the_queue(self, store: Store) -> None:
        made, other = Embedded(store), Embedded(store, slug="acme/other")
        one, two, elsewhere = made.remember("one"), made.remember("two"), other.remember("one")
        made.done(one, 4096 * 999)
        assert (made.due(), other.due()) == ([two], [elsewhere])

    def test_what_fails_is_tried_again_later_and_later_and_dead_after_the_last_attempt(self, store: Store) -> None:
        made = Embedded(store)
        one, two = made.remember("one"), made.remember("two")
        now, waited = START_US, 0
        for attempt in range(1, MOST_ATTEMPTS + 1):
            assert made.due(now=now) == [one, two]
            with store.writing() as tx:
                tx.jobs.failed(made.p, [one], error="model_failed", now=now)
            assert made.due(now=now + waited) == [two]
            with store.reading() as view:
                assert view.jobs.counts()[:2] == ((2, 0) if attempt < MOST_ATTEMPTS else (1, 1))
            if attempt < MOST_ATTEMPTS:
                waited = due_after(made, one, now)
                now += waited
        assert made.due(now=now + 10**15) == [two]
        with store.reading() as view:
            assert view.jobs.counts() == (1, 1, "model_failed")

    def test_what_is_delayed_is_tried_again_without_end(self, store: Store) -> None:
        made = Embedded(store)
        one, two = made.remember("one"), made.remember("two")
        for attempt in range(2 * MOST_ATTEMPTS):
            with store.writing() as tx:
                tx.jobs.delayed(made.p, [one], error="model_unreachable", not_before=START_US + attempt + 1)
            assert made.due(now=START_US + attempt) == [two]
            assert made.due(now=START_US + attempt + 1) == [one, two]
        with store.reading() as view:
            assert view.jobs.counts()[:2] == (2, 0)

    def test_the_dead_are_revived(self, store: Store) -> None:
        made = Embedded(store)
        one, two = made.remember("one"), made.remember("two")
        with store.writing() as tx:
            assert tx.jobs.revive() == 0
            for _ in range(MOST_ATTEMPTS):
                tx.jobs.failed(made.p, [one], error="model_failed", now=START_US)
            assert tx.jobs.revive() == 1
            assert tx.jobs.revive() == 0
        assert made.due() == [one, two]
        with store.reading() as view:
            assert view.jobs.counts() == (2, 0, None)

    def test_counts_are_those_of_a_project_or_of_all(self, store: Store) -> None:
        made, other = Embedded(store), Embedded(store, slug="acme/other")
        with store.reading() as view:
            assert view.jobs.counts() == view.jobs.counts(made.p) == (0, 0, None)
        made.remember("one")
        other.remember("one")
        other.remember("two")
        with store.reading() as view:
            counts = [view.jobs.counts(p)[0] for p in (None, made.p, other.p)]
            assert counts == [3, 1, 2]

    def test_texts_are_those_of_the_passages_that_are_there(self, store: Store) -> None:
        made = Embedded(store)
        one = made.remember("one", title="First", key="k", value="v", key_fp="kf", value_fp="vf", scope="user:kim")
        ident = made.recorder.remember("said", session="s", turn=2, speaker="Ana")
        said = made.rid(ident)
        made.recorder.record("memory.archived", {"memory": ident, "by": "application"})
        with store.reading() as view:
            first, second = view.jobs.texts(made.p, [said, one, 4096 * 999])
            assert view.jobs.texts(made.p, []) == []
        assert (first.rid, first.body, first.title, first.key, first.value) == (one, "one", "First", "k", "v")
        assert (first.scope, first.session, first.turn, first.live) == ("user:kim", None, None, True)
        assert (second.body, second.session, second.turn, second.speaker, second.live) == ("said", "s", 2, "Ana", False)
        assert "contract" in second.origin

    def test_turns_are_the_live_ones_of_a_stretch_of_a_session(self, store: Store) -> None:
        made = Embedded(store)
        for turn in (3, 1, 2, 4):
            made.remember(f"turn {turn}", session="s", turn=turn)
        made.remember("elsewhere", session="t", turn=2)
        made.remember("beside", session="s")
        gone = made.recorder.remember("gone", session="s", turn=2)
        made.recorder.record("memory.archived", {"memory": gone, "by": "application"})
        with store.reading() as view:
            assert [text.body for text in view.jobs.turns(made.p, "s", 1, 3)] == ["turn 1", "turn 2", "turn 3"]
            assert view.jobs.turns(made.p, "u", 0, 9) == view.jobs.turns(made.p + 1, "s", 0, 9) == []

    def test_what_a_model_has_not_read_is_queued_again(self, store: Store) -> None:
        made = Embedded(store)
        one, two = made.remember("one"), made.remember("two")
        gone = made.recorder.remember("gone")
        made.recorder.record("memory.archived", {"memory": gone, "by": "application"})
        made.done()
        made.put([vector(one)])
        other = made.known("other")
        with store.writing() as tx:
            assert tx.jobs.requeue(made.p, model=made.model.id) == 1
            assert tx.jobs.requeue(made.p, model=made.model.id) == 0
        assert made.due() == [two]
        with store.writing() as tx:
            assert tx.jobs.requeue(made.p, model=other.id) == 1
        assert made.due() == [one, two]


class ModelsContract:
    """`eunoe.ports.vectors.Models`."""

    def test_a_model_is_registered_once_by_its_fingerprint(self, store: Store) -> None:
        with store.writing() as tx:
            assert tx.models.known("f") is None
            one = tx.models.register("name", "f", 3)
            again = tx.models.register("another name", "f", 3)
            other = tx.models.register("name", "g", 3)
        assert (one.id, one.name, one.fingerprint, one.dim) == (again.id, again.name, again.fingerprint, again.dim)
        assert other.id != one.id
        with store.reading() as view:
            found = view.models.known("f")
        assert found is not None
        assert (found.id, found.name, found.dim) == (one.id, "name", 3)

    def test_the_model_bound_last_serves_whatever_the_clock_says(self, store: Store) -> None:
        with store.writing() as tx:
            assert tx.models.bound() is None
            one, other = tx.models.register("one", "f", 3), tx.models.register("other", "g", 3)
            assert tx.models.bound() is None
        for now, model in ((START_US, one), (START_US - 10, other), (START_US - 20, one), (START_US - 20, other)):
            with store.writing() as tx:
                tx.models.bind(model, now=now)
            with store.reading() as view:
                bound = view.models.bound()
            assert bound is not None
            assert bound.id == model.id

    def test_a_lease_is_held_by_one_and_kept_by_asking_again(self, store: Store) -> None:
        def take(holder: str, now: int, name: str = "work") -> bool:
            with store.writing() as tx:
                return tx.models.lease(name, holder, now=START_US + now, until=START_US + now + 10)

        assert take("a", 0)
        assert not take("b", 9)
        assert take("b", 9, "other work")
        assert take("a", 9)
        assert not take("b", 18)
        assert take("b", 19)
        assert not take("a", 20)

    def test_only_the_holder_gives_a_lease_back(self, store: Store) -> None:
        with store.writing() as tx:
            assert tx.models.lease("work", "a", now=0, until=10)
            tx.models.release("work", "b")
            assert not tx.models.lease("work", "b", now=0, until=10)
            tx.models.release("work", "a")
            assert tx.models.lease("work", "b", now=0, until=10)

    def test_a_lease_that_was_taken_in_vain_is_not_held(self, store: Store) -> None:
        def fail() -> None:
            with store.writing() as tx:
                assert tx.models.lease("work", "a", now=0, until=10)
                tx.projects.register(uuid="u", slug="acme/api", identity=None, secret=b"s" * 32, now=0)

        Recorder(store)
        refusal(fail)
        with store.writing() as tx:
            assert tx.models.lease("work", "b", now=0, until=10)


def due_after(made: Embedded, rid: int, now: int) -> int:
    """Return after how many microseconds a job may be tried again."""
    low, high = 0, 10**13
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if rid in made.due(now=now + middle) else (middle + 1, high)
    return low

"""The contract suite of `eunoe.ports.vectors.Vectors`; see `eunoe.testing.contracts`. To a store, vectors are bytes."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from eunoe.ports.store import Rebuilding, Store
from eunoe.ports.vectors import Model, TokenStates, Vector, whole
from eunoe.projections.decided import decided
from eunoe.projections.project import project as project_event
from eunoe.projections.project import touched
from eunoe.testing.clock import START_US
from eunoe.testing.contracts import BOTH, SHARED
from eunoe.testing.records import Recorder, words

DIM = 4
PRIVATE = ("user:kim",)


class Embedded:
    """A project whose texts have vectors of a model, as a suite writes them."""

    def __init__(self, store: Store, *, slug: str = "acme/api", model: str = "one") -> None:
        self.store = store
        self.recorder = Recorder(store, slug=slug)
        self.model = self.known(model)

    @property
    def p(self) -> int:
        """Return the project's number in the store."""
        return self.recorder.p

    def known(self, name: str) -> Model:
        """Return a model of the store by its name."""
        with self.store.writing() as tx:
            return tx.models.register(name, name * 8, DIM)

    def rid(self, ident: str) -> int:
        """Return the row number of a memory's passage."""
        with self.store.reading() as view:
            passage = view.snapshots(self.p, [ident])[ident].passage
        assert passage is not None
        rid: int = passage["rid"]
        return rid

    def remember(self, body: str, **given: object) -> int:
        """Record a memory and return the row number of its passage."""
        return self.rid(self.recorder.remember(body, **given))  # type: ignore[arg-type]

    def put(
        self,
        vectors: Sequence[Vector] = (),
        states: Sequence[TokenStates] = (),
        sources: Sequence[tuple[int, int]] = (),
        model: Model | None = None,
    ) -> None:
        """Store vectors, states and sources."""
        with self.store.writing() as tx:
            tx.vectors(self.p, (model or self.model).id).put(vectors, states, sources)

    def position(self) -> tuple[int, int]:
        """Return the position of the model's vectors."""
        with self.store.reading() as view:
            return view.vectors(self.p, self.model.id).position()

    def since(self, generation: int = 0) -> list[tuple[int, int, float, bytes]]:
        """Return what is newer than a generation."""
        with self.store.reading() as view:
            return list(view.vectors(self.p, self.model.id).since(generation))

    def exact(self, *rids: int, model: Model | None = None) -> dict[int, tuple[bytes, int, int]]:
        """Return exact vectors."""
        with self.store.reading() as view:
            return view.vectors(self.p, (model or self.model).id).exact(rids)

    def states(self, *rids: int) -> set[int]:
        """Return which texts have token states."""
        with self.store.reading() as view:
            return set(view.vectors(self.p, self.model.id).states(rids))

    def statistics(self, *tokens: int, scopes: Sequence[str] = SHARED) -> tuple[int, dict[int, int]]:
        """Return the token statistics."""
        with self.store.reading() as view:
            return view.vectors(self.p, self.model.id).token_statistics(tokens, scopes)

    def due(self, *, now: int = START_US, limit: int = 99) -> list[int]:
        """Return the project's jobs that may be tried."""
        with self.store.reading() as view:
            return [rid for p, rid in view.jobs.due(now=now, limit=limit) if p == self.p]

    def done(self, *rids: int) -> None:
        """Take jobs off the queue: those given, else all."""
        with self.store.writing() as tx:
            tx.jobs.done(self.p, rids or self.due())


def vector(rid: int, fill: int = 1, *, first: int = 0, last: int = 0) -> Vector:
    """Return a vector of equal numbers."""
    return Vector(rid, first, last, fill / 2, bytes([fill]) * DIM, bytes([fill, 0]) * DIM)


def read(rid: int, *tokens: int, block: int | None = None, scope: str = "project") -> TokenStates:
    """Return the states of a text of so many tokens."""
    ids = array("I", tokens).tobytes()
    return TokenStates(rid, rid if block is None else block, scope, ids, bytes((DIM + 2) * len(tokens)))


class VectorsContract:
    """`eunoe.ports.vectors.WritableVectors`."""

    def test_there_is_nothing_at_first(self, store: Store) -> None:
        made = Embedded(store)
        assert (made.position(), made.since(), made.exact(1), made.states(1)) == ((0, 0), [], {}, set())
        assert made.statistics(1, 2, scopes=BOTH) == (0, {})
        with store.reading() as view:
            assert set(view.vectors(made.p, made.model.id).sizes().values()) == {0}

    def test_what_is_new_comes_in_the_order_in_which_it_was_put(self, store: Store) -> None:
        made = Embedded(store)
        made.put([vector(8192, 1), vector(4096, 2)])
        seen, _ = made.position()
        made.put([vector(12288, 3)])
        assert [row[1:] for row in made.since()] == [
            (8192, 0.5, bytes([1]) * DIM),
            (4096, 1.0, bytes([2]) * DIM),
            (12288, 1.5, bytes([3]) * DIM),
        ]
        generations = [row[0] for row in made.since()]
        assert generations == sorted(set(generations))
        assert [row[1] for row in made.since(seen)] == [12288]
        assert (made.since(made.position()[0]), made.position()) == ([], (generations[-1], 0))

    def test_what_is_put_again_is_replaced_and_is_new(self, store: Store) -> None:
        made = Embedded(store)
        made.put([vector(4096, 1), vector(8192, 1)])
        seen, removals = made.position()
        made.put([vector(4096, 9)])
        assert [row[1:] for row in made.since(seen)] == [(4096, 4.5, bytes([9]) * DIM)]
        assert [row[1] for row in made.since()] == [8192, 4096]
        assert made.exact(4096) == {4096: (bytes([9, 0]) * DIM, 0, 0)}
        assert made.position()[1] == removals

    def test_exact_vectors_are_those_asked_for_that_are_there(self, store: Store) -> None:
        made = Embedded(store)
        made.put([vector(rid << 12, rid % 250, first=rid, last=2 * rid) for rid in range(1, 1201)])
        assert made.exact() == made.exact(1, 2) == {}
        assert made.exact(7 << 12, 5) == {7 << 12: (bytes([7, 0]) * DIM, 7, 14)}
        assert len(made.exact(*(rid << 12 for rid in range(1, 1300)))) == 1200

    def test_taking_vectors_out_is_a_removal_and_generations_go_on(self, store: Store) -> None:
        made = Embedded(store)
        made.put([vector(4096), vector(4097), vector(8192)])
        with store.writing() as tx:
            tx.vectors(made.p, made.model.id).remove([])
        assert made.position() == (3, 0)
        with store.writing() as tx:
            tx.vectors(made.p, made.model.id).remove([8192, 12288])
        assert made.position() == (3, 1)
        assert [row[1] for row in made.since()] == [4096, 4097]
        made.put([vector(8192)])
        assert made.position() == (4, 1)

    def test_clearing_takes_out_all_of_one_model_and_nothing_else(self, store: Store) -> None:
        made, elsewhere = Embedded(store), Embedded(store, slug="acme/other")
        other = made.known("other")
        for model in (made.model, other):
            made.put([vector(4096)], [read(4096, 1, 2)], [(4096, 4096)], model)
        elsewhere.put([vector(4096)], [read(4096, 1)])
        with store.writing() as tx:
            tx.vectors(made.p, made.model.id).clear()
        assert (made.since(), made.states(4096), made.statistics(1)) == ([], set(), (0, {}))
        assert made.position() == (1, 1)
        assert set(made.exact(4096, model=other)) == set(elsewhere.exact(4096)) == elsewhere.states(4096) == {4096}
        with store.reading() as view:
            assert view.vectors(made.p, other.id).token_statistics([1], SHARED) == (1, {1: 1})

    def test_tokens_are_counted_once_a_text_and_by_scope(self, store: Store) -> None:
        made = Embedded(store)
        made.put([], [read(4096, 1, 2, 2), read(8192, 2, 3), read(12288, 3, scope="user:kim")])
        assert made.statistics(1, 2, 3, 4) == (2, {1: 1, 2: 2, 3: 1})
        assert made.statistics(3, scopes=PRIVATE) == (1, {3: 1})
        assert made.statistics(3, scopes=BOTH) == (3, {3: 2})
        assert made.statistics() == (2, {})

    def test_replacing_and_removing_states_leaves_the_counts_exact(self, store: Store) -> None:
        made = Embedded(store)
        made.put([], [read(4096, 1, 2), read(8192, 2)])
        made.put([], [read(4096, 2, 3)])
        assert made.statistics(1, 2, 3) == (2, {2: 2, 3: 1})
        made.put([], [read(4096, 2, 3)])
        assert made.statistics(1, 2, 3) == (2, {2: 2, 3: 1})
        with store.writing() as tx:
            tx.vectors(made.p, made.model.id).remove_states([4096, 12288])
        assert (made.statistics(1, 2, 3), made.states(4096, 8192)) == ((1, {2: 1}), {8192})
        with store.writing() as tx:
            tx.vectors(made.p, made.model.id).remove_states([8192])
        assert made.statistics(1, 2, 3) == (0, {})

    def test_what_is_no_longer_believed_counts_no_more_and_keeps_its_states(self, store: Store) -> None:
        made = Embedded(store)
        made.put([vector(4096, last=2), vector(8192)], [read(4097, 1, 2), read(4098, 2), read(8192, 2)])
        for _ in range(2):
            with store.writing() as tx:
                tx.vectors(made.p, made.model.id).discount([4096, 12288])
            assert made.statistics(1, 2) == (1, {2: 1})
            assert made.states(4097, 4098, 8192) == {4097, 4098, 8192}
        with store.writing() as tx:
            tx.vectors(made.p, made.model.id).remove_states([4097, 4098])
        assert made.statistics(1, 2) == (1, {2: 1})

    def test_the_oldest_states_go_first_when_there_are_too_many(self, store: Store) -> None:
        made = Embedded(store)
        rids = [at << 12 for at in (3, 1, 2)]
        made.put([vector(rid) for rid in rids], [read(rid, 1, 2) for rid in rids])
        with store.writing() as tx:
            vectors = tx.vectors(made.p, made.model.id)
            assert vectors.drop_states(keep_bytes=vectors.sizes()["state_bytes"]) == 0
            assert vectors.drop_states(keep_bytes=vectors.sizes()["state_bytes"] - 1) == 1
        assert made.states(*rids) == {3 << 12, 2 << 12}
        assert (made.statistics(1), len(made.since())) == ((2, {1: 2}), 3)
        with store.writing() as tx:
            assert tx.vectors(made.p, made.model.id).drop_states(keep_bytes=0) == 2
        assert made.statistics(1) == (0, {})

    def test_sizes_are_those_of_what_is_there(self, store: Store) -> None:
        made = Embedded(store)
        made.put([vector(4096), vector(8192)], [read(4096, 1, 2)])
        with store.reading() as view:
            sizes = view.vectors(made.p, made.model.id).sizes()
        assert (sizes["vectors"], sizes["vector_bytes"]) == (2, 2 * 3 * DIM)
        assert (sizes["states"], sizes["state_bytes"]) == (1, 2 * 4 + 2 * (DIM + 2))

    def test_what_is_missing_are_live_passages_without_a_vector(self, store: Store) -> None:
        made = Embedded(store)
        one, two, three = (made.remember(body) for body in ("one", "two", "three"))
        gone = made.recorder.remember("gone")
        made.recorder.record("memory.archived", {"memory": gone, "by": "application"})
        made.put([vector(two), vector(two + 1)])
        with store.reading() as view:
            vectors = view.vectors(made.p, made.model.id)
            assert vectors.missing(after=0, limit=9) == [one, three]
            assert vectors.missing(after=one, limit=9) == [three]
            assert vectors.missing(after=0, limit=1) == [one]

    def test_an_error_in_the_transaction_takes_all_of_it_back(self, store: Store) -> None:
        made = Embedded(store)
        try:
            with store.writing() as tx:
                tx.vectors(made.p, made.model.id).put([vector(4096)], [read(4096, 1)], [(4096, 4096)])
                raise KeyError
        except KeyError:
            pass
        assert (made.position(), made.since(), made.statistics(1)) == ((0, 0), [], (0, {}))

    def test_a_turn_that_goes_voids_what_was_read_together_with_it(self, store: Store) -> None:
        made = Embedded(store)
        idents = [made.recorder.remember(f"turn {turn}", session="s", turn=turn) for turn in range(4)]
        turns = [made.rid(ident) for ident in idents]
        single = made.remember("alone")
        states = [read(rid, 1, block=turns[0]) for rid in turns[:3]]
        states += [read(turns[3], 1), read(single, 1)]
        made.put([vector(rid) for rid in turns], states, [(rid, turns[0]) for rid in turns[:3]])
        made.done()
        made.recorder.record("memory.archived", {"memory": idents[1], "by": "application"})
        assert made.states(turns[0], turns[2], turns[3], single) == {turns[3], single}
        assert made.due() == turns[:3]
        made.put([], [read(rid, 2, block=turns[0]) for rid in (turns[0], turns[2])], [(turns[0], turns[0])])
        made.done()
        assert made.states(turns[0], turns[2]) == {turns[0], turns[2]}
        made.recorder.record("memory.revised", {"memory": idents[0], "version": 2}, {"body": "another"})
        assert turns[2] in made.due()
        assert turns[2] not in made.states(turns[2])

    def test_an_event_that_changes_no_word_voids_nothing(self, store: Store) -> None:
        made = Embedded(store)
        idents = [made.recorder.remember(f"turn {turn}", session="s", turn=turn) for turn in range(2)]
        turns = [made.rid(ident) for ident in idents]
        made.put([], [read(rid, 1, block=turns[0]) for rid in turns], [(rid, turns[0]) for rid in turns])
        made.done()
        made.recorder.record(
            "memory.confirmed", {"memory": idents[0], "how": "explicit", "counts_as_confirmation": True}
        )
        assert (made.states(*turns), made.due()) == (set(turns), [])


class RebuiltVectorsContract:
    """What a rebuild does with vectors: `eunoe.ports.store.Rebuilding`."""

    def test_a_rebuild_keeps_vectors(self, store: Store) -> None:
        made = embedded(store)
        before = (made.since(), made.position(), made.statistics(1), made.due())
        with replayed(made) as rebuilding:
            assert rebuilding.differences() == {}
            rebuilding.swap()
        assert (made.since(), made.position(), made.statistics(1), made.due()) == before

    def test_a_text_without_vector_and_job_is_a_difference_and_is_queued(self, store: Store) -> None:
        made = embedded(store)
        lost = made.since()[0][1]
        with store.writing() as tx:
            tx.vectors(made.p, made.model.id).remove([lost])
        with replayed(made) as rebuilding:
            assert rebuilding.differences() == {"vectors": 1}
            rebuilding.swap()
        assert made.due() == [lost]
        with replayed(made) as rebuilding:
            assert rebuilding.differences() == {}

    def test_what_belongs_to_no_text_is_taken_out(self, store: Store) -> None:
        made = embedded(store)
        nowhere = whole(made.since()[-1][1]) + (99 << 12)
        made.put([vector(nowhere), vector(nowhere + 1)], [read(nowhere, 1)])
        with replayed(made) as rebuilding:
            rebuilding.differences()
            rebuilding.swap()
        assert (made.exact(nowhere, nowhere + 1), made.states(nowhere)) == ({}, set())
        assert made.position()[1] > 0
        assert made.statistics(1) == (2, {1: 2})


def embedded(store: Store) -> Embedded:
    """Return a project of two texts, one in parts, that the bound model has read."""
    made = Embedded(store)
    one, two = made.remember("one"), made.remember("two")
    with store.writing() as tx:
        tx.models.bind(made.model, now=START_US)
    made.put([vector(one), vector(two, last=2), vector(two + 1), vector(two + 2)], [read(one, 1), read(two + 1, 1)])
    made.done()
    return made


@contextmanager
def replayed(made: Embedded) -> Iterator[Rebuilding]:
    """Yield new projections into which every event was replayed, every writer held off."""
    number = 0
    with made.store.rebuilding(made.p) as rebuilding, rebuilding.locked() as ledger:
        for event in ledger.events():
            meta = event.read_meta()
            before = rebuilding.snapshots(made.p, touched(event.type, meta))
            number += event.type == "memory.recorded"
            seen = decided(made.p, event, meta, event.read_payload())
            rebuilding.apply(project_event(seen, before, number=number, analyse=words))
        yield rebuilding

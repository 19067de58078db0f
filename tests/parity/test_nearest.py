"""An HNSW index finds what comparing every vector finds, filtered or not, and never what is gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean
from typing import Any

import numpy as np
import psycopg
import pytest
from tests.cases.conftest import put_in
from tests.postgres import Server, schema_of

from eunoe import Memory, bootstrap
from eunoe.models.fake import FakeEmbedder
from eunoe.ports.embedder import Meaning
from eunoe.ports.text_index import Filter
from eunoe.retrieval.late import cosines
from eunoe.retrieval.quantise import halves
from eunoe.stores.postgres import nearest
from eunoe.stores.postgres.dialect import statement
from eunoe.testing.clock import START_US, ManualClock, SeededEntropy

pytestmark = pytest.mark.sqlite("a server of its own")

CLUSTERS, MEMBERS, QUESTIONS = 60, 50, 60
EXACT_BELOW = 200  # less than the tenth that one of the filters keeps: so it goes by the index, too
TENTH, HUNDREDTH = ("tenth",), ("hundredth",)
DIM = 64


class Clustered(FakeEmbedder):
    """Reads `c12x3` as the third vector near the twelfth centre."""

    has_states = False

    def __init__(self) -> None:
        super().__init__(DIM, "clustered")

    def passages(self, texts: Sequence[str]) -> Any:
        return np.array([vector_of(text) for text in texts], np.float32).reshape(len(texts), DIM)

    def query(self, text: str) -> Meaning:
        return Meaning(vector_of(text), None)


def vector_of(text: str) -> Any:
    cluster, member = map(int, text.split()[0][1:].split("x"))
    near = np.random.default_rng(cluster).normal(size=DIM)
    vector = near + 0.6 * np.random.default_rng((cluster, member)).normal(size=DIM)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def opened(store: str) -> Memory:
    session = bootstrap.open_session(
        store=store,
        project="acme/api",
        environ={"HOME": "/nowhere", "EUNOE_MODEL": "fake"},
        clock=ManualClock(),
        entropy=SeededEntropy("nearest"),
        background=False,
    )
    return put_in(Memory(session), Clustered())


@pytest.fixture(scope="module")
def address(postgres_server: Server) -> Iterator[str]:
    """A store with a few thousand vectors, which are many here, and their index."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(nearest, "EXACT_BELOW", EXACT_BELOW)
        store = postgres_server.fresh()
        with opened(store) as m:
            numbers = range(CLUSTERS * MEMBERS)
            m.remember_many([{"body": f"c{n % CLUSTERS}x{n // CLUSTERS}", "tags": tags_of(n)} for n in numbers])
            assert m.flush().embedded == len(numbers)
            tend(m)
        yield store
        postgres_server.drop(store)


@pytest.fixture
def m(address: str) -> Iterator[Memory]:
    with opened(address) as memory:
        yield memory


def tags_of(number: int) -> list[str]:
    return [*(TENTH if number % 10 == 0 else ()), *(HUNDREDTH if number % 100 == 0 else ())]


def tend(m: Memory) -> None:
    with m._context.store.reading() as view:
        model = view.models.bound()
        p = m._context.existing(view).p
    assert model is not None
    m._context.store.tend_vectors(p, model)


def found(m: Memory, question: str, tags: Sequence[str] = (), *, in_order: bool = False) -> list[int]:
    """Return the row numbers of the ten nearest, as the store finds them.

    With `in_order` the server goes along the index where it would rather sort the few that pass.
    """
    with m._context.store.reading() as view:
        vectors: Any = view.vectors(m._context.existing(view).p, bound(view))
        if in_order:
            vectors._connection.run("set local enable_sort = off")
        return [rid for rid, _ in vectors.nearest(halves(vector_of(question)), accepted(tags), limit=10)]


def exactly(m: Memory, question: str, tags: Sequence[str] = ()) -> list[int]:
    """Return the row numbers of the ten nearest, by comparing all."""
    with m._context.store.reading() as view:
        p = m._context.existing(view).p
        held = view.vectors(p, bound(view)).exact(view.index(p).rows(accepted(tags)))
    numbers = cosines(vector_of(question), [vector for vector, _, _ in held.values()])
    return [rid for _, rid in sorted((-cosine, rid) for rid, cosine in zip(held, numbers, strict=True))[:10]]


def accepted(tags: Sequence[str]) -> Filter:
    return Filter(scopes=["project"], now=START_US + 1_000_000, tags=tags)


def bound(view: Any) -> int:
    return int(view.models.bound().id)


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize(("tags", "least"), [((), 0.95), (TENTH, 0.98), (HUNDREDTH, 0.98)], ids=["all", "10 %", "1 %"])
def test_the_index_finds_what_comparing_all_finds(m: Memory, tags: Sequence[str], least: float, in_order: bool) -> None:
    shares = []
    for number in range(QUESTIONS):
        question = f"c{number % CLUSTERS}x{1000 + number}"
        wanted = exactly(m, question, tags)
        assert len(wanted) == 10
        shares.append(len(set(wanted) & set(found(m, question, tags, in_order=in_order))) / 10)
    assert mean(shares) >= least


@pytest.mark.parametrize(
    ("tags", "in_order", "is_used"),
    [((), False, True), (TENTH, True, True), (HUNDREDTH, False, False), (HUNDREDTH, True, False)],
)
def test_the_index_is_used_where_many_vectors_pass(
    m: Memory, tags: Sequence[str], in_order: bool, is_used: bool
) -> None:
    assert ("vector_index_hnsw" in plan(m, tags, in_order=in_order)) == is_used


def plan(m: Memory, tags: Sequence[str], *, in_order: bool = False) -> str:
    """Return how the server answers the last statement of a search."""
    asked: list[tuple[str, Any]] = []
    with m._context.store.reading() as view:
        vectors: Any = view.vectors(m._context.existing(view).p, bound(view))
        connection = vectors._connection
        run = connection.run
        if in_order:
            run("set local enable_sort = off")
        connection.run = lambda sql, params=None: (asked.append((sql, params)), run(sql, params))[1]
        vectors.nearest(halves(vector_of("c1x1")), accepted(tags), limit=10)
        text, pick = statement(asked[-1][0])
        with psycopg.RawCursor(connection._db) as cursor:
            rows = cursor.execute(f"explain {text}".encode(), pick(asked[-1][1])).fetchall()
    return "\n".join(line for (line,) in rows)


def test_what_is_gone_is_found_no_more_and_what_was_embedded_anew_where_it_is_now(m: Memory) -> None:
    first, second, *_ = found(m, "c7x1000")
    numbers = numbers_of(m, [first, second])
    m.forget(numbers[first])
    m.update(numbers[second], body="c8x2000")
    m.flush()
    assert not {first, second} & set(found(m, "c7x1000"))
    assert found(m, "c7x1000") == exactly(m, "c7x1000")
    anew = found(m, "c8x2000")[0]
    assert numbers_of(m, [anew]) == {anew: numbers[second]}


def numbers_of(m: Memory, rids: Sequence[int]) -> dict[int, int]:
    """Return row number → number of its memory."""
    with m._context.store.reading() as view:
        p = m._context.existing(view).p
        passages = {each.rid: each.memory for each in view.index(p).passages(rids, accepted(()))}
    return {rid: m.get(memory).number for rid, memory in passages.items()}


def test_an_index_that_was_left_half_made_is_replaced(postgres_server: Server, address: str) -> None:
    name = f"{schema_of(address)}.vector_index_hnsw_1_1"
    valid = f"select indisvalid from pg_index where indexrelid = '{name}'::regclass"
    assert postgres_server.execute(valid) == [(True,)]
    broken = f"update pg_index set indisvalid = false where indexrelid = '{name}'::regclass"
    postgres_server.execute(f"set allow_system_table_mods = on; {broken}")
    with opened(address) as m:
        assert "vector_index_hnsw" not in plan(m, ())
        assert found(m, "c3x1000") == exactly(m, "c3x1000")
        tend(m)
        assert "vector_index_hnsw" in plan(m, ())
    assert postgres_server.execute(valid) == [(True,)]

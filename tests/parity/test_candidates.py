"""Whatever selects candidates by words, the one scorer then finds the same: SQLite's FTS5, tsvector, pg_textsearch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from tests.parity.conftest import told
from tests.postgres import Server
from tests.strategies import changed, reopened

from eunoe import Memory
from eunoe.retrieval.recipes import DEFAULT
from eunoe.testing.clock import ManualClock, SeededEntropy

pytestmark = pytest.mark.sqlite("all engines in one run")

ROOT = Path(__file__).parents[2]
SETS = (ROOT / "src" / "eunoe" / "evaluation" / "data", ROOT / "benchmarks" / "training")
LEAST = 0.95
FEW = 30  # candidates: a tenth of what there is, so that it matters which


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for each in SETS for line in (each / name).read_text(encoding="utf-8").splitlines()]


def filled(store: str) -> Memory:
    """Return a store that holds a few hundred memories as people write them."""
    memory = Memory.open(store, project="acme/api", clock=ManualClock(), entropy=SeededEntropy("candidates"))
    memory.remember_many(
        [
            {"body": row["body"], "title": row.get("title"), "tags": row.get("tags", [])[:12]}
            for row in lines("memories.jsonl")
        ]
    )
    return of(memory, candidates=FEW)


def of(memory: Memory, *, candidates: int) -> Memory:
    """Return a memory whose engine selects so many candidates by words."""
    recipe = copy(DEFAULT)
    recipe.candidates = candidates
    return reopened(memory, changed(memory._context, recipe=recipe))


@pytest.fixture(scope="module")
def textsearch_server() -> Iterator[Server]:
    """A server with pgvector and pg_textsearch."""
    server = Server("pgserver")
    server.restart("shared_preload_libraries=pg_textsearch")
    for extension in ("vector", "pg_textsearch"):
        server.execute(f"create extension {extension}")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def by_fts5() -> Iterator[Memory]:
    with filled(":memory:") as memory:
        yield memory


@pytest.fixture(scope="module")
def by_tsvector(postgres_server: Server) -> Iterator[Memory]:
    address = postgres_server.fresh()
    with filled(address) as memory:
        yield memory
    postgres_server.drop(address)


@pytest.fixture(scope="module")
def by_bm25(textsearch_server: Server) -> Iterator[Memory]:
    with filled(textsearch_server.fresh()) as memory:
        yield memory


@pytest.mark.parametrize(("engine", "has_bm25"), [("by_tsvector", False), ("by_bm25", True)])
def test_the_ten_best_are_the_same(
    request: pytest.FixtureRequest, by_fts5: Memory, engine: str, has_bm25: bool
) -> None:
    other: Memory = request.getfixturevalue(engine)
    assert other._context.store.describe()["bm25"] == has_bm25
    shares = []
    for row in lines("queries.jsonl")[::2]:
        one, two = (ten_best(memory, row["text"]) for memory in (by_fts5, other))
        shares.append(len(one & two) / max(len(one | two), 1))
    assert len(shares) > 300
    assert mean(shares) >= LEAST


def ten_best(memory: Memory, question: str) -> set[str]:
    return {hit.id for hit in memory.recall(question, limit=10).hits}


def test_bm25_answers_as_tsvector_does_where_everything_is_a_candidate(by_tsvector: Memory, by_bm25: Memory) -> None:
    for row in lines("queries.jsonl")[::10]:
        one, two = (of(memory, candidates=1000).recall(row["text"], explain=True) for memory in (by_tsvector, by_bm25))
        assert told(one) == told(two)


def test_a_store_that_pg_textsearch_came_to_late_finds_everything_before_and_after(textsearch_server: Server) -> None:
    textsearch_server.execute("drop extension pg_textsearch cascade")
    address = textsearch_server.fresh()
    how: dict[str, Any] = {"project": "acme/api", "clock": ManualClock(), "entropy": SeededEntropy("late")}
    with Memory.open(address, **how) as memory:
        memory.remember("The deploy target is Frankfurt")
    textsearch_server.execute("create extension pg_textsearch")
    for has_bm25 in (False, True):
        with Memory.open(address, **how) as memory:
            assert memory._context.store.describe()["bm25"] == has_bm25
            memory.remember(f"It was deployed with Frankfurt in mind; {has_bm25=}")
            assert {hit.number for hit in memory.recall("deploy Frankfurt")} == {*range(1, memory.count() + 1)}
            assert memory.rebuild().swapped == (not has_bm25)

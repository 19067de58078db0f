"""kill -9 at any moment: nothing that was acknowledged is lost, nothing is half-written."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.processes import Child, write_without_end

from eunoe import Memory

KILLS = int(os.environ.get("EUNOE_SOAK_KILLS", "50"))
ROUNDS_A_STORE = 25
PROJECT = "acme/api"


def open_memory(store: Path | str) -> Memory:
    return Memory.open(store, project=PROJECT, user="kim")


@contextmanager
def raw(store: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        yield connection
    finally:
        connection.close()


def rows(store: Path, sql: str) -> list[tuple[Any, ...]]:
    with raw(store) as connection:
        return connection.execute(sql).fetchall()


def assert_whole(store: Path) -> None:
    """Numbers and places are gapless, every event has its projections, and the file is sound."""
    numbers = [number for (number,) in rows(store, "select number from memories order by number")]
    assert numbers == list(range(1, len(numbers) + 1))
    ((events, last, n),) = rows(store, "select count(*), max(seq), max(n) from events")
    assert events == (last or 0) == (n or 0)
    ((recorded,),) = rows(store, "select count(*) from events where type = 'memory.recorded'")
    assert len(numbers) == recorded
    assert rows(store, "pragma integrity_check") == [("ok",)]


def assert_rebuild_agrees(memory: Memory) -> None:
    assert memory.rebuild(dry_run=True).differences == {}
    assert memory.verify().ok


# ── writers that are killed ──────────────────────────────────────────────────────────────────────────────────────────


def write_many_things(acknowledge: Callable[..., None], store: Path, tag: str) -> None:
    """Single writes of every sort, until the end."""
    with open_memory(store) as memory:
        write_without_end(acknowledge, memory, tag)


def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    chance = random.Random(20_260_101)
    acknowledged: list[list[Any]] = []
    store = tmp_path / "store.sqlite"
    for at in range(KILLS):
        if at % ROUNDS_A_STORE == 0:
            store, acknowledged = tmp_path / f"{at}" / "store.sqlite", []
        child = Child(write_many_things, store, f"round{at}")
        # A third of the kills fall into the opening (and, in a new store, into making it), the others into writes.
        early = at % 3 == 0
        new = [] if early else child.read(chance.randrange(1, 25))
        new += child.kill(chance.uniform(0, 0.03 if early else 0.004))
        acknowledged += new

        with open_memory(store) as memory:
            for word, number in new:
                assert number in [hit.number for hit in memory.recall(word).hits]
            for word, number in chance.sample(acknowledged, min(20, len(acknowledged))):
                assert word in memory.get(number).body
            assert memory.verify().ok
            if at % 10 == 9 or at == KILLS - 1:
                assert_rebuild_agrees(memory)
                for word, number in acknowledged:
                    assert word in memory.get(number).body
        assert_whole(store)


def write_batches(acknowledge: Callable[..., None], store: Path, tag: str) -> None:
    with open_memory(store) as memory:
        for i in range(100_000):
            batch = f"{tag}n{i}"
            memory.remember_many([{"body": f"{batch} item{j}", "tags": [batch]} for j in range(20)])
            acknowledge(batch)


def test_a_batch_that_is_killed_is_there_whole_or_not_at_all(store_path: Path) -> None:
    chance = random.Random(2)
    sizes: list[int] = []
    for at in range(10):
        child = Child(write_batches, store_path, f"batch{at}")
        acknowledged = child.read(chance.randrange(1, 4)) + child.kill(chance.uniform(0, 0.03))
        with open_memory(store_path) as memory:
            for (batch,) in acknowledged:
                assert memory.count(tags=(batch,)) == 20
            assert memory.verify().ok
        found = rows(store_path, "select tag, count(*) from tags group by tag")
        assert {size for _, size in found} == {20}
        sizes.append(len(found))
        assert_whole(store_path)
    assert sizes == sorted(sizes)


def die_before(memory: Memory, statement: int) -> None:
    """Let the process be killed before that statement of its next write, counted from 0."""
    left = statement

    def die(*_: Any) -> bool:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    engine: Any = memory._opened.context.store._engine  # type: ignore[attr-defined]
    engine._writer.db.exec_trace = die


def write_a_hundred_and_one(acknowledge: Callable[..., None], store: Path, statement: int) -> None:
    with open_memory(store) as memory:
        for i in range(100):
            acknowledge(memory.remember(f"acknowledged{i} is here").number)
        die_before(memory, statement)
        memory.remember("the hundred and first, with a tag and a path", tags=["x"], paths=["src/a.py"], key="a/b")
        acknowledge("survived")


def test_a_statement_any_statement_of_a_write_leaves_a_hundred_memories_or_one_more(tmp_path: Path) -> None:
    """OPEN-08, at every point between two statements instead of at random ones."""
    for statement in range(200):
        store = tmp_path / f"{statement}.sqlite"
        child = Child(write_a_hundred_and_one, store, statement)
        acknowledged = child.read(101)
        child.kill(10)
        ((count,),) = rows(store, "select count(*) from memories")
        if acknowledged[-1] == ["survived"]:
            assert count == 101
            assert statement > 10  # the trace saw the statements of the write
            return
        assert (len(acknowledged), count) == (100, 100)
        assert_whole(store)
        if statement % 8 == 0:
            with open_memory(store) as memory:
                assert memory.remember("the hundred and first").number == 101
                assert [hit.number for hit in memory.recall("acknowledged57").hits] == [58]
                assert_rebuild_agrees(memory)
        store.unlink()
    pytest.fail("the write never came to its end")


def test_a_kill_while_a_store_is_made_leaves_a_store_that_opens(tmp_path: Path) -> None:
    chance = random.Random(4)
    for at in range(20):
        store = tmp_path / f"{at}" / "store.sqlite"
        acknowledged = Child(write_many_things, store, f"new{at}").kill(chance.uniform(0, 0.025))
        with open_memory(store) as memory:
            assert memory.count() >= len(acknowledged)
            memory.remember("the store can be used")
            assert_rebuild_agrees(memory)
        assert_whole(store)


# ── long work that is killed ─────────────────────────────────────────────────────────────────────────────────────────

PROJECTIONS = ("memories", "memory_versions", "keys", "tags", "paths", "links", "subjects", "passages", "term_stats")


def projections(store: Path) -> dict[str, list[tuple[Any, ...]]]:
    with raw(store) as connection:
        return {table: sorted(connection.execute(f"select * from {table}"), key=repr) for table in PROJECTIONS}


def rebuild_and_tell(acknowledge: Callable[..., None], store: Path) -> None:
    with open_memory(store) as memory:
        acknowledge("open")
        acknowledge(memory.rebuild().swapped)


@pytest.fixture
def damaged(store_path: Path) -> Path:
    """A store whose projections lack a tag, so that a rebuild must put new ones in place."""
    with open_memory(store_path) as memory:
        memory.remember_many([{"body": f"thing{i} is blue", "tags": ["colour"]} for i in range(300)])
        memory.link(1, 2)
    with raw(store_path) as connection:
        connection.execute("delete from tags where rowid in (select rowid from tags limit 1)")
    return store_path


def test_a_killed_rebuild_leaves_the_old_projections_or_the_new_ones(damaged: Path) -> None:
    before = projections(damaged)
    started = time.monotonic()
    child = Child(rebuild_and_tell, damaged)
    assert child.read(2) == [["open"], [True]]
    child.kill(10)
    took = time.monotonic() - started
    after = projections(damaged)
    assert after != before
    with raw(damaged) as connection:
        connection.execute("delete from tags where rowid in (select rowid from tags limit 1)")
    assert projections(damaged) == before

    chance = random.Random(3)
    for _ in range(12):
        child = Child(rebuild_and_tell, damaged)
        child.read(1)
        child.kill(chance.uniform(0, took))
        now = projections(damaged)
        assert now in (before, after)
        with open_memory(damaged) as memory:
            assert [hit.number for hit in memory.recall("thing7").hits] == [8]
            assert memory.verify().ok
    with open_memory(damaged) as memory:
        memory.rebuild()
        assert_rebuild_agrees(memory)
    assert_whole(damaged)


def rebuild_and_die(acknowledge: Callable[..., None], store: Path) -> None:
    with open_memory(store) as memory:
        memory.rebuild(progress=lambda done, total: os.kill(os.getpid(), signal.SIGKILL))


def test_a_rebuild_clears_away_what_a_killed_one_left(damaged: Path) -> None:
    Child(rebuild_and_die, damaged).kill(10)
    with open_memory(damaged) as memory:
        assert memory.rebuild().swapped
    assert [path.name for path in damaged.parent.iterdir() if "rebuild" in path.name] == []


def import_and_die(acknowledge: Callable[..., None], store: Path, document: dict[str, Any], statement: int) -> None:
    with open_memory(store) as memory:
        die_before(memory, statement)
        memory.import_(document)
        acknowledge("survived")


@pytest.mark.parametrize("held", [0, 100], ids=["into_an_empty_project", "beside_what_is_there"])
def test_a_killed_import_leaves_what_was_there(tmp_path: Path, held: int) -> None:
    with open_memory(":memory:") as memory:
        memory.remember_many([{"body": f"imported{i} is here", "tags": ["import"]} for i in range(200)])
        document = memory.export()
    for statement in (0, 1, 8, 50, 700, 1500):
        store = tmp_path / f"{statement}" / "store.sqlite"
        with open_memory(store) as memory:
            memory.remember_many([{"body": f"held{i} is here"} for i in range(held)])
        assert Child(import_and_die, store, document, statement).kill(10) == []
        with open_memory(store) as memory:
            assert memory.count() == held
            if held:
                assert [hit.number for hit in memory.recall("held57").hits] == [58]
            assert memory.import_(document).memories == 200
            assert memory.count() == held + 200
            assert_rebuild_agrees(memory)
        assert_whole(store)


# ── children that merely end ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("ending", ["pass", "raise SystemExit(3)", "import os; os._exit(0)", "1 / 0"])
def test_a_process_that_ends_without_closing_loses_nothing(store_path: Path, ending: str) -> None:
    code = (
        "import sys; from eunoe import Memory\n"
        f"m = Memory.open(sys.argv[1], project={PROJECT!r}, user='kim')\n"
        "print(m.remember('kept though nobody closed').number, flush=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code + ending, str(store_path)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "1\n"
    with open_memory(store_path) as memory:
        assert [hit.number for hit in memory.recall("nobody closed").hits] == [1]
        assert_rebuild_agrees(memory)

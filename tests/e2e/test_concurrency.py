"""Many processes and threads on one file: nothing lost, numbers gapless, readers see whole states."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.processes import PROCESSES, together

from eunoe import EunoeError, Memory, Refused, Unavailable
from eunoe.stores.sql.migrate import Migration, load_migrations
from eunoe.stores.sqlite.engine import SqliteEngine

WRITERS = 8
WRITES = int(os.environ.get("EUNOE_SOAK_WRITES", "100"))
PROJECT = "acme/api"


def open_memory(store: Path | str) -> Memory:
    return Memory.open(store, project=PROJECT, user="kim")


def rows(store: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


# ── writers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def write(at: int, barrier: Any, store: Path) -> tuple[list[int], float]:
    numbers, slowest = [], 0.0
    with open_memory(store) as memory:
        barrier.wait()
        for i in range(WRITES):
            started = time.perf_counter()
            numbers.append(memory.remember(f"process{at} says thing{at}x{i}").number)
            slowest = max(slowest, time.perf_counter() - started)
    return numbers, slowest


def test_eight_processes_write_and_every_memory_is_there(
    store_path: Path, record_property: Callable[[str, object], None]
) -> None:
    open_memory(store_path).close()
    answers = together(write, WRITERS, store_path)
    numbers = sorted(number for mine, _ in answers for number in mine)
    assert numbers == list(range(1, WRITERS * WRITES + 1))
    slowest = max(wait for _, wait in answers)
    record_property("slowest_write_ms", round(slowest * 1000, 1))
    print(f"slowest of {len(numbers)} writes: {slowest * 1000:.1f} ms")
    with open_memory(store_path) as memory:
        assert memory.count() == len(numbers)
        for at in range(WRITERS):
            (hit,) = memory.recall(f"thing{at}x{WRITES - 1}").hits
            assert hit.number == answers[at][0][-1]
        assert memory.verify().ok
        assert memory.rebuild(dry_run=True).differences == {}
    ((events, last, n),) = rows(store_path, "select count(*), max(seq), max(n) from events")
    assert events == last == n == len(numbers) + 1  # and the project's own


def write_key(at: int, barrier: Any, store: Path, writes: int) -> None:
    with open_memory(store) as memory:
        barrier.wait()
        for i in range(writes):
            memory.remember(f"deploy is v{at}x{i}", key="deploy/current")


@pytest.mark.parametrize("writes", [1, 10], ids=["of_a_new_key", "again_and_again"])
def test_writers_of_one_key_make_one_line_with_one_holder(tmp_path: Path, writes: int) -> None:
    for attempt in range(5 if writes == 1 else 1):
        store = tmp_path / f"{attempt}.sqlite"
        open_memory(store).close()
        together(write_key, WRITERS, store, writes)
        line = rows(store, "select number, id, status, superseded_by from memories order by number")
        assert [number for number, *_ in line] == list(range(1, WRITERS * writes + 1))
        assert [status for _, _, status, _ in line] == ["superseded"] * (len(line) - 1) + ["active"]
        assert [after for *_, after in line] == [ident for _, ident, *_ in line[1:]] + [None]
        with open_memory(store) as memory:
            assert memory.get(key="deploy/current").number == len(line)
            assert len(memory.recall("deploy", limit=1000).hits) == 1
            assert memory.verify().ok
            assert memory.rebuild(dry_run=True).differences == {}


def make(at: int, barrier: Any, store: Path) -> int:
    barrier.wait()
    with open_memory(store) as memory:
        return memory.remember(f"process{at} was here").number


def test_processes_that_make_the_same_new_store_at_once_all_write_to_it(tmp_path: Path) -> None:
    for attempt in range(6):
        store = tmp_path / f"folder{attempt}" / "store.sqlite"
        assert sorted(together(make, WRITERS, store)) == list(range(1, WRITERS + 1))
        assert len(rows(store, "select uuid from store")) == 1
        assert len(rows(store, "select distinct stream from events")) == 1
        assert rows(store, "select count(*) from projects") == [(1,)]


def fill_up(at: int, barrier: Any, store: Path) -> list[str]:
    outcomes = []
    with open_memory(store) as memory:
        barrier.wait()
        for i in range(20):
            try:
                outcomes.append(memory.remember(f"process{at} says thing{at}x{i}").outcome)
            except Refused as exc:
                outcomes.append(exc.code)
            memory.remember(f"deploy is v{at}x{i}", key="deploy/current")
    return outcomes


def test_processes_that_race_for_the_last_places_do_not_pass_the_cap(
    store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EUNOE_MAX_MEMORIES", "50")
    with open_memory(store_path) as memory:
        memory.remember("deploy is v0", key="deploy/current")
    outcomes = [outcome for mine in together(fill_up, 4, store_path) for outcome in mine]
    assert outcomes.count("recorded") == 49
    assert outcomes.count("cap") == 31
    with open_memory(store_path) as memory:
        assert memory.count() == 50
        assert memory.rebuild(dry_run=True).differences == {}


def read_on(at: int, barrier: Any, store: Path) -> None:
    with open_memory(store) as memory:
        barrier.wait()
        for _ in range(50):
            memory.get(1)


def test_reads_of_many_processes_are_noted_once_they_have_ended(store_path: Path) -> None:
    with open_memory(store_path) as memory:
        memory.remember("read by everybody")
    together(read_on, 4, store_path)
    ((reads,),) = rows(store_path, "select sum(n) from accesses")
    assert 50 <= reads <= 200  # one that finds the store locked at its end drops what it noted
    assert reads % 50 == 0


# ── readers beside writers ───────────────────────────────────────────────────────────────────────────────────────────

PAIRS = 60


def pair_up(memory: Memory) -> None:
    for i in range(PAIRS):
        sides = [{"body": f"pair{i} {side}", "tags": [f"pair{i}", "pair"]} for side in ("left", "right")]
        memory.remember_many(sides)


def look(memory: Memory, seen: int) -> int:
    """Read in several ways; each must see whole pairs, and never less than before."""
    assert memory.count(tags=("pair",)) % 2 == 0
    found = memory.recall(None, limit=1000, tags=("pair",), order="newest")
    assert len(found.hits) == found.total >= seen
    assert found.degraded == ()
    tags = [tag for hit in found.hits for tag in hit.memory.tags if tag != "pair"]
    assert all(tags.count(tag) == 2 for tag in tags)
    by_words = memory.recall(f"pair{len(tags) // 2}", limit=1000)
    assert by_words.degraded == ()
    assert len(by_words.hits) in (0, 2)
    assert memory.verify().ok
    return found.total


def pair_or_look(at: int, barrier: Any, store: Path, done: Any) -> int:
    with open_memory(store) as memory:
        barrier.wait()
        if at == 0:
            pair_up(memory)
            done.set()
            return 2 * PAIRS
        looks = seen = 0
        while not done.is_set():
            seen = look(memory, seen)
            looks += 1
        assert look(memory, seen) == 2 * PAIRS
        return looks


def test_readers_in_other_processes_see_both_of_a_pair_or_none(store_path: Path) -> None:
    open_memory(store_path).close()
    looks = together(pair_or_look, 4, store_path, PROCESSES.Event())[1:]
    assert min(looks) > 2  # they did read while pairs were being written


def test_threads_share_one_memory(store_path: Path) -> None:
    with open_memory(store_path) as memory:

        def work(at: int) -> list[int]:
            numbers = []
            for i in range(40):
                numbers.append(memory.remember(f"thread{at} says word{at}x{i}").number)
                assert [hit.number for hit in memory.recall(f"word{at}x{i}").hits] == [numbers[-1]]
                assert f"word{at}x{i}" in memory.get(numbers[-1]).body
            return numbers

        with ThreadPoolExecutor(8) as pool:
            numbers = [number for mine in pool.map(work, range(8)) for number in mine]
        assert sorted(numbers) == list(range(1, 321))
        assert memory.count() == 320
        assert memory.verify().ok
        assert memory.rebuild(dry_run=True).differences == {}


def test_threads_share_one_memory_that_lives_in_memory() -> None:
    with open_memory(":memory:") as memory, ThreadPoolExecutor(4) as pool:
        receipts = pool.map(lambda at: memory.remember(f"thread says word{at}"), range(80))
        assert sorted(receipt.number for receipt in receipts) == list(range(1, 81))
        assert list(pool.map(lambda at: len(memory.recall(f"word{at}").hits), range(80))) == [1] * 80


def test_threads_that_read_see_both_of_a_pair_or_none(store_path: Path) -> None:
    with open_memory(store_path) as memory, ThreadPoolExecutor(3) as pool:
        writer = pool.submit(pair_up, memory)

        def read() -> None:
            seen = 0
            while not writer.done():
                seen = look(memory, seen)
            assert look(memory, seen) == 2 * PAIRS

        for reader in [pool.submit(read), pool.submit(read)]:
            reader.result()
        writer.result()


def test_a_rebuild_beside_writers_leaves_projections_that_agree(store_path: Path) -> None:
    with open_memory(store_path) as memory, ThreadPoolExecutor(1) as pool:
        memory.remember_many([{"body": f"thing{i} is blue"} for i in range(200)])
        writer = pool.submit(lambda: [memory.remember(f"later{i} is red").number for i in range(100)])
        while not writer.done():
            assert memory.rebuild().differences == {}
        assert writer.result() == list(range(201, 301))
        assert memory.rebuild(dry_run=True).differences == {}


def rebuild_or_write(at: int, barrier: Any, store: Path) -> int:
    with open_memory(store) as memory:
        barrier.wait()
        if at == 0:
            return memory.rebuild().events
        return [memory.remember(f"process{at} says late{at}x{i}").number for i in range(30)][-1]


def test_a_rebuild_in_another_process_loses_no_write(store_path: Path) -> None:
    with open_memory(store_path) as memory:
        memory.remember_many([{"body": f"thing{i} is blue"} for i in range(300)])
    together(rebuild_or_write, 3, store_path)
    with open_memory(store_path) as memory:
        assert memory.count() == 360
        assert memory.rebuild(dry_run=True).differences == {}


# ── processes of different versions ──────────────────────────────────────────────────────────────────────────────────


def upgrade(at: int, barrier: Any, store: Path) -> int:
    """What a process of the next version does when it opens the store."""
    newer = [
        *load_migrations("sqlite"),
        Migration(len(load_migrations("sqlite")) + 1, "later", "create table later (x)"),
    ]
    SqliteEngine(str(store), now_us=lambda: 0, migrations=newer).close()
    return len(newer)


def contents(store: Path) -> list[str]:
    files = [store, store.with_name(store.name + "-wal")]
    return [sha256(file.read_bytes()).hexdigest() for file in files if file.exists()]


CALLS: dict[str, Callable[[Memory], object]] = {
    "remember": lambda memory: memory.remember("written by the old version"),
    "remember_many": lambda memory: memory.remember_many([{"body": "written by the old version"}]),
    "update": lambda memory: memory.update(1, title="by the old version"),
    "forget": lambda memory: memory.forget(1),
    "confirm": lambda memory: memory.confirm(1),
    "dispute": lambda memory: memory.dispute(1),
    "review": lambda memory: memory.review(),
    "recall": lambda memory: memory.recall("kept"),
    "browse": lambda memory: memory.recall(None),
    "count": lambda memory: memory.count(),
    "get": lambda memory: memory.get(1),
    "history": lambda memory: memory.history(1),
    "verify": lambda memory: memory.verify(),
    "head": lambda memory: memory.head(),
    "log": lambda memory: memory.log(),
    "rebuild": lambda memory: memory.rebuild(),
    "export": lambda memory: memory.export(),
}


@contextmanager
def while_an_old_process_has_it_open(store: Path) -> Iterator[Memory]:
    with open_memory(store) as memory:
        memory.remember("kept by the old version")
        memory.recall("kept")  # so that a reader is open, too
        context = multiprocessing.get_context("spawn")  # not forked: a store is open here
        child = context.Process(target=upgrade, args=(0, None, store))
        child.start()
        child.join()
        assert child.exitcode == 0
        yield memory


def test_a_process_of_an_older_version_is_refused_by_every_call_and_touches_nothing(store_path: Path) -> None:
    with while_an_old_process_has_it_open(store_path) as memory:
        before = contents(store_path)
        for name, call in CALLS.items():
            with pytest.raises(Unavailable) as caught:
                call(memory)
            assert (name, caught.value.code) == (name, "newer_schema")
        assert contents(store_path) == before
    with pytest.raises(Unavailable) as caught:
        open_memory(store_path)
    assert caught.value.code == "newer_schema"
    assert rows(store_path, "select count(*) from memories") == [(1,)]


def test_closing_an_old_process_keeps_what_the_newer_one_wrote(store_path: Path) -> None:
    with while_an_old_process_has_it_open(store_path):
        pass
    assert rows(store_path, "pragma integrity_check") == [("ok",)]
    assert rows(store_path, "select name from sqlite_master where name = 'later'") == [("later",)]


def test_a_closed_memory_says_so(store_path: Path) -> None:
    memory = open_memory(store_path)
    memory.close()
    memory.close()
    for call in (CALLS["remember"], CALLS["recall"]):
        with pytest.raises(EunoeError) as caught:
            call(memory)
        assert caught.value.code == "closed"

"""Many processes and threads on one server: nothing lost, numbers gapless, and projects never wait for one another."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import psycopg
import pytest
from tests.postgres import Server, schema_of, until
from tests.processes import Child, together

from eunoe import Memory, Unavailable
from eunoe.bootstrap import SystemClock, SystemEntropy, open_store
from eunoe.config.settings import load_settings
from eunoe.ports.store import Store
from eunoe.service import worker
from eunoe.stores.postgres import nearest

SECONDS = float(os.environ.get("EUNOE_SOAK_SECONDS") or ("30" if os.environ.get("CI") else "4"))
PROCESSES, THREADS = 4, 4
SHARED, KEY = "acme/shared", "deploy/current"
SENTENCE = "The {} needs the raw body"


def open_memory(store: str, project: str = SHARED) -> Memory:
    return Memory.open(store, project=project, user="kim")


@contextmanager
def open_bare(store: str) -> Iterator[Store]:
    settings = load_settings({}, store=store)
    bare = open_store(settings, durability="process", clock=SystemClock(), entropy=SystemEntropy())
    try:
        yield bare
    finally:
        bare.close()


# ── mixed load ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Told:
    """What was acknowledged of one project: what each of its numbers says now."""

    words: dict[int, str] = field(default_factory=dict)
    titles: dict[int, str] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    links: set[tuple[int, int]] = field(default_factory=set)
    restated: list[int] = field(default_factory=list)

    def add(self, other: Told) -> None:
        """Join what another thread was told."""
        self.words |= other.words
        self.titles |= other.titles
        self.gone |= other.gone
        self.links |= other.links
        self.restated += other.restated

    @property
    def kept(self) -> list[int]:
        """Return the numbers that were not forgotten."""
        return [number for number in self.words if number not in self.gone]

    def title(self, number: int) -> str:
        """Return the title that a memory has; until it is given one, its first sentence."""
        return self.titles.get(number, SENTENCE.format(self.words[number]))


class Hand:
    """One thread's work on one project: it changes what it wrote itself, and restates a key that everybody does."""

    def __init__(self, memory: Memory, name: str) -> None:
        self.memory = memory
        self.name = name
        self.chance = random.Random(name)
        self.told = Told()
        self.count = 0

    def work(self) -> None:
        """Do one thing of many."""
        self.count += 1
        does = [self.remember, self.remember, self.restate]
        if len(self.told.kept) > 2:
            does += [self.look, self.update, self.link, self.forget]
        self.chance.choice(does)()

    def remember(self) -> None:
        word = f"{self.name}n{self.count}"
        receipt = self.memory.remember(SENTENCE.format(word), tags=["load"], paths=[f"src/{word}.py"])
        self.told.words[receipt.number] = word

    def restate(self) -> None:
        self.told.restated.append(self.memory.remember(f"deploy is {self.name}x{self.count}", key=KEY).number)

    def update(self) -> None:
        number, title = self.chance.choice(self.told.kept), f"Title {self.count} of {self.name}"
        self.memory.update(number, title=title)
        self.told.titles[number] = title

    def forget(self) -> None:
        number = self.chance.choice(self.told.kept)
        self.memory.forget(number)
        self.told.gone.add(number)

    def link(self) -> None:
        a, b = sorted(self.chance.sample(self.told.kept, 2))
        self.memory.link(a, b)
        self.told.links.add((a, b))

    def look(self) -> None:
        number = self.chance.choice(self.told.kept)
        found = self.memory.recall(self.told.words[number])
        assert found.degraded == ()
        assert number in [hit.number for hit in found.hits]
        assert self.memory.get(number).title == self.told.title(number)


def load(at: int, barrier: Any, store: str, seconds: float) -> tuple[Told, Told]:
    """What one process does: each of its threads works on the shared project and on the process's own in turn."""
    with open_memory(store) as shared, open_memory(store, f"acme/own{at}") as own:
        barrier.wait()
        end = time.monotonic() + seconds

        def thread(number: int) -> tuple[Told, Told]:
            hands = Hand(shared, f"shared{at}x{number}"), Hand(own, f"own{at}x{number}")
            while time.monotonic() < end:
                for hand in hands:
                    hand.work()
            return hands[0].told, hands[1].told

        common, mine = Told(), Told()
        with ThreadPoolExecutor(THREADS) as pool:
            for one, other in pool.map(thread, range(THREADS)):
                common.add(one)
                mine.add(other)
    return common, mine


def assert_nothing_lost(server: Server, store: str, project: str, told: Told) -> int:
    """Everything that was acknowledged is there as it was told last, without gaps; return how many events that took."""

    def rows(sql: str) -> list[tuple[Any, ...]]:
        return server.rows(store, sql.format(p=f"p = (select p from projects where slug = '{project}')"))

    numbers = [number for (number,) in rows("select number from memories where {p} order by number")]
    assert numbers == sorted([*told.words, *told.restated]) == list(range(1, len(numbers) + 1))
    ((events, first, last, n),) = rows("select count(*), min(seq), max(seq), max(n) from events where {p}")
    assert (first, events) == (1, last) == (1, n)
    gone = {number for (number,) in rows("select number from memories where status = 'forgotten' and {p}")}
    assert gone == told.gone
    linked = rows("""
        select least(a.number, b.number), greatest(a.number, b.number)
        from (select * from links where {p}) l
        join memories a on a.p = l.p and a.id = l.a join memories b on b.p = l.p and b.id = l.b""")
    assert {pair for pair in linked if gone.isdisjoint(pair)} == {pair for pair in told.links if gone.isdisjoint(pair)}
    with open_memory(store, project) as memory:
        for number in told.kept:
            believed = memory.get(number)
            assert told.words[number] in believed.body
            assert believed.title == told.title(number)
        assert memory.get(key=KEY).number == max(told.restated)
        assert memory.verify().ok
        assert memory.rebuild(dry_run=True).differences == {}
    return int(events)


@pytest.mark.slow
def test_a_mixed_load_of_processes_and_threads_loses_nothing(
    postgres_server: Server, postgres_store: str, record_property: Callable[[str, object], None]
) -> None:
    answers = together(load, PROCESSES, postgres_store, SECONDS)
    shared = Told()
    for common, _ in answers:
        shared.add(common)
    events = assert_nothing_lost(postgres_server, postgres_store, SHARED, shared)
    for at, (_, mine) in enumerate(answers):
        events += assert_nothing_lost(postgres_server, postgres_store, f"acme/own{at}", mine)
    assert events > 5 * PROCESSES * THREADS  # everybody came to write
    record_property("events_a_second", round(events / SECONDS))
    print(f"{events} events in {SECONDS:.0f} s of {PROCESSES} × {THREADS} writers")
    assert postgres_server.rows(postgres_store, "select count(*), max(p) from projects") == [(5, 5)]


# ── who waits for whom ───────────────────────────────────────────────────────────────────────────────────────────────


def test_writers_of_other_projects_and_readers_do_not_wait_for_a_project(postgres_store: str) -> None:
    with open_memory(postgres_store) as held, open_memory(postgres_store, "acme/other") as other:
        held.remember("the project is there")
        other.remember("so is the other")
        with open_bare(postgres_store) as store, store.writing() as tx:
            tx.lock(held._context.existing(tx).p)
            assert other.remember("written while the first is held").number == 2
            assert [hit.number for hit in held.recall("project").hits] == [1]
            assert held.verify().ok
        assert held.remember("written when it is free").number == 2


def test_a_writer_of_the_same_project_waits_for_its_turn(postgres_server: Server, postgres_store: str) -> None:
    with open_memory(postgres_store) as memory, ThreadPoolExecutor(1) as pool:
        memory.remember("the project is there")
        with open_bare(postgres_store) as store, store.writing() as tx:
            tx.lock(memory._context.existing(tx).p)
            waiting = pool.submit(memory.remember, "written in its turn")
            until(postgres_server.waiting)
            assert not waiting.done()
        assert waiting.result().number == 2


def test_whoever_waits_too_long_is_told_that_the_project_is_locked(postgres_store: str) -> None:
    impatient = f"{postgres_store}&options=-clock_timeout%3D200"
    with open_memory(impatient) as memory, open_bare(postgres_store) as store:
        memory.remember("the project is there")
        with store.writing() as tx:
            tx.lock(memory._context.existing(tx).p)
            with pytest.raises(Unavailable) as caught:
                memory.remember("waits in vain")
        assert (caught.value.code, caught.value.retryable) == ("locked", True)
        assert memory.remember("waits no longer").number == 2


def make(at: int, barrier: Any, store: str) -> int:
    barrier.wait()
    with open_memory(store) as memory:
        return memory.remember(f"process{at} was here").number


def make_project(at: int, barrier: Any, store: str) -> list[int]:
    numbers = []
    for attempt in range(8):
        with open_memory(store, f"acme/new{attempt}") as memory:
            barrier.wait()
            numbers.append(memory.remember(f"process{at} was here").number)
    return numbers


def test_processes_that_make_the_same_store_at_once_all_write_to_it(postgres_server: Server) -> None:
    for _ in range(3):
        store = postgres_server.fresh()
        assert sorted(together(make, PROCESSES, store)) == [1, 2, 3, 4]
        assert postgres_server.rows(store, "select count(*) from projects") == [(1,)]
        assert postgres_server.rows(store, "select count(*) from store") == [(1,)]
        postgres_server.drop(store)


def test_processes_that_write_to_a_new_project_at_once_write_to_one(
    postgres_server: Server, postgres_store: str
) -> None:
    numbers = together(make_project, PROCESSES, postgres_store)
    assert [sorted(each) for each in zip(*numbers, strict=True)] == [[1, 2, 3, 4]] * 8
    events = postgres_server.rows(
        postgres_store, "select slug, count(*) from projects join events using (p) group by 1"
    )
    assert sorted(events) == [(f"acme/new{attempt}", 5) for attempt in range(8)]


def test_two_that_wait_for_each_other_get_an_error_that_says_to_try_again(
    postgres_server: Server, postgres_store: str
) -> None:
    with open_memory(postgres_store) as memory, ThreadPoolExecutor(1) as pool, open_bare(postgres_store) as store:
        memory.remember("the project is there")
        with store.reading() as view:
            project = memory._context.existing(view)

        def write() -> None:
            with store.writing() as tx:
                tx.lock(project.p)
                tx.projects.rebind(project, "elsewhere")

        with psycopg.connect(postgres_server.url) as other:
            other.execute(f"set search_path = {schema_of(postgres_store)}")
            other.execute("set deadlock_timeout = '1min'")  # so that the store finds it out, not this session
            other.execute("select 1 from projects where p = %s for update", [project.p])
            waiting = pool.submit(write)
            until(postgres_server.waiting)
            other.execute("select 1 from counters where p = %s for update", [project.p])
            with pytest.raises(Unavailable) as caught:
                waiting.result()
        assert (caught.value.code, caught.value.retryable) == ("serialization", True)
        write()
        assert postgres_server.rows(postgres_store, "select identity from projects") == [("elsewhere",)]


# ── hearing of what others wrote ─────────────────────────────────────────────────────────────────────────────────────


def embed_what_others_write(acknowledge: Callable[..., None], store: str) -> None:
    """A process that never looks by itself; whenever its worker has nothing more to do, it tells how often it had."""
    os.environ["EUNOE_MODEL"] = "fake"
    step, batches = worker.Worker._step, 0

    def told(self: worker.Worker) -> float:
        nonlocal batches
        pause = step(self)
        batches += not pause
        if pause:
            acknowledge(batches)
        return pause

    worker._IDLE_S = worker._BUSY_ELSEWHERE_S = worker._AFTER_FAILURE_S = 3600.0
    worker.Worker._step = told  # type: ignore[method-assign]
    with open_memory(store):
        Event().wait()


def test_a_worker_hears_of_what_another_process_wrote_without_looking(
    postgres_server: Server, postgres_store: str
) -> None:
    open_memory(postgres_store).close()
    child = Child(embed_what_others_write, postgres_store)
    try:
        assert child.read(1) == [[0]]  # it listens, and found nothing
        for at in range(1, 4):
            with open_memory(postgres_store) as memory:
                memory.remember(f"told of{at} from afar")
            until(lambda: len(postgres_server.rows(postgres_store, "select 1 from vectors")) == at)  # noqa: B023
            while child.read(1) < [[at]]:  # until it has nothing more to do
                pass
    finally:
        child.kill(0)
    assert postgres_server.rows(postgres_store, "select count(*) from embed_jobs") == [(0,)]


def tend(at: int, barrier: Any, store: str) -> int:
    """Make the index of a project's vectors; return how often another process was at it already."""
    nearest.EXACT_BELOW = 1
    refused = 0
    with open_bare(store) as bare:
        with bare.reading() as view:
            model = view.models.bound()
        assert model is not None
        barrier.wait()
        for _ in range(3):
            try:
                bare.tend_vectors(1, model)
            except Unavailable as exc:
                assert (exc.code, exc.retryable) == ("locked", True)
                refused += 1
    return refused


@pytest.mark.usefixtures("fake_model")
def test_processes_that_make_one_index_at_once_do_not_wait_for_each_other(
    postgres_server: Server, postgres_store: str
) -> None:
    with open_memory(postgres_store) as memory:
        memory.remember_many([{"body": f"thing{i} is blue"} for i in range(5)])
        assert memory.flush().waiting == 0
    assert sum(together(tend, PROCESSES, postgres_store)) < 3 * PROCESSES  # somebody made it
    indexes = f"select 1 from pg_indexes where schemaname = '{schema_of(postgres_store)}' and indexdef like '%hnsw%'"
    assert len(postgres_server.execute(indexes)) == 1

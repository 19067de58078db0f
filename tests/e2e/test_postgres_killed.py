"""kill -9 of a client, of one backend and of the whole server: nothing acknowledged is lost, nobody needs a hand."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.postgres import Server
from tests.processes import Child, write_without_end

from eunoe import Memory, Unavailable
from eunoe.stores.postgres.connection import PostgresConnection

KILLS = int(os.environ.get("EUNOE_SOAK_KILLS", "25"))
OUTAGES = int(os.environ.get("EUNOE_SOAK_OUTAGES", "1"))
PROJECT = "acme/api"
LOST = {"connection_lost", "no_server"}


def open_memory(store: str) -> Memory:
    return Memory.open(store, project=PROJECT, user="kim")


@pytest.fixture(scope="module")
def own_server() -> Iterator[Server]:
    """A server that these tests may kill."""
    server = Server()
    yield server
    server.stop()


@pytest.fixture
def store(own_server: Server) -> Iterator[str]:
    address = own_server.fresh()
    yield address
    own_server.drop(address)


def assert_whole(server: Server, store: str, acknowledged: list[list[Any]]) -> None:
    """Everything acknowledged is there, numbers and places are gapless, and the next writer waits for nobody."""
    numbers = [number for (number,) in server.rows(store, "select number from memories order by number")]
    assert numbers == list(range(1, len(numbers) + 1))
    ((events, last, n),) = server.rows(store, "select count(*), coalesce(max(seq), 0), coalesce(max(n), 0) from events")
    assert events == last == n
    bodies = dict(
        server.rows(
            store,
            "select number, body from memories m join memory_versions v "
            "on v.p = m.p and v.memory = m.id and v.version = 1",
        )
    )
    for word, number in acknowledged:
        assert word in bodies[number]
    with open_memory(f"{store}&options=-clock_timeout%3D2000") as memory:
        for word, number in acknowledged[-3:]:
            assert number in [hit.number for hit in memory.recall(word).hits]
        assert memory.remember(f"The next writer of {len(numbers)} goes on").number == len(numbers) + 1
        assert memory.verify().ok


def assert_projections_agree(store: str) -> None:
    with open_memory(store) as memory:
        assert memory.rebuild(dry_run=True).differences == {}


# ── clients ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def write_many_things(acknowledge: Callable[..., None], store: str, tag: str) -> None:
    """Single writes of every sort, until the end."""
    with open_memory(store) as memory:
        write_without_end(acknowledge, memory, tag)


@pytest.mark.slow
def test_a_killed_client_loses_nothing_that_it_acknowledged_and_blocks_nobody(
    postgres_server: Server, postgres_store: str
) -> None:
    chance = random.Random(20_260_101)
    acknowledged: list[list[Any]] = []
    open_memory(postgres_store).close()
    for at in range(KILLS):
        child = Child(write_many_things, postgres_store, f"round{at}")
        # A third of the kills fall into the opening, the others into writes.
        early = at % 3 == 0
        acknowledged += [] if early else child.read(chance.randrange(1, 15))
        acknowledged += child.kill(chance.uniform(0, 0.1 if early else 0.02))
        assert_whole(postgres_server, postgres_store, acknowledged)
    assert_projections_agree(postgres_store)
    assert len(acknowledged) > 2 * KILLS


def make_a_store(acknowledge: Callable[..., None], store: str) -> None:
    acknowledge("begins")
    open_memory(store).close()


def test_a_client_that_is_killed_while_it_makes_a_store_leaves_none_or_a_whole_one(postgres_server: Server) -> None:
    chance = random.Random(4)
    for _ in range(8):
        store = postgres_server.fresh()
        child = Child(make_a_store, store)
        child.read(1)
        child.kill(chance.uniform(0, 0.25))
        with open_memory(store) as memory:
            assert memory.remember("The store can be used").number == 1
            assert memory.verify().ok
        postgres_server.drop(store)


def write_and_die(acknowledge: Callable[..., None], store: str, statement: int) -> None:
    """Be killed before that statement of the third write, counted from 0."""
    with open_memory(store) as memory:
        for i in range(2):
            acknowledge(f"acknowledged{i}", memory.remember(f"The acknowledged{i} is here").number)
        left = statement

        def dying(sent: Callable[..., Any]) -> Callable[..., Any]:
            def run(self: PostgresConnection, *args: Any) -> Any:
                nonlocal left
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return sent(self, *args)

            return run

        for name in ("run", "many", "lock"):
            setattr(PostgresConnection, name, dying(getattr(PostgresConnection, name)))
        memory.remember("The third has a tag and a path", tags=["x"], paths=["src/a.py"], key="a/b")
        acknowledge("survived")


@pytest.mark.slow
def test_a_client_that_is_killed_before_any_statement_of_a_write_leaves_two_memories_or_three(
    postgres_server: Server, postgres_store: str
) -> None:
    for statement in range(200):
        child = Child(write_and_die, postgres_store, statement)
        acknowledged = child.read(3)
        child.kill(10)
        if acknowledged[-1] == ["survived"]:
            assert statement > 10  # the statements of the write were seen
            return
        assert_whole(postgres_server, postgres_store, acknowledged)
        assert postgres_server.rows(postgres_store, "select count(*) from tags") == [(0,)]
        postgres_server.drop(postgres_store)
    pytest.fail("the write never came to its end")


# ── servers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def write_on(acknowledge: Callable[..., None], store: str, tag: str) -> None:
    """Write for ever; what cannot be written is told, and the next thing is tried."""
    with open_memory(store) as memory:
        for i in range(100_000):
            word = f"{tag}n{i}"
            try:
                acknowledge(word, memory.remember(f"The {word} needs the raw body").number)
            except Unavailable as exc:
                acknowledge(exc.code, 0 if exc.retryable else -1)


def through(outage: Callable[[Child], list[list[Any]]], store: str, tag: str) -> tuple[list[list[Any]], set[str]]:
    """Return what a client acknowledged before, in and after an outage, and the codes of what it could not write."""
    child = Child(write_on, store, tag)
    try:
        told = child.read(20) + outage(child)
        while told[-1][1] <= 0 or all(number > 0 for _, number in told):
            answer = child.read(1)
            assert answer, "the client ended"
            told += answer
        told += child.read(20)
    finally:
        told += child.kill(0)
    assert all(number >= 0 for _, number in told), "an error that says that trying again is of no use"
    return [each for each in told if each[1] > 0], {code for code, number in told if number == 0}


@pytest.mark.slow
def test_a_client_goes_on_when_the_killed_server_is_back(own_server: Server, store: str) -> None:
    def outage(child: Child) -> list[list[Any]]:
        own_server.kill_all()
        told: list[list[Any]] = []
        while [number for _, number in told].count(0) < 4:
            told += child.read(1)
        own_server.start()
        return told

    acknowledged: list[list[Any]] = []
    for at in range(OUTAGES):
        written, codes = through(outage, store, f"outage{at}")
        acknowledged += written
        assert codes <= LOST
        assert_whole(own_server, store, acknowledged)
    assert_projections_agree(store)


def test_a_client_goes_on_when_one_backend_was_killed_and_the_server_restarts_itself(
    own_server: Server, store: str
) -> None:
    def outage(child: Child) -> list[list[Any]]:
        ((pid,), *_) = own_server.execute(
            "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
        )
        os.kill(pid, signal.SIGKILL)
        return []

    written, codes = through(outage, store, "backend")
    assert codes <= LOST
    assert_whole(own_server, store, written)
    assert_projections_agree(store)

"""A deadlock with another program costs a use case its transaction, not its caller the answer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from eunoe import Memory


@pytest.fixture
def other(postgres_store: str) -> str:
    """What another program connects to; its settings are not Eunoe's."""
    return postgres_store.rpartition("&schema=")[0]


def test_a_write_that_was_given_up_in_a_deadlock_is_made_in_the_end(postgres_store: str, other: str) -> None:
    schema = postgres_store.rpartition("=")[2]
    with Memory.open(postgres_store, project="acme/api") as memory, ThreadPoolExecutor(1) as pool:
        memory.remember("The first sentence names zanzibar")
        with psycopg.connect(other) as db:
            # It waits for the project's lock for longer than a deadlock is looked for: ours is the one given up.
            db.execute("set deadlock_timeout = '20s'")
            db.execute(f"set search_path = {schema}".encode())
            db.execute("update term_stats set df = df where term = 'zanzibar'")
            second = pool.submit(memory.remember, "The second sentence names zanzibar, too")
            _until_waiting(other)
            db.execute("select seq from counters for update")
            db.rollback()
        assert second.result(timeout=30).outcome == "recorded"
        assert {hit.memory.number for hit in memory.recall("zanzibar").hits} == {1, 2}
        assert memory.verify().ok


def _until_waiting(url: str) -> None:
    """Return when a session of the server waits for a lock."""
    with psycopg.connect(url, autocommit=True) as db:
        while not db.execute("select 1 from pg_locks where not granted").fetchall():
            db.execute("select pg_sleep(0.01)")

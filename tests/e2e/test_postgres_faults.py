"""What goes wrong with a PostgreSQL store that is open: a typed error, nothing half done, and on it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

import psycopg
import pytest
from tests.postgres import Replica, Server, schema_of, until

from eunoe import EunoeError, Memory, Unavailable
from eunoe.stores.postgres import engine

PROJECT = "acme/api"
IN_TRANSACTION = "xact_start is not null and wait_event = 'ClientRead'"


def open_memory(store: str) -> Memory:
    return Memory.open(store, project=PROJECT, user="kim")


@pytest.fixture
def memory(postgres_store: str) -> Iterator[Memory]:
    """A store with one memory, open."""
    with open_memory(postgres_store) as opened:
        opened.remember("The first is kept")
        yield opened


def failure(call: Callable[[], object]) -> EunoeError:
    with pytest.raises(Unavailable) as caught:
        call()
    return caught.value


def assert_unharmed(memory: Memory, count: int) -> None:
    """So many memories are there, no more and no less, and the store is of use."""
    assert memory.count() == count
    assert memory.remember(f"After {count} comes the next").number == count + 1
    assert memory.verify().ok
    assert memory.rebuild(dry_run=True).differences == {}


# ── connections that are lost ────────────────────────────────────────────────────────────────────────────────────────


def end_sessions(server: Server, which: str = "backend_type = 'client backend'") -> int:
    """End what clients have with the server, and wait until it is gone; return how many that were."""
    those = f"from pg_stat_activity where pid <> pg_backend_pid() and {which}"
    ended = server.execute(f"select pg_terminate_backend(pid) {those}")
    until(lambda: not server.execute(f"select 1 {those}"))
    return len(ended)


def test_connections_that_are_lost_between_calls_are_replaced_unseen(postgres_server: Server, memory: Memory) -> None:
    for count in range(1, 4):
        assert end_sessions(postgres_server) > 0
        assert [hit.number for hit in memory.recall("kept").hits] == [1]
        assert end_sessions(postgres_server) > 0
        assert memory.remember(f"Written though thing{count} was lost").number == count + 1
    assert memory.verify().ok


def test_all_connections_of_the_pool_may_be_lost_at_once(postgres_server: Server, memory: Memory) -> None:
    store = memory._context.store
    with ExitStack() as stack:
        for _ in range(engine._MOST_CONNECTIONS):
            stack.enter_context(store.reading())
    assert end_sessions(postgres_server) >= engine._MOST_CONNECTIONS
    assert_unharmed(memory, 1)


def test_a_connection_that_is_lost_within_a_write_writes_nothing(postgres_server: Server, memory: Memory) -> None:
    store = memory._context.store

    def write() -> None:
        with store.writing() as tx:
            project = memory._context.existing(tx)
            tx.lock(project.p)
            tx.projects.rebind(project, "elsewhere")
            tx.ledger(project.p).count()
            assert end_sessions(postgres_server, IN_TRANSACTION) == 1
            tx.ledger(project.p).count()

    error = failure(write)
    assert (error.code, error.retryable) == ("connection_lost", True)
    assert_unharmed(memory, 1)
    with store.reading() as view:
        assert memory._context.existing(view).identity is None


def test_a_connection_that_is_lost_within_a_read_says_so(postgres_server: Server, memory: Memory) -> None:
    def read() -> None:
        with memory._context.store.reading() as view:
            assert end_sessions(postgres_server, IN_TRANSACTION) == 1
            view.projects.numbers()

    error = failure(read)
    assert (error.code, error.retryable) == ("connection_lost", True)
    assert_unharmed(memory, 1)


def test_a_read_that_lies_idle_for_too_long_is_ended_by_the_server(
    postgres_server: Server, postgres_store: str, memory: Memory
) -> None:
    def read() -> None:
        with sleepy._context.store.reading() as view:
            view.projects.numbers()
            until(lambda: not postgres_server.execute("select 1 from pg_stat_activity where state like 'idle in%'"))
            view.projects.numbers()

    with open_memory(f"{postgres_store}&options=-cidle_in_transaction_session_timeout%3D200") as sleepy:
        error = failure(read)
        assert (error.code, error.retryable) == ("connection_lost", True)
        assert_unharmed(sleepy, 1)


def test_when_all_connections_of_a_process_are_in_use_the_next_call_says_so(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "CONNECT_S", engine._SUSPICIOUS_S)
    with ExitStack() as stack:
        for _ in range(engine._MOST_CONNECTIONS):
            stack.enter_context(memory._context.store.reading())
        error = failure(memory.count)
        assert (error.code, error.retryable) == ("too_many_connections", True)
    assert_unharmed(memory, 1)


# ── what takes too long ──────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def locked(server: Server, store: str, table: str) -> Iterator[None]:
    """Hold a table against everybody, as `vacuum full` does."""
    with psycopg.connect(server.url) as other:
        other.execute(f"lock table {schema_of(store)}.{table} in access exclusive mode")
        yield


@pytest.mark.parametrize(
    ("setting", "code"), [("statement_timeout", "timeout"), ("lock_timeout", "locked")], ids=["statement", "lock"]
)
def test_what_takes_too_long_is_given_up_and_names_the_setting(
    postgres_server: Server, postgres_store: str, memory: Memory, setting: str, code: str
) -> None:
    with open_memory(f"{postgres_store}&options=-c{setting}%3D200") as hasty:
        with locked(postgres_server, postgres_store, "memories"):
            for call in (lambda: hasty.recall("kept"), lambda: hasty.remember("Written in vain")):
                error = failure(call)
                assert (error.code, error.retryable) == (code, True)
                assert setting in error.message
        assert_unharmed(hasty, 1)


def test_timeouts_are_set_unless_the_role_says_otherwise(postgres_server: Server, postgres_store: str) -> None:
    settings = "select current_setting('statement_timeout'), current_setting('lock_timeout')"
    with open_memory(postgres_store) as memory, memory._context.store.reading() as view:
        assert view._connection.run(settings) == [("1min", "10s")]  # type: ignore[attr-defined]
    postgres_server.execute("create role patient superuser login")
    postgres_server.execute("alter role patient set statement_timeout = '5min'")
    of_patient = postgres_store.replace("//postgres:", "//patient:")
    with open_memory(of_patient) as memory, memory._context.store.reading() as view:
        assert view._connection.run(settings) == [("5min", "10s")]  # type: ignore[attr-defined]
    postgres_server.execute("drop role patient")


# ── what can only be read ────────────────────────────────────────────────────────────────────────────────────────────


def assert_can_only_be_read(reader: Memory) -> None:
    assert [hit.number for hit in reader.recall("kept").hits] == [1]
    assert reader.get(1).body == "The first is kept"
    assert reader.verify().ok
    for call in (lambda: reader.remember("Written in vain"), lambda: reader.forget(1)):
        error = failure(call)
        assert (error.code, error.retryable) == ("read_only", False)
        assert "EUNOE_STORE" in error.message


def test_a_database_that_is_set_to_read_only_can_be_read(postgres_server: Server) -> None:
    postgres_server.execute("create database frozen")
    store = postgres_server.url.replace("@/postgres", "@/frozen")
    with open_memory(store) as memory:
        memory.remember("The first is kept")
    postgres_server.execute("alter database frozen set default_transaction_read_only = on")
    with open_memory(store) as reader:
        assert_can_only_be_read(reader)
    with pytest.raises(Unavailable) as caught:
        open_memory(f"{store}&schema=not_there_yet")
    assert caught.value.code == "read_only"
    postgres_server.execute("drop database frozen")


@pytest.fixture(scope="module")
def replica(postgres_server: Server) -> Iterator[Server]:
    """A server that follows the other one."""
    follower = Replica(postgres_server)
    yield follower
    follower.stop()


def test_a_replica_can_be_read_and_says_where_to_write(
    postgres_server: Server, replica: Server, postgres_store: str, memory: Memory
) -> None:
    memory.remember("The second comes later", key="deploy/current")
    copy = f"{replica.url}&schema={schema_of(postgres_store)}"
    until(lambda: replica.execute(f"select 1 from pg_tables where schemaname = '{schema_of(postgres_store)}'"))
    until(lambda: replica.rows(copy, "select number from memories where number = 2"))
    with open_memory(copy) as reader:
        assert_can_only_be_read(reader)
        assert reader.get(key="deploy/current").number == 2
        memory.remember("The third comes while it is read")
        until(lambda: reader.count() == 3)
    with pytest.raises(Unavailable) as caught:
        open_memory(f"{replica.url}&schema=not_there_yet")
    assert caught.value.code == "read_only"
    assert "primary" in caught.value.message


# ── what somebody destroyed ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_table_that_is_missing_is_told_as_damage(
    postgres_server: Server, postgres_store: str, memory: Memory
) -> None:
    postgres_server.rows(postgres_store, "drop table memory_versions")
    for call in (lambda: memory.recall("kept"), lambda: memory.remember("Written in vain")):
        assert failure(call).code == "damaged"
    assert memory.verify().ok  # the ledger itself is whole


def test_a_store_that_is_dropped_while_it_is_open_is_told_every_time(
    postgres_server: Server, postgres_store: str, memory: Memory
) -> None:
    postgres_server.drop(postgres_store)
    for _ in range(engine._MOST_CONNECTIONS + 2):  # none of these calls keeps its connection
        assert failure(memory.count).code == "damaged"
    with suppress(EunoeError):
        memory.close()


def test_stores_of_one_database_know_nothing_of_one_another(postgres_server: Server) -> None:
    postgres_server.execute("create database shared")
    url = postgres_server.url.replace("@/postgres", "@/shared")
    with open_memory(f"{url}&schema=one") as one, open_memory(f"{url}&schema=other") as other:
        one.remember("The first is kept")
        assert other.recall("kept").hits == ()
        postgres_server.execute("drop schema other cascade", url)
        assert failure(other.count).code == "damaged"  # and not what the other store holds
        with open_memory(f"{url}&schema=other") as anew:
            assert anew.remember("It is made anew").number == 1
            postgres_server.execute("drop schema one cascade", url)
            assert_unharmed(anew, 1)
            vectors = "select 1 from information_schema.columns where table_schema = 'other' and udt_name = 'halfvec'"
            assert len(postgres_server.execute(vectors, url)) == 1
    postgres_server.execute("drop database shared with (force)")

"""Servers that cannot be used: a typed error that names the setting and the fix, and never shows the password."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from tests.postgres import Server, schema_of

from eunoe import EunoeError, Invalid, Memory, Unavailable
from eunoe.stores.postgres.errors import unreachable
from eunoe.stores.postgres.setup import inspect

SECRET = "hunter2-is-never-shown"
_NAMES = count(1)


def open_memory(store: str) -> Memory:
    return Memory.open(store, project="acme/api", user="kim")


def refused(store: str, code: str, *words: str) -> EunoeError:
    """Return the error of opening a store: of this code, with these words in its message, without the password."""
    with pytest.raises(EunoeError) as caught:
        open_memory(store).close()
    assert_told(caught.value, code, *words)
    return caught.value


def assert_told(error: EunoeError, code: str, *words: str) -> None:
    assert error.code == code, error.message
    for word in words:
        assert word in error.message
    assert SECRET not in str(error.to_dict())


def with_secret(url: str, user: str = "postgres", database: str = "postgres") -> str:
    """Return an address that gives a password, needed or not."""
    return url.replace("//postgres:@/postgres", f"//{user}:{SECRET}@/{database}", 1)


@contextmanager
def made(server: Server, kind: str, options: str = "") -> Iterator[str]:
    """Yield the name of a new role or database."""
    name = f"{kind}_{next(_NAMES)}_{os.getpid()}"
    server.execute(f"create {kind} {name} {options}")
    yield name
    if kind == "role":
        server.execute(f"drop owned by {name}")
    server.execute(f"drop {kind} {name}{' with (force)' if kind == 'database' else ''}")


@pytest.fixture
def database(postgres_server: Server) -> Iterator[str]:
    """Yield the name of an empty database."""
    with made(postgres_server, "database") as name:
        yield name


# ── the way there ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "address",
    [f"postgresql://kim:{SECRET}@/db?host=/nowhere/at/all", f"postgresql://kim:{SECRET}@127.0.0.1:1/db"],
    ids=["no_socket", "refused_port"],
)
def test_no_server(address: str) -> None:
    assert refused(address, "no_server", "EUNOE_STORE", "start the server").retryable


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://kim:{SECRET}@[::1/db",
        f"postgresql://kim:%zz{SECRET}@host/db",
        f"postgresql://kim:{SECRET}@host/db?nonsense=1",
        f"postgresql://kim:{SECRET}@localhost:99999/db",
        f"postgresql://kim:{SECRET}@localhost/db?sslmode=nonsense",
        f"postgresql://kim:{SECRET}@localhost/db?schema=No-Name",
    ],
)
def test_an_address_that_cannot_be_read(address: str) -> None:
    assert isinstance(refused(address, "bad_store", "store"), Invalid)


def test_what_libpq_reads_out_of_an_address_is_left_as_it_is(postgres_server: Server, postgres_store: str) -> None:
    with open_memory(f"{postgres_store}&application_name=one%20name&options=-c%20lock_timeout%3D7s") as memory:
        memory.count()
        sessions = "select count(*) from pg_stat_activity where application_name = 'one name'"
        assert postgres_server.execute(sessions) == [(1,)]
        with memory._context.store.reading() as view:
            assert view._connection.run("select current_setting('lock_timeout')") == [("7s",)]  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def guarded() -> Iterator[tuple[Server, int]]:
    """A server on a port of this machine that asks for passwords there, and has few connections; and the port."""
    server = Server()
    port = server.restart("max_connections=12", "superuser_reserved_connections=2")
    server.execute(f"create role kim login password '{SECRET}'")
    server.execute("grant create on database postgres to kim")
    server.execute("create extension vector")
    hba = server.folder / "pg_hba.conf"
    hba.write_text(f"host all lou 127.0.0.1/32 reject\nhost all all 127.0.0.1/32 scram-sha-256\n{hba.read_text()}")
    server.execute("select pg_reload_conf()")
    yield server, port
    server.stop()


def test_a_password_that_is_right(guarded: tuple[Server, int]) -> None:
    with open_memory(f"postgresql://kim:{SECRET}@127.0.0.1:{guarded[1]}/postgres?schema=of_kim") as memory:
        assert memory.remember("The password was right").number == 1
        assert SECRET not in str(memory._context.store.describe())


@pytest.mark.parametrize(
    ("who", "words"),
    [
        (f"kim:{SECRET}-", "password authentication failed"),
        (f"nobody:{SECRET}", "password authentication failed"),
        ("kim", "no password supplied"),
        (f"lou:{SECRET}", "pg_hba.conf"),
    ],
    ids=["wrong", "unknown_user", "missing", "not_admitted"],
)
def test_a_password_that_is_not(guarded: tuple[Server, int], who: str, words: str) -> None:
    error = refused(f"postgresql://{who}@127.0.0.1:{guarded[1]}/postgres", "bad_password", words)
    assert not error.retryable
    assert "EUNOE_STORE" in error.message or "pg_hba.conf" in error.message


def test_a_role_or_a_database_that_is_not_there(postgres_server: Server) -> None:
    refused(with_secret(postgres_server.url, user="nobody"), "bad_password", "EUNOE_STORE", "nobody")
    refused(with_secret(postgres_server.url, database="nowhere"), "no_database", "EUNOE_STORE", "nowhere")


def test_a_role_that_may_not_connect_or_log_in(postgres_server: Server, database: str) -> None:
    with made(postgres_server, "role", "login") as role, made(postgres_server, "role") as group:
        postgres_server.execute(f"revoke connect on database {database} from public")
        refused(with_secret(postgres_server.url, role, database), "forbidden", "EUNOE_STORE", "permission denied")
        refused(with_secret(postgres_server.url, group), "bad_password", "EUNOE_STORE", "log in")


def test_a_role_that_may_not_make_a_schema(postgres_server: Server, postgres_store: str) -> None:
    with made(postgres_server, "role", "login") as role:
        refused(with_secret(postgres_store, role), "forbidden", "EUNOE_STORE", "permission denied")


@pytest.mark.parametrize(
    ("told", "code", "retryable"),
    [
        ("FATAL:  the database system is starting up", "no_server", True),
        ("FATAL:  the database system is in recovery mode", "no_server", True),
        ("FATAL:  the database system is not yet accepting connections", "no_server", True),
        ("FATAL:  the database system is shutting down", "no_server", True),
        ('FATAL:  Peer authentication failed for user "kim"', "bad_password", False),
        ('FATAL:  database "gone" is not currently accepting connections', "no_database", False),
        ("server does not support SSL, but SSL was required", "no_server", False),
        ("timeout expired", "no_server", True),
    ],
)
def test_what_a_server_says_in_passing_is_not_mistaken(told: str, code: str, retryable: bool) -> None:
    """Moments that are too short to be met on purpose: what is said then, word for word."""
    error = unreachable(psycopg.OperationalError(f"connection failed: {told}"), "postgresql://h/db")
    assert (error.code, error.retryable) == (code, retryable)


# ── too many ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def busy(conninfo: str, connections: int) -> Iterator[None]:
    """Hold so many connections, or as many as there are."""
    with ExitStack() as stack:
        for _ in range(connections):
            try:
                stack.enter_context(psycopg.connect(conninfo))
            except psycopg.OperationalError:
                break
        yield


def test_a_server_whose_connections_are_all_taken(guarded: tuple[Server, int]) -> None:
    server, port = guarded
    kim = f"postgresql://kim:{SECRET}@127.0.0.1:{port}/postgres"
    with busy(kim, 20):
        assert refused(kim, "too_many_connections", "max_connections").retryable
        with busy(server.url, 20):
            assert refused(with_secret(server.url), "too_many_connections", "max_connections").retryable


def test_a_role_or_a_database_whose_connections_are_all_taken(postgres_server: Server, database: str) -> None:
    postgres_server.execute(f"alter database {database} connection limit 1")
    with made(postgres_server, "role", "login connection limit 1") as role:
        for place in (with_secret(postgres_server.url, role), with_secret(postgres_server.url, role, database)):
            with busy(place, 1):
                assert refused(place, "too_many_connections", "connection limit").retryable


# ── what a server is and has ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_server_without_pgvector(postgres_server: Server, database: str) -> None:
    postgres_server.execute(f"alter database {database} set extension_control_path = '/nowhere'")
    place = with_secret(postgres_server.url, database=database)
    refused(place, "missing_extension", "pgvector", "install", "create extension vector")
    assert schemas(postgres_server, place) == []


def test_a_role_that_may_not_create_the_extension(postgres_server: Server, database: str) -> None:
    with made(postgres_server, "role", "login") as role:
        place = with_secret(postgres_server.url, role, database)
        postgres_server.execute(
            f"create schema eunoe authorization {role}", with_secret(postgres_server.url, database=database)
        )
        refused(place, "missing_extension", "pgvector", "permission denied", "administrator")
        postgres_server.execute("create extension vector", with_secret(postgres_server.url, database=database))
        with open_memory(place) as memory:
            assert memory.remember("An administrator has been here").number == 1
        postgres_server.execute("drop schema eunoe cascade", with_secret(postgres_server.url, database=database))


@pytest.mark.parametrize("has_store", [False, True], ids=["new", "with a store"])
def test_a_pgvector_that_is_too_old(postgres_server: Server, database: str, has_store: bool) -> None:
    place = with_secret(postgres_server.url, database=database)
    if has_store:
        open_memory(place).close()
    else:
        postgres_server.execute("create extension vector", place)
    postgres_server.execute("update pg_extension set extversion = '0.7.4' where extname = 'vector'", place)
    refused(place, "old_extension", "0.7.4", "0.8", "alter extension vector update")
    assert schemas(postgres_server, place) == (["eunoe"] if has_store else [])


def test_a_server_that_is_too_old() -> None:
    """No such server can be had here, so a connection that says so stands in for it."""
    old: Any = SimpleNamespace(info=SimpleNamespace(server_version=130_012))
    with pytest.raises(Unavailable) as caught:
        inspect(old, "postgresql://h/db")
    assert_told(caught.value, "old_server", "13", "14")


def test_a_database_of_another_encoding(postgres_server: Server) -> None:
    options = "encoding 'LATIN1' locale 'C' template template0"
    with made(postgres_server, "database", options) as name:
        refused(with_secret(postgres_server.url, database=name), "unfit_database", "LATIN1", "UTF8")


def test_a_schema_of_another_program_is_left_untouched(postgres_server: Server, postgres_store: str) -> None:
    schema = schema_of(postgres_store)
    postgres_server.execute(f"create schema {schema}")
    postgres_server.rows(postgres_store, "create table theirs (x int)")
    refused(with_secret(postgres_store), "foreign_schema", schema, "?schema=", "EUNOE_STORE")
    tables = f"select tablename from pg_tables where schemaname = '{schema}'"
    assert postgres_server.execute(tables) == [("theirs",)]


def test_an_empty_schema_becomes_a_store(postgres_server: Server, postgres_store: str) -> None:
    postgres_server.execute(f"create schema {schema_of(postgres_store)}")
    with open_memory(postgres_store) as memory:
        assert memory.remember("an empty schema is nobody's").number == 1


def schemas(server: Server, url: str) -> list[str]:
    found = server.execute("select nspname from pg_namespace where nspname not like 'pg\\_%' order by 1", url)
    return [name for (name,) in found if name not in ("information_schema", "public")]


# ── what a person sees ───────────────────────────────────────────────────────────────────────────────────────────────


def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "eunoe", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environ)


@pytest.mark.parametrize("by", ["option", "environment"])
def test_a_command_tells_it_in_one_line_and_fails(by: str) -> None:
    address = f"postgresql://kim:{SECRET}@127.0.0.1:1/db"
    done = run("--store", address, "recall", "x") if by == "option" else run("recall", "x", EUNOE_STORE=address)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert "EUNOE_STORE" in done.stderr
    assert "Traceback" not in done.stderr
    assert SECRET not in done.stderr


@pytest.mark.parametrize("missing", ["psycopg", "psycopg_pool"])
def test_without_its_driver_a_command_names_the_extra(tmp_path: Path, missing: str) -> None:
    (tmp_path / missing).mkdir()
    (tmp_path / missing / "__init__.py").write_text(f"raise ImportError('no {missing} here')")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    done = run("--store", f"postgresql://kim:{SECRET}@h/db", "recall", "x", "--json", PYTHONPATH=path)
    assert done.returncode == 1
    assert "eunoe[postgres]" in done.stderr
    assert '"missing_extra"' in done.stdout
    assert "Traceback" not in done.stderr
    assert SECRET not in done.stdout + done.stderr

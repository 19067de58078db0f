"""The engine that a run of the tests is about: SQLite, or with `EUNOE_TEST_ENGINE=postgres` a real PostgreSQL server.

Tests name their stores as files and `:memory:`. On PostgreSQL `Places` gives each of them a schema of its own, and
every session that is opened in this process goes there: what is tested is the same, word for word.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from eunoe import bootstrap, storing
from tests.postgres import Server

ENGINES = ("sqlite", "postgres")
ENGINE = os.environ.get("EUNOE_TEST_ENGINE") or "sqlite"
if ENGINE not in ENGINES:
    raise ValueError(f"EUNOE_TEST_ENGINE={ENGINE} must be one of {' '.join(ENGINES)}")
IS_POSTGRES = ENGINE == "postgres"


class Places:
    """Schemas of one server, in place of the stores that a test names; emptied and used again after each test."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._free: list[str] = []
        self._named: dict[str, str] = {}
        self._taken: list[str] = []
        self._spoiled: set[str] = set()
        self._engines: list[Any] = []

    def place(self, store: str) -> str:
        """Return the address for a store: for a file always the same one during a test, for `:memory:` another one."""
        if "://" in store:
            return store
        if store not in self._named or store == ":memory:":
            self._named[store] = self._free.pop() if self._free else self._server.fresh()
            self._taken.append(self._named[store])
        return self._named[store]

    def spoil(self, store: str) -> str:
        """Return the address of a store whose tables are about to be altered: nobody gets it afterwards."""
        address = self.place(store)
        self._spoiled.add(address)
        return address

    def hand_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let everything that is opened from now on be on the server."""
        load_settings, postgres = bootstrap.load_settings, storing._postgres

        def placed(*args: Any, **given: Any) -> Any:
            settings = load_settings(*args, **given)
            return settings._replace(store=self.place(settings.store))

        def kept(*args: Any) -> Any:
            self._engines.append(postgres(*args))
            return self._engines[-1]

        monkeypatch.setattr(bootstrap, "load_settings", placed)
        monkeypatch.setattr(storing, "_postgres", kept)

    def release(self) -> None:
        """Close what a test left open, and empty what it wrote to."""
        for engine in self._engines:
            engine.close()
        for address in self._spoiled:
            self._server.drop(address)
        whole = [address for address in self._taken if address not in self._spoiled]
        self._server.empty(whole)
        self._free += whole
        for kept in (self._engines, self._taken, self._named, self._spoiled):
            kept.clear()


class Raw:
    """Somebody who has the database, SQL and time, beside Eunoe. The store is on the run's engine."""

    clashes: tuple[type[Exception], ...] = (apsw.ConstraintError,)

    def __init__(self, store: Path | str) -> None:
        """Reach a store that a session has made. Parameters are written as `?`, whatever the engine."""
        self._db: Any
        if IS_POSTGRES:
            import psycopg

            from eunoe.stores.postgres.address import read_address

            address = read_address(_PLACES[-1].spoil(str(store)))
            self._db = psycopg.connect(address.conninfo, autocommit=True)
            self._db.execute(f"set search_path = {address.schema}, public".encode())
            self.clashes = (psycopg.IntegrityError,)
        else:
            self._db = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READWRITE)

    def execute(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        if not IS_POSTGRES:
            return list(self._db.execute(sql, values))
        cursor = self._db.execute(sql.replace("?", "%s").encode(), values or None)
        return cursor.fetchall() if cursor.description else []

    def unfreeze(self) -> None:
        """Take away what keeps the ledger from being changed."""
        table = " on events" if IS_POSTGRES else ""
        for name in ("events_are_frozen", "events_are_kept"):
            self.execute(f"drop trigger {name}{table}")

    def close(self) -> None:
        """End the connection."""
        self._db.close()


@contextmanager
def raw(store: Path | str) -> Iterator[Raw]:
    """Yield somebody with the database for a while."""
    connection = Raw(store)
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def locked(store: Path | str) -> Iterator[None]:
    """Hold off whoever notes reads, as another process does while it writes."""
    with raw(store) as connection:
        connection.execute("begin" if IS_POSTGRES else "begin immediate")
        if IS_POSTGRES:
            connection.execute("lock table accesses in exclusive mode")
        try:
            yield
        finally:
            connection.execute("rollback")


def stored(store: Path) -> bytes:
    """Return all that a store holds: the bytes of its files, or of every row of its tables."""
    if not IS_POSTGRES:
        files = {path.name: path for path in store.parent.iterdir() if path.is_file()}
        assert {store.name, f"{store.name}-wal"} <= files.keys()
        return b"".join(path.read_bytes() for _, path in sorted(files.items()) if path.suffix != ".sqlite-shm")
    with raw(store) as connection:
        tables = connection.execute("select tablename from pg_tables where schemaname = current_schema() order by 1")
        rows = (row for (table,) in tables for row in connection.execute(f"select * from {table}"))
        return b"\n".join(_bytes(value) for row in rows for value in row)


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


_PLACES: list[Places] = []


@pytest.fixture(scope="session")
def places(postgres_server: Server) -> Places:
    """The places of this run."""
    _PLACES.append(Places(postgres_server))
    return _PLACES[-1]


@pytest.fixture(autouse=True)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run a test on the engine of this run; those that are about SQLite itself are skipped on another one."""
    if not IS_POSTGRES:
        yield
        return
    if about := request.node.get_closest_marker("sqlite"):
        pytest.skip(f"about SQLite: {about.args[0]}")
    chosen: Places = request.getfixturevalue("places")
    chosen.hand_out(monkeypatch)
    yield
    chosen.release()

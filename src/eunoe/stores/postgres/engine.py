"""One schema of a PostgreSQL database as an `Engine`: how it is reached, set up, read and written."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from eunoe.domain.postings import FIELDS
from eunoe.errors import Unavailable
from eunoe.stores.postgres import fulltext, nearest
from eunoe.stores.postgres.address import read_address
from eunoe.stores.postgres.connection import PostgresConnection, adapt
from eunoe.stores.postgres.errors import translated, unreachable
from eunoe.stores.postgres.setup import Server, configure, grants, inspect, set_up
from eunoe.stores.postgres.watching import Watcher
from eunoe.stores.sql.connection import Engine, Row
from eunoe.stores.sql.migrate import Migration, load_migrations, newer_schema

CONNECT_S = 10
# Whoever waits so long for a connection of the pool looks whether the server is there at all. A pool left to itself
# tries less and less often, and after a long outage gives no connection for as long again.
_SUSPICIOUS_S = 2.0
_MOST_CONNECTIONS = 10
_MAINTAIN_SINCE = 170_000
_TOLD_EVERY_S = 0.1  # a notification takes a lock of the whole database at its commit; a burst is told of once
# One round trip: a transaction, and whether a newer process has migrated the schema since it was opened.
_READ = "begin isolation level repeatable read read only; select count(*) from {}.migrations"
# Behind the project's lock each statement is to see the newest.
# What it runs has one good plan each.
_WRITE = "begin isolation level read committed; select count(*) from {}.migrations; set local plan_cache_mode = 'auto'"

_TRY_TO_TEND = "select pg_try_advisory_lock(hashtext(%s))"

# A pool tells of failed attempts in the log; callers get them as errors.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


class PostgresEngine:
    """Implements `eunoe.stores.sql.connection.Engine` over one schema of a database."""

    dialect = "postgres"
    tends_vectors = True
    occurrences = fulltext.OCCURRENCES

    def __init__(
        self,
        url: str,
        *,
        now_us: Callable[[], int],
        scratch: Callable[[], AbstractContextManager[Engine]],
        migrations: Sequence[Migration] | None = None,
        migrate: bool = True,
    ) -> None:
        """Connect, and make or migrate the schema where that is needed.

        Args:
            url: See `read_address`.
            now_us: The time, for the record of migrations.
            scratch: Makes an empty store in which a rebuild grows.
            migrations: The schema to bring it to; only tests give another.
            migrate: False for callers that must never migrate; they get `older_schema` instead.

        Raises:
            Invalid: `bad_store`.
            Unavailable: `no_server`, `bad_password`, `no_database`, `too_many_connections`, `old_server`,
                `unfit_database`, `missing_extension`, `old_extension`, `foreign_schema`, `newer_schema`,
                `older_schema`, `forbidden`, `read_only`.
        """
        self._address = read_address(url)
        self._migrations = list(migrations if migrations is not None else load_migrations(self.dialect))
        self._scratch = scratch
        named = sql.Identifier(self._address.schema)  # never the table of a store behind it in the search path
        self._read, self._write = (sql.SQL(begin).format(named).as_bytes() for begin in (_READ, _WRITE))
        self._told_at = 0.0
        self._name = f"{os.getpid()}-{id(self)}"
        self._indexes: set[tuple[int, int]] = set()
        self._watcher: Watcher | None = None
        self._server = self._prepare(now_us, migrate=migrate)
        self._pool: ConnectionPool[psycopg.Connection[Row]] = ConnectionPool(
            self._address.conninfo,
            kwargs={"autocommit": True, "connect_timeout": CONNECT_S},
            min_size=0,
            max_size=_MOST_CONNECTIONS,
            timeout=_SUSPICIOUS_S,
            reconnect_timeout=_SUSPICIOUS_S,
            configure=self._configure,
            open=True,
        )

    @contextmanager
    def reading(self) -> Iterator[PostgresConnection]:
        """See `Engine.reading`."""
        with self._begun(self._read) as db:
            yield self._wrapped(db)
            db.execute("commit")  # a rollback would cost the connection its prepared statements

    @contextmanager
    def writing(self, *, patient: bool = True) -> Iterator[PostgresConnection]:
        """See `Engine.writing`."""
        with self._begun(self._write) as db:
            connection = self._wrapped(db)
            with connection.pipelined():
                if not patient:
                    connection.run("set local lock_timeout = '2ms'")
                yield connection
                connection.run("commit")
            self._tell(db)

    def scratch(self) -> AbstractContextManager[Engine]:
        """See `Engine.scratch`: the statements are the same, so it may be another kind of engine."""
        return self._scratch()

    def unindex(self, connection: Any, p: int) -> None:
        """See `Engine.unindex`."""
        connection.run(fulltext.CLEAR, {"p": p})

    def indexed(self, connection: Any, p: int) -> Iterator[Row]:
        """See `Engine.indexed`. What was written before pg_textsearch came differs from whatever is expected."""
        rows = connection.stream(fulltext.OCCURRING, {"p": p, "start": len(fulltext.prefix(p)) + 1})
        yield from fulltext.occurrences(rows, FIELDS)
        if self._server.has_textsearch:
            yield from connection.stream(fulltext.WITHOUT_WORDS, {"p": p})

    def watch(self, wake: Callable[[], None]) -> None:
        """See `Engine.watch`: by LISTEN on a connection of its own."""
        if self._watcher is None:
            self._watcher = Watcher(self._address.conninfo, self._channel(), self._name, wake)

    def tend_vectors(self, p: int, model: int, dim: int) -> None:
        """See `Engine.tend_vectors`: an HNSW index, made while everybody goes on, once comparing all is too slow."""
        if (p, model) in self._indexes:
            return
        with self._idle() as db, suppress(psycopg.errors.InsufficientPrivilege):  # only the owner may make it
            # Two at once would wait for each other: each for the other's transaction to end.
            if db.execute(_TRY_TO_TEND, [f"eunoe tends {self._address.schema}"]).fetchone() == (0,):
                what = "another process is making an index for it: try again"
                raise Unavailable("locked", f"the store {self._address.place}: {what}", retryable=True)
            for statement in nearest.tending(self._wrapped(db), p, model, dim):
                db.execute(statement.encode())

    def grant(self, role: str, kind: str = "service") -> None:
        """Let a role use the store in one way, and in no other: see `GRANTED`.

        Raises:
            Unavailable: `forbidden`, `engine_error`: the role is not there, or this one may not grant.
        """
        with self._idle() as db:
            found = db.execute("select tablename from pg_tables where schemaname = %s", [self._address.schema])
            tables, can_maintain = sorted(name for (name,) in found), db.info.server_version >= _MAINTAIN_SINCE
            for statement in grants(self._address.schema, role, kind, tables, can_maintain=can_maintain):
                db.execute(statement)

    def describe(self) -> dict[str, Any]:
        """See `Engine.describe`."""
        with self.reading() as connection:
            ((size,),) = connection.run(
                "select coalesce(sum(pg_total_relation_size(oid)), 0) from pg_class "
                "where relnamespace = cast(current_schema() as regnamespace) and relkind = 'r'"
            )
            ((durable,),) = connection.run("select current_setting('synchronous_commit')")
        return {
            "engine": "postgres",
            "version": self._server.version,
            "path": self._address.place,
            "bytes": size,
            "schema": len(self._migrations),
            "durability": "process" if durable == "off" else "power",
            "mode": "",
            "pgvector": self._server.vector,
            "bm25": self._server.has_bm25,
            "replica": self._server.is_replica,
        }

    def close(self) -> None:
        """See `Engine.close`."""
        if self._watcher is not None:
            self._watcher.stop()
        self._pool.close()

    def _prepare(self, now_us: Callable[[], int], *, migrate: bool) -> Server:
        place = self._address.place
        with self._direct() as db, self._translating():
            server = inspect(db, place)
            configure(db, self._address.schema)
            connection = PostgresConnection(db, place, has_textsearch=False, has_bm25=False, has_index=self._has_index)
            set_up(connection, db, self._address, self._migrations, now=now_us(), allowed=migrate, server=server)
            return inspect(db, place)

    @contextmanager
    def _direct(self) -> Iterator[psycopg.Connection[Row]]:
        """Yield a connection beside the pool: a pool does not say why it cannot connect."""
        try:
            db = psycopg.connect(self._address.conninfo, autocommit=True, connect_timeout=CONNECT_S)
        except psycopg.Error as exc:
            raise unreachable(exc, self._address.place) from exc
        try:
            adapt(db)
            yield db
        finally:
            db.close()

    def _configure(self, db: psycopg.Connection[Row]) -> None:
        adapt(db)
        configure(db, self._address.schema)

    @contextmanager
    def _begun(self, begin: bytes) -> Iterator[psycopg.Connection[Row]]:
        """Yield a connection in a transaction, which is rolled back on any error.

        A connection that was lost while it lay idle is found out here, where nothing is lost with it, and replaced.
        """
        with self._translating():
            db = self._taken(begin)
            try:
                yield db
            except BaseException:
                _roll_back(db)
                raise
            finally:
                self._pool.putconn(db)

    def _taken(self, begin: bytes) -> psycopg.Connection[Row]:
        for _ in range(_MOST_CONNECTIONS):  # as many as may lie in the pool without knowing that they are lost
            with suppress(psycopg.OperationalError):
                return self._started(begin)
        return self._started(begin)

    def _started(self, begin: bytes) -> psycopg.Connection[Row]:
        db = self._connection()
        try:
            cursor = db.execute(begin)
            cursor.nextset()
            ((found,),) = cursor.fetchall()
            if found != len(self._migrations):
                raise newer_schema(self._address.place, found, len(self._migrations))
        except BaseException:
            _roll_back(db)
            self._pool.putconn(db)
            raise
        return db

    def _connection(self) -> psycopg.Connection[Row]:
        for _ in range(round(CONNECT_S / _SUSPICIOUS_S)):
            try:
                return self._pool.getconn()
            except PoolClosed:
                raise Unavailable("closed", f"the store {self._address.place} has been closed; open it again") from None
            except PoolTimeout:
                with self._direct():  # tells why it cannot be reached
                    pass
        raise Unavailable(
            "too_many_connections",
            f"the store {self._address.place}: all {_MOST_CONNECTIONS} connections of this process are in use; "
            "try again",
            retryable=True,
        )

    @contextmanager
    def _idle(self) -> Iterator[psycopg.Connection[Row]]:
        """Yield a connection of its own outside of any transaction, for what takes long and cannot be in one."""
        with self._direct() as db, self._translating():
            configure(db, self._address.schema)
            db.execute("set statement_timeout = 0; set lock_timeout = 0")  # an index waits for every transaction
            yield db

    @contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as exc:
            raise translated(exc, self._address.place) from exc

    def _wrapped(self, db: psycopg.Connection[Row]) -> PostgresConnection:
        return PostgresConnection(
            db,
            self._address.place,
            has_textsearch=self._server.has_textsearch,
            has_bm25=self._server.has_bm25,
            has_index=self._has_index,
        )

    def _has_index(self, connection: nearest.Asked, p: int, model: int) -> bool:
        if (p, model) not in self._indexes and nearest.is_indexed(connection, p, model):
            self._indexes.add((p, model))
        return (p, model) in self._indexes

    def _channel(self) -> str:
        return f"eunoe_{self._address.schema}"

    def _tell(self, db: psycopg.Connection[Row]) -> None:
        """Tell the workers of other processes, after the commit; that it fails takes nothing back."""
        now = time.monotonic()
        if now - self._told_at >= _TOLD_EVERY_S:
            self._told_at = now
            with suppress(psycopg.Error):
                db.execute("select pg_notify(%s, %s)", [self._channel(), self._name])


def _roll_back(db: psycopg.Connection[Any]) -> None:
    """End a transaction, or the connection where that is not possible; a pool replaces it.

    The driver forgets what it prepared: what a pipeline gave up may never have been prepared.
    """
    try:
        if db.info.transaction_status == TransactionStatus.IDLE:  # its end has failed, or what followed it
            db.close()
        else:
            db.rollback()
    except psycopg.Error:
        db.close()

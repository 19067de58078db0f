"""One SQLite file as an `Engine`: how it is made, opened, migrated, read and written."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw

from eunoe.errors import Unavailable, shown
from eunoe.stores.sql.connection import Row
from eunoe.stores.sql.migrate import (
    TABLE,
    Migration,
    apply,
    check_applied,
    load_migrations,
    newer_schema,
    older_schema,
)
from eunoe.stores.sqlite.connection import APPLICATION_ID, SqliteConnection
from eunoe.stores.sqlite.file import back_up, foreign_file, inspect, prepare, remove_store, scratch_path, unusable
from eunoe.stores.sqlite.fulltext import DELETE, block

_IDLE_READERS = 4
_SHORT_WAIT_S = 0.002


class SqliteEngine:
    """Implements `eunoe.stores.sql.connection.Engine` over one file, or `:memory:`."""

    dialect = "sqlite"
    tends_vectors = False
    occurrences = sys.maxsize

    def __init__(
        self,
        path: str,
        *,
        durability: str = "process",
        now_us: Callable[[], int],
        migrations: Sequence[Migration] | None = None,
        migrate: bool = True,
    ) -> None:
        """Open the file, making it (0600, in a folder made 0700) or migrating it where that is needed.

        Args:
            path: The file, or `:memory:`.
            durability: `process`: what was acknowledged survives the end of any process; `power`: of the power, too.
            now_us: The time, for the record of migrations.
            migrations: The schema to bring it to; only tests give another.
            migrate: False for callers that must never migrate; they get `older_schema` instead.

        Raises:
            Unavailable: `foreign_file`, `truncated_file`, `newer_schema`, `older_schema`, `cannot_open`, `read_only`,
                `locked`, `disk_full`, `damaged`. A file that is refused is left untouched.
        """
        self.path = path
        self._durability = durability
        self._migrations = list(migrations if migrations is not None else load_migrations(self.dialect))
        self._write_lock = threading.RLock()
        self._idle: list[SqliteConnection] = []
        self._idle_lock = threading.Lock()
        self._closed = False
        if path != ":memory:":
            prepare(path)
            inspect(path, len(self._migrations))
        self._writer = SqliteConnection(path, durability=durability)
        try:
            self._migrate(now_us, allowed=migrate)
        except BaseException:
            self._writer.close()
            raise
        self._place = None if path == ":memory:" else _place_of(path)

    @contextmanager
    def reading(self) -> Iterator[SqliteConnection]:
        """See `Engine.reading`."""
        if self.path == ":memory:":
            with self._write_lock:
                yield self._open_writer()
            return
        connection = self._take_reader()
        try:
            connection.run("begin")
            try:
                self._check_schema(connection)
                yield connection
            finally:
                _end(connection, "rollback")
        finally:
            self._give_back(connection)

    @contextmanager
    def writing(self, *, patient: bool = True) -> Iterator[SqliteConnection]:
        """See `Engine.writing`. `BEGIN IMMEDIATE`, because a deferred one that is upgraded late fails at once."""
        if not self._write_lock.acquire(timeout=-1 if patient else _SHORT_WAIT_S):
            raise unusable("locked", self.path, "is being written to by another thread: try again")
        try:
            connection = self._open_writer()
            self._check_place()
            connection.begin(patient=patient)
            try:
                self._check_schema(connection)
                yield connection
                connection.run("commit")
            except BaseException:
                _end(connection, "rollback")
                raise
        finally:
            self._write_lock.release()

    @contextmanager
    def scratch(self) -> Iterator[SqliteEngine]:
        """See `Engine.scratch`: a file of the same folder, because it may grow as large as the store."""
        place = ":memory:" if self.path == ":memory:" else scratch_path(self.path)
        engine = SqliteEngine(place, now_us=lambda: 0, migrations=self._migrations)
        try:
            yield engine
        finally:
            engine.close()
            if place != ":memory:":
                remove_store(place)

    def unindex(self, connection: Any, p: int) -> None:
        """See `Engine.unindex`."""
        first, last = block(p)
        rows = connection.run(
            "select rowid from passages_fts where rowid between :first and :last", {"first": first, "last": last}
        )
        connection.many(DELETE, [{"rid": rid} for (rid,) in rows])

    def indexed(self, connection: Any, p: int) -> Iterator[Row]:
        """See `Engine.indexed`."""
        connection.run(
            "create virtual table if not exists temp.passages_vocab using fts5vocab(main, passages_fts, instance)"
        )
        prefix = f"{p:x}~"
        yield from connection.stream(
            "select substr(term, :start), doc, col from temp.passages_vocab where term >= :prefix and term < :end",
            {"start": len(prefix) + 1, "prefix": prefix, "end": prefix[:-1] + "\x7f"},
        )

    def watch(self, wake: Callable[[], None]) -> None:
        """See `Engine.watch`: a file tells nobody."""

    def tend_vectors(self, p: int, model: int, dim: int) -> None:
        """See `Engine.tend_vectors`: nothing is needed."""

    def describe(self) -> dict[str, Any]:
        """See `Engine.describe`."""
        size = os.stat(self.path).st_size if self.path != ":memory:" else 0
        return {
            "engine": "sqlite",
            "version": apsw.sqlite_lib_version(),
            "path": self.path,
            "bytes": size,
            "schema": len(self._migrations),
            "durability": self._durability,
            "mode": "" if self.path == ":memory:" else f"{os.stat(self.path).st_mode & 0o7777:04o}",
        }

    def close(self) -> None:
        """See `Engine.close`."""
        with self._write_lock, self._idle_lock:
            self._closed = True
            for connection in (*self._idle, self._writer):
                connection.close()
            self._idle.clear()

    def _open_writer(self) -> SqliteConnection:
        if self._closed:
            raise Unavailable("closed", f"the store {shown(self.path)} has been closed; open it again")
        return self._writer

    def _take_reader(self) -> SqliteConnection:
        with self._idle_lock:
            self._open_writer()
            if self._idle:
                return self._idle.pop()
        return SqliteConnection(self.path, durability=self._durability)

    def _give_back(self, connection: SqliteConnection) -> None:
        with self._idle_lock:
            if not self._closed and len(self._idle) < _IDLE_READERS:
                self._idle.append(connection)
                return
        connection.close()

    def _check_place(self) -> None:
        """Refuse to write to a file that was removed or replaced since it was opened: it would be lost with us."""
        if self._place is not None and self._place != _place_of(self.path):
            raise unusable("moved_away", self.path, "was removed or replaced while it was open; start again")

    def _check_schema(self, connection: SqliteConnection) -> None:
        """A newer process may have migrated the file since it was opened."""
        ((found,),) = connection.run("pragma user_version")
        if found != len(self._migrations):
            raise newer_schema(self.path, found, len(self._migrations))

    def _is_ours(self) -> bool:
        ((found,),) = self._writer.run("pragma application_id")
        return bool(found == APPLICATION_ID)

    def _migrate(self, now_us: Callable[[], int], *, allowed: bool) -> None:
        writer = self._writer
        if self._is_ours() and writer.run("pragma user_version")[0][0] == len(self._migrations):
            return
        if self.path != ":memory:":
            _use_wal(writer)
        writer.run("begin exclusive")
        try:
            if not self._is_ours() and writer.run("select 1 from sqlite_master limit 1"):
                writer.db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)  # what it holds may stand in its WAL alone
                raise foreign_file(self.path)
            self._apply_pending(now_us, allowed=allowed)
            writer.run("commit")
        except BaseException:
            _end(writer, "rollback")
            raise
        writer.run("pragma wal_checkpoint(truncate)")  # so that the header of the file itself tells its schema

    def _apply_pending(self, now_us: Callable[[], int], *, allowed: bool) -> None:
        writer = self._writer
        found = writer.run("pragma user_version")[0][0]
        writer.run(TABLE)
        pending = check_applied(writer, self._migrations, self.path)
        if pending and found and not allowed:
            raise older_schema(self.path, found, len(self._migrations))
        if pending and found and self.path != ":memory:":
            back_up(self.path, found)
        if pending:
            writer.db.create_scalar_function("eunoe_shape", _shape, 1, deterministic=True)  # type: ignore[arg-type]
        apply(writer, pending, now=now_us(), execute=writer.run)
        writer.run(f"pragma application_id = {APPLICATION_ID}")
        writer.run(f"pragma user_version = {len(self._migrations)}")


def _shape(body: Any) -> int:
    from eunoe.domain.turns import shape  # noqa: PLC0415 - for stores that are migrated only

    return shape(body)


def _place_of(path: str) -> tuple[int, int] | None:
    """Return what tells a file from another one that gets its name; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _end(connection: SqliteConnection, how: str) -> None:
    """End a transaction if there is still one: some errors have ended it already."""
    if connection.db.in_transaction:
        connection.run(how)


def _use_wal(connection: SqliteConnection) -> None:
    """Switch to WAL. SQLite does not call the busy handler for this, so processes that race for it try again."""
    for _ in range(200):
        try:
            connection.run("pragma journal_mode = wal")
        except Unavailable as exc:
            if exc.code != "locked":
                raise
            time.sleep(0.01)
        else:
            return
    connection.run("pragma journal_mode = wal")

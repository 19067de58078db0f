"""One SQLite file as an `Engine`: how it is made, opened, migrated, read and written."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw

from eunoe.errors import Unavailable, shown
from eunoe.stores.sql.connection import Row
from eunoe.stores.sql.migrate import Migration, apply, check_applied, load_migrations, newer_schema
from eunoe.stores.sqlite.connection import APPLICATION_ID, SqliteConnection, translated
from eunoe.stores.sqlite.fulltext import DELETE, block

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_IDLE_READERS = 4


class SqliteEngine:
    """Implements `eunoe.stores.sql.connection.Engine` over one file, or `:memory:`."""

    dialect = "sqlite"

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
            _prepare(path)
            _inspect(path, len(self._migrations))
        self._writer = SqliteConnection(path, durability=durability)
        try:
            self._migrate(now_us, allowed=migrate)
        except BaseException:
            self._writer.close()
            raise

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
    def writing(self) -> Iterator[SqliteConnection]:
        """See `Engine.writing`. `BEGIN IMMEDIATE`, because a deferred one that is upgraded late fails at once."""
        with self._write_lock:
            connection = self._open_writer()
            connection.run("begin immediate")
            try:
                self._check_schema(connection)
                yield connection
                connection.run("commit")
            except BaseException:
                _end(connection, "rollback")
                raise

    @contextmanager
    def scratch(self) -> Iterator[SqliteEngine]:
        """See `Engine.scratch`: a file of the same folder, because it may grow as large as the store."""
        place = ":memory:"
        if self.path != ":memory:":
            place = f"{os.path.abspath(self.path)}.rebuild-{os.urandom(6).hex()}"
        engine = SqliteEngine(place, now_us=lambda: 0, migrations=self._migrations)
        try:
            yield engine
        finally:
            engine.close()
            for name in (place, f"{place}-wal", f"{place}-shm"):
                _remove(name)

    def unindex(self, connection: Any, p: int) -> None:
        """See `Engine.unindex`."""
        first, last = block(p)
        rows = connection.run(
            "select rowid from passages_fts where rowid between :first and :last", {"first": first, "last": last}
        )
        connection.many(DELETE, rows)

    def indexed(self, connection: Any, p: int) -> Iterator[Row]:
        """See `Engine.indexed`."""
        connection.run(
            "create virtual table if not exists temp.passages_vocab using fts5vocab(main, passages_fts, instance)"
        )
        prefix = f"{p:x}~"
        size = len(prefix)
        # Occurrences of a term stand together, by row and field; counting them here saves SQLite a sorter.
        last, count = None, 0
        for term, row, field in connection.stream(
            "select term, doc, col from temp.passages_vocab where term >= :prefix and term < :end",
            {"prefix": prefix, "end": prefix[:-1] + "\x7f"},
        ):
            if (term, row, field) == last:
                count += 1
                continue
            if last is not None:
                yield last[0][size:], last[1], last[2], count
            last, count = (term, row, field), 1
        if last is not None:
            yield last[0][size:], last[1], last[2], count

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

    def _check_schema(self, connection: SqliteConnection) -> None:
        """A newer process may have migrated the file since it was opened."""
        ((found,),) = connection.run("pragma user_version")
        if found != len(self._migrations):
            raise newer_schema(found, len(self._migrations))

    def _migrate(self, now_us: Callable[[], int], *, allowed: bool) -> None:
        writer = self._writer
        if writer.run("pragma user_version")[0][0] == len(self._migrations):
            return
        if self.path != ":memory:":
            _use_wal(writer)
        writer.run("begin exclusive")
        try:
            found = writer.run("pragma user_version")[0][0]
            pending = check_applied(writer, self._migrations)
            if pending and found and not allowed:
                raise Unavailable(
                    "older_schema",
                    f"the store {shown(self.path)} has schema {found}; run `eunoe doctor` once to bring it up to date",
                )
            if pending and found:
                _back_up(self.path, found)
            apply(writer, pending, now=now_us())
            writer.run(f"pragma application_id = {APPLICATION_ID}")
            writer.run(f"pragma user_version = {len(self._migrations)}")
            writer.run("commit")
        except BaseException:
            _end(writer, "rollback")
            raise
        writer.run("pragma wal_checkpoint(truncate)")  # so that the header of the file itself tells its schema


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


def _prepare(path: str) -> None:
    """Make the file with 0600, in a folder that is made with 0700; leave what exists as it is."""
    try:
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if os.path.isdir(path):
            raise Unavailable("cannot_open", f"the store {shown(path)} is a folder; EUNOE_STORE names a file") from None
    except PermissionError as exc:
        raise Unavailable("read_only", f"the store {shown(path)} cannot be made: {exc}; set EUNOE_STORE") from exc
    except OSError as exc:
        raise Unavailable("cannot_open", f"the store {shown(path)} cannot be made: {exc}; set EUNOE_STORE") from exc


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.unlink(path)


def _inspect(path: str, known: int) -> None:
    """Refuse a file that is no store of ours, by its first bytes and without opening it as a database."""
    try:
        with open(path, "rb") as file:
            header = file.read(_HEADER_BYTES)
            size = file.seek(0, os.SEEK_END)
    except OSError as exc:
        raise Unavailable("cannot_open", f"the store {shown(path)} cannot be read: {exc}") from exc
    if not size or (os.path.exists(f"{path}-wal") and header[68:72] == bytes(4)):
        return  # new, or another process is making it right now
    if not header.startswith(_MAGIC) or int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise Unavailable(
            "foreign_file", f"{shown(path)} is no Eunoe store; it was left untouched. Set EUNOE_STORE to another path"
        )
    if (found := int.from_bytes(header[60:64], "big")) > known:
        raise newer_schema(found, known)
    page = int.from_bytes(header[16:18], "big")
    if size < int.from_bytes(header[28:32], "big") * (65536 if page == 1 else page):
        raise Unavailable("truncated_file", f"the store {shown(path)} has lost its end; restore a backup")


def _back_up(path: str, schema: int) -> None:
    """Keep one copy of a store as it was before its migration."""
    if path == ":memory:":
        return
    folder, name = os.path.split(os.path.abspath(path))
    target = f"{path}.before-{schema + 1}"
    for file in os.listdir(folder):
        if file.startswith(f"{name}.before-"):
            os.unlink(os.path.join(folder, file))
    os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    source = SqliteConnection(path)
    copy = SqliteConnection(target)
    try:
        with copy.db.backup("main", source.db, "main") as job:
            job.step()
    except apsw.Error as exc:
        raise translated(exc, path) from exc
    finally:
        copy.close()
        source.close()

"""One SQLite connection: pragmas, waiting for locks, driver errors as Eunoe's. Lean: hooks open the store with it."""

from __future__ import annotations

import os
import time

import apsw

from eunoe.errors import Unavailable
from eunoe.stores.sql.filters import names
from eunoe.stores.sql.filters import values as named
from eunoe.stores.sql.parameters import by_place
from eunoe.stores.sqlite.fulltext import INSERT, fulltext_row, ranked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from eunoe.stores.sql.filters import Where
    from eunoe.stores.sql.parameters import Pick

APPLICATION_ID = 0x45554E4F  # "EUNO"
BUSY_WAIT_S = 10.0

# Measured in physics.md §1. The WAL file is kept (journal_size_limit) because a grown one makes commits 20 times
# cheaper under durability "power"; a page freed holds no old text (secure_delete).
_PRAGMAS = (
    "pragma cache_size = -65536; pragma mmap_size = 1073741824; pragma temp_store = memory;"
    "pragma journal_size_limit = 67108864; pragma wal_autocheckpoint = 4000; pragma foreign_keys = on;"
    "pragma secure_delete = on;"
)
_SYNCHRONOUS = {"process": "normal", "power": "full"}


class SqliteConnection:
    """A connection; see `eunoe.stores.sql.connection.Connection`. Use it from one thread at a time."""

    searches_vectors = False

    def __init__(self, path: str, *, durability: str = "process", busy_wait_s: float = BUSY_WAIT_S) -> None:
        self.path = path
        self._busy_wait_s = busy_wait_s
        self._waiting_since = 0.0
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if path == ":memory:" else 0)
        try:
            self.db = apsw.Connection(path, flags=flags, statementcachesize=256)
            self.db.set_busy_handler(self._wait)
            self.db.execute(_PRAGMAS + f"pragma synchronous = {_SYNCHRONOUS[durability]}").fetchall()
        except apsw.Error as exc:
            raise translated(exc, path) from exc

    def _wait(self, tries: int) -> bool:
        """Sleep a random short while: many waiting writers then take turns (131 ms at worst, not 1.1 s)."""
        now = time.monotonic()
        if tries == 0:
            self._waiting_since = now
        if now - self._waiting_since > self._busy_wait_s:
            return False
        time.sleep(0.0005 + os.urandom(1)[0] / 256_000)
        return True

    def run(self, sql: str, params: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """See `Connection.run`."""
        try:
            return self.db.execute(sql, params).fetchall()
        except apsw.Error as exc:
            raise translated(exc, self.path) from exc

    def begin(self, *, patient: bool = True) -> None:
        """Begin a write transaction; who is not patient waits for another process's no longer than a moment."""
        waiting, self._busy_wait_s = self._busy_wait_s, self._busy_wait_s if patient else 0.0
        try:
            self.run("begin immediate")
        finally:
            self._busy_wait_s = waiting

    def many(self, sql: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """See `Connection.many`."""
        statement, values = _positional(sql)
        try:
            self.db.executemany(statement, map(values, rows))
        except apsw.Error as exc:
            raise translated(exc, self.path) from exc

    def stream(self, sql: str, params: Mapping[str, Any] | None = None) -> Iterator[tuple[Any, ...]]:
        """See `Connection.stream`."""
        try:
            yield from self.db.execute(sql, params)
        except apsw.Error as exc:
            raise translated(exc, self.path) from exc

    def index(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """See `Connection.index`."""
        try:
            self.db.executemany(INSERT, map(fulltext_row, rows))
        except apsw.Error as exc:
            raise translated(exc, self.path) from exc

    def listed(self, stem: str, values: Sequence[object]) -> tuple[str, dict[str, Any]]:
        """See `Connection.listed`."""
        return names(stem, values), named(stem, values)

    def ranges(self, ranges: Sequence[tuple[str, int, int]]) -> tuple[str, dict[str, Any]]:
        """See `Connection.ranges`."""
        rows = ", ".join(f"(:session{at}, :first{at}, :last{at})" for at in range(len(ranges)))
        sessions, firsts, lasts = zip(*ranges, strict=True)
        return f"values {rows}", {**named("session", sessions), **named("first", firsts), **named("last", lasts)}

    def ranked(self, p: int, terms: Sequence[str], where: Where | None) -> tuple[str, dict[str, Any]]:
        """See `Connection.ranked`."""
        return ranked(p, terms, where)

    def load(self, table: str, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
        """See `Connection.load`."""
        marks = ", ".join("?" * len(columns))
        try:
            self.db.executemany(f"insert into {table} ({', '.join(columns)}) values ({marks})", rows)  # noqa: S608 - ours
        except apsw.Error as exc:
            raise translated(exc, self.path) from exc

    def settle(self, table: str) -> None:
        """See `Connection.settle`: the statements name their order and indexes leave no choice."""

    def lock(self, p: int) -> None:
        """See `Connection.lock`: a write transaction holds the whole file already."""

    def index_vectors(self, p: int, model: int, rows: Sequence[tuple[int, bytes]]) -> None:
        """See `Connection.index_vectors`: processes compare vectors themselves."""

    def nearest(self, p: int, model: int, vector: bytes, where: Where, limit: int) -> list[tuple[int, float]]:
        """See `Connection.nearest`."""
        raise NotImplementedError("SQLite does not search vectors")

    def close(self) -> None:
        """Close the connection. Closing twice is allowed."""
        try:
            self.db.close()
        except apsw.Error as exc:
            raise translated(exc, self.path) from exc


_POSITIONAL: dict[str, tuple[str, Pick]] = {}


def _positional(sql: str) -> tuple[str, Pick]:
    """Return a statement with `?` for its `:names`: binding by name is half of the cost of inserting many rows."""
    known = _POSITIONAL.get(sql)
    if known is None:
        known = _POSITIONAL[sql] = by_place(sql, lambda _: "?", once=False)
    return known


def translated(exc: apsw.Error, path: str) -> Unavailable:
    """Return the error of the driver as one that names the file and the fix."""
    code, fix, retryable = next(
        (row for kind, row in _ERRORS if isinstance(exc, kind)),
        ("engine_error", "run `eunoe doctor`", False),
    )
    return Unavailable(code, f"the store {path!r}: {exc}; {fix}", retryable=retryable, details={"store": path})


_ERRORS: tuple[tuple[type[apsw.Error], tuple[str, str, bool]], ...] = (
    (apsw.BusyError, ("locked", "another process keeps it locked: try again", True)),
    (apsw.LockedError, ("locked", "another process keeps it locked: try again", True)),
    (apsw.ReadOnlyError, ("read_only", "make the file and its folder writable, or set EUNOE_STORE elsewhere", False)),
    (apsw.FullError, ("disk_full", "free some space; nothing was written", True)),
    (apsw.CantOpenError, ("cannot_open", "check that the folder exists and may be read, or set EUNOE_STORE", False)),
    (apsw.NotADBError, ("foreign_file", "this is no Eunoe store: set EUNOE_STORE to another path", False)),
    (apsw.CorruptError, ("damaged", "restore a backup, or export what can be read", False)),
    (apsw.IOError, ("io_error", "check the disk", True)),
    (apsw.ConstraintError, ("constraint", "it clashes with what is there; run `eunoe doctor`", False)),
    (apsw.PermissionsError, ("read_only", "check the permissions of the file and its folder", False)),
)

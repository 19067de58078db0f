"""One connection to PostgreSQL inside a transaction: what the shared stores ask of an engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from typing import Any

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types.bool import BoolBinaryLoader
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper, NumericBinaryLoader

from eunoe.stores.postgres import fulltext, nearest
from eunoe.stores.postgres.dialect import ARRAY, in_one, returns_rows, statement
from eunoe.stores.postgres.errors import translated
from eunoe.stores.sql.connection import Row
from eunoe.stores.sql.filters import Where

_FETCHED = 100  # rows that are in memory at once; a text may have a million characters
_MANY = 500  # rows from which COPY is worth the two round trips around it

_SEARCHED = {"passages": ("passages_fts",), "vectors": ("vector_index",)}  # what the server searches in their place

_LOCK = "select seq from counters where p = :p for update"


class PostgresConnection:
    """A connection; see `eunoe.stores.sql.connection.Connection`. Use it from one thread at a time.

    In a write transaction statements without an answer are only sent; they travel with the next question, and fail
    with it (pipeline mode). So a transaction takes as many round trips as it asks questions, and one to commit.
    """

    searches_vectors = True

    def __init__(
        self,
        db: psycopg.Connection[Row],
        place: str,
        *,
        has_textsearch: bool,
        has_bm25: bool,
        has_index: nearest.HasIndex,
    ) -> None:
        self._db = db
        self._place = place
        self._has_textsearch = has_textsearch
        self._has_bm25 = has_bm25
        self._has_index = has_index
        self._streams = count(1)
        self._sender = psycopg.RawCursor(db)
        self._pipeline: AbstractContextManager[Any] | None = None

    @contextmanager
    def pipelined(self) -> Iterator[None]:
        """Send statements without waiting for them in this block."""
        self._enter_pipeline()
        try:
            yield
        except BaseException as exc:
            self._leave_pipeline(exc)
            raise
        self._leave_pipeline()

    def run(self, sql: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """See `Connection.run`."""
        if not returns_rows(sql):
            self._send(sql, params or {})
            return []
        text, pick = statement(sql)
        try:
            with psycopg.RawCursor(self._db) as cursor:
                return cursor.execute(text, pick(params or {}), binary=True).fetchall()
        except psycopg.Error as exc:
            raise translated(exc, self._place) from exc

    def many(self, sql: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """See `Connection.many`."""
        given = list(rows)
        if not given:
            return
        text, pick = statement(sql)
        try:
            if (joined := in_one(sql, given)) is not None:
                self._sender.execute(*joined)
            else:
                self._sender.executemany(text, [pick(row) for row in given])
        except psycopg.Error as exc:
            raise translated(exc, self._place) from exc

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        """See `Connection.load`: by COPY, which a pipeline cannot carry."""
        try:
            with (
                self._unpipelined(),
                psycopg.RawCursor(self._db) as cursor,
                cursor.copy(f"copy {table} ({', '.join(columns)}) from stdin") as copy,
            ):
                for row in rows:
                    copy.write_row(row)
        except psycopg.Error as exc:
            raise translated(exc, self._place) from exc

    def stream(self, sql: str, params: Mapping[str, Any] | None = None) -> Iterator[Row]:
        """See `Connection.stream`."""
        text, pick = statement(sql)
        name = f"eunoe_{next(self._streams)}"
        fetch = f"fetch {_FETCHED} from {name}"
        try:
            self._sender.execute(f"declare {name} no scroll cursor for {text}", pick(params or {}), prepare=False)
            with psycopg.RawCursor(self._db) as cursor:
                while rows := cursor.execute(fetch, prepare=False, binary=True).fetchall():
                    yield from rows
                    del rows  # before the next ones come
            self._sender.execute(f"close {name}", prepare=False)
        except psycopg.Error as exc:
            raise translated(exc, self._place) from exc

    def settle(self, table: str) -> None:
        """See `Connection.settle`: without statistics the planner sees no difference between two indexes of `p`."""
        for name in (table, *_SEARCHED.get(table, ())):
            self.run(f"analyze {name}")

    def lock(self, p: int) -> None:
        """See `Connection.lock`: on the project's row of counters, which every event changes."""
        self._send(_LOCK, {"p": p})

    def index(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """See `Connection.index`."""
        made = [fulltext.fulltext_row(row, bm25=self._has_textsearch) for row in rows]
        if len(made) < _MANY:
            self.many(fulltext.INSERT, made)
        else:
            self.load("passages_fts", fulltext.COLUMNS, (tuple(row.values()) for row in made))

    def listed(self, stem: str, values: Sequence[object]) -> tuple[str, dict[str, Any]]:
        """See `Connection.listed`: one array, so that the statement is the same for any number of values."""
        kind = "bigint" if isinstance(values[0], int) else "text"
        return f"{ARRAY} cast(:{stem}s as {kind}[])", {f"{stem}s": list(values)}

    def ranges(self, ranges: Sequence[tuple[str, int, int]]) -> tuple[str, dict[str, Any]]:
        """See `Connection.ranges`."""
        sessions, firsts, lasts = map(list, zip(*ranges, strict=True))
        named = {"range_sessions": sessions, "range_firsts": firsts, "range_lasts": lasts}
        kinds = zip(named, ("text", "bigint", "bigint"), strict=True)
        columns = ", ".join(f"cast(:{name} as {kind}[])" for name, kind in kinds)
        return f"select * from unnest({columns})", named  # noqa: S608 - names of ours

    def ranked(self, p: int, terms: Sequence[str], where: Where | None) -> tuple[str, dict[str, Any]]:
        """See `Connection.ranked`."""
        return fulltext.ranked(p, terms, where, bm25=self._has_bm25)

    def index_vectors(self, p: int, model: int, rows: Sequence[tuple[int, bytes]]) -> None:
        """See `Connection.index_vectors`."""
        named = {"p": p, "model": model}
        self.many(
            nearest.INSERT, [named | {"rid": rid, "embedding": nearest.Halfvec.of(vector)} for rid, vector in rows]
        )

    def nearest(self, p: int, model: int, vector: bytes, where: Where, limit: int) -> list[tuple[int, float]]:
        """See `Connection.nearest`."""
        found = nearest.nearest(self, p, model, vector, where, limit, has_index=self._has_index)
        return [(rid, -far) for rid, far in found]

    def _send(self, sql: str, params: Mapping[str, Any]) -> None:
        """Run a statement whose answer nobody needs."""
        text, pick = statement(sql)
        try:
            self._sender.execute(text, pick(params))
        except psycopg.Error as exc:
            raise translated(exc, self._place) from exc

    def _enter_pipeline(self) -> None:
        self._pipeline = self._db.pipeline()
        self._pipeline.__enter__()

    def _leave_pipeline(self, exc: BaseException | None = None) -> None:
        """Wait for all that was sent. With an error of the block, those that follow from it are not told."""
        pipeline, self._pipeline = self._pipeline, None
        if pipeline is not None:
            kind, trace = (None, None) if exc is None else (type(exc), exc.__traceback__)
            pipeline.__exit__(kind, exc, trace)

    @contextmanager
    def _unpipelined(self) -> Iterator[None]:
        was_pipelined = self._pipeline is not None
        self._leave_pipeline()
        yield
        if was_pipelined:
            self._enter_pipeline()


class _Flag(Dumper):
    """True and False as the numbers that the shared schema keeps."""

    format = Format.BINARY
    oid = psycopg.adapters.types["int8"].oid

    def dump(self, obj: bool) -> Buffer:
        """Return the number."""
        return int(obj).to_bytes(8, "big")


class _HalfvecDumper(Dumper):
    """Without a type of its own: the statement says that it is a halfvec."""

    format = Format.BINARY

    def dump(self, obj: nearest.Halfvec) -> Buffer:
        """Return the bytes."""
        return bytes(obj)


class _Sum(NumericBinaryLoader):
    """A sum of whole numbers as an int."""

    def load(self, data: Buffer) -> Any:
        """Return the number."""
        return int(super().load(data))


class _Truth(BoolBinaryLoader):
    """A condition as SQLite answers it: 0 or 1."""

    def load(self, data: Buffer) -> Any:
        """Return the number."""
        return int(super().load(data))


def adapt(db: psycopg.Connection[Any]) -> None:
    """Let a connection take and give values as SQLite does."""
    # Every number as bigint: one type a statement, so that it is prepared once. In arrays numbers travel as text.
    db.adapters.register_dumper(int, Int8Dumper)
    db.adapters.register_dumper(int, Int8BinaryDumper)
    db.adapters.register_dumper(bool, _Flag)
    db.adapters.register_dumper(nearest.Halfvec, _HalfvecDumper)
    db.adapters.register_loader("numeric", _Sum)
    db.adapters.register_loader("bool", _Truth)

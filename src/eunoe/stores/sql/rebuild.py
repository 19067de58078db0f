"""Rebuild: new projections grow in a scratch database, are compared row by row, and take the old ones' place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from eunoe.domain.postings import FIELDS, counts, term_names
from eunoe.ports.snapshot import Snapshot
from eunoe.stores.sql.connection import Connection, Engine, Row
from eunoe.stores.sql.ledger import SqlLedger
from eunoe.stores.sql.rows import snapshots, write
from eunoe.stores.sql.statements import load

_SQL = load("rebuild")

# Every projection and its columns, parents before children. Signals and reference tables are not among them.
TABLES: dict[str, tuple[str, ...]] = {
    "memories": (
        *("p", "id", "number", "version", "tier", "scope", "status", "trust", "origin", "session", "turn"),
        *("expires_at", "occurrences", "first_seen", "last_seen", "recorded_at", "confirmed_at", "disputed_at"),
        *("superseded_by", "seq", "fp", "words_fp", "key_fp", "value_fp"),
    ),
    "memory_versions": (
        *("p", "memory", "version", "seq", "kind", "title", "body", "tags", "paths", "key", "value", "source"),
        *("speaker", "importance", "pinned", "valid_from", "valid_to", "valid_to_at", "recorded_from", "recorded_to"),
    ),
    "keys": ("p", "scope", "key_fp", "valid_from", "recorded_from", "valid_to", "recorded_to", "memory", "value_fp"),
    "tags": ("p", "tag", "memory"),
    "paths": ("p", "path", "memory"),
    "links": ("p", "a", "b", "note", "made_at"),
    "evidence": ("p", "memory", "version", "source"),
    "subjects": ("p", "memory", "seq"),
    "rejections": ("p", "scope", "match", "fp", "memory", "by_person", "seq", "lifted_seq"),
    "contradictions": ("p", "a", "b", "rule", "state", "opened_seq", "resolved_seq"),
    "passages": (
        *(
            "p",
            "rid",
            "memory",
            "version",
            "ordinal",
            "live",
            "scope",
            "session",
            "turn",
            "length",
            "terms",
            "trust",
            "valid_from",
            "valid_to",
            "expires_at",
        ),
    ),
    "term_stats": ("p", "scope", "term", "df"),
    "scope_stats": ("p", "scope", "n", "length"),
}
FULLTEXT = "passages_fts"

_BATCH = 5000


class SqlRebuilding:
    """Implements `eunoe.ports.store.Rebuilding`."""

    def __init__(self, engine: Engine, scratch: Engine, new: Connection, p: int) -> None:
        self._engine = engine
        self._scratch = scratch
        self._new = new
        self._p = p
        self._old: Connection | None = None
        self._waiting: dict[str, list[Mapping[str, Any]]] = {}
        self._waiting_rows = 0
        self._terms: dict[tuple[str, str], int] = {}
        self._scopes: dict[str, tuple[int, int]] = {}
        self._register()

    def snapshots(self, p: int, idents: Sequence[str]) -> dict[str, Snapshot]:
        """See `Rebuilding.snapshots`."""
        if idents:
            self._flush()
        return snapshots(self._new, p, idents)

    def apply(self, changes: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """See `Rebuilding.apply`. Insertions wait for one another; statistics are added up until the end."""
        for name, row in changes:
            if name == "term_weigh":
                key = (row["scope"], row["term"])
                self._terms[key] = self._terms.get(key, 0) + row["by"]
            elif name == "scope_weigh":
                n, length = self._scopes.get(row["scope"], (0, 0))
                self._scopes[row["scope"]] = (n + row["n"], length + row["length"])
            elif name.endswith("_insert"):
                self._waiting.setdefault(name, []).append(row)
                self._waiting_rows += 1
            elif name != "term_sweep":
                self._flush()
                write(self._new, name, [row])
        if self._waiting_rows > _BATCH:
            self._flush()

    @contextmanager
    def locked(self) -> Iterator[SqlLedger]:
        """See `Rebuilding.locked`."""
        with self._engine.writing() as connection:
            self._old = connection
            try:
                yield SqlLedger(connection, self._p)
            finally:
                self._old = None

    def differences(self) -> dict[str, int]:
        """See `Rebuilding.differences`."""
        self._finish()
        found = {table: self._differing(table, columns) for table, columns in TABLES.items()}
        old, new = self._engine.indexed(self._locked(), self._p), self._scratch.indexed(self._new, self._p)
        found[FULLTEXT] = unlike(old, new)
        return {table: rows for table, rows in found.items() if rows}

    def swap(self) -> None:
        """See `Rebuilding.swap`."""
        old = self._locked()
        self._engine.unindex(old, self._p)
        for table in reversed(TABLES):
            old.run(_SQL["clear"].format(table=table), {"p": self._p})
        for table, columns in TABLES.items():
            sql = _SQL["copy"].format(
                table=table, columns=", ".join(columns), values=", ".join(f":{name}" for name in columns)
            )
            rows = (dict(zip(columns, row, strict=True)) for row in self._dump(self._new, table, columns))
            while batch := list(islice(rows, _BATCH)):
                old.many(sql, batch)
                if table == "passages":
                    old.index([_fulltext(row) for row in batch])

    def _register(self) -> None:
        """The new rows refer to a project; its name there means nothing."""
        self._new.run(
            "insert into projects (p, uuid, slug, identity, created_at) values (:p, 'scratch', 'scratch', null, 0)",
            {"p": self._p},
        )

    def _flush(self) -> None:
        for name, rows in self._waiting.items():
            write(self._new, name, rows)
        self._waiting.clear()
        self._waiting_rows = 0

    def _finish(self) -> None:
        self._flush()
        for (scope, term), by in self._terms.items():
            if by:
                write(self._new, "term_weigh", [{"p": self._p, "scope": scope, "term": term, "by": by}])
        for scope, (n, length) in self._scopes.items():
            write(self._new, "scope_weigh", [{"p": self._p, "scope": scope, "n": n, "length": length}])
        self._terms.clear()
        self._scopes.clear()

    def _differing(self, table: str, columns: Sequence[str]) -> int:
        return unlike(self._dump(self._locked(), table, columns), self._dump(self._new, table, columns))

    def _dump(self, connection: Connection, table: str, columns: Sequence[str]) -> Iterator[Row]:
        return connection.stream(_SQL["dump"].format(table=table, columns=", ".join(columns)), {"p": self._p})

    def _locked(self) -> Connection:
        if self._old is None:
            raise RuntimeError("comparing and swapping need `locked`")
        return self._old


def unlike(old: Iterator[Row], new: Iterator[Row]) -> int:
    """Return how many rows are in only one of two sorted streams, without holding either."""
    count = 0
    one, other = next(old, None), next(new, None)
    while one is not None or other is not None:
        if one == other:
            one, other = next(old, None), next(new, None)
            continue
        count += 1
        if other is None or (one is not None and _place(one) < _place(other)):
            one = next(old, None)
        else:
            other = next(new, None)
    return count


def _place(row: Row) -> list[tuple[int, Any]]:
    """Return a row's place in SQL's order: null, then numbers, then texts."""
    return [(0, 0) if value is None else (1, value) if isinstance(value, int) else (2, value) for value in row]


def _fulltext(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a passage's full-text row out of its term counts; the order of words does not matter to ranking."""
    fields: tuple[list[str], ...] = tuple([] for _ in FIELDS)
    for term in term_names(row["terms"]):
        for field, count in zip(fields, counts(row["terms"], term) or (), strict=False):
            field += [term] * count
    return {"p": row["p"], "rid": row["rid"], "fields": fields}

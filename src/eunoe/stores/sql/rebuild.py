"""Rebuild: new projections grow in a scratch database, are compared row by row, and take the old ones' place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from eunoe.domain.postings import FIELDS, counts, term_names
from eunoe.ports.snapshot import Snapshot
from eunoe.stores.sql.connection import Connection, Engine, Row
from eunoe.stores.sql.ledger import SqlLedger
from eunoe.stores.sql.rows import COUNTED, snapshots, write
from eunoe.stores.sql.rows import FULLTEXT as FULLTEXT_CHANGE
from eunoe.stores.sql.statements import load
from eunoe.stores.sql.tables import TABLES
from eunoe.stores.sql.vectors import tend, unserved

_SQL = load("rebuild")
_PROJECT = load("project")

FULLTEXT = "passages_fts"

# Rows that wait for one another, memories first: the others refer to them.
_INSERTIONS = (
    *("memory_insert", "version_insert", "tag_insert", "path_insert", "key_insert", "link_insert"),
    *("evidence_insert", "subject_insert", "rejection_insert", "passage_insert"),
)
# Rows of these kinds are never changed by a change that names a memory.
_ENDS = ("memory", "id", "a", "b")
_FINAL = ("subject_insert", "evidence_insert", "rejection_insert")
# Indexes that only readers need; keeping them up would cost a fifth of a rebuild.
_NOT_READ = (
    *("memories_fp", "memories_words", "memories_pending", "memories_successor", "memories_session"),
    *("memories_expiry", "versions_browse", "versions_recorded", "tags_memory", "paths_path", "evidence_source"),
    *("passages_turns", "passages_begin", "passages_ending", "contradictions_state", "memories_disputed"),
    *("versions_states", "versions_large"),
)
# What a model makes of texts is kept: it stands on row numbers, and the same events give the same ones.
DERIVED = ("embed_queue", "embed_requeue", "states_void")
VECTORS = "vectors"
_BATCH = 250
_COPIED = 5000


class SqlRebuilding:
    """Implements `eunoe.ports.store.Rebuilding`."""

    def __init__(self, engine: Engine, new: Connection, p: int) -> None:
        self._engine = engine
        self._new = new
        self._p = p
        self._old: Connection | None = None
        self._waiting: dict[str, list[Mapping[str, Any]]] = {name: [] for name in _INSERTIONS}
        self._waiting_for: set[str] = set()
        self._counts: dict[tuple[str, str, str], dict[str, int]] = {}
        self._scopes: dict[str, tuple[int, int]] = {}
        self._prepare()

    def snapshots(self, p: int, idents: Sequence[str], *, whole: bool = True) -> dict[str, Snapshot]:
        """See `Rebuilding.snapshots`."""
        if not self._waiting_for.isdisjoint(idents):
            self._flush()
        return snapshots(self._new, p, idents, whole=whole)

    def apply(self, changes: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """See `Rebuilding.apply`. Insertions wait for one another; statistics are added up until the end."""
        for name, row in changes:
            if name in _INSERTIONS:
                self._waiting[name].append(row)
                if name not in _FINAL:
                    self._waiting_for.update(row[end] for end in _ENDS if end in row)
            elif name in COUNTED:
                self._add_counts(name, row)
            elif name == "scope_weigh":
                n, length = self._scopes.get(row["scope"], (0, 0))
                self._scopes[row["scope"]] = (n + row["n"], length + row["length"])
            elif name != FULLTEXT_CHANGE and name not in DERIVED:  # full text follows from passages, and is compared
                self._flush_if_waiting(row)
                write(self._new, name, [row])
        if len(self._waiting["passage_insert"]) > _BATCH:
            self._flush()

    def _add_counts(self, name: str, row: Mapping[str, Any]) -> None:
        column, values = row["each"]
        table, by = self._counts.setdefault((name, row["scope"], column), {}), row["by"]
        for value in values:
            table[value] = table.get(value, 0) + by

    def _flush_if_waiting(self, row: Mapping[str, Any]) -> None:
        """A change of rows that still wait comes after them; it names the memory it is about, or may be about any."""
        named = row.get("memory") or row.get("id")
        if named is None or named in self._waiting_for:
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
        found[FULLTEXT] = self._differing_fulltext()
        found[VECTORS] = unserved(self._locked(), self._p)
        return {table: rows for table, rows in found.items() if rows}

    def swap(self) -> None:
        """See `Rebuilding.swap`."""
        old = self._locked()
        self._engine.unindex(old, self._p)
        for table in reversed(TABLES):
            old.run(_SQL["clear"].format(table=table), {"p": self._p})
        for table, columns in TABLES.items():
            rows = self._dump(self._new, table, columns)
            while batch := list(islice(rows, _COPIED)):
                old.load(table, columns, batch)
                if table == "passages":
                    old.index([fulltext(dict(zip(columns, row, strict=True))) for row in batch])
            old.settle(table)
        tend(old, self._p)

    def _prepare(self) -> None:
        """Make the new rows' project, whose name means nothing here, and drop the indexes that no replay looks into."""
        for index in _NOT_READ:
            self._new.run(f"drop index {index}")
        self._new.run(
            "insert into projects (p, uuid, slug, identity, created_at) values (:p, 'scratch', 'scratch', null, 0)",
            {"p": self._p},
        )

    def _flush(self) -> None:
        for name, rows in self._waiting.items():
            if rows:
                write(self._new, name, rows)
                rows.clear()
        self._waiting_for.clear()

    def _finish(self) -> None:
        self._flush()
        for (name, scope, column), table in self._counts.items():
            rows = [{"p": self._p, "scope": scope, column: value, "by": by} for value, by in table.items() if by]
            self._new.many(_PROJECT[name], rows)
        for scope, (n, length) in self._scopes.items():
            write(self._new, "scope_weigh", [{"p": self._p, "scope": scope, "n": n, "length": length}])
        self._counts.clear()
        self._scopes.clear()

    def _differing(self, table: str, columns: Sequence[str]) -> int:
        """Compare sums first, which need no sorting; only tables that differ are gone through in order."""
        old, new = self._locked(), self._new
        if _sum(self._dump(old, table, columns)) == _sum(self._dump(new, table, columns)):
            return 0
        return unlike(self._sorted(old, table, columns), self._sorted(new, table, columns))

    def _differing_fulltext(self) -> int:
        """Return 1 where the full-text index does not hold what the new passages say, whatever the order of either.

        Both are (term, row, field) of each occurrence; adding up their hashes needs no sorting.
        """
        old = _sum(self._engine.indexed(self._locked(), self._p))
        new = _sum_of_occurrences(self._dump(self._new, "passages", ("rid", "terms")), self._engine.occurrences)
        return int(old != new)

    def _dump(self, connection: Connection, table: str, columns: Sequence[str]) -> Iterator[Row]:
        return connection.stream(_SQL["dump"].format(table=table, columns=", ".join(columns)), {"p": self._p})

    def _sorted(self, connection: Connection, table: str, columns: Sequence[str]) -> Iterator[Row]:
        order = ", ".join(f"{name} nulls first" for name in columns)
        sql = _SQL["dump_sorted"].format(table=table, columns=", ".join(columns), order=order)
        return connection.stream(sql, {"p": self._p})

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


def _sum(entries: Iterable[Row]) -> int:
    """Return the sum of the hashes of many entries, in any order: equal for equal sets, hardly ever for others."""
    return sum(map(hash, entries))


def _sum_of_occurrences(passages: Iterable[Row], most: int) -> int:
    """Return `_sum` of (term, row, field) of each occurrence in passages of (rid, terms), of `most` in one field."""
    total = 0
    for rid, packed in passages:
        for line in packed[1:-1].split("\n") if len(packed) > 1 else ():
            term, _, numbers = line.partition(" ")
            for field, count in enumerate(numbers.split(",")):
                if count != "0":
                    total += min(int(count), most) * hash((term, rid, FIELDS[field]))
    return total


def _place(row: Row) -> list[tuple[int, Any]]:
    """Return a row's place in SQL's order: null, then numbers, then texts."""
    return [(0, 0) if value is None else (1, value) if isinstance(value, int) else (2, value) for value in row]


def fulltext(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a passage's full-text row out of its term counts; the order of words does not matter to ranking."""
    fields: tuple[list[str], ...] = tuple([] for _ in FIELDS)
    for term in term_names(row["terms"]):
        for field, count in zip(fields, counts(row["terms"], term) or (), strict=False):
            field += [term] * count
    return {"p": row["p"], "rid": row["rid"], "fields": fields}

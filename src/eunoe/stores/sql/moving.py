"""Moving a store to another database, of the same engine or another: every row as it stands, and then the proof.

The old store is read in one write transaction, so nothing is written to it meanwhile that would be left behind. Events
go over in batches that are committed one by one; what is derived from them goes over with the counters, which say that
a project is complete. So a move that was interrupted goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from eunoe.domain.chain import ChainChecker
from eunoe.errors import Conflict, Unavailable
from eunoe.stores.sql.connection import Connection, Engine, Row
from eunoe.stores.sql.ledger import SqlLedger
from eunoe.stores.sql.rebuild import fulltext
from eunoe.stores.sql.statements import load
from eunoe.stores.sql.tables import BESIDE, LEDGER, REFERENCE, TABLES

_SQL = load("moving")
_AT_ONCE = 5000
_DERIVED = {"heads": LEDGER["heads"], **TABLES, **BESIDE}

Progress = Callable[[int, int], None]


class Moved(NamedTuple):
    """What a move did.

    Attributes:
        projects: How many projects the new store holds now.
        events: Events that are in it; all of them were verified there.
        rows: Rows that were written now; 0 when it was complete already.
    """

    projects: int
    events: int
    rows: int


class Move:
    """One move, from the engine of the old store to that of the new one."""

    def __init__(self, source: Engine, target: Engine, progress: Progress | None = None) -> None:
        self._source = source
        self._target = target
        self._progress = progress
        self._done = 0
        self._written = 0
        self._total = 0

    def run(self) -> Moved:
        """Copy all projects and verify their chains in the new store. The old one is left as it is.

        Raises:
            Conflict: `other_store`: the new store holds something that did not come from this one.
            Unavailable: `broken_chain`: a chain does not verify in the new store; what either engine raises.
        """
        with self._source.writing() as old:
            projects = old.run(_select("read_all", "projects", REFERENCE["projects"]))
            old.lock(0)
            for p, *_ in projects:
                old.lock(p)
            self._total = sum(self._size(old, p) for p, *_ in projects)
            self._introduce(old, projects)
            for p, *_ in projects:
                self._copy(old, p)
            events = sum(self._verify(old, project) for project in projects)
        return Moved(projects=len(projects), events=events, rows=self._written)

    def _introduce(self, old: Connection, projects: list[Row]) -> None:
        """Make projects and models known under the numbers that they have."""
        keys = {row[:2]: row for row in old.run(_select("read_all", "data_keys", REFERENCE["data_keys"]))}
        models = old.run(_select("read_all", "models", REFERENCE["models"]))
        with self._target.writing() as new:
            new.lock(0)
            there = new.run(_select("read_all", "projects", REFERENCE["projects"]))
            if strange := [row for row in there if row not in projects]:
                raise _other_store(f"the project {strange[0][2]!r}")
            fresh = {row[0] for row in projects if row not in there}
            new.load("projects", REFERENCE["projects"], [row for row in projects if row[0] in fresh])
            new.load("data_keys", REFERENCE["data_keys"], [row for (p, _), row in keys.items() if p in fresh])
            for p in sorted(fresh):
                new.run(_SQL["counters_set"], {"p": p, "seq": 0, "id": "", "recorded_at": 0, "number": 0})
            for row in models:
                new.run(_SQL["model_put"], dict(zip(REFERENCE["models"], row, strict=True)))

    def _copy(self, old: Connection, p: int) -> None:
        counters = old.run(_SQL["counters"], {"p": p})
        after = self._reached(old, p)
        if after is None:
            self._advance(self._size(old, p), written=0)
            return
        self._advance(after, written=0)
        columns = LEDGER["events"]
        while batch := old.run(
            _SQL["events_from"].format(columns=", ".join(columns)), {"p": p, "after": after, "limit": _AT_ONCE}
        ):
            with self._target.writing() as new:
                new.lock(p)
                new.load("events", columns, batch)
            after = batch[-1][1]
            self._advance(len(batch))
        with self._target.writing() as new:
            new.lock(p)
            new.settle("events")
            self._clear_derived(new, p)
            self._copy_derived(old, new, p)
            for seq, ident, recorded_at, number in counters:
                row = {"p": p, "seq": seq, "id": ident, "recorded_at": recorded_at, "number": number}
                new.run(_SQL["counters_set"], row)

    def _clear_derived(self, new: Connection, p: int) -> None:
        """Take away what an earlier move derived from fewer events."""
        self._target.unindex(new, p)
        for table in reversed(_DERIVED):
            new.run(_SQL["clear"].format(table=table), {"p": p})

    def _copy_derived(self, old: Connection, new: Connection, p: int) -> None:
        for table, columns in _DERIVED.items():
            for batch in _batches(old.stream(_select("read", table, columns), {"p": p})):
                new.load(table, columns, batch)
                named = [dict(zip(columns, row, strict=True)) for row in batch] if table in _SEARCHED else []
                if table == "passages":
                    new.index([fulltext(row) for row in named])
                for model in sorted({row["model"] for row in named if table == "vectors"}):
                    vectors = [(row["rid"], row["vector"]) for row in named if row["model"] == model]
                    new.index_vectors(p, model, vectors)
                self._advance(len(batch))
            new.settle(table)

    def _reached(self, old: Connection, p: int) -> int | None:
        """Return the last event that is in the new store, or None where the project is complete there.

        Raises:
            Conflict: `other_store`: its events are not those of the old store.
        """
        with self._target.reading() as new:
            ((counted, reached),) = new.run(_SQL["reached"], {"p": p})
            theirs = new.run(_SQL["hash_at"], {"p": p, "seq": reached})
        ours = old.run(_SQL["hash_at"], {"p": p, "seq": reached})
        if theirs != ours:
            raise _other_store(f"events of project {p}")
        expected = old.run(_SQL["counters"], {"p": p})
        return None if counted and expected and counted == expected[0][0] else reached

    def _verify(self, old: Connection, project: Row) -> int:
        p, uuid, slug, *_ = project
        with self._target.reading() as new:
            ledger = SqlLedger(new, p)
            checker = ChainChecker(uuid)
            fault = checker.run(ledger.stored())
            fault = fault or checker.finish((head.stream, head.n, head.hash) for head in SqlLedger(old, p).heads())
            if fault is not None:
                raise Unavailable("broken_chain", f"the ledger of {slug!r} does not verify in the new store: {fault}")
            return ledger.count()

    def _size(self, old: Connection, p: int) -> int:
        tables = ("events", *_DERIVED)
        return sum(old.run(_SQL["count"].format(table=table), {"p": p})[0][0] for table in tables)

    def _advance(self, rows: int, *, written: int | None = None) -> None:
        self._done += rows
        self._written += rows if written is None else written
        if self._progress is not None:
            self._progress(self._done, self._total)


_SEARCHED = ("passages", "vectors")


def _select(name: str, table: str, columns: Iterable[str]) -> str:
    return _SQL[name].format(table=table, columns=", ".join(columns))


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while batch := list(islice(rows, _AT_ONCE)):
        yield batch


def _other_store(what: str) -> Conflict:
    return Conflict(
        "other_store", f"the new store holds {what}, not from this one; name an empty store; nothing of it was changed"
    )

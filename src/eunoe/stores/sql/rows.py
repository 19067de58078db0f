"""Row changes and snapshots over one connection: what the projector gives and takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from eunoe.ports.snapshot import Snapshot
from eunoe.stores.sql.connection import Connection
from eunoe.stores.sql.statements import load
from eunoe.stores.sql.tables import TABLES

_SQL = load("project")
_READ = load("memories")
_SNAPSHOT = {
    table: _READ[name].format(columns=", ".join(TABLES[table]))
    for table, name in (
        ("memories", "snapshot_memory"),
        ("memory_versions", "snapshot_version"),
        ("passages", "snapshot_passage"),
        ("keys", "snapshot_keys"),
        ("links", "snapshot_links"),
    )
}

FULLTEXT = "fulltext_insert"
COUNTED = {"term_weigh": "term_sweep", "label_weigh": "label_sweep"}  # what counts → what sweeps away zeros


def apply_changes(connection: Connection, changes: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Make row changes in order; equal ones in a row become one prepared statement."""
    for name, group in groupby(changes, key=itemgetter(0)):
        write(connection, name, [params for _, params in group])


def write(connection: Connection, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Make one kind of row change for each of the rows."""
    if name == FULLTEXT:
        connection.index(rows)
    elif name in COUNTED:
        for row in rows:
            _count(connection, name, row)
    elif len(rows) == 1:
        connection.run(_SQL[name], rows[0])
    else:
        connection.many(_SQL[name], rows)


def _count(connection: Connection, name: str, row: Mapping[str, Any]) -> None:
    """Add to the counts of many terms or labels; one that no passage holds any longer leaves no trace."""
    stem, values = row["each"]
    common = {"p": row["p"], "scope": row["scope"]}
    connection.many(_SQL[name], [{**common, stem: value, "by": row["by"]} for value in values])
    if row["by"] < 0:
        connection.many(_SQL[COUNTED[name]], [{**common, stem: value} for value in values])


def snapshots(connection: Connection, p: int, idents: Sequence[str], *, whole: bool = True) -> dict[str, Snapshot]:
    """Return memories as their rows stand. An id that is no memory is missing in the result."""
    found = {}
    for ident in idents:
        named = {"p": p, "id": ident}
        memories = _rows(connection, "memories", named)
        if not memories:
            continue
        if not whole:
            found[ident] = Snapshot(memory=memories[0], version={}, passage=None)
            continue
        version = named | {"version": memories[0]["version"]}
        found[ident] = Snapshot(
            memory=memories[0],
            version=_rows(connection, "memory_versions", version)[0],
            passage=next(iter(_rows(connection, "passages", version)), None),
            keys=tuple(_rows(connection, "keys", named)),
            links=tuple(_rows(connection, "links", named)),
        )
    return found


def _rows(connection: Connection, table: str, named: Mapping[str, Any]) -> list[dict[str, Any]]:
    columns = TABLES[table]
    return [dict(zip(columns, row, strict=True)) for row in connection.run(_SNAPSHOT[table], named)]

"""A memory as its rows stand: what the store hands to the projector."""

from __future__ import annotations

from typing import Any, NamedTuple

Row = dict[str, Any]


class Snapshot(NamedTuple):
    """A memory's row, its live version, the passage of that version, its key intervals recorded now, its links."""

    memory: Row
    version: Row
    passage: Row | None
    keys: tuple[Row, ...] = ()
    links: tuple[Row, ...] = ()

"""A memory as its rows stand: what the store hands to the projector."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Snapshot:
    """A memory's row, its live version, the passage of that version, its key intervals recorded now, its links."""

    memory: Row
    version: Row
    passage: Row | None
    keys: list[Row] = field(default_factory=list)
    links: list[Row] = field(default_factory=list)

"""What changed lately: one word for each memory, the last thing that happened to it."""

from __future__ import annotations

from typing import Any, NamedTuple

from eunoe.domain.instants import DAY_US
from eunoe.ports.ledger import Ledger

DAYS = 7
_EVENTS = 100  # read at most: a week of a busy project is longer than any briefing
_WORDS = {
    "memory.recorded": "new",
    "memory.revised": "updated",
    "memory.restored": "restored",
    "memory.archived": "archived",
}
_GONE = frozenset({"memory.forgotten"})


class Change(NamedTuple):
    """The last thing that happened to a memory: `new`, `updated`, `archived`, …; or its successor's id."""

    word: str
    by: str | None = None


def changes(ledger: Ledger, *, now: int) -> dict[str, Change]:
    """Return id → change, the latest first, of the seven days before `now`; what was forgotten is not among them."""
    found: dict[str, Change] = {}
    gone: set[str] = set()
    for read, event in enumerate(ledger.events(newest_first=True)):
        if read >= _EVENTS or event.recorded_at < now - DAYS * DAY_US:
            break
        meta = event.read_meta()
        ident = meta.get("memory")
        if ident is None:
            continue
        if event.type in _GONE:
            gone.add(ident)
        elif event.type in _WORDS and ident not in gone:
            found.setdefault(ident, Change(_WORDS[event.type]))
        for old in _superseded(meta, event.recorded_at):
            if old not in gone:
                found.setdefault(old, Change("superseded", ident))
    return found


def _superseded(meta: dict[str, Any], now: int) -> list[str]:
    return [entry["memory"] for entry in meta.get("supersedes", ()) if entry["valid_to"] <= now]

"""What changed lately: one word for each memory, the last thing that happened to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from eunoe.domain.instants import DAY_US
from eunoe.ports.store import View
from eunoe.service.visibility import Visibility

DAYS = 7
_SHOWN = 100  # events that the reader may see: a week of a busy project is longer than any briefing
_LOOKED_AT = 1000  # and this many in all: what others keep to themselves takes no place of theirs
_WORDS = {
    "memory.recorded": "new",
    "memory.revised": "updated",
    "memory.restored": "restored",
    "memory.archived": "archived",
    "memory.forgotten": "forgotten",
}


class Change(NamedTuple):
    """The last thing that happened to a memory: `new`, `updated`, `archived`, …; of a superseded one its successor."""

    word: str
    by: str | None = None


class Recent(NamedTuple):
    """What changed in the seven days before an instant: id → change, the latest first; and when something last did."""

    changes: dict[str, Change]
    last_at: int


def recent(view: View, p: int, scopes: Sequence[str], *, now: int) -> Recent:
    """Return what changed lately in what the reader may see."""
    visibility = Visibility(view, p, tuple(scopes))
    found: dict[str, Change] = {}
    last_at = seen = 0
    for read, event in enumerate(view.ledger(p).events(newest_first=True)):
        if seen >= _SHOWN or read >= _LOOKED_AT or (last_at and event.recorded_at < now - DAYS * DAY_US):
            break
        meta = visibility.shown(event.read_meta())
        if meta is None:
            continue
        seen += 1
        last_at = last_at or event.recorded_at
        if event.recorded_at >= now - DAYS * DAY_US:
            _note(found, event.type, meta, event.recorded_at)
    return Recent(found, last_at)


def _note(found: dict[str, Change], type_: str, meta: dict[str, Any], at: int) -> None:
    ident = meta.get("memory")
    if ident is not None and type_ in _WORDS:
        found.setdefault(ident, Change(_WORDS[type_]))
    for entry in meta.get("supersedes", ()):
        if entry["valid_to"] <= at:
            found.setdefault(entry["memory"], Change("superseded", ident))

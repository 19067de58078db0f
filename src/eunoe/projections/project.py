"""The one projector: event → row changes. It applies decisions and never decides.

Pure: the same event over the same snapshots gives the same changes, so `rebuild` and the live write agree row by row.
What an event means stands here and nowhere else. Where a stored word is gone (an erased payload), the event projects
to nothing but its place in `subjects`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from eunoe.errors import Unavailable, shown
from eunoe.ports.snapshot import Snapshot
from eunoe.projections import lifecycle, recording
from eunoe.projections.changes import RowChange
from eunoe.projections.decided import Decided

Analyse = Callable[[str], list[str]]
Handler = Callable[[Decided, Mapping[str, Snapshot], int, Analyse], list[RowChange]]

# type → (newest version this program knows, handler)
HANDLERS: dict[str, tuple[int, Handler]] = {
    "project.created": (1, lifecycle.nothing),
    "memory.recorded": (1, recording.recorded),
    "memory.revised": (1, recording.revised),
    "memory.confirmed": (1, lifecycle.confirmed),
    "memory.disputed": (1, lifecycle.disputed),
    "memory.archived": (1, lifecycle.archived),
    "memory.forgotten": (1, lifecycle.forgotten),
    "memory.restored": (1, recording.restored),
    "link.made": (1, lifecycle.link_made),
    "link.cut": (1, lifecycle.link_cut),
}


def check_known(type_: str, v: int) -> Handler:
    """Return the handler of an event type. Raises `Unavailable` (`newer_event`) for one made by a newer Eunoe."""
    newest, handler = HANDLERS.get(type_, (0, lifecycle.nothing))
    if not 1 <= v <= newest:
        raise Unavailable(
            "newer_event",
            f"the event type {shown(type_)} v{v} is unknown; it was written by a newer Eunoe: upgrade this one",
            details={"type": type_, "v": v},
        )
    return handler


def needs_whole(type_: str) -> bool:
    """Tell whether an event needs snapshots with version, passage, keys and links, or the memory's row alone."""
    return type_ not in ("memory.confirmed", "memory.disputed")


def touched(type_: str, meta: Mapping[str, Any]) -> list[str]:
    """Return the ids of the existing memories whose snapshots an event needs, without repeats."""
    ids = [] if type_ == "memory.recorded" or "memory" not in meta else [meta["memory"]]
    for name in ("supersedes", "reopens"):
        ids += [entry["memory"] for entry in meta.get(name, ())]
    return list(dict.fromkeys(ids))


def project(event: Decided, before: Mapping[str, Snapshot], *, number: int, analyse: Analyse) -> list[RowChange]:
    """Return the row changes of one event, in the order in which they must be made.

    Args:
        event: What was decided.
        before: Snapshots of all memories in `touched(event)`.
        number: The number that a newly recorded memory gets.
        analyse: The analyser's `terms`.

    Raises:
        Unavailable: `newer_event`.
    """
    return check_known(event.type, event.v)(event, before, number, analyse)

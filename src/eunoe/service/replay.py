"""Replay: applying events that were decided before. It never decides again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from eunoe.domain.event import Event
from eunoe.ports.snapshot import Snapshot
from eunoe.projections.decided import decided
from eunoe.projections.project import check_known, needs_whole, touched
from eunoe.projections.project import project as project_event


class Rows(Protocol):
    """Projections that grow: those of a write transaction, or new ones beside the old."""

    def snapshots(self, p: int, idents: Sequence[str], *, whole: bool = True) -> dict[str, Snapshot]:
        """Return memories as their rows stand."""
        ...

    def apply(self, changes: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Make row changes in order."""
        ...


class Replay:
    """Replays a project's events from its first one.

    Attributes:
        seq: Of the last event that was replayed.
        number: The last memory number that was given: numbers follow the order of recording.
    """

    def __init__(self, p: int, analyse: Callable[[str], list[str]]) -> None:
        self._p = p
        self._analyse = analyse
        self.number = 0
        self.seq = 0

    def one(self, event: Event, into: Rows) -> None:
        """Project one event. Raises `Unavailable` (`newer_event`)."""
        check_known(event.type, event.v)
        meta = event.read_meta()
        needed = touched(event.type, meta)
        before = into.snapshots(self._p, needed, whole=needs_whole(event.type)) if needed else {}
        self.number += event.type == "memory.recorded"
        seen = decided(self._p, event, meta, event.read_payload())
        into.apply(project_event(seen, before, number=self.number, analyse=self._analyse))
        self.seq = event.seq

"""Rebuild: every projection anew from the ledger, beside the old ones, compared with them, then swapped in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from eunoe.domain.event import Event
from eunoe.ports.projects import Project
from eunoe.service.context import Context
from eunoe.service.replay import Replay

Progress = Callable[[int, int], None]
CHUNK = 2000


class Rebuilt(NamedTuple):
    """The result of a rebuild.

    Attributes:
        events: Events replayed.
        differences: Table → rows that were only in the old or only in the new projections; empty when all agreed.
        swapped: True when the new ones took the old ones' place: there were differences, and this was no dry run.
    """

    project: str
    events: int
    differences: dict[str, int]
    swapped: bool


def rebuild(context: Context, *, dry_run: bool = False, progress: Progress | None = None) -> Rebuilt:
    """Replay the ledger into new projections, compare them with what is there, and repair it where it differs.

    Writers go on while it replays; they wait only while the last events are caught up, compared and swapped.

    Args:
        context: The session.
        dry_run: Only compare.
        progress: Called with (events replayed, events in all).

    Raises:
        Unavailable: `newer_event`: the ledger holds events of a newer Eunoe; nothing was changed.
    """
    with context.store.reading() as view:
        project = context.project(view)
        if project is None:
            return Rebuilt(project=context.slug, events=0, differences={}, swapped=False)
        total = view.ledger(project.p).count()
    replay = Replay(project.p, context.analyser.terms)
    with context.store.rebuilding(project.p) as rebuilding:
        while chunk := _chunk(context, project, replay.seq):
            for event in chunk:
                replay.one(event, rebuilding)
            if progress is not None:
                progress(min(replay.seq, total), total)
        with rebuilding.locked() as ledger:
            for event in ledger.events(after=replay.seq):
                replay.one(event, rebuilding)
            differences = rebuilding.differences()
            if differences and not dry_run:
                rebuilding.swap()
    swapped = bool(differences) and not dry_run
    return Rebuilt(project=project.slug, events=replay.seq, differences=differences, swapped=swapped)


def _chunk(context: Context, project: Project, after: int) -> list[Event]:
    """Return the next events; read apart, so that no read transaction stays open while they are replayed."""
    with context.store.reading() as view:
        return list(_first(view.ledger(project.p).events(after=after), CHUNK))


def _first(events: Iterator[Event], count: int) -> Iterator[Event]:
    for _, event in zip(range(count), events, strict=False):
        yield event

"""Export: a project's ledger as one document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eunoe.domain.document import FORMAT, LEFT_OUT, event_to_json
from eunoe.domain.instants import iso
from eunoe.errors import Refused
from eunoe.service.context import Context

Progress = Callable[[int, int], None]


def export(context: Context, *, everyone: bool = False, progress: Progress | None = None) -> dict[str, Any]:
    """Return the project as a document: every event, so ids, numbers, versions, times and history.

    Equal ledgers give equal documents. The document holds the project's secret, which keys its fingerprints.

    Args:
        context: The session.
        everyone: Also export what other users keep to themselves in this project; not for agents.
        progress: Called with (events exported, events in all).

    Raises:
        NotFound: `no_project`. Refused: `other_users`: there are memories of other users, and `everyone` is not set
        or the caller is an agent.
    """
    with context.store.reading() as view:
        project = context.existing(view)
        ledger = view.ledger(project.p)
        total = ledger.count()
        events: list[dict[str, Any]] = []
        slug, scopes = project.slug, set()
        for event in ledger.events():
            events.append(event_to_json(event))
            if event.type == "project.created" and len(events) == 1:
                slug = events[0]["payload"]["slug"]
            elif event.type == "memory.recorded":
                scopes.add(events[-1]["meta"]["scope"])
            if progress is not None and len(events) % 1000 == 0:
                progress(len(events), total)
        _check_scopes(context, scopes, everyone=everyone)
        return {
            "eunoe": {"format": FORMAT},
            "project": {"uuid": project.uuid, "slug": slug, "secret": project.secret.hex()},
            "exported_at": iso(max(event["recorded_at"] for event in events)) if events else None,
            "heads": [{"stream": each.stream, "n": each.n, "hash": each.hash.hex()} for each in ledger.heads()],
            "counts": {"events": total, "memories": view.memories(project.p).tally(sorted(scopes))},
            "left_out": list(LEFT_OUT),
            "events": events,
        }


def _check_scopes(context: Context, scopes: set[str], *, everyone: bool) -> None:
    others = sorted(scopes - set(context.caller.scopes))
    if others and (not everyone or context.caller.is_agent):
        raise Refused(
            "other_users",
            f"{len(others)} other users keep memories to themselves in this project; pass everyone (CLI: --everyone) "
            "to export theirs as well, as a person",
            details={"users": len(others)},
        )

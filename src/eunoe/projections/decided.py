"""What the projector sees of an event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from eunoe.domain.event import Event


class Decided(NamedTuple):
    """An event with its meta and payload as dicts, in the project numbered `p` of this store."""

    p: int
    seq: int
    id: str
    type: str
    v: int
    origin: str
    occurred_at: int
    recorded_at: int
    meta: Mapping[str, Any]
    payload: Mapping[str, Any]


def decided(p: int, event: Event, meta: Mapping[str, Any], payload: Mapping[str, Any]) -> Decided:
    """Return an event as the projector sees it; meta and payload are the event's own, parsed."""
    return Decided(
        p=p,
        seq=event.seq,
        id=event.id,
        type=event.type,
        v=event.v,
        origin=event.origin,
        occurred_at=event.occurred_at,
        recorded_at=event.recorded_at,
        meta=meta,
        payload=payload,
    )

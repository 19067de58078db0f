"""What the projector sees of an event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


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

"""Rejections: what was taken back does not come back by itself."""

from __future__ import annotations

from collections.abc import Sequence

from eunoe.domain.caller import Caller
from eunoe.errors import Refused
from eunoe.ports.memories import Rejection


def lifted(rejections: Sequence[Rejection], caller: Caller, *, trust: str) -> tuple[int, ...]:
    """Return the rejections that this statement lifts, by `seq`.

    What a person took back, only a person's (or their application's) own later statement brings back; what an agent
    forgot, any later stated value does. Imports bring nothing back.

    Raises:
        Refused: `rejected`.
    """
    for each in rejections:
        if trust != "stated" or (each.by_person and caller.is_agent):
            raise Refused(
                "rejected",
                "this was taken back and does not return by itself; a person can restore it or state it again",
                details={"memory": each.memory},
            )
    return tuple(each.seq for each in rejections)

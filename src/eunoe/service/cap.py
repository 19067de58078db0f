"""The cap: how many memories a project may believe. Judged inside the write transaction, so that no race passes it.

It counts every scope. A cap is there so that a project stays small enough to be read and tended; if each user had one,
their sum would have none. The number is the only thing that a caller learns of what others keep to themselves.
"""

from __future__ import annotations

from typing import NamedTuple

from eunoe.errors import Refused
from eunoe.ports.store import View
from eunoe.service.context import Context

NOTED_FROM = 0.9
WARNED_FROM = 0.8

FIX = "archive or supersede what is stale; see review"


class Cap(NamedTuple):
    """How close a project is to its cap."""

    memories: int
    most: int

    @property
    def is_near(self) -> bool:
        """Tell whether a review warns."""
        return self.memories >= WARNED_FROM * self.most

    @property
    def text(self) -> str:
        """Return `4,520/5,000 memories`."""
        return f"{self.memories:,}/{self.most:,} memories"


def standing(context: Context, view: View, p: int) -> Cap | None:
    """Return how close a project is to its cap, or None where there is none."""
    most = context.max_memories
    return None if most is None else Cap(view.upkeep(p).believed(context.clock.now_us()), most)


def check_room(context: Context, view: View, p: int, *, for_more: int = 0) -> None:
    """Raise `Refused` (`cap`) when a project holds more than its cap, or would with so many more."""
    found = standing(context, view, p)
    if found is not None and found.memories + for_more > found.most:
        raise Refused(
            "cap",
            f"the project holds {found.text} (EUNOE_MAX_MEMORIES): {FIX}. "
            "Stating it with `supersedes`, or under its key, takes the place of another one and is allowed",
            details={"memories": found.memories, "cap": found.most},
        )


def room_note(context: Context, view: View, p: int) -> tuple[str, ...]:
    """Return the sentence that a receipt gives from 90 % of the cap on."""
    found = standing(context, view, p)
    if found is None or found.memories < NOTED_FROM * found.most:
        return ()
    return (f"{found.text}: {FIX}.",)

"""What the gate decides: record, or confirm what is known. Refusals are raised."""

from __future__ import annotations

from typing import Any, NamedTuple

from eunoe.domain.memory import Outcome
from eunoe.ports.memories import Stand


class Record(NamedTuple):
    """A new memory is to be recorded.

    Attributes:
        meta, payload: Of the event `memory.recorded`, complete but for the ids that the ledger gives.
        replaced: What it puts into history.
        twins: What says nearly the same, for the receipt.
        notes: Sentences for the receipt.
    """

    outcome: Outcome
    meta: dict[str, Any]
    payload: dict[str, Any]
    replaced: tuple[Stand, ...] = ()
    twins: tuple[Stand, ...] = ()
    notes: tuple[str, ...] = ()


class Confirm(NamedTuple):
    """What was stated is known: it is counted once more."""

    memory: Stand
    notes: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Return `confirmed`, or `pending` for what still waits for a person."""
        return "pending" if self.memory.status == "pending" else "confirmed"


Decision = Record | Confirm

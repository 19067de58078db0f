"""Time and chance, so that tests can decide both."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object  # Protocols are for the type checker; making them costs every command several milliseconds


class Clock(Protocol):
    """Tells the time."""

    def now_us(self) -> int:
        """Return microseconds since 1970 UTC. May stand still or go back; the ledger orders events all the same."""


class Entropy(Protocol):
    """Gives random bytes."""

    def random_bytes(self, size: int) -> bytes:
        """Return bytes nobody can guess."""

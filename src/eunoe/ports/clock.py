"""Time and chance, so that tests can decide both."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now_us(self) -> int:
        """Return microseconds since 1970 UTC. May stand still or go back; the ledger orders events all the same."""
        ...


class Entropy(Protocol):
    """Gives random bytes."""

    def random_bytes(self, size: int) -> bytes:
        """Return bytes nobody can guess."""
        ...

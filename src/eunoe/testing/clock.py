"""A clock and randomness that tests decide."""

from __future__ import annotations

from hashlib import sha256

START_US = 1_767_225_600_000_000  # 2026-01-01T00:00:00Z


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now_us: int = START_US) -> None:
        self.now = now_us

    def now_us(self) -> int:
        return self.now

    def advance(self, *, us: int = 0, s: float = 0, days: float = 0) -> None:
        """Move on, or back with negative values."""
        self.now += us + round(s * 1_000_000) + round(days * 86_400_000_000)


class SeededEntropy:
    """Repeatable bytes: equal seeds give equal streams. Never for anything but tests."""

    def __init__(self, seed: str = "eunoe") -> None:
        self._state = seed.encode()

    def random_bytes(self, size: int) -> bytes:
        out = b""
        while len(out) < size:
            self._state = sha256(self._state).digest()
            out += sha256(b"out" + self._state).digest()
        return out[:size]

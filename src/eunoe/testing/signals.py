"""Signals that are kept in the process, for tests of what reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eunoe.domain.instants import DAY_US


class KeptSignals:
    """Signals in a dict: nothing is buffered, and nothing survives the process."""

    def __init__(self, *, since: int) -> None:
        self._since = since
        self._reads: dict[tuple[int, str], int] = {}

    def note_reads(self, p: int, memories: Iterable[str], at: int) -> None:
        """See `Signals.note_reads`."""
        for memory in memories:
            self._reads[p, memory] = max(at - at % DAY_US, self._reads.get((p, memory), 0))

    def flush(self) -> bool:
        """See `Signals.flush`."""
        return True

    def last_reads(self, p: int, memories: Sequence[str]) -> dict[str, int]:
        """See `Signals.last_reads`."""
        return {memory: self._reads[p, memory] for memory in memories if (p, memory) in self._reads}

    def since(self, p: int) -> int:
        """See `Signals.since`."""
        return self._since

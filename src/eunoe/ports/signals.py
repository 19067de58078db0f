"""Signals: what happened beside the ledger. Best effort: losing some harms nothing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Protocol
else:
    Protocol = object  # Protocols are for the type checker; making them costs every command several milliseconds


class Signals(Protocol):
    """Who reads what, folded by day (UTC). Kept by a rebuild, ignored by export and import.

    Noting never fails and never waits: it fills a buffer of this process, which is written when it is large or old and
    at the end. While the store is locked the buffer is kept; when it has grown too large, what is new is dropped.
    """

    def note_reads(self, p: int, memories: Iterable[str], at: int) -> None:
        """Note that the full text of memories was delivered to somebody at an instant, microseconds.

        Call it outside any transaction: it may write.
        """

    def flush(self) -> bool:
        """Write what was noted, if that is possible within a few milliseconds; tell whether nothing is left."""

    def last_reads(self, p: int, memories: Sequence[str]) -> dict[str, int]:
        """Return the day on which each memory was last read, by its first microsecond; never read ones are missing.

        What this process noted counts at once, what another one noted when it has written it.
        """

    def since(self, p: int) -> int:
        """Return since when the reads of a project are noted in this store, microseconds."""

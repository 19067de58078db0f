"""The ledger: appending events and reading them back."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Protocol

    from eunoe.domain.event import Event
else:
    Protocol = object  # Protocols are for the type checker; making them costs every command several milliseconds


class Position(NamedTuple):
    """Where a project's ledger stands: the last `seq`, id, recording time and memory number, and our chain's head."""

    seq: int
    id: str
    recorded_at: int
    number: int
    n: int
    hash: bytes


class Head(NamedTuple):
    """The end of one chain."""

    stream: str
    n: int
    hash: bytes


class Ledger(Protocol):
    """One project's ledger inside one transaction."""

    def position(self, stream: str) -> Position:
        """Return where the ledger stands, with the head of the given chain."""

    def append(self, event: Event, *, number: int) -> None:
        """Write an event with its head and counters; `number` is the last memory number given so far.

        Raises:
            Conflict: `duplicate_event`: its id, place in the chain or dedupe key is taken. It may come with the next
                question or at the end of the transaction, which is lost then.
        """

    def events(self, *, after: int = 0, memory: str | None = None, newest_first: bool = False) -> Iterator[Event]:
        """Yield events by `seq`, those that speak of one memory if asked."""

    def find(self, *, ident: str | None = None, seq: int | None = None, dedupe_key: str | None = None) -> Event | None:
        """Return one event by its id, its `seq` or its dedupe key."""

    def heads(self) -> list[Head]:
        """Return the head of every chain, by stream."""

    def stored(self, *, after_seq: int = 0) -> Iterator[tuple[Any, ...]]:
        """Yield the stored bytes of every event by `seq`, for `verify`.

        Rows are (seq, id, stream, n, type, v, origin, occurred_at, recorded_at, dedupe_key, meta, payload,
        payload_key, payload_hash, prev_hash, hash), texts as UTF-8 bytes.
        """

    def count(self) -> int:
        """Return the number of events."""

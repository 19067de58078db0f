"""What a review and the cap ask of one project."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, Protocol

    from eunoe.ports.text_index import Filter, Passage

    Question = Literal["disputed", "pending", "stale", "oversized", "unread", "orphans"]
else:
    Protocol = object  # Protocols are for the type checker; making them costs every command several milliseconds


class Upkeep(Protocol):
    """Reads of one project inside one consistent state."""

    def believed(self, now: int) -> int:
        """Return how many memories are believed or scheduled, in all scopes; costs little, however many there are."""

    def first(self, accept: Filter, *, limit: int) -> list[Passage]:
        """Return the passages of memories that pass an open filter, by number; turns of conversations are left out."""

    def find(self, question: Question, accept: Filter, *, before: int = 0, above: int = 0, limit: int) -> list[str]:
        """Return the ids of the memories that a question is about; it stops looking at `limit`.

        All but those that are pending pass `accept`, which is open. By number where nothing else is said.

        - disputed: marked as probably wrong.
        - pending: wait for a person.
        - stale: of the kind state, neither changed nor confirmed since `before`; the least recently changed first.
        - oversized: longer than `above` tokens, at least 600; the longest first.
        - unread: recorded before `before` and not read since, as far as signals tell; not pinned.
        - orphans: not pinned, and without a link to a memory that passes.

        The last two leave out turns of conversations, which nobody tends one by one.
        """

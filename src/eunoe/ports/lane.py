"""A lane: one way to find candidates."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    from eunoe.ports.text_index import Passage
else:
    Protocol = object


class Found:
    """One candidate of a lane.

    Attributes:
        passage: What was found.
        raw: The lane's own number, larger is better; comparable within this lane and query only.
        detail: What `explain` says of it.
    """

    __slots__ = ("detail", "passage", "raw")

    def __init__(self, passage: Passage, raw: float, detail: dict[str, Any] | None = None) -> None:
        self.passage = passage
        self.raw = raw
        self.detail = detail or {}


class Lane(Protocol):
    """Finds candidates for a query. Stateless: equal inputs give equal output, in whatever order lanes run."""

    name: str

    def find(self, reach: Any, *, explain: bool = False) -> Sequence[Found]:
        """Return visible candidates, best first, ties by the memory's id; at most one a memory.

        Args:
            reach: The query and what can be reached of one project (`eunoe.retrieval.reach.Reach`).
            explain: Whether to fill `Found.detail`.

        Raises:
            EunoeError: the lane cannot answer; the others do.
        """

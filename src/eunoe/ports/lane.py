"""A lane: one way to find candidates."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    from eunoe.ports.text_index import Filter, Passage, TextIndex
else:
    Protocol = object


class Found:
    """One candidate of a lane.

    Attributes:
        passage: What was found.
        raw: The lane's own number, larger is better; comparable within this lane and query only.
        evidence: How well it bears on the query, 0 to 1.
        detail: What `explain` says of it.
    """

    __slots__ = ("detail", "evidence", "passage", "raw")

    def __init__(self, passage: Passage, raw: float, evidence: float, detail: dict[str, Any]) -> None:
        self.passage = passage
        self.raw = raw
        self.evidence = evidence
        self.detail = detail


class Lane(Protocol):
    """Finds candidates for a query. Stateless: equal inputs give equal output, in whatever order lanes run."""

    name: str

    def find(
        self, terms: Sequence[str], index: TextIndex, accept: Filter, *, recipe: Any, explain: bool = False
    ) -> list[Found]:
        """Return visible candidates, best first, ties by the memory's id; at most one a memory.

        Args:
            terms: The analysed query, at least one term.
            index: The index of one project.
            accept: What may be returned.
            recipe: Weights and limits (`eunoe.retrieval.recipes.Recipe`).
            explain: Whether to fill `Found.detail`.
        """

"""A reranker: reads a question and a text together, and says how well the text answers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol
else:
    Protocol = object


class Reranker(Protocol):
    """One model. A text's score depends on the question and the text alone. Thread-safe.

    Attributes:
        name: What people call it.
    """

    name: str

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return for each text a number from 0 to 1, in their order; higher answers better.

        Raises:
            Unavailable: `model_failed`.
        """

"""An embedder: text becomes vectors whose angles say how near two meanings are."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol
else:
    Protocol = object

# Arrays are NumPy's, said as `Any`: the port is imported where NumPy is not installed.


class States:
    """What a model made of each token of a text, read in its surroundings.

    Attributes:
        ids: uint32 [t]: token ids of the model's vocabulary; function words and punctuation are left out.
        states: float32 [t, dim], rows of length 1.
    """

    __slots__ = ("ids", "states")

    def __init__(self, ids: Any, states: Any) -> None:
        self.ids = ids
        self.states = states


class Meaning:
    """A query, embedded.

    Attributes:
        vector: float32 [dim], of length 1.
        tokens: Its token states, or None from a model that has none.
    """

    __slots__ = ("tokens", "vector")

    def __init__(self, vector: Any, tokens: States | None) -> None:
        self.vector = vector
        self.tokens = tokens


class Embedder(Protocol):
    """One model. Equal texts give equal arrays, in whatever company and order they are embedded. Thread-safe.

    Attributes:
        name: What people call it.
        fingerprint: 64 hex digits, equal only for models whose vectors may be compared.
        dim: Numbers in a vector.
        has_states: Whether it gives token states.
    """

    name: str
    fingerprint: str
    dim: int
    has_states: bool

    def passages(self, texts: Sequence[str]) -> Any:
        """Return float32 [n, dim], rows of length 1; what is longer than the model's input is cut off.

        Raises:
            Unavailable: `model_failed`, `model_unreachable` (retryable).
        """

    def states(self, texts: Sequence[str], start: int, stop: int) -> list[States]:
        """Return the token states of `texts[start:stop]`, each read among the texts around it.

        Args:
            texts: In the order in which they were said.
            start, stop: Those before `start` and from `stop` on are read, too, as far as the model's input holds them.
        """

    def query(self, text: str) -> Meaning:
        """Return a query's vector (with the prefix that the model wants of queries) and token states."""

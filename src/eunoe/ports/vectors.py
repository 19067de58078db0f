"""What a model made of a project's texts, and the work that is still to be done. Lean.

Arrays travel as bytes: int8 and f16 little-endian for vectors, uint32 for token ids. A text is named by the row number
of its passage; the parts of a long one follow it, and `rid >> PART_BITS` is the same for all of them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Protocol

    from eunoe.ports.text_index import Filter
else:
    Protocol = object

PART_BITS = 12
MOST_PARTS = (1 << PART_BITS) - 1


def whole(rid: int) -> int:
    """Return the row number of the passage that a part belongs to."""
    return rid >> PART_BITS << PART_BITS


class Model:
    """A model that the store knows.

    Attributes:
        id: Its number in this store.
        fingerprint: Vectors of different fingerprints are never compared.
    """

    __slots__ = ("dim", "fingerprint", "id", "name")

    def __init__(self, id: int, name: str, fingerprint: str, dim: int) -> None:
        self.id = id
        self.name = name
        self.fingerprint = fingerprint
        self.dim = dim


class Vector:
    """One stored vector.

    Attributes:
        first, last: The characters of the body that a part covers. For a whole text 0 and the number of its parts,
            whose row numbers follow its own.
        scale: `quantised` times it is about `vector`.
        quantised: int8.
        vector: f16.
    """

    __slots__ = ("first", "last", "quantised", "rid", "scale", "vector")

    def __init__(self, rid: int, first: int, last: int, scale: float, quantised: bytes, vector: bytes) -> None:
        self.rid = rid
        self.first = first
        self.last = last
        self.scale = scale
        self.quantised = quantised
        self.vector = vector


class TokenStates:
    """The stored token states of one text: uint32 ids, then int8 rows followed by their f16 scales."""

    __slots__ = ("block", "ids", "rid", "scope", "states")

    def __init__(self, rid: int, block: int, scope: str, ids: bytes, states: bytes) -> None:
        self.rid = rid
        self.block = block
        self.scope = scope
        self.ids = ids
        self.states = states


class Text:
    """A text to embed, and where it stands."""

    __slots__ = ("body", "key", "live", "origin", "rid", "scope", "session", "speaker", "title", "turn", "value")

    def __init__(
        self,
        rid: int,
        live: int,
        scope: str,
        session: str | None,
        turn: int | None,
        origin: str,
        title: str | None,
        body: str,
        key: str | None,
        value: str | None,
        speaker: str | None,
    ) -> None:
        self.rid = rid
        self.live = bool(live)
        self.scope = scope
        self.session = session
        self.turn = turn
        self.origin = origin
        self.title = title
        self.body = body
        self.key = key
        self.value = value
        self.speaker = speaker


class Vectors(Protocol):
    """Reads of one project's vectors by one model, inside one consistent state."""

    @property
    def are_searched(self) -> bool:
        """Tell whether the store compares vectors itself, by `nearest`; otherwise each process does."""

    def nearest(self, vector: bytes, accept: Filter, *, limit: int) -> list[tuple[int, float]]:
        """Return (row number of a text, cosine) of texts that pass a filter, those nearest to an f16 vector first.

        A text once, by its nearest part; ties by number. Only where `are_searched`.
        """

    def position(self) -> tuple[int, int]:
        """Return the newest generation and how many removals there were; whoever sees another number loads anew."""

    def since(self, generation: int) -> Iterable[tuple[int, int, float, bytes]]:
        """Yield (generation, rid, scale, quantised) of what is newer, in the order of generations."""

    def exact(self, rids: Sequence[int]) -> dict[int, tuple[bytes, int, int]]:
        """Return row number → (f16 vector, first, last), of those that are there."""

    def states(self, rids: Sequence[int]) -> dict[int, tuple[bytes, bytes]]:
        """Return row number → (ids, states), of those that are there."""

    def token_statistics(self, tokens: Sequence[int], scopes: Sequence[str]) -> tuple[int, dict[int, int]]:
        """Return how many texts have token states, and token → how many of them hold it."""

    def sizes(self) -> dict[str, int]:
        """Return how many vectors and texts with token states there are, and the bytes of each."""

    def missing(self, *, after: int, limit: int) -> list[int]:
        """Return live passages without a vector of this model, ascending, beginning after a row number."""


class WritableVectors(Vectors, Protocol):
    """The same inside a write transaction, which may write."""

    def put(self, vectors: Sequence[Vector], states: Sequence[TokenStates], sources: Sequence[tuple[int, int]]) -> None:
        """Store what a model made of texts; what was there of them is replaced.

        Args:
            vectors: Of texts whose passages are there.
            states: Their token states.
            sources: (row number whose text was read, block), for states that come from several texts.
        """

    def remove_states(self, rids: Sequence[int]) -> None:
        """Take token states out, and what they added to the statistics."""

    def discount(self, rids: Sequence[int]) -> None:
        """Take texts that are no longer believed out of the token statistics; their states stay for the past."""

    def drop_states(self, *, keep_bytes: int) -> int:
        """Take out the oldest token states until at most so many bytes are left; return how many texts lost theirs."""

    def remove(self, rids: Sequence[int]) -> None:
        """Take vectors out; every process that holds them loads anew."""

    def clear(self) -> None:
        """Take out everything of this model."""


class Jobs(Protocol):
    """The queue of what is to be embedded, for all projects of a store."""

    def due(self, *, now: int, limit: int) -> list[tuple[int, int]]:
        """Return (project, row number) of jobs that may be tried now, oldest first; dead ones are none."""

    def texts(self, p: int, rids: Sequence[int]) -> list[Text]:
        """Return the texts of passages, by row number; those that are gone are missing."""

    def turns(self, p: int, session: str, first: int, last: int) -> list[Text]:
        """Return the live texts of a session's turns from `first` to `last`, in their order."""

    def done(self, p: int, rids: Sequence[int]) -> None:
        """Take jobs off the queue."""

    def failed(self, p: int, rids: Sequence[int], *, error: str, now: int) -> None:
        """Count an attempt and try again later, each time later; after the fifth the job is dead until `revive`."""

    def delayed(self, p: int, rids: Sequence[int], *, error: str, not_before: int) -> None:
        """Try again later, without counting an attempt: the failure is not the text's."""

    def revive(self) -> int:
        """Give dead jobs another chance; return how many there were."""

    def counts(self, p: int | None = None) -> tuple[int, int, str | None]:
        """Return how many wait, how many are dead, and the code of a failure of those."""

    def requeue(self, p: int, *, model: int) -> int:
        """Queue what is live and has neither a vector of the model nor a job; return how many."""


class Models(Protocol):
    """The models that a store knows, and the one that is bound."""

    def bound(self) -> Model | None:
        """Return the model whose vectors serve."""

    def known(self, fingerprint: str) -> Model | None:
        """Return a model by its fingerprint."""

    def register(self, name: str, fingerprint: str, dim: int) -> Model:
        """Return a model, making it known if it is not. Needs a write transaction."""

    def bind(self, model: Model, *, now: int) -> None:
        """Make a model the one that serves. Needs a write transaction."""

    def lease(self, name: str, holder: str, *, now: int, until: int) -> bool:
        """Take or keep a lease until an instant; False while another one holds it. Needs a write transaction."""

    def release(self, name: str, holder: str) -> None:
        """Give a lease back. Needs a write transaction."""

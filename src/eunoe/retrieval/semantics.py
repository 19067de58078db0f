"""The model of this process, the matrices that it has built, and why either is missing. Lean until it is asked.

A model that is not there is no error: words and keys answer, and the answer says what did not.
"""

from __future__ import annotations

from threading import Lock

from eunoe.errors import EunoeError, Unavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from eunoe.ports.embedder import Embedder, Meaning
    from eunoe.ports.store import View
    from eunoe.ports.text_index import Filter, Passage, TextIndex
    from eunoe.ports.vectors import Model, Vectors
    from eunoe.retrieval.matrix import Matrix

_REMEMBERED = 32  # queries whose embedding is kept: a page after the first one, a briefing after a recall


class Semantics:
    """Meaning, where there is a model.

    Attributes:
        name: The model's name; empty without one.
        absent: Why there is none, as a sentence that says what to do; empty when there is one, or when none is wanted.
    """

    def __init__(
        self,
        load: Callable[[], Embedder] | None = None,
        *,
        name: str = "",
        absent: str = "",
        keep_states: bool = True,
        on_said: Callable[[], None] | None = None,
    ) -> None:
        self.name = name
        self.absent = absent
        self._load = load
        self._keep_states = keep_states
        self._embedder: Embedder | None = None
        self._failure: EunoeError | None = None
        self._lock = Lock()
        self._matrices: dict[tuple[int, int], Matrix] = {}
        self._asked: dict[str, Meaning] = {}
        self._has_said = False
        self._on_said = on_said

    def say_absent(self) -> str:
        """Return why there is no model, once; empty ever after, and where none is wanted."""
        said, self._has_said = self._has_said, True
        if said or self.wanted or not self.absent:
            return ""
        if self._on_said is not None:
            self._on_said()
        return self.absent

    @property
    def wanted(self) -> bool:
        """Tell whether this process has a model to load."""
        return self._load is not None

    @property
    def keeps_states(self) -> bool:
        """Tell whether token states are made and read."""
        return self._keep_states and self.embedder().has_states

    def embedder(self) -> Embedder:
        """Return the model, loading it at the first call.

        Raises:
            Unavailable: it cannot be loaded; the same error each time, until the process ends.
        """
        with self._lock:
            if self._failure is not None:
                raise self._failure
            if self._embedder is None:
                if self._load is None:
                    raise Unavailable("no_model", self.absent or "EUNOE_MODEL=none: there is no model")
                try:
                    self._embedder = self._load()
                except EunoeError as exc:
                    self._failure = exc
                    raise
            return self._embedder

    def ask(self, text: str) -> Meaning | None:
        """Return a query embedded, or None without a model.

        Raises:
            Unavailable: the model failed.
        """
        if not self.wanted:
            return None
        known = self._asked.get(text)
        if known is None:
            known = self.embedder().query(text)
            if len(self._asked) >= _REMEMBERED:
                self._asked.clear()
            self._asked[text] = known
        return known

    def sight(self, view: View, p: int) -> Sight | None:
        """Return what meaning can be searched for in a project; None where nothing was embedded by this model yet.

        Raises:
            Unavailable: `other_model`: the store's vectors are another model's; the model failed.
        """
        embedder = self.embedder()
        bound = view.models.bound()
        if bound is None:
            return None
        if bound.fingerprint != embedder.fingerprint:
            raise other_model(bound, embedder)
        vectors = view.vectors(p, bound.id)
        if vectors.are_searched:
            return Sight(vectors, None, self._keep_states and embedder.has_states)
        with self._lock:
            matrix = self._matrix(p, bound)
            matrix.catch_up(vectors)
            return Sight(vectors, matrix, self._keep_states and embedder.has_states)

    def _matrix(self, p: int, bound: Model) -> Matrix:
        from eunoe.retrieval.matrix import Matrix  # noqa: PLC0415 - NumPy, only where there is a model

        return self._matrices.setdefault((p, bound.id), Matrix(bound.dim))


def other_model(bound: Model, embedder: Embedder) -> Unavailable:
    """Return the error of a store whose vectors another model made."""
    if bound.name == embedder.name:
        what = f"this store is embedded by another make of {bound.name}: words and keys answer; run `eunoe reembed`"
    else:
        what = (
            f"this store is embedded by {bound.name}, and {embedder.name} cannot read that: words and keys answer; run "
            f"`eunoe reembed` to change over, or set EUNOE_MODEL={bound.name}"
        )
    return Unavailable(
        "other_model",
        what,
        details={"bound": bound.name, "model": embedder.name},
    )


class Sight:
    """What a model sees of one project in one consistent state."""

    def __init__(self, vectors: Vectors, matrix: Matrix | None, has_states: bool) -> None:
        self._vectors = vectors
        self._matrix = matrix
        self.has_states = has_states
        self._asked: object = None
        self._looked: dict[int, tuple[float, int, int, int]] = {}

    def nearest(
        self, vector: object, index: TextIndex, accept: Filter, *, limit: int, narrow: bool = False
    ) -> list[tuple[Passage, float]]:
        """Return the passages nearest to a vector that pass a filter, best first, and their cosines.

        Where this process compares them, the cheap question comes first: the nearest of all, then what the filter says
        of them. Where some do not pass and too few are left, or with `narrow`, only those that pass are compared.
        """
        if self._matrix is None:
            from eunoe.retrieval.quantise import halves  # noqa: PLC0415 - NumPy, only where there is a model

            rough = self._vectors.nearest(halves(vector), accept, limit=limit + limit // 2)
            return _passing(self._exactly(vector, rough, limit), index, accept)
        if not narrow:
            found = self._exactly(vector, self._matrix.nearest(vector, limit=limit + limit // 2), limit)
            passed = _passing(found, index, accept)
            if len(passed) >= limit or len(passed) == len(found) or len(found) < limit:
                return passed
        rough = self._matrix.nearest(vector, limit=limit + limit // 2, among=index.rows(accept))
        return _passing(self._exactly(vector, rough, limit), index, accept)

    def _exactly(self, vector: object, rough: Sequence[tuple[int, float]], limit: int) -> list[tuple[int, float]]:
        """Return the nearest of those that were found by rounded numbers, so that every engine finds the same."""
        found = {rid: cosine for rid, (cosine, *_) in self.cosines(vector, [rid for rid, _ in rough]).items()}
        return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]

    def cosines(self, vector: object, rids: Sequence[int]) -> dict[int, tuple[float, int, int, int]]:
        """Return text → (cosine, row number of the part it is that of, first, last character), exactly.

        A text in parts has the cosine of its nearest part, or its own if that is larger.
        """
        if vector is not self._asked:
            self._asked, self._looked = vector, {}
        unknown = [rid for rid in rids if rid not in self._looked]
        self._looked |= self._look(vector, unknown) if unknown else {}
        return {rid: self._looked[rid] for rid in rids if rid in self._looked}

    def _look(self, vector: object, rids: Sequence[int]) -> dict[int, tuple[float, int, int, int]]:
        from eunoe.retrieval.late import cosines  # noqa: PLC0415 - NumPy, only where there is a model

        wholes = self._vectors.exact(rids)
        parts = {rid + at: rid for rid, (_, _, count) in wholes.items() for at in range(1, count + 1)}
        held = {**wholes, **(self._vectors.exact(list(parts)) if parts else {})}
        numbers = cosines(vector, [vector_ for vector_, _, _ in held.values()])
        best: dict[int, tuple[float, int, int, int]] = {}
        for (rid, (_, first, last)), cosine in zip(held.items(), numbers, strict=True):
            text = parts.get(rid, rid)
            if text not in best or cosine > best[text][0]:
                best[text] = (cosine, rid, first, last if rid in parts else 0)
        return best

    def late(self, meaning: Meaning, rids: Sequence[int], scopes: Sequence[str]) -> dict[int, float]:
        """Return text → late interaction, of those whose token states are there."""
        if not self.has_states or meaning.tokens is None:
            return {}
        from eunoe.retrieval.late import late_interaction  # noqa: PLC0415 - NumPy, only where there is a model

        tokens = [int(token) for token in meaning.tokens.ids]
        texts, df = self._vectors.token_statistics(tokens, scopes)
        return late_interaction(meaning.tokens, self._vectors.states(rids), texts, df)


def _passing(found: Sequence[tuple[int, float]], index: TextIndex, accept: Filter) -> list[tuple[Passage, float]]:
    passages = {each.rid: each for each in index.passages([rid for rid, _ in found], accept) if each.visible}
    return [(passages[rid], cosine) for rid, cosine in found if rid in passages]

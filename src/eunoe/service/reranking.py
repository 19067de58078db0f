"""A second look at the best hits, by a model that reads the question and a text together. Off unless asked for.

It lowers, and never raises: what it finds unfit is multiplied down, evidence stays what it was. When it fails, the
order stays as it is, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from eunoe.errors import EunoeError
from eunoe.ports.memories import Memories
from eunoe.ports.reranker import Reranker
from eunoe.retrieval.pipeline import DIGITS, Ranked, Searched

LOOKED_AT = 20
LEAST = 0.5  # the least that the multiplier may come to
RERANKER = "reranker"


class Reranking:
    """The reranker of this process, loaded at its first use. Thread-safe."""

    def __init__(self, load: Callable[[], Reranker]) -> None:
        self._load = load
        self._model: Reranker | None = None
        self._lock = Lock()

    def look(self, query: str, found: Searched, memories: Memories, *, now: int, known_at: int | None) -> bool:
        """Look at the best hits of a search once more, and order them anew; tell whether that was possible."""
        best = found.hits[:LOOKED_AT]
        if not best:
            return False
        try:
            with self._lock:
                self._model = self._model or self._load()
            idents = [hit.passage.memory for hit in best]
            bodies = memories.read(idents, now=now, known_at=known_at)
            read = [hit for hit in best if hit.passage.memory in bodies]
            scores = self._model.scores(query, [_text(hit, bodies[hit.passage.memory].body) for hit in read])
        except EunoeError as exc:
            found.failures[RERANKER] = exc
            return False
        for hit, score in zip(read, scores, strict=True):
            _lower(hit, LEAST + (1 - LEAST) * score)
        least = min(LEAST + (1 - LEAST) * score for score in scores)
        for hit in found.hits[LOOKED_AT:]:
            _lower(hit, least)
        found.hits.sort(key=lambda hit: (-hit.score, -hit.evidence, hit.passage.memory))
        return True


def _lower(hit: Ranked, factor: float) -> None:
    factor = round(min(factor, 1.0), DIGITS)
    hit.score = round(hit.score * factor, DIGITS)
    if hit.explanation:
        hit.explanation["multipliers"] = {**hit.explanation["multipliers"], RERANKER: factor}


def _text(hit: Ranked, body: str) -> str:
    return body[slice(*hit.span)] if hit.span else body

"""A sentence model in ONNX as an embedder: vectors of texts, and the states of their tokens among neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from eunoe.errors import Unavailable
from eunoe.models.manifest import Manifest
from eunoe.models.masking import says_nothing
from eunoe.models.onnx_session import MAX_CHARACTERS, OnnxSession
from eunoe.ports.embedder import Meaning, States

# Shares of one input when tokens are read in their surroundings, for a model of 512: measured with blocks of five
# turns. What is kept comes first, then what follows it; what was before gets the rest.
_ROOM = 510
_KEPT, _AHEAD, _HISTORY = 330, 60, 150
_SMALLEST = 1e-12


class OnnxEmbedder:
    """See `Embedder`. Each text is one forward pass of its own, so its vector depends on nothing else."""

    has_states = True

    def __init__(self, folder: str, manifest: Manifest) -> None:
        """Load the model of a folder.

        Raises:
            Unavailable: `model_failed`.
        """
        self.name = manifest.name
        self.fingerprint = manifest.fingerprint
        self._prefixes = manifest.query_prefix, manifest.passage_prefix
        self._takes_mean = manifest.pooling == "mean"
        self._session = session = OnnxSession(folder, manifest)
        self.dim = manifest.dim or _dim(session, manifest.name)
        room = session.room
        self._kept = max(1, min(_KEPT, room * _KEPT // _ROOM))
        self._ahead = min(_AHEAD, room * _AHEAD // _ROOM)
        self._masked: dict[int, bool] = {}

    def passages(self, texts: Sequence[str]) -> Any:
        """See `Embedder.passages`."""
        found = np.empty((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            found[row] = self._vector(self._prefixes[1] + text)
        return found

    def query(self, text: str) -> Meaning:
        """See `Embedder.query`."""
        ids = self._session.ids(text)[: self._session.room]
        return Meaning(self._vector(self._prefixes[0] + text), self._read([], [ids], [])[0])

    def states(self, texts: Sequence[str], start: int, stop: int) -> list[States]:
        """See `Embedder.states`. Texts that do not fit into one input are read in successive runs."""
        kept = [self._session.ids(text)[: self._kept] for text in texts[start:stop]]
        found: list[States] = []
        for first, last in _runs([len(ids) for ids in kept], self._kept):
            run = kept[first:last]
            following = texts[start + last] if start + last < len(texts) else ""
            ahead = self._session.ids(following)[: self._ahead]
            room = min(_HISTORY, self._session.room - sum(map(len, run)) - len(ahead))
            found += self._read(_latest(texts[: start + first], room, self._session.ids), run, ahead)
        return found

    def _vector(self, text: str) -> Any:
        session = self._session
        states = session.run([session.begin, *session.ids(text)[: session.room], session.end])
        return _of_length_one(states.mean(axis=0) if self._takes_mean else states[0])

    def _read(self, before: list[int], kept: list[list[int]], ahead: list[int]) -> list[States]:
        """Return the states of each kept text; one pass over all, none when there is nothing to keep."""
        chosen = [[place for place, token in enumerate(ids) if not self._is_masked(token)] for ids in kept]
        at = 1 + len(before)
        rows = None
        if any(chosen):
            inside = [token for ids in kept for token in ids]
            rows = self._session.run([self._session.begin, *before, *inside, *ahead, self._session.end])
        found = []
        for ids, places in zip(kept, chosen, strict=True):
            if places and rows is not None:
                taken = _of_length_one(rows[[at + place for place in places]])
                found.append(States(np.array([ids[place] for place in places], dtype=np.uint32), taken))
            else:
                found.append(States(np.empty(0, dtype=np.uint32), np.empty((0, self.dim), dtype=np.float32)))
            at += len(ids)
        return found

    def _is_masked(self, token: int) -> bool:
        known = self._masked.get(token)
        if known is None:
            known = self._masked[token] = says_nothing(self._session.token(token))
        return known


def _dim(session: OnnxSession, name: str) -> int:
    """Return how many numbers a model that was never run gives for each token."""
    states = session.run([session.begin, session.end])
    if getattr(states, "ndim", 0) != 2 or states.shape[0] != 2:
        raise Unavailable("model_failed", f"the first output of {name} is not one row for each token")
    return int(states.shape[1])


def _of_length_one(rows: Any) -> Any:
    rows = np.asarray(rows, dtype=np.float32)
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), _SMALLEST)


def _runs(lengths: Sequence[int], room: int) -> Iterator[tuple[int, int]]:
    """Yield slices of successive texts that fit together; each takes as many as it can."""
    first = used = 0
    for at, length in enumerate(lengths):
        if at > first and used + length > room:
            yield first, at
            first, used = at, 0
        used += length
    if first < len(lengths):
        yield first, len(lengths)


def _latest(texts: Sequence[str], room: int, ids: Callable[[str], list[int]]) -> list[int]:
    """Return the last tokens of all texts together, at most `room`; no more texts are read than that takes."""
    found: list[int] = []
    for text in reversed(texts):
        if len(found) >= room:
            break
        found[:0] = ids(text[-MAX_CHARACTERS:])
    return found[len(found) - room :] if len(found) > room else found

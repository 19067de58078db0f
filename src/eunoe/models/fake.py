"""A model that needs no files: texts that share words and parts of words are near. For tests and for trying things out.

It knows no synonyms. Its vectors are sums of pseudo-random ones, drawn by a hash from each word and each of its
3-grams; nothing depends on the process, so any machine makes the same.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from eunoe.models.masking import says_nothing
from eunoe.ports.embedder import Meaning, States

_WORD = re.compile(r"\w+")
_GRAM = 3
_GRAM_WEIGHT = 0.5
_MAX_CHARACTERS = 4_000
_MAX_TOKEN = 1 << 31


class FakeEmbedder:
    """See `Embedder`. Two with other `dim` or `variant` have other fingerprints and vectors."""

    has_states = True

    def __init__(self, dim: int = 32, variant: str = "") -> None:
        """Make a model of so many numbers; `variant` makes it another one."""
        self.name = "fake"
        self.dim = dim
        self._seed = f"{dim} {variant} ".encode()
        self.fingerprint = hashlib.sha256(b"eunoe fake 1 " + self._seed).hexdigest()
        self._drawn: dict[str, Any] = {}

    def passages(self, texts: Sequence[str]) -> Any:
        """See `Embedder.passages`."""
        return np.array([self._vector(text) for text in texts], dtype=np.float32).reshape(len(texts), self.dim)

    def states(self, texts: Sequence[str], start: int, stop: int) -> list[States]:
        """See `Embedder.states`. A word's state is the same among any neighbours."""
        return [self._states(text) for text in texts[start:stop]]

    def query(self, text: str) -> Meaning:
        """See `Embedder.query`."""
        return Meaning(self._vector(text), self._states(text))

    def _vector(self, text: str) -> Any:
        words = [word for word in _words(text) if not says_nothing(word)] or _words(text) or [""]
        # In sorted order, because sums of floats depend on it: texts of the same words are equal.
        return _of_length_one(np.sum([self._word(word) for word in sorted(words)], axis=0))

    def _states(self, text: str) -> States:
        words = [word for word in _words(text) if not says_nothing(word)]
        ids = np.array([self._token(word) for word in words], dtype=np.uint32)
        rows = np.array([_of_length_one(self._word(word)) for word in words], dtype=np.float32)
        return States(ids, rows.reshape(len(words), self.dim))

    def _token(self, word: str) -> int:
        return int.from_bytes(hashlib.sha256(b"token " + self._seed + word.encode()).digest()[:4]) % _MAX_TOKEN

    def _word(self, word: str) -> Any:
        known = self._drawn.get(word)
        if known is None:
            padded = f"<{word}>"
            grams = [padded[at : at + _GRAM] for at in range(len(padded) - _GRAM + 1)]
            parts = [self._draw(f"gram {gram}") for gram in grams]
            known = self._draw(f"word {word}") + _GRAM_WEIGHT * np.sum(parts, axis=0)
            self._drawn[word] = known
        return known

    def _draw(self, feature: str) -> Any:
        drawn = hashlib.shake_128(self._seed + feature.encode()).digest(self.dim)
        return _of_length_one(np.frombuffer(drawn, dtype=np.uint8).astype(np.float64) - 127.5)


def _words(text: str) -> list[str]:
    plain = text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
    return _WORD.findall(plain.casefold())


def _of_length_one(vector: Any) -> Any:
    return vector / np.linalg.norm(vector)

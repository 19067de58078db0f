"""Texts for measuring: sentences whose words are as unevenly frequent as real ones, the same in every run."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate

_SYLLABLES = [
    "ba",
    "be",
    "bi",
    "bo",
    "bu",
    "da",
    "de",
    "di",
    "do",
    "du",
    "fa",
    "fe",
    "fi",
    "fo",
    "ka",
    "ke",
    "ki",
    "ko",
    "la",
    "le",
    "li",
    "lo",
    "ma",
    "me",
    "mi",
    "mo",
    "na",
    "ne",
    "no",
    "pa",
    "pe",
    "po",
    "ra",
    "re",
    "ro",
]
_FUNCTION = [
    "the",
    "a",
    "of",
    "to",
    "in",
    "is",
    "on",
    "for",
    "and",
    "it",
    "that",
    "with",
    "at",
    "by",
    "from",
    "not",
    "this",
    "are",
    "was",
    "be",
    "as",
    "we",
    "or",
    "an",
    "if",
    "but",
    "so",
    "can",
]
VOCABULARY = 30_000


def sentences(count: int, *, seed: int = 1, words: tuple[int, int] = (9, 19)) -> Iterator[str]:
    """Yield sentences of function words and of invented ones, drawn by Zipf's law (s = 1.05)."""
    rng = random.Random(seed)
    names = _vocabulary()
    cumulated = list(accumulate(1 / (rank + 8) ** 1.05 for rank in range(len(names))))
    total = cumulated[-1]
    for _ in range(count):
        size = rng.randint(*words)
        chosen = (
            rng.choice(_FUNCTION) if rng.random() < 0.4 else names[bisect_left(cumulated, rng.random() * total)]
            for _ in range(size)
        )
        yield " ".join(chosen).capitalize() + "."


def queries(texts: list[str], count: int, *, seed: int = 2, words: int = 7) -> list[str]:
    """Return queries of words out of one text each."""
    rng = random.Random(seed)
    found = []
    for text in rng.sample(texts, count):
        parts = [word.strip(".") for word in text.split() if word.lower() not in _FUNCTION]
        found.append(" ".join(rng.sample(parts, min(words, len(parts)))))
    return found


def _vocabulary() -> list[str]:
    rng = random.Random(0)
    names: dict[str, None] = {}
    while len(names) < VOCABULARY:
        names["".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(2, 5)))] = None
    return list(names)

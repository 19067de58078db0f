"""How alike two memories are by their words, from stored term counts alone. It suggests; it never merges."""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

from eunoe.domain.postings import counts, term_names

SKETCH_TERMS = 256
_MUTUAL, _ONE_SIDED = 2.85, 0.15

Sketch = dict[str, int]


def sketch(packed: str) -> Sketch:
    """Return the terms of a passage's body and title, each with how often it stands there.

    Of a long text only those 256 terms whose checksums are least: of two texts these are the same ones where both hold
    them, so that their likeness is that of the whole texts, at a price that does not grow with them.
    """
    names = term_names(packed)
    if len(names) > SKETCH_TERMS:
        names = sorted(names, key=lambda name: crc32(name.encode()))[:SKETCH_TERMS]
    found = {}
    for name in names:
        own, title = (*(counts(packed, name) or ()), 0, 0)[:2]
        if own + title:
            found[name] = own + title
    return found


def likeness(one: Sketch, other: Sketch, worth: Mapping[str, float]) -> float:
    """Return how alike two sketches are, 0 to 1, symmetric: what they share against what only one of them holds.

    What each has and the other lacks makes them two facts (`lemon` / `plum`), what only one has makes it the longer
    wording of the same; so the smaller difference weighs 19 times the larger one. Terms weigh by their worth and as
    often as they stand. Measured in `benchmarks/review.py`.
    """
    both = mine = yours = 0.0
    for name in sorted(one.keys() | other.keys()):
        a, b = one.get(name, 0), other.get(name, 0)
        both += worth[name] * min(a, b)
        mine += worth[name] * max(a - b, 0)
        yours += worth[name] * max(b - a, 0)
    apart = _MUTUAL * min(mine, yours) + _ONE_SIDED * max(mine, yours)
    return both / (both + apart) if both else 0.0

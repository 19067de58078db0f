"""Whether evidence means what it says: of hits with evidence 0.8, are eight in ten right?

Hits are sorted into ten bins of equal width, [0, 0.1), …, [0.9, 1]. The expected calibration error (ECE) is the mean
distance between a bin's average evidence and its share of right hits, each bin weighing as many hits as it holds. The
Brier score is the mean squared distance between evidence and 0 or 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

BINS = 10


class Bin(NamedTuple):
    """The hits whose evidence lies between `least` and `below`: how many, their mean evidence, the share that is right.

    Both means are 0 where there are no hits.
    """

    least: float
    below: float
    hits: int
    evidence: float
    right: float


class Calibration(NamedTuple):
    """What evidence was worth over some hits; `ece` and `brier` are None without any."""

    hits: int
    ece: float | None
    brier: float | None
    bins: tuple[Bin, ...]


def calibration(judged: Iterable[tuple[float, bool]]) -> Calibration:
    """Return the calibration of hits, each as its evidence in 0 to 1 and whether it was right.

    >>> calibration([(0.8, True), (0.8, False), (0.1, False)]).ece is not None
    True
    >>> round(calibration([(0.8, True), (0.8, False)]).ece, 3)
    0.3
    """
    held: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for evidence, is_right in judged:
        held[min(int(evidence * BINS), BINS - 1)].append((evidence, is_right))
    total = sum(map(len, held))
    bins = tuple(_bin(at, each) for at, each in enumerate(held))
    if not total:
        return Calibration(0, None, None, bins)
    ece = sum(each.hits * abs(each.evidence - each.right) for each in bins) / total
    brier = sum((evidence - is_right) ** 2 for each in held for evidence, is_right in each) / total
    return Calibration(total, ece, brier, bins)


def _bin(at: int, held: list[tuple[float, bool]]) -> Bin:
    least, below = at / BINS, (at + 1) / BINS
    if not held:
        return Bin(least, below, 0, 0.0, 0.0)
    evidence = sum(number for number, _ in held) / len(held)
    return Bin(least, below, len(held), evidence, sum(is_right for _, is_right in held) / len(held))

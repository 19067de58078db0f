"""The measures of an answer, and of many. Pure; every number lies in 0 to 1 and higher is better.

An answer is a ranking: names, best first, none twice. The gold is what should be in it, never empty. What a ranking
leaves out counts as not found.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from math import log2

DEPTHS = (1, 5, 10)


def recall_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return R@k: the share of the gold that is among the first k.

    >>> recall_at(["a", "x", "b"], {"a", "b"}, 2)
    0.5
    """
    return len(set(gold).intersection(ranked[:k])) / len(gold)


def hit_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return hit@k: 1.0 when any of the gold is among the first k, else 0.0.

    >>> hit_at(["x", "b"], {"a", "b"}, 1), hit_at(["x", "b"], {"a", "b"}, 2)
    (0.0, 1.0)
    """
    return float(not set(gold).isdisjoint(ranked[:k]))


def first_rank(ranked: Sequence[str], gold: Collection[str]) -> int | None:
    """Return the rank of the first gold, from 1; None where there is none.

    >>> first_rank(["x", "b", "a"], {"a", "b"}), first_rank(["x"], {"a"})
    (2, None)
    """
    return next((rank for rank, name in enumerate(ranked, 1) if name in gold), None)


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """Return 1 / rank of the first gold, 0.0 where there is none; its average is MRR.

    >>> reciprocal_rank(["x", "b"], {"b"})
    0.5
    """
    rank = first_rank(ranked, gold)
    return 0.0 if rank is None else 1 / rank


def ndcg_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return nDCG@k with gains of 0 and 1: the sum of 1 / log2(1 + rank) over gold in the first k, by the largest sum.

    >>> ndcg_at(["a", "b", "x"], {"a", "b"}, 10), ndcg_at(["x", "y", "a"], {"a"}, 10)
    (1.0, 0.5)
    """
    won = sum(1 / log2(1 + rank) for rank, name in enumerate(ranked[:k], 1) if name in gold)
    return won / sum(1 / log2(1 + rank) for rank in range(1, min(len(gold), k) + 1))


def measure(ranked: Sequence[str], gold: Collection[str]) -> dict[str, float]:
    """Return all measures of one answer: R@k and hit@k for 1, 5 and 10, MRR, nDCG@10.

    >>> measure(["x", "a"], ["a"])["MRR"]
    0.5
    """
    row = {f"R@{k}": recall_at(ranked, gold, k) for k in DEPTHS}
    row |= {f"hit@{k}": hit_at(ranked, gold, k) for k in DEPTHS}
    return row | {"MRR": reciprocal_rank(ranked, gold), "nDCG@10": ndcg_at(ranked, gold, 10)}


def averaged(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of every measure over questions, each counting the same, and how many `questions` there were.

    >>> averaged([{"MRR": 1.0}, {"MRR": 0.5}])
    {'MRR': 0.75, 'questions': 2}
    >>> averaged([])
    {'questions': 0}
    """
    means = {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]} if rows else {}
    return means | {"questions": len(rows)}


def auc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """Return the probability that a positive exceeds a negative, ties counting half; None where either is empty.

    Cost: O(n log n).

    >>> auc([0.9, 0.4], [0.4, 0.1])
    0.875
    """
    if not positive or not negative:
        return None
    ordered = sorted(negative)
    wins = sum(bisect_left(ordered, each) + bisect_right(ordered, each) for each in positive)
    return wins / (2 * len(positive) * len(negative))

"""The one scorer: BM25 over a passage's fields and its session neighbours, from stored term counts. Lean.

Engines only select candidates; the numbers come from here, from per-project statistics, so that two engines, two
processes and two runs agree to the last digit, and no other project's text moves a score.
"""

from __future__ import annotations

from math import log

from eunoe.domain.postings import counts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from eunoe.ports.text_index import Passage, Statistics
    from eunoe.retrieval.recipes import Recipe

DIGITS = 9  # scores are rounded to 1e-9, so that equal inputs give equal output on every machine


def idf(df: int, documents: int) -> float:
    """Return how much a term tells: ln(1 + (N - df + ½) / (df + ½)); above 0, larger for rarer terms."""
    return log(1 + max(documents - df + 0.5, 0.5) / (df + 0.5))


class Weights:
    """The terms of one query with what each is worth.

    Attributes:
        idf: Term → idf, rarest first; only terms that some passage holds.
        reach: The largest BM25 that the query could reach: every term, those that nothing holds as well, in endless
            repetition. Evidence is a share of it.
    """

    __slots__ = ("idf", "reach")

    def __init__(self, terms: Sequence[str], statistics: Statistics, recipe: Recipe) -> None:
        known = sorted((statistics.df[term], term) for term in terms if statistics.df.get(term, 0) > 0)
        held = len(known)
        del known[recipe.score_terms :]
        self.idf = {term: idf(df, statistics.documents) for df, term in known}
        missing = min(len(terms) - held, recipe.score_terms)
        unknown = missing * idf(0, statistics.documents)
        self.reach = (sum(self.idf.values()) + unknown) * (recipe.k1 + 1)


def frequencies(passages: Sequence[Passage], terms: Mapping[str, float], recipe: Recipe) -> dict[str, dict[int, float]]:
    """Return, for each term, the weighted number of its occurrences by place in `passages`."""
    body, *others = recipe.fields
    table: dict[str, dict[int, float]] = {}
    for term in terms:
        row: dict[int, float] = {}
        for at, passage in enumerate(passages):
            found = counts(passage.terms, term)
            if found is not None:
                weight = found[0] * body
                for count, each in zip(found[1:], others, strict=False):
                    weight += count * each
                row[at] = weight
        table[term] = row
    return table


class Scored:
    """BM25 of a set of passages that know each other.

    Attributes:
        totals: Place in the set → BM25, only where it is above 0.
        parts: Place → term → its share of the total; filled only when explaining.
    """

    __slots__ = ("parts", "totals")

    def __init__(self, totals: dict[int, float], parts: dict[int, dict[str, float]]) -> None:
        self.totals = totals
        self.parts = parts


def score(
    passages: Sequence[Passage], weights: Weights, statistics: Statistics, recipe: Recipe, *, explain: bool = False
) -> Scored:
    """Return BM25 of each passage over its own words and, in a session, its neighbours' at the recipe's weights.

    A neighbour lends its body, title, tags and path counts times the weight of its offset; the length that BM25
    divides by is mixed in the same proportion. Neighbours outside `passages` lend nothing.

    Cost: about 0.1 µs for each passage and term, plus 1 µs for each hit.
    """
    near = _neighbours(passages, recipe)
    average = max(statistics.length / statistics.documents, 1.0) if statistics.documents else 1.0
    norms: dict[int, float] = {}
    totals: dict[int, float] = {}
    parts: dict[int, dict[str, float]] = {}
    for term, own in frequencies(passages, weights.idf, recipe).items():
        mixed = dict(own)
        for at, count in own.items():
            for other, weight in near.get(at, ()):
                mixed[other] = mixed.get(other, 0.0) + weight * count
        worth = weights.idf[term] * (recipe.k1 + 1)
        for at, count in mixed.items():
            norm = norms.get(at)
            if norm is None:
                norm = norms[at] = recipe.k1 * (1 - recipe.b + recipe.b * _length(at, passages, near, average))
            share = worth * count / (count + norm)
            totals[at] = totals.get(at, 0.0) + share
            if explain:
                parts.setdefault(at, {})[term] = round(share, DIGITS)
    return Scored(totals, parts)


def _neighbours(passages: Sequence[Passage], recipe: Recipe) -> dict[int, list[tuple[int, float]]]:
    """Return, by place, the places to which a passage lends and at which weight."""
    places = {(passage.session, passage.turn): at for at, passage in enumerate(passages) if passage.session is not None}
    near: dict[int, list[tuple[int, float]]] = {}
    for (session, turn), at in places.items():
        if turn is None:
            continue
        # The passage at offset -1 of another lends to it: it is seen from there, so the sign turns round.
        lends = [(places.get((session, turn - offset)), weight) for offset, weight in recipe.context.items()]
        near[at] = [(other, weight) for other, weight in lends if other is not None]
    return near


def _length(
    at: int, passages: Sequence[Passage], near: Mapping[int, Sequence[tuple[int, float]]], average: float
) -> float:
    """Return how long a passage is, its neighbours mixed in, in average passages."""
    length, share = float(passages[at].length), 1.0
    for other, _ in near.get(at, ()):
        weight = next((weight for place, weight in near[other] if place == at), 0.0)
        length += weight * passages[other].length
        share += weight
    return length / (average * share)

"""The one scorer: BM25 over a passage's fields and its session neighbours, from stored term counts. Lean.

Engines only select candidates; the numbers come from here, from per-project statistics, so that two engines, two
processes and two runs agree to the last digit, and no other project's text moves a score.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from math import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
            repetition.
        total: The idf of all terms added up, those that nothing holds as well.
    """

    __slots__ = ("idf", "reach", "total")

    def __init__(self, terms: Sequence[str], statistics: Statistics, recipe: Recipe) -> None:
        known = sorted((statistics.df[term], term) for term in terms if statistics.df.get(term, 0) > 0)
        held = len(known)
        del known[recipe.score_terms :]
        self.idf = {term: idf(df, statistics.documents) for df, term in known}
        missing = min(len(terms) - held, recipe.score_terms)
        unknown = missing * idf(0, statistics.documents)
        self.total = sum(self.idf.values()) + unknown
        self.reach = self.total * (recipe.k1 + 1)


class Frequencies:
    """How often terms stand in passages, weighted by field; every passage is looked through once."""

    __slots__ = ("_fields", "_marks", "_seen", "_weighed", "by_term")

    def __init__(self, terms: Iterable[str], recipe: Recipe) -> None:
        self._fields = recipe.fields
        self._marks = [(term, f"\n{term} ") for term in terms]
        self._seen: set[int] = set()
        self._weighed: dict[str, float] = {}  # few different counts ever occur, so each is read once
        self.by_term: dict[str, dict[int, float]] = {term: {} for term, _ in self._marks}

    def add(self, passages: Sequence[Passage]) -> None:
        """Look through the passages that were not looked through yet."""
        fresh = [passage for passage in passages if passage.rid not in self._seen]
        self._seen.update(passage.rid for passage in fresh)
        joined = "".join([passage.terms for passage in fresh])  # one long text is searched faster than many short ones
        ends = list(accumulate(len(passage.terms) for passage in fresh))
        for term, mark in self._marks:
            row, size = self.by_term[term], len(mark)
            found = joined.find(mark)
            while found >= 0:
                start = found + size
                end = joined.index("\n", start)
                row[fresh[bisect_right(ends, found)].rid] = self._weight(joined[start:end])
                found = joined.find(mark, end)

    def _weight(self, counts: str) -> float:
        weight = self._weighed.get(counts)
        if weight is None:
            pairs = zip(counts.split(","), self._fields, strict=False)
            weight = self._weighed[counts] = sum(int(count) * each for count, each in pairs)
        return weight


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
    passages: Sequence[Passage],
    weights: Weights,
    statistics: Statistics,
    recipe: Recipe,
    *,
    counted: Frequencies | None = None,
    alone: bool = False,
    explain: bool = False,
) -> Scored:
    """Return BM25 of each passage over its own words and, in a session, its neighbours' at the recipe's weights.

    A neighbour lends its weighted counts times the weight of its offset; the length that BM25 divides by is mixed in
    the same proportion. Neighbours outside `passages` lend nothing, nor does what lies behind a gap in the turns.

    Args:
        passages: Of one session in the order of turns wherever they have one; the order of sessions has no influence.
        weights: The terms and their worth.
        statistics: Of the project, in the reader's scopes.
        recipe: Weights of fields and neighbours.
        counted: What was counted of these terms before; it is added to.
        alone: Let no neighbour lend.
        explain: Whether to fill `Scored.parts`.

    Cost: about 0.1 µs for each passage and term, plus 1 µs for each passage that holds a term.
    """
    follows = [False] * (len(passages) + 2) if alone else followers(passages)
    average = max(statistics.length / statistics.documents, 1.0) if statistics.documents else 1.0
    flat, slope = recipe.k1 * (1 - recipe.b), recipe.k1 * recipe.b / average
    norms = [flat + slope * length for length in _lengths(passages, follows, recipe)]
    totals: dict[int, float] = {}
    parts: dict[int, dict[str, float]] = {}
    counted = counted or Frequencies(weights.idf, recipe)
    counted.add(passages)
    places = {passage.rid: at for at, passage in enumerate(passages)}
    for term, by_rid in counted.by_term.items():
        own = {places[rid]: count for rid, count in by_rid.items() if rid in places}
        worth = weights.idf[term] * (recipe.k1 + 1)
        for at, count in (own if alone else _mixed(own, follows, recipe)).items():
            share = worth * count / (count + norms[at])
            totals[at] = totals.get(at, 0.0) + share
            if explain:
                parts.setdefault(at, {})[term] = round(share, DIGITS)
    return Scored(totals, parts)


def followers(passages: Sequence[Passage]) -> list[bool]:
    """Return, by place, whether a passage is the turn after the one before it; with two more False at the end."""
    session, turn = None, -1
    follows = []
    for passage in passages:
        follows.append(passage.session is not None and passage.session == session and passage.turn == turn + 1)
        session, turn = passage.session, -1 if passage.turn is None else passage.turn
    return [*follows, False, False]


def _mixed(own: dict[int, float], follows: Sequence[bool], recipe: Recipe) -> dict[int, float]:
    """Return a term's counts with what neighbours lend: seen from the receiver, they stand at the recipe's offset."""
    before, after, before2, after2 = recipe.before, recipe.after, recipe.before2, recipe.after2
    mixed = dict(own)
    for at in sorted(own):  # sums must not depend on what was counted first
        count = own[at]
        if follows[at + 1]:
            mixed[at + 1] = mixed.get(at + 1, 0.0) + before * count
            if follows[at + 2]:
                mixed[at + 2] = mixed.get(at + 2, 0.0) + before2 * count
        if follows[at]:
            mixed[at - 1] = mixed.get(at - 1, 0.0) + after * count
            if follows[at - 1]:
                mixed[at - 2] = mixed.get(at - 2, 0.0) + after2 * count
    return mixed


def _lengths(passages: Sequence[Passage], follows: Sequence[bool], recipe: Recipe) -> list[float]:
    """Return the length of each passage, with what neighbours lend mixed in."""
    own = [float(each.length) for each in passages]
    if True not in follows:
        return own
    mixed = []
    for at, length in enumerate(own):
        share = 1.0
        if follows[at]:
            length, share = length + recipe.before * own[at - 1], share + recipe.before
            if follows[at - 1]:
                length, share = length + recipe.before2 * own[at - 2], share + recipe.before2
        if follows[at + 1]:
            length, share = length + recipe.after * own[at + 1], share + recipe.after
            if follows[at + 2]:
                length, share = length + recipe.after2 * own[at + 2], share + recipe.after2
        mixed.append(length / share)
    return mixed

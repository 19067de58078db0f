"""The keyword lane: the engine selects, the one scorer ranks. Lean."""

from __future__ import annotations

from eunoe.ports.lane import Found
from eunoe.ports.text_index import Statistics
from eunoe.retrieval.score import DIGITS, Frequencies, Weights, score

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from eunoe.ports.text_index import Filter, Passage, TextIndex
    from eunoe.retrieval.recipes import Recipe


# Two turns to either side lend to a candidate, and two more to those, which may become hits themselves.
_REACH = 4


class KeywordLane:
    """Implements `eunoe.ports.lane.Lane` by the words of a query."""

    name = "keyword"

    def find(
        self, terms: Sequence[str], index: TextIndex, accept: Filter, *, recipe: Recipe, explain: bool = False
    ) -> list[Found]:
        """See `Lane.find`. Evidence is BM25 over the largest BM25 that the query could reach."""
        statistics = index.statistics(terms, accept.scopes)
        if accept.known_at is not None:
            statistics = _of_the_past(statistics, terms)
        selecting = selective(terms, statistics, recipe)
        if not selecting:
            return []
        weights = Weights(terms, statistics, recipe)
        passages = index.candidates(selecting, accept, limit=recipe.candidates)
        counted = Frequencies(weights.idf, recipe)
        spreading = _spreading(passages, weights, statistics, recipe, counted)
        if spreading:
            passages = with_neighbours(passages, spreading, index, accept)
        scored = score(passages, weights, statistics, recipe, counted=counted, explain=explain)
        found: dict[str, Found] = {}
        for total, at in _best(passages, scored.totals):
            ident = passages[at].memory
            if ident not in found:
                detail = {"terms": scored.parts[at], "reach": round(weights.reach, DIGITS)} if explain else {}
                found[ident] = Found(passages[at], total, round(total / weights.reach, DIGITS), detail)
                if len(found) == recipe.candidates:
                    break
        return list(found.values())


def _best(passages: Sequence[Passage], totals: Mapping[int, float]) -> list[tuple[float, int]]:
    """Return (BM25, place) of what may be returned, best first, ties by the memory's id."""
    ranked = [(total, at) for at, total in totals.items() if passages[at].visible]
    ranked.sort(key=lambda pair: (-pair[0], passages[pair[1]].memory))
    return ranked


def _of_the_past(statistics: Statistics, terms: Sequence[str]) -> Statistics:
    """Statistics count what is believed now; a word that only an earlier version held must still be looked for."""
    df = {term: statistics.df.get(term, 1) for term in terms}
    return Statistics(max(statistics.documents, 1), statistics.length, df)


def selective(terms: Sequence[str], statistics: Statistics, recipe: Recipe) -> list[str]:
    """Return the terms that select candidates: those that are not common, rarest first, at least two if there are."""
    known = sorted((statistics.df[term], term) for term in terms if statistics.df.get(term, 0) > 0)
    common = max(recipe.common_share * statistics.documents, recipe.common_least)
    rare = [term for df, term in known if df <= common]
    kept = rare if len(rare) >= 2 else [term for _, term in known[:2]]
    return kept[: recipe.match_terms]


def _spreading(
    candidates: list[Passage], weights: Weights, statistics: Statistics, recipe: Recipe, counted: Frequencies
) -> list[tuple[str, int]]:
    """Return session and turn of the candidates whose neighbours count: the best by their own words."""
    if not recipe.spread or not any(passage.turn is not None for passage in candidates):
        return []
    totals = score(candidates, weights, statistics, recipe, counted=counted).totals
    best = sorted(totals, key=lambda at: (-totals[at], candidates[at].memory))[: recipe.spread]
    places = ((candidates[at].session, candidates[at].turn) for at in best)
    return [(session, turn) for session, turn in places if session is not None and turn is not None]


def with_neighbours(
    candidates: list[Passage], spreading: list[tuple[str, int]], index: TextIndex, accept: Filter
) -> list[Passage]:
    """Return the candidates and, around those that spread, all that can lend to them or to their neighbours."""
    turns: dict[str, list[int]] = {}
    for session, turn in spreading:
        turns.setdefault(session, []).append(turn)
    ranges = [(session, *span) for session in sorted(turns) for span in _merged(sorted(turns[session]))]
    pool = {passage.rid: passage for passage in candidates}
    for passage in index.neighbours(ranges, accept):
        pool.setdefault(passage.rid, passage)
    return sorted(pool.values(), key=lambda passage: (passage.session or "", passage.turn or 0, passage.rid))


def _merged(turns: list[int]) -> list[tuple[int, int]]:
    """Return ranges around sorted turns; ranges that touch become one."""
    ranges: list[tuple[int, int]] = []
    for turn in turns:
        first, last = turn - _REACH, turn + _REACH
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], last)
        else:
            ranges.append((first, last))
    return ranges

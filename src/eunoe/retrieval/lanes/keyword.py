"""The keyword lane: the engine selects, the one scorer ranks. Lean."""

from __future__ import annotations

from eunoe.ports.lane import Found
from eunoe.retrieval.score import DIGITS, Weights, score

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from eunoe.ports.text_index import Filter, Passage, Statistics, TextIndex
    from eunoe.retrieval.recipes import Recipe


class KeywordLane:
    """Implements `eunoe.ports.lane.Lane` by the words of a query."""

    name = "keyword"

    def find(
        self, terms: Sequence[str], index: TextIndex, accept: Filter, *, recipe: Recipe, explain: bool = False
    ) -> list[Found]:
        """See `Lane.find`. Evidence is BM25 over the largest BM25 that the query could reach."""
        statistics = index.statistics(terms, accept.scopes)
        selecting = selective(terms, statistics, recipe)
        if not selecting:
            return []
        weights = Weights(terms, statistics, recipe)
        passages = with_neighbours(index.candidates(selecting, accept, limit=recipe.candidates), index, accept, recipe)
        scored = score(passages, weights, statistics, recipe, explain=explain)
        best: dict[str, Found] = {}
        for at, total in scored.totals.items():
            passage = passages[at]
            if passage.visible and (passage.memory not in best or total > best[passage.memory].raw):
                detail = {"terms": scored.parts[at], "reach": round(weights.reach, DIGITS)} if explain else {}
                best[passage.memory] = Found(passage, total, round(total / weights.reach, DIGITS), detail)
        return sorted(best.values(), key=lambda found: (-found.evidence, found.passage.memory))


def selective(terms: Sequence[str], statistics: Statistics, recipe: Recipe) -> list[str]:
    """Return the terms that select candidates: those that are not common, rarest first, at least two if there are."""
    known = sorted((statistics.df[term], term) for term in terms if statistics.df.get(term, 0) > 0)
    common = max(recipe.common_share * statistics.documents, recipe.common_least)
    rare = [term for df, term in known if df <= common]
    kept = rare if len(rare) >= 2 else [term for _, term in known[:2]]
    return kept[: recipe.match_terms]


def with_neighbours(candidates: list[Passage], index: TextIndex, accept: Filter, recipe: Recipe) -> list[Passage]:
    """Return the candidates and, of those in a session, all passages that can lend to them or to their neighbours."""
    reach = 2 * max((abs(offset) for offset in recipe.context), default=0)
    turns: dict[str, list[int]] = {}
    for passage in candidates:
        if reach and passage.session is not None and passage.turn is not None:
            turns.setdefault(passage.session, []).append(passage.turn)
    pool = {passage.rid: passage for passage in candidates}
    for session in sorted(turns):
        for first, last in _merged(sorted(turns[session]), reach):
            for passage in index.neighbours(session, first, last, accept):
                pool.setdefault(passage.rid, passage)
    return list(pool.values())


def _merged(turns: list[int], reach: int) -> list[tuple[int, int]]:
    """Return ranges around sorted turns; ranges that touch become one."""
    ranges: list[tuple[int, int]] = []
    for turn in turns:
        first, last = turn - reach, turn + reach
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], last)
        else:
            ranges.append((first, last))
    return ranges

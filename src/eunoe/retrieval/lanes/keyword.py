"""The keyword lane: the engine selects by the words of a query, the one scorer ranks. Lean."""

from __future__ import annotations

from eunoe.ports.lane import Found
from eunoe.retrieval.score import score

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from eunoe.ports.text_index import Statistics
    from eunoe.retrieval.reach import Reach
    from eunoe.retrieval.recipes import Recipe


class KeywordLane:
    """Implements `eunoe.ports.lane.Lane` by the words of a query; `raw` is BM25 over a passage's own words."""

    name = "keyword"

    def find(self, reach: Reach, *, explain: bool = False) -> list[Found]:
        """See `Lane.find`."""
        selecting = selective(reach.question.terms, reach.statistics, reach.recipe)
        if not selecting:
            return []
        passages = reach.index.candidates(selecting, reach.accept, limit=reach.recipe.candidates)
        scored = score(
            passages, reach.weights, reach.statistics, reach.recipe, counted=reach.counted, alone=True, explain=explain
        )
        ranked = sorted(scored.totals.items(), key=lambda pair: (-pair[1], passages[pair[0]].memory))
        found: dict[str, Found] = {}
        for at, total in ranked:
            detail = {"terms": scored.parts[at]} if explain else None
            found.setdefault(passages[at].memory, Found(passages[at], total, detail))
        return list(found.values())


def selective(terms: Sequence[str], statistics: Statistics, recipe: Recipe) -> list[str]:
    """Return the terms that select candidates: those that are not common, rarest first, at least two if there are."""
    known = sorted((statistics.df[term], term) for term in terms if statistics.df.get(term, 0) > 0)
    common = max(recipe.common_share * statistics.documents, recipe.common_least)
    rare = [term for df, term in known if df <= common]
    kept = rare if len(rare) >= 2 else [term for _, term in known[:2]]
    return kept[: recipe.match_terms]

"""The pipeline of one query in one project: lanes ∥ → fuse → judge → multipliers → order. Lean."""

from __future__ import annotations

from eunoe.errors import EunoeError
from eunoe.retrieval.fuse import min_max_sum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from eunoe.ports.lane import Found, Lane
    from eunoe.ports.text_index import Filter, Passage, TextIndex
    from eunoe.retrieval.recipes import Recipe

DIGITS = 9


class Ranked:
    """A hit before it is read.

    Attributes:
        passage: The passage that stands for the memory.
        evidence: 0 to 1, how well it bears on the query. Uncalibrated: a share of the largest BM25 in reach.
        score: Evidence times the multipliers, 0 to 1; the order of hits.
        explanation: Lanes with rank, raw number and terms; fused sum; multipliers. Empty unless asked for.
    """

    __slots__ = ("evidence", "explanation", "passage", "score")

    def __init__(self, passage: Passage, evidence: float, score: float, explanation: dict[str, Any]) -> None:
        self.passage = passage
        self.evidence = evidence
        self.score = score
        self.explanation = explanation


class Searched:
    """All hits of a query, best first, and the lanes that could not answer, each as `"name: reason"`."""

    __slots__ = ("degraded", "hits")

    def __init__(self, hits: list[Ranked], degraded: tuple[str, ...]) -> None:
        self.hits = hits
        self.degraded = degraded


def search(
    terms: Sequence[str],
    index: TextIndex,
    accept: Filter,
    *,
    lanes: Mapping[str, Lane],
    recipe: Recipe,
    min_evidence: float = 0.0,
    min_score: float = 0.0,
    explain: bool = False,
) -> Searched:
    """Return every hit that reaches both floors, best first, ties by id.

    A lane that fails is named in `degraded` and the others answer. When no lane is left, its error is raised: an
    engine's failure never looks like "no memories".
    """
    found: dict[str, Sequence[Found]] = {}
    failures: dict[str, EunoeError] = {}
    for name in recipe.lanes:
        try:
            found[name] = lanes[name].find(terms, index, accept, recipe=recipe, explain=explain) if terms else []
        except EunoeError as exc:
            failures[name] = exc
    if failures and not found:
        raise next(iter(failures.values()))
    hits = _judged(found, recipe, explain=explain)
    hits = [hit for hit in hits if hit.evidence >= min_evidence and hit.score >= min_score]
    hits.sort(key=lambda hit: (-hit.score, -hit.evidence, hit.passage.memory))
    return Searched(hits, tuple(f"{name}: {exc.code}" for name, exc in failures.items()))


def _judged(lanes: Mapping[str, Sequence[Found]], recipe: Recipe, *, explain: bool) -> list[Ranked]:
    """Turn fused candidates into hits: evidence is the best that a lane vouches for, the score what is left of it."""
    fused = min_max_sum(lanes, recipe.lanes) if explain or len(lanes) > 1 else {}
    best: dict[str, Found] = {}
    for found in lanes.values():
        for each in found:
            known = best.setdefault(each.passage.memory, each)
            if each.evidence > known.evidence:
                best[each.passage.memory] = each
    trust, hits = recipe.trust, []
    for ident, each in best.items():
        multiplier = trust.get(each.passage.trust, 1.0)
        explanation = _explained(ident, lanes, fused[ident], {"trust": multiplier}, recipe) if explain else {}
        hits.append(Ranked(each.passage, each.evidence, round(each.evidence * multiplier, DIGITS), explanation))
    return hits


def _explained(
    ident: str,
    lanes: Mapping[str, Sequence[Found]],
    fused: float,
    multipliers: Mapping[str, float],
    recipe: Recipe,
) -> dict[str, Any]:
    shown = {}
    for name, found in lanes.items():
        for rank, each in enumerate(found, 1):
            if each.passage.memory == ident:
                shown[name] = {"rank": rank, "raw": round(each.raw, DIGITS), "evidence": each.evidence, **each.detail}
    return {"recipe": recipe.name, "lanes": shown, "fused": fused, "multipliers": dict(multipliers)}

"""The pipeline of one query in one project: lanes ∥ → pool → sum → judge → multipliers → order. Lean."""

from __future__ import annotations

from math import prod

from eunoe.errors import EunoeError
from eunoe.retrieval.features import FEATURES, Sums
from eunoe.retrieval.judge import WORDS, judges
from eunoe.retrieval.multipliers import multipliers, trust_of
from eunoe.retrieval.pool import Pool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from eunoe.ports.lane import Found, Lane
    from eunoe.ports.text_index import Passage
    from eunoe.retrieval.reach import Reach

_ECHO = 0.9  # share of the query that is held, and of the text that is asked for
_CERTAIN = 0.97
_BEHIND = 0.999  # of the least that was judged
DIGITS = 9  # evidence and scores are rounded to 1e-9, so that equal inputs give equal output on every machine


class Ranked:
    """A hit before it is read.

    Attributes:
        passage: The passage that stands for the memory.
        evidence: 0 to 1, the probability that it bears on the query.
        score: Evidence times the multipliers, 0 to 1; the order of hits.
        span: The characters of the body that are nearest to the query, of a long text; else None.
        explanation: Lanes with rank and raw number; what the judge went by; multipliers. Empty unless asked for.
    """

    __slots__ = ("evidence", "explanation", "passage", "score", "span")

    def __init__(
        self,
        passage: Passage,
        evidence: float,
        score: float,
        span: tuple[int, int] | None = None,
        explanation: dict[str, Any] | None = None,
    ) -> None:
        self.passage = passage
        self.evidence = evidence
        self.score = score
        self.span = span
        self.explanation = explanation or {}


class Searched:
    """The answer to a query.

    Attributes:
        hits: Best first.
        hidden: How many a floor left out.
        failures: The lanes that could not answer, with their errors.
        embedder: Whose vectors were looked at; empty for none.
        is_reranked: Whether a reranker ordered the hits anew.
    """

    __slots__ = ("embedder", "failures", "hidden", "hits", "is_reranked")

    def __init__(self, hits: list[Ranked], hidden: int, failures: Mapping[str, EunoeError], embedder: str = "") -> None:
        self.hits = hits
        self.hidden = hidden
        self.failures = dict(failures)
        self.embedder = embedder
        self.is_reranked = False


def search(
    reach: Reach,
    *,
    lanes: Mapping[str, Lane],
    embedder: str = "",
    min_evidence: float = 0.0,
    min_score: float = 0.0,
    explain: bool = False,
) -> Searched:
    """Return every hit that reaches both floors, best first, ties by id.

    A lane that fails is named in `failures` and the others answer. When none of them finds anything, its error is
    raised: an engine's failure never looks like "no memories".

    Args:
        reach: The question, and the project that it is put to.
        lanes: Those that the recipe names.
        embedder: The name of the model that made the vectors: its judge's weights apply.
        min_evidence, min_score: Floors.
        explain: Fill `Ranked.explanation`.
    """
    found: dict[str, Sequence[Found]] = {}
    failures: dict[str, EunoeError] = {}
    for name in reach.recipe.lanes:
        try:
            found[name] = lanes[name].find(reach, explain=explain)
        except EunoeError as exc:
            failures[name] = exc
    if failures and not any(found.values()):
        raise next(iter(failures.values()))
    pool = Pool(reach, found)
    hits = _judged(reach, pool, found, embedder, explain=explain)
    kept = [hit for hit in hits if hit.evidence >= min_evidence and hit.score >= min_score]
    if _is_noise(found, hits, reach.recipe.noise):
        kept = []
    kept.sort(key=lambda hit: (-hit.score, -hit.evidence, hit.passage.memory))
    return Searched(kept, len(hits) - len(kept), failures, embedder)


def _is_noise(found: Mapping[str, Sequence[Found]], hits: Sequence[Ranked], floor: float) -> bool:
    """Tell whether nothing shares a word, a key or a date with the query, and nothing is near in meaning either."""
    shares = any(lane for name, lane in found.items() if name != "vector")
    return not shares and all(hit.evidence < floor for hit in hits)


def _judged(
    reach: Reach, pool: Pool, found: Mapping[str, Sequence[Found]], embedder: str, *, explain: bool
) -> list[Ranked]:
    """Turn candidates into hits: what is known of each decides by which weights it is judged."""
    kinds = "chat" if sum(map(pool.is_turn.__getitem__, pool.places)) * 2 > len(pool.places) else "plain"
    sums = Sums(reach, pool, judges(embedder).usual(kinds))
    order = sorted(pool.places, key=lambda at: (-sums.total[at], pool.passages[at].memory))
    best, rest = order[: reach.recipe.judged], order[reach.recipe.judged :]
    evidence: dict[int, float] = {}
    reasons: dict[int, dict[str, Any]] = {}
    for (known, kind), places in _groups(pool, best).items():
        judge = judges(embedder).judge(known, kind)
        columns = FEATURES[kind](reach, pool, sums if known != WORDS else sums.of_words(), places)
        judged = judge.evidence(columns, len(places))
        if known != WORDS and not judges(embedder).fitted:  # what nobody fitted must not outweigh what words say
            of_words = FEATURES[kind](reach, pool, sums.of_words(), places)
            by_words = judges("").judge(WORDS, kind).evidence(of_words, len(places))
            judged = [max(pair) for pair in zip(judged, by_words, strict=True)]
        for at, value, cover in zip(places, judged, columns["cover"], strict=True):
            evidence[at] = max(value, _echoed(reach, pool.passages[at], cover))
        if explain:
            for row, at in enumerate(places):
                reasons[at] = {"judge": f"{known} {kind}", "because": judge.parts(columns, row)}
    evidence |= _behind(evidence, rest, sums)
    factors = multipliers(reach, [pool.passages[at] for at in best])
    trusts = {each.trust: each for each in pool.passages}
    of_trust = {trust: trust_of(reach, each) for trust, each in trusts.items()}
    hits = []
    for at in order:
        passage, sure = pool.passages[at], round(evidence[at], DIGITS)
        lowered = factors.get(passage.rid) or of_trust[passage.trust]
        hit = Ranked(passage, sure, round(prod(lowered.values(), start=sure), DIGITS), pool.span[at])
        if explain:
            hit.explanation = {
                "recipe": reach.recipe.name,
                "lanes": _lanes(found, passage),
                "sum": round(sums.total[at], DIGITS),
                **reasons.get(at, {}),
                "multipliers": lowered,
            }
        hits.append(hit)
    return hits


def _echoed(reach: Reach, passage: Passage, cover: float) -> float:
    """Return the evidence of a text that says just what the query says; 0 for any other.

    Nobody asks in such a way, so that no training data could teach it; but who repeats a memory means it.
    """
    if cover < _ECHO or not passage.length:
        return 0.0
    said = sum(rows.get(passage.rid, 0.0) for rows in reach.counted.by_term.values()) / passage.length
    return _CERTAIN * min(cover, said) if said >= _ECHO else 0.0


def _groups(pool: Pool, places: Sequence[int]) -> dict[tuple[str, str], list[int]]:
    """Return the places by what is known of them; what no model has embedded yet is judged by its words."""
    has_late = any(value is not None for value in pool.late)
    groups: dict[tuple[str, str], list[int]] = {}
    for at in places:
        known = WORDS if pool.cosine[at] is None else "late" if has_late else "vector"
        groups.setdefault((known, "chat" if pool.is_turn[at] else "plain"), []).append(at)
    return groups


def _behind(judged: Mapping[int, float], rest: Sequence[int], sums: Sums) -> dict[int, float]:
    """Return the evidence of candidates that were not judged: in their order, behind all that were."""
    least = min(judged.values(), default=0.0)
    top = max((sums.total[at] for at in rest), default=0.0)
    low = min((sums.total[at] for at in rest), default=0.0)
    spread = max(top - low, 1e-9)
    return {at: _BEHIND * least * (sums.total[at] - low) / spread for at in rest}


def _lanes(found: Mapping[str, Sequence[Found]], passage: Passage) -> dict[str, Any]:
    shown = {}
    for name, lane in found.items():
        for rank, each in enumerate(lane, 1):
            if each.passage.memory == passage.memory:
                shown[name] = {"rank": rank, "raw": round(each.raw, DIGITS), **each.detail}
    return shown

"""Recipes: named sets of lanes, weights and limits, plain values. Lean."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Recipe:
    """How to search.

    Attributes:
        name: What `explain` calls it.
        lanes: Lane name → weight in the fusion.
        fields: Weight of one occurrence in the body, title, tags, paths.
        before, after, before2, after2: Weight at which a turn's neighbours in its session lend it their words: the
            turn before, the one after, and those next to them.
        k1, b: BM25's saturation and length normalisation.
        candidates: How many passages an engine selects for scoring.
        spread: How many of them, the best by their own words, have their session's neighbours read; 0 for none.
        match_terms: Most terms that go into the engine's query, the rarest.
        score_terms: Most terms that are scored, the rarest.
        common_share, common_least: A term that more than this share of the passages hold, and more than this number
            of them, selects nothing (it still scores), unless fewer than two terms would be left.
        trust: Multiplier by trust, at most 1.
    """

    __slots__ = (
        "after",
        "after2",
        "b",
        "before",
        "before2",
        "candidates",
        "common_least",
        "common_share",
        "fields",
        "k1",
        "lanes",
        "match_terms",
        "name",
        "score_terms",
        "spread",
        "trust",
    )

    def __init__(
        self,
        name: str,
        *,
        lanes: Mapping[str, float],
        fields: Sequence[float],
        before: float,
        after: float,
        before2: float,
        after2: float,
        trust: Mapping[str, float],
        k1: float = 1.2,
        b: float = 0.75,
        candidates: int = 200,
        spread: int = 30,
        match_terms: int = 8,
        score_terms: int = 24,
        common_share: float = 0.02,
        common_least: int = 1000,
    ) -> None:
        self.name = name
        self.lanes = dict(lanes)
        self.fields = tuple(fields)
        self.before = before
        self.after = after
        self.before2 = before2
        self.after2 = after2
        self.trust = dict(trust)
        self.k1 = k1
        self.b = b
        self.candidates = candidates
        self.spread = spread
        self.match_terms = match_terms
        self.score_terms = score_terms
        self.common_share = common_share
        self.common_least = common_least


# The context weights are those of physics.md §4 (turn-level recall over conversations); pruning's limits §1.
WORDS = Recipe(
    "words",
    lanes={"keyword": 1.0},
    fields=(1.0, 2.0, 1.5, 1.0),
    before=0.5,
    after=0.4,
    before2=0.3,
    after2=0.2,
    trust={"stated": 1.0, "observed": 1.0, "inferred": 0.9, "imported": 0.95, "external": 0.7},
)

RECIPES = {WORDS.name: WORDS}

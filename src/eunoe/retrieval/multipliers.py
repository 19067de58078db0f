"""What lowers a hit although it bears on the query: it matters less, is old, disputed, or less trusted. Lean."""

from __future__ import annotations

from eunoe.retrieval.freshness import freshness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from eunoe.ports.text_index import Passage
    from eunoe.retrieval.reach import Reach

DIGITS = 9


def multipliers(reach: Reach, passages: Sequence[Passage]) -> dict[int, dict[str, float]]:
    """Return row number → name → factor, at most 1 each; those that the recipe switches off are missing.

    Importance and freshness are gentle on purpose: they decide between hits that are about as good.
    """
    recipe = reach.recipe
    plain = {passage.rid: trust_of(reach, passage) for passage in passages}
    if recipe.importance == recipe.freshness == recipe.dispute == 1.0:
        return plain
    known_at = reach.accept.known_at
    for rid, kind, importance, confirmed_at, disputed_at, opened_at in reach.index.standing(
        [each.rid for each in passages]
    ):
        factors = plain[rid]
        if recipe.importance < 1:
            factors["importance"] = _between(recipe.importance, importance / 1000)
        if recipe.freshness < 1:
            then = confirmed_at if known_at is None or confirmed_at <= known_at else opened_at
            fresh = freshness(kind, then, now=reach.accept.now)
            factors["freshness"] = _between(recipe.freshness, fresh)
        if recipe.dispute < 1 and disputed_at is not None and (known_at is None or disputed_at <= known_at):
            factors["dispute"] = recipe.dispute
    return plain


def trust_of(reach: Reach, passage: Passage) -> dict[str, float]:
    """Return the factor of a passage's trust, all that counts for candidates that were not judged."""
    trust = reach.recipe.trust
    return {"trust": trust.get(passage.trust, 1.0)} if trust else {}


def _between(least: float, share: float) -> float:
    return round(least + (1 - least) * share, DIGITS)

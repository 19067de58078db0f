"""How much a memory matters to a session about which nothing is known yet. Lean."""

from __future__ import annotations

from eunoe.domain.instants import DAY_US
from eunoe.domain.kinds import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from eunoe.ports.survey import Standing

DISPUTED = 0.5
_DIGITS = 9


def freshness(kind: str, confirmed_at: int, *, now: int) -> float:
    """Return 1 for what was confirmed now, halving with each half-life of its kind, never below the kind's floor."""
    row = KINDS[kind]
    if not row.half_life_days:
        return 1.0
    age = max(now - confirmed_at, 0) / DAY_US
    halved: float = 0.5 ** (age / row.half_life_days)
    return max(halved, row.decay_floor / 1000)


def standing_score(standing: Standing, *, now: int, trust: Mapping[str, float]) -> float:
    """Return importance × freshness × trust, halved by a dispute; 0 to 1, rounded to 1e-9."""
    score = standing.importance / 1000 * freshness(standing.kind, standing.confirmed_at, now=now)
    score *= trust.get(standing.trust, 1.0) * (DISPUTED if standing.disputed else 1.0)
    return round(score, _DIGITS)


def ranked(pool: list[Standing], *, now: int, trust: Mapping[str, float]) -> list[Standing]:
    """Return pinned memories first, then disputed ones after all others, then by score; ties by id, newest first."""
    pool = sorted(pool, key=lambda each: each.id, reverse=True)
    pool.sort(key=lambda each: (not each.pinned, each.disputed, -standing_score(each, now=now, trust=trust)))
    return pool

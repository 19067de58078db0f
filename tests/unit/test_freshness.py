"""How memories age, and who comes first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe.domain.instants import DAY_US
from eunoe.domain.kinds import KINDS
from eunoe.ports.survey import Standing
from eunoe.retrieval.freshness import freshness, ranked, standing_score

TRUST = {"stated": 1.0, "imported": 0.95}


def standing(ident: str, **given_: object) -> Standing:
    whole = {
        "id": ident,
        "kind": "fact",
        "importance": 500,
        "pinned": False,
        "confirmed_at": 0,
        "disputed": False,
        "trust": "stated",
        "tokens_full": 20,
        "tokens_line": 9,
        **given_,
    }
    return Standing(**whole)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "days"), [("state", 30), ("gotcha", 180), ("howto", 180), ("reference", 180), ("fact", 365)]
)
def test_freshness_halves_with_the_half_life_of_the_kind(kind: str, days: int) -> None:
    assert freshness(kind, 0, now=0) == 1
    assert freshness(kind, 0, now=days * DAY_US) == 0.5


@given(st.sampled_from(sorted(KINDS)), st.integers(-5, 100_000))
def test_freshness_is_never_below_the_floor_nor_above_one(kind: str, days: int) -> None:
    assert max(KINDS[kind].decay_floor, 400) / 1000 <= freshness(kind, 0, now=days * DAY_US) <= 1


def test_identity_does_not_age() -> None:
    assert freshness("identity", 0, now=9000 * DAY_US) == 1


def test_a_dispute_halves_and_trust_multiplies() -> None:
    assert standing_score(standing("a"), now=0, trust=TRUST) == 0.5
    assert standing_score(standing("a", disputed=True), now=0, trust=TRUST) == 0.25
    assert standing_score(standing("a", trust="imported"), now=0, trust=TRUST) == 0.475


def test_pinned_come_first_disputed_after_all_others_with_the_same_pin_and_ties_by_id() -> None:
    pool = [
        standing("low", importance=100),
        standing("disputed", importance=1000, disputed=True),
        standing("pinned disputed", pinned=True, disputed=True),
        standing("pinned", pinned=True, importance=0),
        standing("b"),
        standing("a"),
    ]
    order = [each.id for each in ranked(pool, now=0, trust=TRUST)]
    assert order == ["pinned", "pinned disputed", "b", "a", "low", "disputed"]
    assert [each.id for each in ranked(pool[::-1], now=0, trust=TRUST)] == order

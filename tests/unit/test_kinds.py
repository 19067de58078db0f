"""The table of kinds."""

from __future__ import annotations

import pytest

from eunoe.domain.kinds import KINDS, kind_named
from eunoe.domain.memory import TRUSTS
from eunoe.errors import Invalid
from eunoe.retrieval.recipes import RECIPES
from eunoe.service.catalog import BY_NAME

TYPES = {"episodic", "semantic", "procedural", "core", "resource", "vault"}


def test_the_table_has_the_kinds_of_the_design() -> None:
    assert " ".join(KINDS) == (
        "overview architecture decision convention gotcha howto reference state preference identity fact lesson "
        "failure activity message summary note resource skill secret"
    )


@pytest.mark.parametrize("name", list(KINDS))
def test_every_kind_has_a_type_and_numbers_in_range(name: str) -> None:
    kind = kind_named(name)
    assert kind.name == name
    assert kind.type in TYPES
    assert 0 < kind.importance <= 1000
    assert 0 <= kind.decay_floor <= 1000
    assert kind.half_life_days >= 0


def test_every_type_has_a_kind_and_only_secrets_are_for_the_vault() -> None:
    assert {kind.type for kind in KINDS.values()} == TYPES
    assert [name for name, kind in KINDS.items() if kind.type == "vault"] == ["secret"]


def test_only_four_kinds_may_be_long() -> None:
    assert {name for name, kind in KINDS.items() if kind.long} == {"note", "resource", "summary", "skill"}


@pytest.mark.parametrize("name", ["", "facts", "Fact", " fact", None, 5, ["fact"]], ids=repr)
def test_an_unknown_kind_is_refused_and_the_kinds_are_listed(name: object) -> None:
    with pytest.raises(Invalid) as caught:
        kind_named(name)  # type: ignore[arg-type]
    assert caught.value.code == "bad_kind"
    assert "gotcha" in caught.value.message


def test_surfaces_offer_every_kind_but_the_one_for_the_vault() -> None:
    field = next(field for field in BY_NAME["remember"].fields if field.name == "kind")
    assert set(field.choices) == set(KINDS) - {"secret"}


def test_every_recipe_knows_every_trust_and_multiplies_by_one_at_most() -> None:
    for recipe in RECIPES.values():
        assert set(recipe.trust) == set(TRUSTS)
        assert all(0 < factor <= 1 for factor in recipe.trust.values())

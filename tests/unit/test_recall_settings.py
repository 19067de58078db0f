"""The settings of recall: read, checked, and each knows where it comes from."""

from __future__ import annotations

import pytest

from eunoe import Invalid
from eunoe.config.settings import MULTIPLIERS, QUALITIES, STATES_MB, load_settings
from eunoe.retrieval import recipes
from eunoe.retrieval.recipes import DEFAULT


def test_unset_everything_counts_and_recall_is_at_its_best() -> None:
    settings = load_settings({})
    assert (settings.recall_quality, settings.recall_off, settings.max_states_mb) == ("best", (), STATES_MB)
    assert {settings.origin(name) for name in ("recall_quality", "recall_off", "max_states_mb")} == {"default"}


@pytest.mark.parametrize("quality", QUALITIES)
def test_quality_is_one_of_two(quality: str) -> None:
    settings = load_settings({"EUNOE_RECALL_QUALITY": f" {quality} "})
    assert (settings.recall_quality, settings.origin("recall_quality")) == (quality, "EUNOE_RECALL_QUALITY")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("trust", ("trust",)),
        ("trust,dispute", ("trust", "dispute")),
        (" importance  freshness ", ("importance", "freshness")),
        ("importance, freshness, trust, dispute", MULTIPLIERS),
        ("  ", ()),
    ],
)
def test_multipliers_are_switched_off_by_name(given: str, expected: tuple[str, ...]) -> None:
    assert load_settings({"EUNOE_RECALL_OFF": given}).recall_off == expected


def test_token_states_have_a_cap_in_megabytes() -> None:
    assert load_settings({"EUNOE_MAX_STATES_MB": "1"}).max_states_mb == 1


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("EUNOE_RECALL_QUALITY", "better", "bad_setting"),
        ("EUNOE_RECALL_QUALITY", "Best", "bad_setting"),
        ("EUNOE_RECALL_OFF", "everything", "bad_setting"),
        ("EUNOE_RECALL_OFF", "trust;dispute", "bad_setting"),
        ("EUNOE_MAX_STATES_MB", "0", "bad_max_states_mb"),
        ("EUNOE_MAX_STATES_MB", "-1", "bad_max_states_mb"),
        ("EUNOE_MAX_STATES_MB", "2 GB", "bad_max_states_mb"),
    ],
)
def test_what_makes_no_sense_is_refused_by_the_name_of_the_variable(name: str, value: str, code: str) -> None:
    with pytest.raises(Invalid) as caught:
        load_settings({name: value})
    assert caught.value.code == code
    assert name in caught.value.message


# ── recipes ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_settings_and_recipes_name_the_same_multipliers() -> None:
    assert MULTIPLIERS == recipes.MULTIPLIERS


@pytest.mark.parametrize("name", MULTIPLIERS)
def test_a_recipe_without_a_multiplier_is_otherwise_the_same(name: str) -> None:
    changed = DEFAULT.without(name)
    assert changed is not DEFAULT
    differing = {key for key, value in vars(DEFAULT).items() if getattr(changed, key) != value}
    assert differing == {name}
    assert getattr(changed, name) in ({}, 1.0)
    assert getattr(DEFAULT, name) not in ({}, 1.0)


def test_no_multiplier_raises_a_score_or_ends_it() -> None:
    assert all(0 < value <= 1 for value in (*DEFAULT.trust.values(), DEFAULT.importance, DEFAULT.freshness))
    assert 0 < DEFAULT.dispute < 1

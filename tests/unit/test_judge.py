"""The judge: its files are read as they stand, and its numbers are probabilities."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.test_lane_keyword import ListIndex, passage, reach

from eunoe.retrieval import features, judge
from eunoe.retrieval.judge import FOLDER, UNFITTED, WORDS, Judge, Judges, judges, parse, probability
from eunoe.retrieval.lanes.keyword import KeywordLane
from eunoe.retrieval.pool import Pool

FILES = sorted(path.stem for path in Path(FOLDER).glob("*.txt"))
KINDS = ("plain", "chat")
KNOWN = ("words", "vector", "late")  # what sections of weights are for; others hold what weights are applied with
FINITE = st.floats(allow_nan=False, allow_infinity=False, width=32)

TEXT = """# Made by hand.
[words plain]
bias -1.5
cover 2
title -0.25
[late chat]
bias 0.5
"""


def test_a_file_is_read_section_by_section() -> None:
    sections = parse(TEXT)
    assert set(sections) == {"words plain", "late chat"}
    assert (sections["words plain"].bias, sections["words plain"].weights) == (-1.5, {"cover": 2.0, "title": -0.25})
    assert (sections["late chat"].bias, sections["late chat"].weights) == (0.5, {})


@pytest.mark.parametrize("text", [TEXT.partition("\n")[2], TEXT + "\n# The end.\n", TEXT.replace("\n[", "\n\n[")])
def test_remarks_and_blank_lines_change_nothing(text: str) -> None:
    read, expected = parse(text), parse(TEXT)
    assert {name: (each.bias, each.weights) for name, each in read.items()} == {
        name: (each.bias, each.weights) for name, each in expected.items()
    }


def test_an_empty_file_has_no_sections() -> None:
    assert parse("") == parse("# nothing\n") == {}


@settings(max_examples=300, deadline=None)
@given(FINITE)
def test_a_probability_is_one_whatever_the_odds(odds: float) -> None:
    assert 0.0 <= probability(odds) <= 1.0
    assert probability(odds) + probability(-odds) == pytest.approx(1.0)
    if abs(odds) < 30:
        assert math.log(probability(odds) / (1 - probability(odds))) == pytest.approx(odds, abs=1e-3)


@settings(max_examples=200, deadline=None)
@given(FINITE, FINITE)
def test_better_odds_are_never_less_probable(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert probability(low) <= probability(high)


@settings(max_examples=150, deadline=None)
@given(
    st.floats(-5, 5),
    st.dictionaries(st.sampled_from("abcd"), st.floats(-5, 5)),
    st.integers(0, 5),
    st.data(),
)
def test_evidence_is_the_logistic_of_the_weighted_sum(
    bias: float, weights: dict[str, float], count: int, data: st.DataObject
) -> None:
    column = st.lists(st.floats(-3, 3), min_size=count, max_size=count)
    columns = data.draw(st.dictionaries(st.sampled_from("abcdef"), column))
    found = Judge(bias, weights).evidence(columns, count)
    for at in range(count):
        odds = bias + sum(weight * columns[name][at] for name, weight in weights.items() if name in columns)
        assert found[at] == pytest.approx(probability(odds))
    assert len(found) == count


def test_what_moved_a_candidate_most_is_told_first() -> None:
    judged = Judge(0.0, {"a": 1.0, "b": -3.0, "c": 2.0, "d": 5.0, "e": 1.0})
    columns = {"a": [1.0, 0.0], "b": [1.0, 0.0], "c": [0.0, 1.0], "e": [1.0, 0.0]}
    assert judged.parts(columns, 0) == {"b": -3.0, "a": 1.0, "e": 1.0}
    assert list(judged.parts(columns, 0)) == ["b", "a", "e"]
    assert judged.parts(columns, 1) == {"c": 2.0}
    assert judged.parts(columns, 0, most=1) == {"b": -3.0}


# ── the weights that come with the package ───────────────────────────────────────────────────────────────────────────


def test_there_are_weights_without_a_model_for_any_and_for_the_default_one() -> None:
    assert {WORDS, UNFITTED, "bge-small-en-v1.5"} <= set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_every_file_has_its_sections_and_finite_numbers(name: str) -> None:
    sections = parse((Path(FOLDER) / f"{name}.txt").read_text(encoding="utf-8"))
    known = "words" if name == WORDS else "vector"  # not every model has token states
    assert {f"{known} {kind}" for kind in KINDS} <= set(sections)
    for each in sections.values():
        assert each.weights
        assert all(math.isfinite(number) for number in (each.bias, *each.weights.values()))


@pytest.mark.parametrize("name", FILES)
def test_weights_are_of_features_that_there_are(name: str) -> None:
    for section, each in parse((Path(FOLDER) / f"{name}.txt").read_text(encoding="utf-8")).items():
        known, _, kind = section.partition(" ")
        assert known not in KNOWN or set(each.weights) <= computed(kind, is_meant=known != WORDS), section


@pytest.mark.parametrize("name", [name for name in FILES if name == UNFITTED])
def test_what_serves_any_model_does_not_depend_on_its_scale(name: str) -> None:
    for section, each in parse((Path(FOLDER) / f"{name}.txt").read_text(encoding="utf-8")).items():
        scaled = {"cosine", "cosine_top", "late", "late_top"}
        assert section.partition(" ")[0] not in KNOWN or scaled.isdisjoint(each.weights), section


def test_a_model_without_weights_is_judged_by_those_for_any_and_is_not_fitted() -> None:
    unknown, known, none = judges("a model / of ours"), judges("bge-small-en-v1.5"), judges("")
    assert (unknown.fitted, known.fitted, none.fitted) == (False, True, True)
    assert unknown.judge("late", "plain").weights == judges("another").judge("late", "plain").weights
    assert none.judge("words", "chat").weights == unknown.judge("words", "chat").weights
    assert judges("a model / of ours") is unknown


@pytest.mark.parametrize("name", ["../words", "/etc/passwd", "..", ".", "any\0", "words.txt"])
def test_no_name_of_a_model_reaches_another_file(name: str) -> None:
    assert not judges(name).fitted
    assert Path(judge._file(name)).parent == Path(FOLDER)


def test_judges_are_asked_by_what_is_known_and_by_kind() -> None:
    one = Judge(0.0, {})
    assert Judges({"words plain": one}, fitted=True).judge("words", "plain") is one


def computed(kind: str, *, is_meant: bool) -> set[str]:
    """Return the names of the features that are computed for a kind of candidate, with a model or without."""
    turn = {"session": "s", "turn": 1} if kind == "chat" else {}
    index = ListIndex([passage(1, "deploy", **turn)])  # type: ignore[arg-type]
    reached = reach(index, "deploy")
    index.neighbours = lambda ranges, accept: []  # type: ignore[attr-defined]
    pool = Pool(reached, {"keyword": KeywordLane().find(reached)})
    sums = features.Sums(reached, pool)
    sums.is_meant = is_meant
    return set(features.FEATURES[kind](reached, pool, sums, pool.places))

"""Fusion: several lanes, one number a memory."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.ports.lane import Found
from eunoe.ports.text_index import Passage
from eunoe.retrieval.fuse import min_max_sum

RAWS = st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 100, allow_nan=False), max_size=6)


def lane(raws: dict[str, float]) -> list[Found]:
    return [
        Found(Passage(at, memory, 1, None, None, 1, "\n", "stated", 1), raw, 0.5, {})
        for at, (memory, raw) in enumerate(raws.items())
    ]


def test_each_lane_is_stretched_to_one_and_weighed() -> None:
    lanes = {"keyword": lane({"a": 30.0, "b": 20.0, "c": 10.0}), "vector": lane({"b": 0.9, "c": 0.5})}
    assert min_max_sum(lanes, {"keyword": 1.0, "vector": 0.5}) == {"a": 1.0, "b": 1.0, "c": 0.0}


def test_a_lane_whose_numbers_are_all_equal_gives_each_of_them_all() -> None:
    assert min_max_sum({"keyword": lane({"a": 3.0, "b": 3.0})}, {"keyword": 2.0}) == {"a": 2.0, "b": 2.0}


def test_a_lane_without_hits_or_weight_adds_nothing() -> None:
    assert min_max_sum({"keyword": [], "vector": lane({"a": 1.0})}, {"keyword": 1.0}) == {"a": 0.0}
    assert min_max_sum({}, {}) == {}


@settings(max_examples=100, deadline=None)
@given(RAWS, RAWS, st.floats(0, 1), st.floats(0, 1))
def test_sums_stay_in_range_and_the_order_of_lanes_has_no_influence(
    one: dict[str, float], other: dict[str, float], weight: float, other_weight: float
) -> None:
    weights = {"one": weight, "other": other_weight}
    sums = min_max_sum({"one": lane(one), "other": lane(other)}, weights)
    assert sums == min_max_sum({"other": lane(other), "one": lane(one)}, weights)
    assert sums.keys() == one.keys() | other.keys()
    assert all(0 <= total <= weight + other_weight + 1e-9 for total in sums.values())


@settings(max_examples=100, deadline=None)
@given(RAWS)
def test_one_lane_keeps_its_order(raws: dict[str, float]) -> None:
    sums = min_max_sum({"keyword": lane(raws)}, {"keyword": 1.0})
    by_raw = sorted(raws, key=lambda memory: raws[memory])
    assert [sums[memory] for memory in by_raw] == pytest.approx(sorted(sums.values()))

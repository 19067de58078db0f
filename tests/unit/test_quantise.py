"""Vectors as bytes: as near as their numbers allow, and dot products without an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.retrieval import quantise
from eunoe.retrieval.quantise import dots, pack_states, quantised, unpack_states

SHAPES = st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(1, 70))


def rows(seed: int, count: int, dim: int, *, scale: float = 1.0) -> Any:
    return (np.random.default_rng(seed).standard_normal((count, dim)) * scale).astype(np.float32)


@settings(max_examples=150, deadline=None)
@given(SHAPES, st.sampled_from([1e-6, 0.01, 1.0, 1000.0]))
def test_a_number_is_off_by_half_a_step_at_most(shape: tuple[int, int, int], scale: float) -> None:
    given_ = rows(*shape, scale=scale)
    small, scales = quantised(given_)
    assert (small.dtype, scales.dtype) == (np.int8, np.float32)
    off = np.abs(small.astype(np.float64) * scales[:, None].astype(np.float64) - given_)
    assert (off <= 0.5001 * scales[:, None]).all()
    assert (np.abs(small).max(axis=1) == 127).all()


def test_nothing_is_quantised_to_nothing() -> None:
    small, scales = quantised(np.zeros((2, 5), np.float32))
    assert not small.any()
    assert (scales > 0).all()
    assert quantised(np.zeros((0, 5), np.float32))[0].shape == (0, 5)


@settings(max_examples=100, deadline=None)
@given(SHAPES)
def test_states_are_unpacked_as_they_were_packed(shape: tuple[int, int, int]) -> None:
    given_ = rows(*shape)
    packed = pack_states(given_)
    small, scales = unpack_states(packed, shape[1])
    assert np.array_equal(small, quantised(given_)[0])
    assert np.allclose(small * scales[:, None], given_, atol=float(np.abs(given_).max()) / 127 * 0.52 + 1e-3)
    assert len(packed) == shape[1] * (shape[2] + 2)


def test_no_states_are_no_bytes() -> None:
    assert pack_states(np.zeros((0, 8), np.float32)) == b""


@pytest.fixture(params=["library", "numpy"])
def dot(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "numpy":
        monkeypatch.setattr(quantise, "_CDIST", None)
    elif quantise._CDIST is None:
        pytest.skip("the library that scans int8 rows is not installed")
    return dots


@pytest.mark.parametrize(("one", "many", "dim"), [(1, 1, 1), (1, 100, 384), (7, 3, 33), (30, 500, 128)])
def test_dot_products_are_exact(dot: Any, one: int, many: int, dim: int) -> None:
    random = np.random.default_rng(one * many + dim)
    left, right = (random.integers(-127, 128, (count, dim), dtype=np.int8) for count in (one, many))
    expected = left.astype(np.int64) @ right.astype(np.int64).T
    found = dot(left, right)
    assert (found.shape, found.dtype) == ((one, many), np.float32)
    assert np.array_equal(found.astype(np.int64), expected)


def test_dot_products_are_exact_at_the_limits(dot: Any) -> None:
    left, right = np.full((1, 1024), 127, np.int8), np.full((2, 1024), -127, np.int8)
    assert dot(left, right).tolist() == [[-127.0 * 127 * 1024] * 2]


def test_dot_products_of_rows_that_are_a_part_of_an_array_are_exact(dot: Any) -> None:
    whole = np.random.default_rng(1).integers(-127, 128, (50, 16), dtype=np.int8)
    for part in (whole[10:20], whole[::2], whole[[3, 1, 4]]):
        expected = whole[:1].astype(np.int64) @ part.astype(np.int64).T
        assert np.array_equal(dot(whole[:1], part).astype(np.int64), expected)

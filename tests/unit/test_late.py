"""Late interaction and exact cosines against loops that anybody can read."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.ports.embedder import States
from eunoe.retrieval.late import cosines, late_interaction
from eunoe.retrieval.quantise import pack_states, quantised, unpack_states

DIM = 8


def unit(random: Any, count: int) -> Any:
    rows = random.standard_normal((count, DIM)).astype(np.float32)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def stored(random: Any, tokens: int) -> tuple[bytes, bytes]:
    ids = random.integers(0, 9, tokens).astype("<u4")
    return ids.tobytes(), pack_states(unit(random, tokens))


def naive(query: States, texts: dict[int, tuple[bytes, bytes]], count: int, df: dict[int, int]) -> dict[int, float]:
    """The mean over the query's tokens, weighted by idf, of the best cosine in the text."""
    asked, scales = quantised(np.asarray(query.states, np.float32))
    query_rows = asked * scales[:, None].astype(np.float64)
    found = {}
    for rid, (ids, packed) in texts.items():
        if not ids:
            continue
        rows, row_scales = unpack_states(packed, len(ids) // 4)
        total = weight = 0.0
        for token, row in zip(query.ids.tolist(), query_rows, strict=True):
            idf = log(1 + (count + 0.5) / (df.get(token, 0) + 0.5))
            total += idf * max(float(row @ (each * scale)) for each, scale in zip(rows, row_scales, strict=True))
            weight += idf
        found[rid] = total / weight
    return found


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.lists(st.integers(0, 7), max_size=8))
def test_it_is_the_mean_of_the_best_cosines_rare_words_counting_more(seed: int, asked: int, sizes: list[int]) -> None:
    random = np.random.default_rng(seed)
    query = States(random.integers(0, 9, asked).astype(np.uint32), unit(random, asked))
    texts = {100 + at: stored(random, size) for at, size in enumerate(sizes)}
    df = {int(token): int(random.integers(0, 20)) for token in range(5)}
    found, expected = late_interaction(query, texts, 20, df), naive(query, texts, 20, df)
    assert found.keys() == expected.keys()
    for rid, value in found.items():
        assert value == pytest.approx(expected[rid], abs=1e-4)
        assert -1.01 <= value <= 1.01


def test_a_text_that_holds_the_querys_words_comes_near_one() -> None:
    random = np.random.default_rng(3)
    states, ids = unit(random, 3), np.array([1, 2, 3], np.uint32)
    same = (ids.tobytes(), pack_states(states))
    found = late_interaction(States(ids, states), {1: same, 2: stored(random, 30)}, 2, {})
    assert found[1] == pytest.approx(1.0, abs=0.02)
    assert found[1] > found[2]


@pytest.mark.parametrize("dim", [8, 32, 33, 384])
@pytest.mark.parametrize("count", [2, 5, 40, 150])
def test_equal_vectors_have_equal_cosines_in_whatever_company_and_order(dim: int, count: int) -> None:
    random = np.random.default_rng(dim * count)
    rows = random.standard_normal((count, dim)).astype(np.float32) / np.float32(dim**0.5)
    vector = random.standard_normal(dim).astype(np.float32) / np.float32(dim**0.5)
    packed = [row.astype("<f2").tobytes() for row in rows]
    whole = cosines(vector, packed)
    assert cosines(vector, packed[::-1]) == whole[::-1]
    assert [cosines(vector, [each])[0] for each in packed] == whole


@pytest.mark.parametrize("count", [2, 5, 40, 150])
def test_equal_states_are_as_near_in_whatever_company_and_order(count: int) -> None:
    random = np.random.default_rng(count)
    query = States(np.arange(7, dtype=np.uint32), unit(random, 7))
    texts = {at: stored(random, at % 9 + 1) for at in range(count)}
    whole = late_interaction(query, texts, count, {1: 3, 4: 1})
    assert late_interaction(query, dict(reversed(texts.items())), count, {1: 3, 4: 1}) == whole
    for rid in texts:
        assert late_interaction(query, {rid: texts[rid]}, count, {1: 3, 4: 1}) == {rid: whole[rid]}


def test_without_words_on_either_side_there_is_nothing_to_say() -> None:
    random = np.random.default_rng(5)
    nothing = States(np.zeros(0, np.uint32), np.zeros((0, DIM), np.float32))
    asked = States(np.array([1], np.uint32), unit(random, 1))
    assert late_interaction(nothing, {1: stored(random, 2)}, 1, {}) == {}
    assert late_interaction(asked, {}, 0, {}) == late_interaction(asked, {1: (b"", b"")}, 1, {}) == {}


def test_cosines_are_those_of_the_stored_vectors() -> None:
    random = np.random.default_rng(6)
    rows, vector = unit(random, 20), unit(random, 1)[0]
    found = cosines(vector, [row.astype("<f2").tobytes() for row in rows])
    expected = rows.astype("<f2").astype(np.float64) @ vector.astype(np.float64)
    assert found == pytest.approx(expected.tolist(), abs=1e-5)
    assert cosines(vector, []) == []

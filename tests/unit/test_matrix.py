"""The matrix against a brute force over the same vectors, through everything that may happen to a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.ports.vectors import PART_BITS, whole
from eunoe.retrieval.matrix import Matrix
from eunoe.retrieval.quantise import quantised

DIM = 16


class ListVectors:
    """The part of `Vectors` that a matrix reads, over a dictionary; counts the rows that were read."""

    def __init__(self) -> None:
        self.rows: dict[int, tuple[int, float, bytes]] = {}
        self.generation = self.removals = self.read = 0

    def put(self, rid: int, vector: Any) -> None:
        small, scale = quantised(np.asarray(vector, np.float32)[None, :])
        self.generation += 1
        self.rows[rid] = (self.generation, float(scale[0]), small[0].tobytes())

    def remove(self, *rids: int) -> None:
        for rid in rids:
            self.rows.pop(rid, None)
        self.removals += 1

    def position(self) -> tuple[int, int]:
        return self.generation, self.removals

    def since(self, generation: int) -> Iterator[tuple[int, int, float, bytes]]:
        for rid, (at, scale, small) in sorted(self.rows.items(), key=lambda row: row[1][0]):
            if at > generation:
                self.read += 1
                yield at, rid, scale, small


def brute(
    vectors: ListVectors, query: Any, *, limit: int, among: Sequence[int] | None = None
) -> list[tuple[int, float]]:
    """What the definition says: every vector compared, each text by its best part, ties by number."""
    asked, scale = quantised(np.asarray(query, np.float32)[None, :])
    best: dict[int, float] = {}
    for rid, (_, row_scale, small) in vectors.rows.items():
        if among is None or whole(rid) in {whole(each) for each in among}:
            product = int(asked[0].astype(np.int64) @ np.frombuffer(small, np.int8).astype(np.int64))
            cosine = float(np.float32(product) * np.float32(row_scale) * scale[0])
            best[whole(rid)] = max(cosine, best.get(whole(rid), -2.0))
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]


def unit(random: Any) -> Any:
    vector = random.standard_normal(DIM)
    return vector / np.linalg.norm(vector)


def caught_up(vectors: ListVectors) -> Matrix:
    matrix = Matrix(DIM)
    matrix.catch_up(vectors)  # type: ignore[arg-type]
    return matrix


def filled(seed: int, texts: int) -> tuple[ListVectors, Any]:
    """Texts, every third of them in parts."""
    random, vectors = np.random.default_rng(seed), ListVectors()
    for text in random.permutation(texts):
        for part in range(4 if text % 3 == 0 else 1):
            vectors.put((int(text) + 1) << PART_BITS | part, unit(random))
    return vectors, random


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 60), st.integers(0, 80))
def test_the_nearest_are_found_exactly_each_text_once(seed: int, texts: int, limit: int) -> None:
    vectors, random = filled(seed, texts)
    query = unit(random)
    found = caught_up(vectors).nearest(query, limit=limit)
    assert found == brute(vectors, query, limit=limit)
    assert len({rid for rid, _ in found}) == len(found) == min(texts, limit)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.data())
def test_among_some_texts_the_others_are_not_there(seed: int, texts: int, data: st.DataObject) -> None:
    vectors, random = filled(seed, texts)
    every = [text << PART_BITS for text in range(1, texts + 3)]
    among = sorted(data.draw(st.sets(st.sampled_from(every))))
    limit = data.draw(st.integers(1, 50))
    query = unit(random)
    assert caught_up(vectors).nearest(query, limit=limit, among=among) == brute(
        vectors, query, limit=limit, among=among
    )


@pytest.mark.parametrize("limit", [1, 3, 7, 20, 100])
def test_ties_are_broken_by_number_whatever_the_limit(limit: int) -> None:
    vectors, random = ListVectors(), np.random.default_rng(1)
    same, other = unit(random), unit(random)
    for text in random.permutation(30):
        vectors.put((int(text) + 1) << PART_BITS, same if text % 2 else other)
    for query in (same, other):
        assert caught_up(vectors).nearest(query, limit=limit) == brute(vectors, query, limit=limit)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("put"), st.lists(st.integers(1, 40), min_size=1, max_size=12)),
            st.tuples(st.just("remove"), st.lists(st.integers(1, 40), max_size=5)),
            st.tuples(st.just("look"), st.just([])),
        ),
        max_size=25,
    ),
    st.integers(0, 2**32 - 1),
)
def test_several_processes_see_the_same_whenever_they_look(history: list[tuple[str, list[int]]], seed: int) -> None:
    random, vectors = np.random.default_rng(seed), ListVectors()
    often, late = Matrix(DIM), Matrix(DIM)
    for act, numbers in history:
        for number in numbers if act == "put" else ():
            vectors.put(number << PART_BITS >> 1, unit(random))  # odd numbers are parts of the text before
        if act == "remove":
            vectors.remove(*(number << PART_BITS >> 1 for number in numbers))
        if act == "look":
            often.catch_up(vectors)  # type: ignore[arg-type]
    query = unit(random)
    for matrix in (often, late):
        matrix.catch_up(vectors)  # type: ignore[arg-type]
        assert len(matrix) == len(vectors.rows)
        assert matrix.nearest(query, limit=15) == brute(vectors, query, limit=15)
        assert matrix.generation == vectors.generation


def test_catching_up_reads_only_what_is_new_and_all_of_it_after_a_removal() -> None:
    vectors, random = filled(3, 500)
    matrix = caught_up(vectors)
    for step in range(20):
        vectors.read = 0
        vectors.put((1000 + step) << PART_BITS, unit(random))
        vectors.put(1 << PART_BITS, unit(random))
        matrix.catch_up(vectors)  # type: ignore[arg-type]
        assert vectors.read == 2
        matrix.catch_up(vectors)  # type: ignore[arg-type]
        assert vectors.read == 2
    vectors.remove(7 << PART_BITS)
    vectors.read = 0
    matrix.catch_up(vectors)  # type: ignore[arg-type]
    assert vectors.read == len(vectors.rows) == len(matrix)


def test_a_removal_of_everything_leaves_nothing() -> None:
    vectors, random = filled(4, 5)
    matrix = caught_up(vectors)
    vectors.remove(*list(vectors.rows))
    matrix.catch_up(vectors)  # type: ignore[arg-type]
    assert (len(matrix), matrix.nearest(unit(random), limit=5)) == (0, [])
    vectors.put(1 << PART_BITS, unit(random))
    matrix.catch_up(vectors)  # type: ignore[arg-type]
    assert [rid for rid, _ in matrix.nearest(unit(random), limit=5)] == [1 << PART_BITS]


def test_an_empty_matrix_finds_nothing() -> None:
    matrix = caught_up(ListVectors())
    assert matrix.nearest(np.ones(DIM), limit=5) == matrix.nearest(np.ones(DIM), limit=5, among=[1]) == []

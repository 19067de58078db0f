"""Parts of a long text: they cover it, overlap, and end where sentences end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.domain.parts import OVERLAP, PART, WIDE, length, parts

SENTENCE = "The committee went through the minutes and found nothing to add. "
TEXTS = st.one_of(
    st.text(max_size=400),
    st.text(st.sampled_from("ab ,.\n;。汉字"), max_size=600),
    st.lists(st.sampled_from([SENTENCE, "汉字很多。", "word ", "x" * 90, "\n\n"]), max_size=60).map("".join),
)
# An overlap of a sixth at most, as the default's: a part must end behind the one before it, whatever the script.
SIZES = st.integers(20, 200).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size // 6)))


@settings(max_examples=300, deadline=None)
@given(TEXTS, SIZES, st.integers(1, 12))
def test_parts_cover_the_text_in_order_and_are_no_more_than_allowed(
    text: str, sizes: tuple[int, int], most: int
) -> None:
    size, overlap = sizes
    found = parts(text, most=most, size=size, overlap=overlap)
    if length(text) <= size:
        assert found == []
        return
    assert 1 <= len(found) <= most
    assert (found[0][0], found[-1][1]) == (0, len(text))
    for (first, last), (following, end) in pairwise(found):
        assert first < following <= last < end
        assert length(text[following:last]) <= overlap + WIDE
    assert all(length(text[first:last]) < size + WIDE for first, last in found[: most - 1])


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_units_of_a_text_are_its_characters_and_more_for_wide_scripts(text: str) -> None:
    assert len(text) <= length(text) <= WIDE * len(text)
    assert length(text) == sum(length(char) for char in text)


def test_a_part_ends_behind_a_sentence_and_the_next_one_begins_with_one() -> None:
    text = SENTENCE * 80
    found = parts(text, most=99)
    assert len(found) > 3
    for first, last in found:
        assert text[:last].endswith(". ") or last == len(text)
        assert text[first:].startswith("The ")
    assert all(last - OVERLAP <= following < last for (_, last), (following, _) in pairwise(found))


def test_a_paragraph_is_cut_at_before_a_sentence_and_a_sentence_before_a_word() -> None:
    paragraph = "a b. " * 150 + "\n\n"
    assert parts(paragraph * 3, most=99)[0] == (0, len(paragraph))
    words = "word " * 500
    assert all(words[:last].endswith(" ") or last == len(words) for _, last in parts(words, most=99))


def test_a_text_without_a_break_is_cut_where_the_size_is_reached() -> None:
    found = parts("a" * 5_000, most=99)
    assert found[0] == (0, PART)
    assert found[-1][1] == 5_000


def test_wide_characters_count_more() -> None:
    assert parts("汉" * (PART // WIDE), most=99) == []
    found = parts("汉字。" * 2_000, most=99)
    assert all(last - first <= PART // WIDE + 1 for first, last in found)
    assert all("汉字。"[(last - 1) % 3] == "。" for _, last in found)


@pytest.mark.parametrize("text", ["a" * 1_000_000, "汉" * 200_000, ". " * 500_000, "\n" * 1_000_000])
def test_a_huge_text_has_as_many_parts_as_are_allowed_and_the_last_takes_the_rest(text: str) -> None:
    found = parts(text, most=50)
    assert len(found) == 50
    assert found[-1][1] == len(text)


def test_one_part_may_be_all_that_is_allowed() -> None:
    assert parts("a" * 5_000, most=1) == [(0, 5_000)]

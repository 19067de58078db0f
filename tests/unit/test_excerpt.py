"""Excerpts: the place where most of the query stands together, cut at words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eunoe.retrieval.excerpt import excerpt

LONG = "filler words here and there " * 60
TEXT = f"{LONG}the stripe webhook needs a raw body {LONG}"


def test_a_short_text_is_its_own_excerpt() -> None:
    assert excerpt("short", ["webhook"], size=20) == "short"


def test_without_a_query_it_is_the_beginning() -> None:
    found = excerpt(TEXT, [], size=100)
    assert found.startswith("filler words")
    assert found.endswith("…")


def test_the_place_is_where_the_terms_stand_together() -> None:
    found = excerpt(TEXT, ["stripe", "webhook", "raw"], size=200)
    assert "stripe webhook needs a raw body" in found
    assert found.startswith("…")
    assert found.endswith("…")


def test_a_rare_word_weighs_more_than_one_that_is_everywhere() -> None:
    assert "stripe" in excerpt(TEXT, ["filler", "words", "stripe"], size=200)


def test_cuts_are_at_words() -> None:
    inner = excerpt(TEXT, ["stripe"], size=200).strip("…").split()
    assert set(inner) <= set(TEXT.split())


def test_a_text_without_spaces_is_cut_all_the_same() -> None:
    found = excerpt("漢" * 500 + "備份" + "字" * 500, ["備份"], size=100)
    assert "備份" in found
    assert len(found) <= 102


@given(st.text(max_size=400), st.lists(st.text(min_size=1, max_size=3), max_size=4), st.integers(1, 120))
def test_an_excerpt_is_a_part_of_its_text_and_no_longer_than_asked(text: str, terms: list[str], size: int) -> None:
    found = excerpt(text, terms, size=size)
    assert len(found) <= max(size + 2, 2)
    assert found.removeprefix("…").removesuffix("…").strip() in text or found == text


def test_three_frequent_words_do_not_outweigh_a_rare_one_elsewhere() -> None:
    crowd = "alpha beta gamma " * 30
    text = f"{crowd}{'padding ' * 200}the rare zebra stands here {'padding ' * 200}"
    assert "zebra" in excerpt(text, ["alpha", "beta", "gamma", "zebra"], size=150)

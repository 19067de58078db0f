"""Packed term counts say exactly what was counted."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.domain.postings import FIELDS, counts, pack, term_names

# What the analyser promises of a term: no white space, no control character, no double quote.
TERMS = st.sampled_from(["deploy", "deploy2", "ploy", "2", "2.10", "新加", "a,b", "-v", "de"]) | st.text(
    st.characters(exclude_categories=("Z", "C"), exclude_characters='"'), min_size=1, max_size=6
)
PASSAGES = st.tuples(*(st.lists(TERMS, max_size=12) for _ in FIELDS))


@settings(max_examples=200, deadline=None)
@given(PASSAGES)
def test_counts_come_back_by_field(fields: tuple[list[str], ...]) -> None:
    packed = pack(fields)
    expected = [Counter(terms) for terms in fields]
    every = sorted(set().union(*fields))
    assert term_names(packed) == every
    for term in every:
        found = counts(packed, term)
        assert found is not None
        padded = (found + [0] * len(FIELDS))[: len(FIELDS)]
        assert padded == [count[term] for count in expected]


@settings(max_examples=200, deadline=None)
@given(PASSAGES, TERMS)
def test_a_term_that_is_not_there_is_not_found_in_another(fields: tuple[list[str], ...], term: str) -> None:
    assert (counts(pack(fields), term) is None) == (term not in set().union(*fields))


def test_the_order_of_words_is_not_kept() -> None:
    assert pack((["b", "a", "b"], [], [], [])) == pack((["a", "b", "b"], [], [], []))


def test_zeros_at_the_end_take_no_place() -> None:
    assert pack((["a", "a"], ["b"], [], ["c"])) == "\na 2\nb 0,1\nc 0,0,0,1\n"


def test_nothing_packs_to_nothing_that_could_be_found() -> None:
    assert term_names(pack(([], [], [], []))) == []
    assert counts(pack(([], [], [], [])), "a") is None

"""What kind of sentence a turn is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.domain import turns
from eunoe.domain.turns import shape

BITS = {
    "question": turns.IS_QUESTION,
    "asks": turns.ASKS,
    "when": turns.SAYS_WHEN,
    "counts": turns.COUNTS,
    "self": turns.SPEAKS_OF_SELF,
    "other": turns.SPEAKS_OF_OTHER,
    "names": turns.NAMES,
    "reason": turns.GIVES_REASON,
    "reacts": turns.REACTS,
    "shares": turns.SHARES,
}


def kinds(text: str | None) -> set[str]:
    found = shape(text)
    assert 0 <= found < 1024
    return {name for name, bit in BITS.items() if found & bit}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, set()),
        ("", set()),
        ("   \n", set()),
        ("the boat sails", set()),
        ("Where is it?", {"question", "asks"}),
        ("Where is it? Tell the others.", {"asks"}),
        ('He asked "where is it?"', {"question", "asks"}),
        ("真的吗？", {"question", "asks"}),
        ("متى؟", {"question", "asks"}),
        ("the boat sailed yesterday", {"when"}),
        ("Yesterday, the boat sailed", {"when"}),
        ("back in 2019", {"when", "counts"}),
        ("there were three boats", {"counts"}),
        ("there were 3 boats", {"counts"}),
        ("I sail", {"self"}),
        ("that boat is mine", {"self"}),
        ("i’ve sailed", {"self"}),
        ("your boat sails", {"other"}),
        ("the boat of Ana sails", {"names"}),
        ("Ana sails", set()),
        ("it sails. The sea is blue", set()),
        ("it sails, The sea is blue", {"names"}),
        ("because the sea is blue", {"reason"}),
        ("Thanks!", {"reacts"}),
        ("wow, the boat", {"reacts"}),
        ("the boat, thanks", set()),
        ("look at this [shares a photo of boats?]", {"shares"}),
    ],
)
def test_a_turn_has_these_kinds_and_no_others(text: str | None, expected: set[str]) -> None:
    assert kinds(text) == expected


def test_what_stands_far_behind_is_not_seen() -> None:
    assert kinds("x " * 4_000 + "I was there because of Ana in 2019?") == set()


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=400))
def test_every_text_has_a_shape_that_never_changes(text: str) -> None:
    assert shape(text) == shape(text)
    assert shape(text) & turns.IS_QUESTION == 0 or shape(text) & turns.ASKS


@pytest.mark.parametrize("hostile", ["?", "“", " ", "a ", "A. ", "\n", "’", "[shares ", "(" * 3, "\ud800", "？"])
def test_a_million_hostile_characters_are_read_like_a_few(hostile: str) -> None:
    assert shape(hostile * 1_000_000) == shape((hostile * 4_000)[:4_000])


def test_the_bits_are_distinct() -> None:
    assert sum(BITS.values()) == 1023

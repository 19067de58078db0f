"""Canonical JSON: the bytes of RFC 8785 for everything it takes, and a refusal for the rest."""

from __future__ import annotations

import enum
import json

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.domain.canonical import LARGEST_INTEGER, canonical, canonical_bytes, parse
from eunoe.errors import Invalid

ASCII_KEYS = st.text(st.characters(max_codepoint=127), max_size=8)
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
LEAVES = st.none() | st.booleans() | st.integers(-LARGEST_INTEGER, LARGEST_INTEGER) | TEXTS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ASCII_KEYS, inner, max_size=5), max_leaves=25
)


class Level(enum.IntEnum):
    LOW = 1


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_every_value_it_takes_gets_the_bytes_of_rfc_8785(value: object) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)


@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_what_was_written_reads_back_and_is_written_the_same_again(value: object) -> None:
    text = canonical(value)
    assert parse(text) == json.loads(text)
    assert canonical(parse(text)) == text


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(ASCII_KEYS, LEAVES, max_size=6))
def test_the_order_in_which_keys_were_given_does_not_matter(value: dict[str, object]) -> None:
    assert canonical(dict(reversed(value.items()))) == canonical(value)


def test_every_control_character_is_escaped_as_the_standard_says() -> None:
    every = "".join(map(chr, range(0x21))) + '"\\/\x7f\u2028\U0001f98a'
    assert canonical_bytes({"text": every}) == rfc8785.dumps({"text": every})


def test_a_tuple_counts_as_a_list() -> None:
    assert canonical((1, ("a",))) == '[1,["a"]]'


@pytest.mark.parametrize(
    "value",
    [
        0.5,
        1.0,
        float("nan"),
        float("inf"),
        LARGEST_INTEGER + 1,
        -LARGEST_INTEGER - 1,
        10**400,
        "half \ud83d",
        b"bytes",
        {1, 2},
        object(),
        Level.LOW,
        {1: "a"},
        {None: "a"},
        {True: "a"},
        {"é": 1},
        {"\ud83d": 1},
    ],
    ids=lambda value: ascii(value).partition(" at 0x")[0],
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_what_has_no_exact_form_is_refused_wherever_it_stands(value: object, wrapped: bool) -> None:
    with pytest.raises(Invalid) as caught:
        canonical({"list": [1, {"x": value}]} if wrapped else value)
    assert caught.value.code == "not_canonical"


@pytest.mark.parametrize("text", ["", "{", "{'a': 1}", b"\xff\xfe\x00", b"\x80", "[" * 100_000, "nul", '"\t"'])
def test_a_text_that_is_no_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(Invalid) as caught:
        parse(text)
    assert caught.value.code == "bad_json"

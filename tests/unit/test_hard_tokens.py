"""Hard tokens: what keeps two nearly equal sentences apart."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.domain.hard_tokens import hard_tokens


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The visa appointment is on 4 March", "The visa appointment is on 5 March"),
        ("Rent is 1,150 euros", "Rent is 1,510 euros"),
        ("Use parser 2.1", "Use parser 2.10"),
        ("PG17 is installed", "PG18 is installed"),
        ("due 2026-03-04", "due 2026-03-05"),
        ("a limit of 5ms", "a limit of 5s"),
        ("run with -v", "run with -V"),
        ("run with --force", "run with --no-force"),
        ("call getUser", "call getuser"),
        ("set API_KEY", "set api_key"),
        ("the US office", "the us office"),
        ("port 8080", "port 80"),
        ("it is safe", "it is not safe"),
        ("we use tabs", "we never use tabs"),
        ("it works", "it doesn't work"),
        ("with cache", "without cache"),
        ("ABC-417 is blocked", "ABC-418 is blocked"),
        ("build v2.0.0-rc1", "build v2.0.0-rc2"),
        ("room ٣", "room ٤"),
        ("weighs -5", "weighs 5"),
    ],
)
def test_facts_that_differ_in_one_hard_token_differ(one: str, other: str) -> None:
    assert hard_tokens(one) != hard_tokens(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The deploy is on Friday", "the deploy is on Friday."),
        ("Use (parser 2.1)!", "use parser 2.1"),
        ("It doesn’t work", "it doesn't work"),
        ("NOT safe", "not safe"),
        ("see “v2”, please", 'see "v2" please'),
        ("call getUser().", "call getUser"),
    ],
)
def test_punctuation_and_quotes_around_a_token_do_not_matter(one: str, other: str) -> None:
    assert hard_tokens(one) == hard_tokens(other)


def test_ordinary_words_are_not_hard() -> None:
    assert hard_tokens("The staging database is hosted in Frankfurt") == frozenset()


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_joining_texts_joins_their_tokens(one: str, other: str) -> None:
    assert hard_tokens(f"{one}\n\n{other}") == hard_tokens(one) | hard_tokens(other)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_no_two_numbers_are_taken_for_one_another(one: int, other: int) -> None:
    assert (hard_tokens(f"it costs {one} euros") == hard_tokens(f"it costs {other} euros")) == (one == other)


def test_an_acronym_may_be_restated_in_small_letters_but_a_country_may_not() -> None:
    assert hard_tokens("The API speaks JSON over TCP/IP") == frozenset()
    assert hard_tokens("Ship to the US") == {"US"}
    assert hard_tokens("Raise MAX_SIZE in GitHub, never in S3") == {"MAX_SIZE", "GitHub", "never", "S3"}

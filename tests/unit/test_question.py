"""What a query asks for, told by its words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.domain.analyse import Analyser
from eunoe.retrieval.question import Question
from eunoe.testing.clock import START_US

ANALYSER = Analyser(lambda words: words)
KINDS = ("when", "many", "where", "who", "why", "guess", "lists")


def asked(text: str) -> Question:
    return Question(text, ANALYSER, now=START_US)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("", set()),
        ("deploy target", set()),
        ("the deploy target", set()),
        ("When did it break?", {"when"}),
        ("What year was it", {"when"}),
        ("what time is it", {"when"}),
        ("How long did it take", {"when", "many"}),
        ("How often does it fail", {"when", "many"}),
        ("how many boats are there", {"many", "lists"}),
        ("How old is Ana", {"many"}),
        ("Where is it?", {"where"}),
        ("which city is it in", {"where"}),
        ("Who deployed it", {"who"}),
        ("what is the name of the cat", {"who"}),
        ("why did it break", {"why"}),
        ("How did it break", {"why"}),
        ("Would Ana like it", {"guess"}),
        ("what is Ana likely to do", {"guess"}),
        ("What hobbies does Ana have", {"lists"}),
        ("what is the status", set()),
        ("list the boats", {"lists"}),
    ],
)
def test_a_query_asks_for_this_kind_of_answer(text: str, kinds: set[str]) -> None:
    question = asked(text)
    assert {kind for kind in KINDS if getattr(question, kind)} == kinds


def test_identifiers_and_numbers_are_hard_terms() -> None:
    assert set(asked("does ABC-417 run etc/app.toml on 12.5 boats").hard) >= {"abc-417", "etc/app.toml", "12.5"}
    assert asked("does the boat run").hard == ()


def test_names_are_capitalised_words_that_do_not_open_the_query() -> None:
    assert asked("What did Ana’s boat cost Björn?").names == {"ana", "björn"}
    assert asked("Ana sails").names == frozenset()


def test_dates_are_read_as_of_the_day_of_the_query() -> None:
    [named] = asked("what happened yesterday").dates
    assert (named.year, named.month, named.day) == (2025, 12, 31)
    assert asked("what happened").dates == []


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300))
def test_every_text_can_be_asked(text: str) -> None:
    question = asked(text)
    assert list(question.terms) == ANALYSER.query(text)
    assert set(question.hard) <= set(question.terms)
    assert all(isinstance(getattr(question, kind), bool) for kind in KINDS)


@pytest.mark.parametrize("piece", ["a", "a ", "? ", "2024-05-03 ", "汉", "A-1 ", "’s "])
def test_a_query_of_the_largest_size_is_read(piece: str) -> None:
    asked(piece * (10_000 // len(piece)))

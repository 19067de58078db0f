"""Dates that a query names, and those that only look like one."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eunoe.domain.dates import Named, named_dates

TODAY = date(2026, 1, 1)
Named_ = tuple[int | None, int | None, int | None]


def read(text: str) -> list[Named_]:
    return [(named.year, named.month, named.day) for named in named_dates(text, today=TODAY)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # as figures
        ("2024-05-03", [(2024, 5, 3)]),
        ("what happened on 2024-05-03?", [(2024, 5, 3)]),
        ("since 2024-05", [(2024, 5, None)]),
        ("at 2024-05-03T10:00:00", [(2024, 5, 3)]),
        ("2024", [(2024, None, None)]),
        ("in 1999 and in 2024", [(1999, None, None), (2024, None, None)]),
        # spelled out
        ("3 May 2024", [(2024, 5, 3)]),
        ("3rd of May, 2024", [(2024, 5, 3)]),
        ("the 21st of October", [(None, 10, 21)]),
        ("May 3, 2024", [(2024, 5, 3)]),
        ("on May 3rd.", [(None, 5, 3)]),
        ("in May 2024", [(2024, 5, None)]),
        ("What did Ana do in June?", [(None, 6, None)]),
        ("in August of that year", [(None, 8, None)]),
        ("Sept 9", [(None, 9, 9)]),
        ("between 3 June 2024 and 5 July 2024", [(2024, 6, 3), (2024, 7, 5)]),
        ("“12 December 2023”", [(2023, 12, 12)]),
        # of today
        ("what did I say yesterday", [(2025, 12, 31)]),
        ("Today's list: today", [(2026, 1, 1)]),
        # German, French, Spanish, Ukrainian
        ("am 3. Oktober 2024", [(2024, 10, 3)]),
        ("im März 2024", [(2024, 3, None)]),
        ("am 24. Dezember", [(None, 12, 24)]),
        ("le 14 juillet 2024", [(2024, 7, 14)]),
        ("en février 2024", [(2024, 2, None)]),
        ("3 août", [(None, 8, 3)]),
        ("el 5 mayo 2024", [(2024, 5, 5)]),
        ("en diciembre", [(None, 12, None)]),
        ("5 травня 2024", [(2024, 5, 5)]),
        ("у грудень 2023", [(2023, 12, None)]),
        ("24 серпня", [(None, 8, 24)]),
        # Chinese and Japanese
        ("2024年5月3日", [(2024, 5, 3)]),
        ("2024年5月", [(2024, 5, None)]),
        ("我在2024年5月3日去了公园", [(2024, 5, 3)]),
        # words that are no dates
        ("", []),
        ("may I ask", []),
        ("it may rain", []),
        ("we march on", []),
        ("the march of time", []),
        ("Jan said so", []),
        ("mars is red", []),
        ("room 2024b", []),
        ("port 8080", []),
        ("1969 and 2101", []),
        ("2024-13-01", []),
        ("2024-02-30", []),
        ("12-05-2024", []),
        ("version 3.11", []),
        ("٢٠٢٤", []),
        ("3 of them", []),
        ("the 3rd", []),
        ("32 May", [(None, 5, None)]),
        ("sunday monday", []),
        ("a month, a day, a year: 年月日", []),
    ],
)
def test_a_text_names_these_dates_and_no_others(text: str, expected: list[Named_]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize("text", ["in May", "In May 2024", "what about May?", "on 3 may", "may 3"])
def test_may_is_a_month_when_it_is_capitalised_or_beside_a_number(text: str) -> None:
    assert [month for _, month, _ in read(text)] == [5]


def test_a_date_that_no_calendar_has_is_near_nothing() -> None:
    assert Named(2023, 2, 30).nearness(date(2023, 2, 28)) == 0.0
    assert Named(2023, 2, 30).spans(TODAY) == [(date(2023, 2, 1), date(2023, 3, 11))]


# ── how near ─────────────────────────────────────────────────────────────────────────────────────────────────────────

DAYS = st.dates(date(1971, 1, 1), date(2099, 12, 31))
NAMED = st.builds(
    Named, st.none() | st.integers(1970, 2100), st.integers(1, 12), st.none() | st.integers(1, 31)
) | st.builds(Named, st.integers(1970, 2100), st.none())


@settings(max_examples=300, deadline=None)
@given(NAMED, DAYS)
@example(Named(None, 2, 29), date(2025, 3, 1))
@example(Named(1970, 1, 1), date(2099, 12, 31))
def test_nearness_is_a_share_of_one(named: Named, said: date) -> None:
    assert 0.0 <= named.nearness(said) <= 1.0


@settings(max_examples=200, deadline=None)
@given(DAYS, st.integers(-60, 60), st.integers(0, 60))
def test_a_day_is_the_nearer_the_fewer_days_lie_between(day: date, offset: int, more: int) -> None:
    named = Named(day.year, day.month, day.day)
    assert named.nearness(day) == 1.0
    nearer = named.nearness(day + timedelta(days=offset))
    further = named.nearness(day + timedelta(days=offset + (more if offset >= 0 else -more)))
    assert nearer >= further > 0


@settings(max_examples=200, deadline=None)
@given(DAYS)
def test_what_was_said_on_the_day_is_as_near_as_can_be_however_it_is_named(day: date) -> None:
    for named in (
        Named(day.year, day.month, day.day),
        Named(None, day.month, day.day),
        Named(day.year, day.month),
        Named(None, day.month),
        Named(day.year, None),
    ):
        assert named.nearness(day) == 1.0


def test_what_is_told_shortly_after_a_month_is_nearer_than_what_was_told_before_it() -> None:
    may = Named(2024, 5)
    assert may.nearness(date(2024, 5, 31)) > may.nearness(date(2024, 6, 5)) > may.nearness(date(2024, 4, 30)) == 0.0
    assert may.nearness(date(2024, 6, 20)) == may.nearness(date(2023, 5, 5)) == 0.0
    assert Named(None, 12).nearness(date(2025, 1, 5)) == Named(2024, 12).nearness(date(2025, 1, 5)) > 0


@settings(max_examples=200, deadline=None)
@given(NAMED, DAYS)
def test_spans_are_ordered_and_hold_what_is_nearest(named: Named, today: date) -> None:
    spans = named.spans(today)
    assert all(first < last for first, last in spans)
    assert [first for first, _ in spans] == sorted((first for first, _ in spans), reverse=True)
    assert len(spans) == (1 if named.year is not None else 3)
    if named.day is None:
        assert all(named.nearness(first) == 1.0 for first, _ in spans)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
def test_no_text_is_an_error_and_equal_texts_give_equal_dates(text: str) -> None:
    assert read(text) == read(text)
    named_dates("年月日" + text + "2024年" + text, today=TODAY)


def test_a_long_text_is_read_no_further_than_a_query_reaches() -> None:
    assert len(read("3 May 2024 " * 200_000)) < 2_000
    assert read("x" * 1_000_000 + " 3 May 2024") == []

"""A filter as SQL: fixed words and named parameters, whatever the caller wrote."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.ports.text_index import Filter
from eunoe.stores.sql.filters import condition, names, values

TEXTS = st.lists(st.text(min_size=1, max_size=12), max_size=4)
HOSTILE = "x' or 1=1 --"


@st.composite
def filters(draw: st.DrawFn) -> Filter:
    return Filter(
        scopes=draw(st.lists(st.sampled_from(["project", "user:kim"]), min_size=1, unique=True)),
        now=draw(st.integers(0, 2**53)),
        known_at=draw(st.none() | st.integers(0, 2**53)),
        kinds=draw(TEXTS),
        tags=draw(TEXTS),
        any_tags=draw(TEXTS),
        paths=draw(TEXTS),
        since=draw(st.none() | st.integers(0, 2**53)),
        until=draw(st.none() | st.integers(0, 2**53)),
        session=draw(st.none() | st.text(max_size=12)),
    )


@settings(max_examples=200, deadline=None)
@given(filters())
def test_every_parameter_is_given_and_every_given_one_is_used(accept: Filter) -> None:
    where = condition(accept)
    assert set(re.findall(r":(\w+)", where.sql)) == set(where.params)


@settings(max_examples=100, deadline=None)
@given(filters())
def test_what_a_condition_names_is_joined(accept: Filter) -> None:
    where = condition(accept)
    for alias, table in (("v", "memory_versions v"), ("m", "memories m")):
        assert table in where.joins or not re.search(rf"\b{alias}\.", where.sql)


@settings(max_examples=100, deadline=None)
@given(filters(), st.data())
def test_two_filters_of_the_same_shape_are_the_same_statement(accept: Filter, data: st.DataObject) -> None:
    other = Filter(
        scopes=accept.scopes,
        now=data.draw(st.integers(0, 2**53)),
        known_at=None if accept.known_at is None else 1,
        kinds=["k"] * len(accept.kinds),
        tags=["t"] * len(accept.tags),
        any_tags=[HOSTILE] * len(accept.any_tags),
        paths=["%_"] * len(accept.paths),
        since=None if accept.since is None else 2,
        until=None if accept.until is None else 3,
        session=None if accept.session is None else HOSTILE,
    )
    one, two = condition(accept), condition(other)
    assert (one.sql, one.joins, list(one.params)) == (two.sql, two.joins, list(two.params))


def test_no_value_of_a_caller_is_part_of_a_statement() -> None:
    accept = Filter(
        scopes=("project",),
        now=0,
        tags=[HOSTILE],
        any_tags=[HOSTILE],
        paths=[HOSTILE],
        kinds=[HOSTILE],
        session=HOSTILE,
    )
    where = condition(accept)
    assert "1=1" not in where.sql + where.joins
    assert HOSTILE in where.params.values()


def test_a_filter_for_now_asks_for_what_is_live_and_one_for_then_for_what_was_known() -> None:
    now = condition(Filter(scopes=("project",), now=5))
    then = condition(Filter(scopes=("project",), now=5, known_at=3))
    assert "live = 1" in now.sql
    assert "live" not in then.sql
    assert "recorded_from <= :known_at" in then.sql
    assert then.params["known_at"] == 3


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("src", True),
        ("src/", True),
        ("src/api/hooks.py", True),
        ("src/\U0010ffff", True),
        ("src.py", False),
        ("src-old/a", False),
        ("src0", False),
        ("sr", False),
        ("source", False),
        ("SRC/a", False),
    ],
)
def test_a_path_stands_for_itself_and_everything_below_it(path: str, inside: bool) -> None:
    params = condition(Filter(scopes=("project",), now=0, paths=["src"])).params
    below = params["path0_first"] <= path < params["path0_end"]
    assert (path == params["path0"] or below) == inside


def test_an_empty_list_of_names_is_a_list_that_nothing_is_in() -> None:
    assert names("tag", []) == "null"
    assert names("tag", ["a", "b"]) == ":tag0, :tag1"
    assert values("tag", ["a", "b"]) == {"tag0": "a", "tag1": "b"}


def test_a_filter_is_open_only_when_nothing_was_asked_for() -> None:
    assert Filter(scopes=("project", "user:kim"), now=5).is_open
    for narrowed in (
        {"tags": ["a"]},
        {"since": 0},
        {"until": 0},
        {"known_at": 0},
        {"session": "s"},
        {"kinds": ["fact"]},
    ):
        assert not Filter(scopes=("project",), now=5, **narrowed).is_open

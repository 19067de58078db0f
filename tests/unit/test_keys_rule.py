"""The key rule over plain intervals: one value at a time, whatever is stated in whatever order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.admission.keys import Takes, is_free, place
from eunoe.ports.memories import Interval

Statement = tuple[str, int, int | None]

STATEMENTS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 12), st.none() | st.integers(1, 6)).map(
        lambda each: (each[0], each[1], None if each[2] is None else each[1] + each[2])
    ),
    max_size=10,
)


def held(value: str, start: int, end: int | None, memory: str = "m") -> Interval:
    return Interval(memory=memory, value_fp=value, valid_from=start, valid_to=end)


def stated(intervals: list[Interval], statement: Statement, memory: str) -> list[Interval]:
    """Apply a statement as the projector does: what it ends is cut, what it is takes its place."""
    value, start, end = statement
    spot = place(intervals, value, valid_from=start, valid_to=end)
    if not isinstance(spot, Takes):
        return intervals
    kept = [each._replace(valid_to=spot.valid_from) if each is spot.ends else each for each in intervals]
    taken = held(value, spot.valid_from, spot.valid_to, memory)
    return sorted([*kept, taken], key=lambda each: each.valid_from)


def value_at(intervals: list[Interval], instant: int) -> str | None:
    found = [
        each.value_fp
        for each in intervals
        if each.valid_from <= instant and (each.valid_to is None or instant < each.valid_to)
    ]
    assert len(found) <= 1, found
    return found[0] if found else None


@settings(max_examples=300, deadline=None)
@given(STATEMENTS)
def test_intervals_never_overlap_and_the_last_word_holds_from_its_instant_on(statements: list[Statement]) -> None:
    intervals: list[Interval] = []
    for at, (value, start, end) in enumerate(statements):
        before = intervals
        intervals = stated(before, (value, start, end), f"m{at}")
        following = min((each.valid_from for each in before if each.valid_from > start), default=99)
        assert value_at(intervals, start) == value
        for instant in range(20):
            if instant < start or instant >= following:
                assert value_at(intervals, instant) == value_at(before, instant)


@settings(max_examples=200, deadline=None)
@given(STATEMENTS, st.sampled_from("abc"), st.integers(0, 12))
def test_the_value_in_force_is_confirmed_and_never_recorded_again(
    statements: list[Statement], value: str, instant: int
) -> None:
    intervals: list[Interval] = []
    for at, statement in enumerate(statements):
        intervals = stated(intervals, statement, f"m{at}")
    spot = place(intervals, value, valid_from=instant, valid_to=None)
    assert isinstance(spot, Interval) == (value_at(intervals, instant) == value)


@settings(max_examples=200, deadline=None)
@given(STATEMENTS, st.integers(0, 12), st.none() | st.integers(1, 8))
def test_a_key_is_free_exactly_when_nothing_holds_it_at_any_instant(
    statements: list[Statement], start: int, length: int | None
) -> None:
    intervals: list[Interval] = []
    for at, statement in enumerate(statements):
        intervals = stated(intervals, statement, f"m{at}")
    end = None if length is None else start + length
    instants = range(start, 40 if end is None else end)
    assert is_free(intervals, start, end) == all(value_at(intervals, instant) is None for instant in instants)


def test_a_first_value_holds_from_then_on() -> None:
    assert place([], "a", valid_from=5, valid_to=None) == Takes(valid_from=5, valid_to=None, ends=None, next=None)


def test_a_new_value_ends_the_one_in_force() -> None:
    old = held("a", 0, None)
    assert place([old], "b", valid_from=5, valid_to=None) == Takes(valid_from=5, valid_to=None, ends=old, next=None)


def test_a_late_older_value_ends_where_the_known_one_begins() -> None:
    known = held("b", 10, None)
    assert place([known], "a", valid_from=5, valid_to=None) == Takes(valid_from=5, valid_to=10, ends=None, next=known)


def test_a_value_between_two_takes_the_rest_of_the_first_ones_time() -> None:
    first, last = held("a", 0, 10), held("c", 10, None)
    assert place([first, last], "b", valid_from=5, valid_to=None) == Takes(
        valid_from=5, valid_to=10, ends=first, next=last
    )


def test_a_stated_end_counts_where_it_comes_first() -> None:
    following = held("b", 10, None)
    assert place([following], "a", valid_from=5, valid_to=7) == Takes(
        valid_from=5, valid_to=7, ends=None, next=following
    )


def test_the_end_of_an_interval_is_not_part_of_it() -> None:
    assert isinstance(place([held("a", 0, 5)], "a", valid_from=5, valid_to=None), Takes)
    assert is_free([held("a", 0, 5)], 5, None)
    assert not is_free([held("a", 0, 5)], 4, 5)
    assert is_free([held("a", 5, None)], 0, 5)

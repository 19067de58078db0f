"""The key rule: one value of a key at a time. Values are compared before anything else.

Intervals of a key never overlap in what is recorded now. A value stated for an instant falls into the interval that
covers it: the same value confirms, another one takes over from that instant on, until the next interval begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from eunoe.ports.memories import Interval, Stand


class Takes(NamedTuple):
    """The new value holds the key from `valid_from` to `valid_to` (None: open), after `ends`, before `next`."""

    valid_from: int
    valid_to: int | None
    ends: Interval | None
    next: Interval | None


def place(intervals: Sequence[Interval], value_fp: str, *, valid_from: int, valid_to: int | None) -> Interval | Takes:
    """Return the interval that says the same already, or the place that a new value takes.

    Args:
        intervals: Of one key, by `valid_from`.
        value_fp: The fingerprint of the new value.
        valid_from, valid_to: The period that was stated; `valid_to` None for "from then on".
    """
    covering = next(
        (each for each in intervals if each.valid_from <= valid_from and _ends_after(each, valid_from)), None
    )
    if covering is not None and covering.value_fp == value_fp:
        return covering
    following = next((each for each in intervals if each.valid_from > valid_from), None)
    end = following.valid_from if following else None
    if valid_to is not None and (end is None or valid_to < end):
        end = valid_to
    return Takes(valid_from=valid_from, valid_to=end, ends=covering, next=following)


def is_within(stand: Stand, instant: int) -> bool:
    """Tell whether a memory is valid and not expired at an instant."""
    if stand.expires_at is not None and stand.expires_at <= instant:
        return False
    return stand.valid_from <= instant and (stand.valid_to is None or stand.valid_to > instant)


def is_free(intervals: Sequence[Interval], valid_from: int, valid_to: int | None) -> bool:
    """Tell whether nothing holds the key at any instant of a period."""
    return not any(
        (valid_to is None or each.valid_from < valid_to) and _ends_after(each, valid_from) for each in intervals
    )


def _ends_after(interval: Interval, instant: int) -> bool:
    return interval.valid_to is None or interval.valid_to > instant

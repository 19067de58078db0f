"""Instants: whole microseconds inside, what people and programs write outside."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.domain.instants import DAY_US, duration_us, from_us, iso, optional_us, to_us
from eunoe.errors import Invalid

KEPT = st.integers(-(2**53) + 1, 2**53 - 1)  # what canonical JSON can hold: the years 1684 to 2255
MARCH = 1_772_357_400_000_000  # 2026-03-01T09:30:00Z


@settings(max_examples=200, deadline=None)
@given(KEPT)
def test_an_instant_survives_the_way_out_and_back(us: int) -> None:
    assert to_us(from_us(us), setting="t") == us
    assert to_us(iso(us), setting="t") == us
    assert iso(us).endswith("Z")


@pytest.mark.parametrize(
    "written",
    [
        "2026-03-01T09:30",
        " 2026-03-01T09:30:00Z ",
        "2026-03-01T10:30:00+01:00",
        datetime(2026, 3, 1, 9, 30),  # noqa: DTZ001 - naive means UTC
        datetime(2026, 3, 1, 9, 30, tzinfo=UTC),
        datetime(2026, 3, 1, 4, 0, tzinfo=timezone(timedelta(hours=-5, minutes=-30))),
        MARCH,
    ],
    ids=str,
)
def test_every_way_to_write_an_instant_means_the_same(written: datetime | str | int) -> None:
    assert to_us(written, setting="t") == MARCH


@pytest.mark.parametrize("written", ["2026-03-01", date(2026, 3, 1)], ids=repr)
def test_a_day_means_its_first_instant_in_utc(written: date | str) -> None:
    assert iso(to_us(written, setting="t")) == "2026-03-01T00:00:00Z"


def test_microseconds_are_kept_and_shown_only_where_there_are_some() -> None:
    assert to_us("2026-03-01T09:30:00.000001Z", setting="t") == MARCH + 1
    assert iso(MARCH + 1) == "2026-03-01T09:30:00.000001Z"
    assert iso(MARCH) == "2026-03-01T09:30:00Z"


@pytest.mark.parametrize(
    "written", ["", "soon", "2026-13-01", "2026-02-30", "12:30", "2026-03-01T25:00", True, 1.5, None, [2026]], ids=repr
)
def test_what_is_no_time_is_refused_and_names_its_setting(written: object) -> None:
    with pytest.raises(Invalid) as caught:
        to_us(written, setting="valid_from")  # type: ignore[arg-type]
    assert caught.value.code == "bad_time"
    assert "valid_from" in caught.value.message


@pytest.mark.parametrize("us", [10**17, -(10**17), 10**30], ids=str)
def test_a_number_that_no_event_could_keep_is_no_time(us: int) -> None:
    with pytest.raises(Invalid) as caught:
        to_us(us, setting="since")
    assert caught.value.code == "bad_time"


@pytest.mark.parametrize("us", [10**18, -(10**18)], ids=str)
def test_an_instant_outside_the_calendar_is_refused_on_the_way_out(us: int) -> None:
    with pytest.raises(Invalid) as caught:
        from_us(us)
    assert caught.value.code == "bad_time"


def test_no_time_stays_no_time() -> None:
    assert optional_us(None, setting="t") is None
    assert optional_us("1970-01-01", setting="t") == 0


@pytest.mark.parametrize(
    ("written", "us"),
    [
        ("90s", 90_000_000),
        (" 30M ", 1_800_000_000),
        ("24h", DAY_US),
        ("7d", 7 * DAY_US),
        ("2w", 14 * DAY_US),
        (60, 60_000_000),
        (0.5, 500_000),
        (timedelta(days=1, microseconds=1), DAY_US + 1),
    ],
    ids=repr,
)
def test_a_duration_can_be_written_in_each_unit(written: object, us: int) -> None:
    assert duration_us(written, setting="ttl") == us  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "written",
    [
        *("", "h", "0s", "-1h", "1.5h", "1y", "24", "٣h", "forever", "9" * 5000 + "d"),
        *(0, -1, 0.0000001, True, float("nan"), float("inf"), timedelta(0), timedelta(days=-1), 10**12, [], None),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_is_no_positive_duration_of_a_century_at_most_is_refused(written: object) -> None:
    with pytest.raises(Invalid) as caught:
        duration_us(written, setting="ttl")  # type: ignore[arg-type]
    assert caught.value.code == "bad_duration"

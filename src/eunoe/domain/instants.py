"""Instants: integer microseconds since 1970 UTC inside, aware `datetime` or ISO 8601 text outside."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from eunoe.errors import Invalid, shown

SECOND_US = 1_000_000
DAY_US = 86_400 * SECOND_US

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS_US = {"s": SECOND_US, "m": 60 * SECOND_US, "h": 3600 * SECOND_US, "d": DAY_US, "w": 7 * DAY_US}

When = datetime | date | str | int


EARLIEST_US, LATEST_US = -(2**53 - 1), 2**53 - 1  # the years 1684 to 2255: integers that every JSON reader keeps


def to_us(value: When, *, setting: str) -> int:
    """Return microseconds since 1970 UTC.

    Args:
        value: An aware or naive datetime (naive means UTC), a date (its first instant in UTC), ISO 8601 text such as
            `2026-03-01`, `2026-03-01T09:30`, `2026-03-01T09:30:00+01:00`, or an integer of microseconds.
        setting: The name to blame in the error.

    Raises:
        Invalid: `bad_time`, also outside the years 1684 to 2255.
    """
    us = _to_us(value, setting)
    if not EARLIEST_US <= us <= LATEST_US:
        raise Invalid("bad_time", f"{setting}={shown(value)} lies outside the years 1684 to 2255")
    return us


def _to_us(value: object, setting: str) -> int:
    if isinstance(value, bool):
        raise _bad(value, setting)
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        value = _parsed(value.strip(), setting)
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return (aware - _EPOCH) // timedelta(microseconds=1)
    if isinstance(value, date):
        return (datetime(value.year, value.month, value.day, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
    raise _bad(value, setting)


def optional_us(value: When | None, *, setting: str) -> int | None:
    """Return `to_us(value)`, or None for None."""
    return None if value is None else to_us(value, setting=setting)


def from_us(us: int) -> datetime:
    """Return the aware UTC datetime of an instant. Raises `Invalid` (`bad_time`) outside the years 1 to 9999."""
    try:
        return _EPOCH + timedelta(microseconds=us)
    except OverflowError as exc:
        raise _bad(us, "time") from exc


def iso(us: int) -> str:
    """Return ISO 8601 text in UTC that ends in `Z`, with microseconds only where there are some."""
    return from_us(us).isoformat().replace("+00:00", "Z")


def duration_us(value: object, *, setting: str) -> int:
    """Return a positive duration in microseconds.

    Args:
        value: A timedelta, seconds as a number, or text such as `90s`, `30m`, `24h`, `7d`, `2w`.
        setting: The name to blame in the error.

    Raises:
        Invalid: `bad_duration`.
    """
    if isinstance(value, timedelta):
        us = value // timedelta(microseconds=1)
    elif isinstance(value, str):
        unit = _UNITS_US.get(value.strip()[-1:].lower())
        number = value.strip()[:-1]
        us = int(number) * unit if unit and number.isascii() and number.isdigit() and len(number) < 10 else 0
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LATEST_US:
        us = int(value * SECOND_US)
    else:
        us = 0
    if us <= 0 or us > 36_500 * DAY_US:
        raise Invalid("bad_duration", f"{setting}={shown(value)} is no duration; give one such as 30m, 24h or 7d")
    return us


def _parsed(text: str, setting: str) -> datetime | date:
    try:
        return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
    except ValueError as exc:
        raise _bad(text, setting) from exc


def _bad(value: object, setting: str) -> Invalid:
    return Invalid(
        "bad_time", f"{setting}={shown(value)} is no time; give ISO 8601 such as 2026-03-01 or 2026-03-01T09:30:00Z"
    )

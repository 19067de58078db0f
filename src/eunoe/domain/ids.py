"""UUIDv7 that never go backwards: within a project, a later event always has the greater id.

So the order of ids is causal and is the replay order, whatever the clock does. Ids are lower-case text with hyphens;
comparing the text compares the ids.
"""

from __future__ import annotations

from eunoe.errors import Invalid, shown

ID_BYTES = 10  # of randomness an id takes
SECRET_BYTES = 32  # of a project's secret

NIL = "00000000-0000-0000-0000-000000000000"

_RANDOM_BITS = 62
_RANDOM_MASK = (1 << _RANDOM_BITS) - 1
_HEX = frozenset("0123456789abcdef")


def next_id(now_us: int, randomness: bytes, *, after: str = NIL) -> str:
    """Return a UUIDv7 of the given time that is greater than `after`.

    Args:
        now_us: Microseconds since 1970, UTC; its milliseconds go into the first 48 bits.
        randomness: At least 10 bytes; 74 bits of them are used.
        after: An id that must be exceeded. If it lies at or ahead of `now_us`, the result is its direct successor, so
            a clock that was set back delays nothing and repeats nothing.
    """
    bits = int.from_bytes(randomness[:ID_BYTES], "big")
    value = (now_us // 1000) << 80 | 7 << 76 | (bits >> 68 & 0xFFF) << 64 | 0b10 << 62 | bits & _RANDOM_MASK
    last = int(after.replace("-", ""), 16)
    return _text(value if value > last else _successor(last))


def _successor(last: int) -> int:
    low = (last & _RANDOM_MASK) + 1
    if low <= _RANDOM_MASK:
        return (last >> _RANDOM_BITS) << _RANDOM_BITS | low
    return ((last >> 80) + 1) << 80 | 7 << 76 | 0b10 << 62


def _text(value: int) -> str:
    digits = f"{value:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def is_id(text: str) -> bool:
    """Tell whether a text has the form of an id."""
    return (
        len(text) == 36
        and text[8] == text[13] == text[18] == text[23] == "-"
        and _HEX.issuperset(text.replace("-", ""))
        and len(text.replace("-", "")) == 32
    )


def check_id(text: str) -> str:
    """Return `text` when it has the form of an id; raise `Invalid` (`bad_id`) otherwise."""
    if not is_id(text):
        raise Invalid("bad_id", f"{shown(text)} is not an id; ids look like {NIL}")
    return text


def id_time_us(ident: str) -> int:
    """Return the time inside an id, in microseconds since 1970 UTC (whole milliseconds)."""
    return int(ident[:8] + ident[9:13], 16) * 1000

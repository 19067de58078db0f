"""What a key may look like."""

from __future__ import annotations

from eunoe.domain import limits
from eunoe.errors import Invalid, shown

_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._/:-")


def is_key(key: object) -> bool:
    """Tell whether a value is a key: 1 to 80 of `a-z 0-9 . _ / : -`."""
    return isinstance(key, str) and 0 < len(key) <= limits.KEY and _CHARACTERS.issuperset(key)


def check_key(key: object) -> str:
    """Return a key. Raises `Invalid` (`bad_key`) unless it is 1 to 80 of `a-z 0-9 . _ / : -`."""
    if not isinstance(key, str) or not is_key(key):
        raise Invalid("bad_key", f"key={shown(key)}: use 1 to {limits.KEY} characters out of a-z 0-9 . _ / : -")
    return key

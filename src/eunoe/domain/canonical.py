"""Canonical JSON: one byte string for one value, so that hashes and exports are reproducible.

RFC 8785 restricted until the standard library's encoder gives exactly its bytes: keys are ASCII strings, numbers are
integers within ±(2^53 - 1), no float, no NaN. What is outside is refused, never approximated (importance is therefore
kept in thousandths). `rfc8785` is the oracle in the tests.
"""

from __future__ import annotations

import json
from typing import Any

from eunoe.errors import Invalid, shown

LARGEST_INTEGER = 2**53 - 1

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode
_decode = json.JSONDecoder().decode  # `json.loads` first guesses an encoding, at twice the price


def canonical(value: Any) -> str:
    """Return the canonical text of a JSON value.

    Raises:
        Invalid: `not_canonical`: a float, a large integer, a key that is not an ASCII string, a lone surrogate, or
            a type that JSON does not have.
    """
    _check(value)
    return _encode(value)


def canonical_bytes(value: Any) -> bytes:
    """Return `canonical(value)` in UTF-8."""
    return canonical(value).encode()


def parse(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises `Invalid` (`bad_json`) where it is none."""
    try:
        return _decode(text if isinstance(text, str) else text.decode("utf-8-sig"))
    except (ValueError, UnicodeDecodeError, RecursionError) as exc:
        raise Invalid("bad_json", f"not valid JSON: {exc}") from exc


def _check(value: Any) -> None:
    kind = type(value)
    if kind is str:
        if not value.isascii():
            _check_text(value)
    elif kind is int:
        if not -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
            raise Invalid("not_canonical", f"the integer {value} is outside ±(2^53 - 1)")
    elif kind is dict:
        _check_keys(value)
        for item in value.values():
            _check(item)
    elif kind is list or kind is tuple:
        for item in value:
            _check(item)
    elif value is not None and kind is not bool:
        raise Invalid(
            "not_canonical", f"{shown(value)} is a {kind.__name__}; allowed are text, integers, lists, objects"
        )


def _check_keys(value: dict[Any, Any]) -> None:
    for key in value:
        if type(key) is not str or not key.isascii():
            raise Invalid("not_canonical", f"the key {shown(key)} is not an ASCII string")


def _check_text(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as exc:
        raise Invalid("not_canonical", f"the text {shown(value)} holds half of a surrogate pair") from exc

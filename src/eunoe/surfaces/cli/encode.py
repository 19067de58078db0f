"""JSON for machines: values of the service as plain objects, times in ISO 8601 UTC, equal text for equal values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from eunoe.domain.instants import iso, to_us

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# A list gets a name, so that more can stand beside it one day.
_NAMED = {"history": "steps", "projects": "projects", "head": "heads", "log": "events", "count": "count"}

_HIT = {"memory", "evidence", "score", "explanation", "excerpt"}


def answer(name: str, result: object) -> dict[str, Any]:
    """Return the result of a use case as an object."""
    plain = to_json(result)
    if name in _NAMED:
        return {_NAMED[name]: plain}
    if name == "get":
        return {**plain["memory"], "links": plain["links"]}
    return plain if isinstance(plain, dict) else {"result": plain}


def to_json(value: object) -> Any:
    """Return a value in the types of JSON; a hit gets the fields of its memory, as it has them in Python."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() if not value.isascii() else value
    if isinstance(value, datetime):
        return iso(to_us(value, setting="time"))
    if isinstance(value, Mapping):
        return {str(name): to_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return [to_json(item) for item in value]
    plain = {name: to_json(getattr(value, name)) for name in _fields(value)}
    # Told by its fields: to import the class would load recall for every command.
    return plain.pop("memory") | plain if plain.keys() == _HIT else plain


def dumps(value: object) -> str:
    """Return the JSON text, indented; letters of all scripts stay readable, nothing in it can act on a terminal."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return "".join(char if char.isprintable() or char == "\n" else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return json.dumps(char)[1:-1]


def _fields(value: object) -> tuple[str, ...]:
    names = getattr(value, "_fields", None) or getattr(type(value), "__slots__", None)
    if names is None:
        raise TypeError(f"{type(value).__name__} has no form in JSON")
    return tuple(names)

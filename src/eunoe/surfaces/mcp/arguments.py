"""What a model sent, turned into what a use case takes.

Models write `12` for "12", a text where a list belongs, and null for what they leave out: all of that is understood.
What cannot be is refused with the name of the argument, so that the model can correct it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from eunoe.errors import Invalid, shown
from eunoe.surfaces.mcp.tools import Parameter, Tool

_TRUE, _FALSE = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})


def read(tool: Tool, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments under the names of the use case; null and empty lists are left out.

    Raises:
        Invalid: `unknown_argument`, `missing_argument`, `bad_type`.
    """
    given = given or {}
    known = {each.name: each for each in tool.parameters}
    if unknown := given.keys() - known.keys():
        names = " ".join(known) or "none"
        raise Invalid("unknown_argument", f"{tool.name} has no argument {shown(min(unknown))}; it takes {names}")
    taken: dict[str, Any] = {}
    for name, parameter in known.items():
        value = given.get(name)
        if value is not None and value != []:
            taken[parameter.field or name] = _READERS[parameter.type](parameter, value)
        elif parameter.required:
            raise Invalid("missing_argument", f"{tool.name} needs {name}")
    return taken


def _text(parameter: Parameter, value: Any) -> str:
    if isinstance(value, bool | Mapping | list):
        raise _bad(parameter, value, "a text")
    return str(value)


def _texts(parameter: Parameter, value: Any) -> list[str]:
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _parsed(value)
    items = value if isinstance(value, list) else [value]
    return [_text(parameter, item) for item in items]


def _parsed(text: str) -> Any:
    """Return a list that was sent as its JSON text; any other text is one entry."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found if isinstance(found, list) else text


def _integer(parameter: Parameter, value: Any) -> int:
    if isinstance(value, str) and value.strip().removeprefix("-").isdecimal() and len(value) < 20:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _bad(parameter, value, "a whole number")
    return value


def _number(parameter: Parameter, value: Any) -> float:
    try:
        if not isinstance(value, bool | list | Mapping):
            return float(value)
    except (ValueError, OverflowError):
        pass
    raise _bad(parameter, value, "a number")


def _flag(parameter: Parameter, value: Any) -> bool:
    word = str(value).strip().lower() if isinstance(value, str | bool | int) else ""
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise _bad(parameter, value, "true or false")


def _bad(parameter: Parameter, value: object, wanted: str) -> Invalid:
    return Invalid("bad_type", f"{parameter.name}={shown(value)} must be {wanted}")


_READERS: dict[str, Callable[[Parameter, Any], Any]] = {
    "text": _text,
    "kind": _text,
    "texts": _texts,
    "integer": _integer,
    "number": _number,
    "flag": _flag,
}

"""Changes a table of a TOML text in place; every other byte stays.

A new table goes to the end of the file. Only the standard form is edited: a header of its own, one key a line. What
was written is parsed again and compared with what was meant, so that any other form is refused, never damaged.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from eunoe.install.text import MalformedError, append_block, cut_block, newline_of

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?!")|\'\'\'.*?\'\'\'(?!\')|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|\n|[^"\'#\n\[\]{}]+|.',
    re.DOTALL,
)
_KEY = re.compile(r"""\s*("(?:\\.|[^"\\])*"|'[^']*'|[\w-]+)\s*=\s*""")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class Line(NamedTuple):
    """A logical line: `text[start:end]` without its line end, a comment at its end begins at `comment`."""

    start: int
    end: int
    comment: int
    table: tuple[str, ...]
    is_header: bool
    is_blank: bool


def load(text: str) -> dict[str, Any]:
    """Return the values of a text.

    Raises:
        MalformedError: It is no TOML.
    """
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as exc:
        found = re.search(r"at line (\d+)", str(exc))
        raise MalformedError(int(found[1]) if found else 0, f"is no TOML: {exc}") from exc


def get(text: str, path: tuple[str, ...]) -> Any:
    """Return the value at a path of names, or None. Raises `MalformedError`."""
    return _get(load(text), path)


def put(text: str, path: tuple[str, ...], values: Mapping[str, Any]) -> str:
    """Return the text with these values in a table; other keys of the table stay, and nothing equal is touched.

    Raises:
        MalformedError: It is no TOML, or the table is written in a form that cannot be edited safely.
    """
    wanted = load(text)
    if _get(wanted, path) is None:
        lines = (f"[{'.'.join(map(_key, path))}]", *(f"{_key(name)} = {_value(each)}" for name, each in values.items()))
        text = append_block(text, lines)
    else:
        text = _update(text, path, values)
    _merge(wanted, path, values)
    return _checked(text, wanted, path)


def drop(text: str, path: tuple[str, ...]) -> str:
    """Return the text without a table and the tables below it; as it is when there is none.

    Raises:
        MalformedError: It is no TOML, or the table is written in a form that cannot be edited safely.
    """
    wanted = load(text)
    if _get(wanted, path) is None:
        return text
    while True:
        block = next(_blocks(text, path), None)
        if block is None:
            break
        text = cut_block(text, block[0].start, block[-1].end)
    _get(wanted, path[:-1]).pop(path[-1])
    return _checked(text, wanted, path)


def _update(text: str, path: tuple[str, ...], values: Mapping[str, Any]) -> str:
    for name, each in values.items():
        known = get(text, (*path, name))
        new = {**known, **each} if isinstance(known, dict) and isinstance(each, Mapping) else each
        if known == new:
            continue
        if isinstance(new, Mapping) and any(_blocks(text, (*path, name))):
            text = _update(text, (*path, name), new)
        else:
            text = _set(text, path, name, _value(new))
    return text


def _set(text: str, path: tuple[str, ...], name: str, value: str) -> str:
    block = next((block for block in _blocks(text, path) if block[0].table == path), None)
    if block is None:
        raise _unusual(path)
    for line in block[1:]:
        found = _KEY.match(text, line.start, line.end)
        if found is not None and name in tomllib.loads(text[line.start : line.end]):
            end = len(text[: line.comment].rstrip(" \t\r"))
            return text[: found.end()] + value + text[end:]
    at = block[-1].end
    return f"{text[:at]}{newline_of(text)}{_key(name)} = {value}{text[at:]}"


def _blocks(text: str, path: tuple[str, ...]) -> Iterator[list[Line]]:
    """Yield header and pairs of the table and of those below it, up to the last pair: comments after it are others'."""
    block: list[Line] = []
    for line in [*_lines(text), Line(len(text), len(text), len(text), (), True, False)]:
        if line.is_header:
            if block:
                yield block
            block = [line] if line.table[: len(path)] == path else []
        elif block and not line.is_blank:
            block.append(line)


def _lines(text: str) -> Iterator[Line]:
    start, depth, comment = 0, 0, -1
    for found in _TOKEN.finditer(text + "\n"):
        piece = found[0]
        depth += (piece in ("[", "{")) - (piece in ("]", "}"))
        if piece.startswith("#") and depth == 0:
            comment = found.start()
        if piece != "\n" or depth:
            continue
        end = found.start() - (text[: found.start()].endswith("\r"))
        body = text[start : comment if comment >= 0 else end].strip()
        is_header = body.startswith("[")
        yield Line(start, end, comment if comment >= 0 else end, _table(body) if is_header else (), is_header, not body)
        start, comment = found.end(), -1


def _table(header: str) -> tuple[str, ...]:
    names: list[str] = []
    value: Any = tomllib.loads(header)
    while value:
        names += value  # a header has one name on each level
        value = value[names[-1]]
        value = value[-1] if isinstance(value, list) else value
    return tuple(names)


def _checked(text: str, wanted: dict[str, Any], path: tuple[str, ...]) -> str:
    """Return the text if it says what is wanted; an empty table around ours counts as none."""
    try:
        made = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise _unusual(path) from exc
    for each in (made, wanted):
        if _get(each, path[:1]) == {}:
            each.pop(path[0])
    if made != wanted:
        raise _unusual(path)
    return text


def _unusual(path: Sequence[str]) -> MalformedError:
    name = ".".join(path)
    return MalformedError(0, f"writes {name} in a form that is not edited here: write it as a table [{name}]")


def _get(values: Mapping[str, Any], path: Sequence[str]) -> Any:
    found: Any = values
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _merge(values: dict[str, Any], path: tuple[str, ...], more: Mapping[str, Any]) -> None:
    table = values
    for name in path:
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise _unusual(path)
    for name, each in more.items():
        old = table.get(name)
        both = isinstance(old, dict) and isinstance(each, Mapping)
        table[name] = {**old, **each} if both and isinstance(old, dict) else deepcopy(each)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {_value(each)}" for name, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return _text(value) if isinstance(value, str) else json.dumps(value)


def _text(value: str) -> str:
    r"""Return a basic string: JSON's escapes are TOML's, except that DEL must be escaped here."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

"""Changes a member of a JSON text in place; every other byte stays: comments, order, indentation, trailing commas.

Reads what editors read: JSON with `//` and `/* */` comments and trailing commas. A text is parsed to find the place,
and cut and joined there; it is never written anew. What is inserted takes the indentation and the line end of its
surroundings.
"""

from __future__ import annotations

import json
import re
from typing import Any

from eunoe.install.json_nodes import Node, end_of_gap, read
from eunoe.install.text import MalformedError, line_of, newline_of

_REST_OF_LINE = re.compile(r"(?:[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/))*")
_INDENTED = re.compile(r'^([ \t]+)["/]', re.MULTILINE)
_SPACE = " \t\r\n"


def get(text: str, path: tuple[str, ...]) -> Any:
    """Return the value at a path of names, or None when there is no such member."""
    node, depth = _descend(read(text, path), path)
    return node.value if node is not None and depth == len(path) else None


def depth(text: str, path: tuple[str, ...]) -> int:
    """Return how many names of the path are there."""
    return _descend(read(text, path), path)[1]


def put(text: str, path: tuple[str, ...], value: Any) -> str:
    """Return the text with a value at a path; of an object only the members that differ are touched, none is removed.

    Raises:
        MalformedError: It is no JSON, or something on the path is no object.
    """
    if read(text) is None:
        newline = newline_of(text)
        text += ("" if not text or text.endswith("\n") else newline) + "{}" + newline
    node, known = _descend(read(text, path), path)
    if node is None:
        raise MalformedError(0, "holds no value")
    if known < len(path):
        if not isinstance(node.value, dict):
            place = ".".join(path[:known]) or "its value"
            raise MalformedError(line_of(text, node.start), f"has something else than an object for {place}")
        for name in reversed(path[known + 1 :]):
            value = {name: value}
        return _insert(text, node, path[known], value)
    if isinstance(value, dict) and isinstance(node.value, dict):
        for name, each in value.items():
            text = put(text, (*path, name), each)
        return text
    return text if node.value == value else _replace(text, node, value)


def drop(text: str, path: tuple[str, ...], *, keep: int) -> str:
    """Return the text without the member at a path, and without the objects around it that are empty then.

    Args:
        text: Comes back as it is when there is no such member.
        path: Names from the outermost object inwards.
        keep: So many of the outer objects on the path stay even when they are empty.

    Raises:
        MalformedError: It is no JSON.
    """
    parent, known = _descend(read(text, path[:-1]), path[:-1])
    if parent is None or known < len(path) - 1:
        return text
    places = [at for at, member in enumerate(parent.members) if member.name == path[-1]]
    for place in reversed(places):
        text = _cut(text, parent, place)
        parent = _descend(read(text, path[:-1]), path[:-1])[0] or parent
    if places and len(path) - 1 > keep and text[parent.start : parent.end] == "{}":
        return drop(text, path[:-1], keep=keep)
    return text


def _descend(node: Node | None, path: tuple[str, ...]) -> tuple[Node | None, int]:
    """Return the deepest node on the path, and how many names led to it; of equal names the last counts."""
    for known, name in enumerate(path):
        found = [member.node for member in node.members if member.name == name] if node is not None else []
        if not found:
            return node, known
        node = found[-1]
    return node, len(path)


def _insert(text: str, node: Node, name: str, value: Any) -> str:
    newline, last = newline_of(text), node.members[-1] if node.members else None
    if last is not None and "\n" not in text[node.start : node.end]:
        piece = f" {_quoted(name)}: {json.dumps(value, ensure_ascii=False)}"
    else:
        begins_line = last is not None and text.rfind("\n", 0, last.start) > node.start
        lead = _lead(text, last.start) if last and begins_line else _lead(text, node.start) + _unit(text)
        piece = f"{newline}{lead}{_quoted(name)}: {_rendered(text, value, lead)}"
    if last is None:
        at = _end_of_comments(text, node.start + 1)
        tail = "" if "\n" in text[at : node.end] else newline + _lead(text, node.start)
        return text[:at] + piece + tail + text[at:]
    if node.comma:
        at = _end_of_comments(text, node.comma)
        return f"{text[:at]}{piece},{text[at:]}"
    end = last.node.end
    at = _end_of_comments(text, end)
    return f"{text[:end]},{text[end:at]}{piece}{text[at:]}"


def _replace(text: str, node: Node, value: Any) -> str:
    flat = "\n" not in text[node.start : node.end]
    new = json.dumps(value, ensure_ascii=False) if flat else _rendered(text, value, _lead(text, node.start))
    return text[: node.start] + new + text[node.end :]


def _cut(text: str, parent: Node, place: int) -> str:
    member, is_last = parent.members[place], place == len(parent.members) - 1
    start, end = len(text[: member.start].rstrip(_SPACE)), member.node.end
    comma = end_of_gap(text, parent.members[place - 1].node.end) if place else parent.start
    gap = text[comma + 1 : start]
    if not is_last or parent.comma:
        end = end_of_gap(text, end) + 1
    elif place:
        text = text[:comma] + text[comma + 1 :]
        start, end = start - 1, end - 1
    line_end = text.find("\n", start, end)
    if "//" in gap and line_end >= 0 and not text[end:].lstrip(" \t\r").startswith("\n"):
        start = line_end + 1  # it closes a comment, which must not swallow what follows
    head, tail = text[:start], text[end:]
    if len(parent.members) == 1 and head.endswith("{") and tail.lstrip(_SPACE).startswith("}"):
        tail = tail.lstrip(_SPACE)
    return head + tail


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _rendered(text: str, value: Any, lead: str) -> str:
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False).split("\n")
    return (newline_of(text) + lead).join(lines)


def _unit(text: str) -> str:
    found = _INDENTED.search(text)
    return found[1] if found else "  "


def _lead(text: str, at: int) -> str:
    """Return the indentation of the line that holds an offset."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _end_of_comments(text: str, at: int) -> int:
    """Return where the comments end that follow on the same line."""
    found = _REST_OF_LINE.match(text, at)
    return found.end() if found else at

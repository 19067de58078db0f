"""A paragraph of ours in somebody's Markdown file, between two markers; every other byte stays."""

from __future__ import annotations

from collections.abc import Sequence

from eunoe.install.text import MalformedError, append_block, cut_block, line_of, newline_of

BEGIN = "<!-- eunoe:begin -->"
END = "<!-- eunoe:end -->"


def find(text: str) -> tuple[int, int] | None:
    """Return where the paragraph begins and ends, markers included, or None when there is none.

    Raises:
        MalformedError: A marker is missing, or stands twice.
    """
    start, end = text.find(BEGIN), text.find(END)
    if start < 0 and end < 0:
        return None
    if text.count(BEGIN) != 1 or text.count(END) != 1 or end < start:
        raise MalformedError(line_of(text, max(start, end, 0)), f"has not exactly one {BEGIN} with one {END} after it")
    return start, end + len(END)


def put(text: str, lines: Sequence[str]) -> str:
    """Return the text with the paragraph: at its end, or in place of the one that is there. Raises `MalformedError`."""
    found = find(text)
    if found is None:
        return append_block(text, (BEGIN, *lines, END))
    return text[: found[0]] + newline_of(text).join((BEGIN, *lines, END)) + text[found[1] :]


def drop(text: str) -> str:
    """Return the text without the paragraph; as it is when there is none. Raises `MalformedError`."""
    found = find(text)
    return text if found is None else cut_block(text, *found)

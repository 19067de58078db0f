"""What the editors share: line ends, a block of lines at the end of a file, and the error of a text that is not well.

A block that was appended and is cut again leaves the text as it was, with or without a line end at its end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence


class MalformedError(ValueError):
    """A text cannot be changed safely; `line` counts from 1, and is 0 where no line is to blame."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line
        self.problem = problem


def newline_of(text: str) -> str:
    """Return the line end of the first line; a line feed where there is none."""
    line, found, _ = text.partition("\n")
    return "\r\n" if found and line.endswith("\r") else "\n"


def line_of(text: str, at: int) -> int:
    """Return the number of the line that holds an offset, from 1."""
    return text.count("\n", 0, at) + 1


def append_block(text: str, lines: Sequence[str]) -> str:
    """Return the text with lines at its end, a blank line before them; it ends with a line end as it did before."""
    newline = newline_of(text)
    block = newline.join(lines)
    if not text:
        return block + newline
    return text + (newline + block + newline if text.endswith("\n") else newline * 2 + block)


def cut_block(text: str, start: int, end: int) -> str:
    """Return the text without the lines in `text[start:end]` (the last without its end) and the blank line before."""
    head, tail = text[:start], text[end:]
    if not tail:
        return re.sub(r"(\r?\n){1,2}\Z", "", head)
    if re.search(r"\n\r?\n\Z|\A\r?\n\Z", head):
        head = re.sub(r"\r?\n\Z", "", head)
    return head + re.sub(r"\A\r?\n", "", tail)

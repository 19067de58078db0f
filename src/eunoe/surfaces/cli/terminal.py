"""The screen: colours, widths, tables, progress, notes. Results go to standard output, all else to standard error."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager
from unicodedata import combining, east_asian_width

import click

from eunoe.domain.text import one_line, printable
from eunoe.errors import Invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from click._termui_impl import ProgressBar

    Progress = Callable[[int, int], None]

_WIDTH_OF_PIPES = 100


def is_coloured() -> bool:
    """Return whether to colour: on a terminal that can, unless `NO_COLOR` is set to anything."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, **style: Any) -> str:
    """Return the text in a style of `click.style`, or as it is where there are no colours."""
    return click.style(text, **style) if is_coloured() else text


def say(text: str) -> None:
    """Print a result."""
    click.echo(text, color=is_coloured())


def note(text: str) -> None:
    """Print a sentence that is no result."""
    click.echo(f"note: {line(text)}", err=True)


def width() -> int:
    """Return the columns of the terminal, or what suits a file."""
    if not sys.stdout.isatty():
        return _WIDTH_OF_PIPES
    asked = os.environ.get("COLUMNS", "")
    if asked.isascii() and asked.isdigit() and int(asked):
        return int(asked)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _WIDTH_OF_PIPES
    except OSError:
        return _WIDTH_OF_PIPES


def line(text: object) -> str:
    """Return anything from a store on one line and harmless."""
    return one_line(printable(str(text)))


def fit(text: str, columns: int) -> str:
    """Return a line that takes at most so many columns, marked by an ellipsis where something is missing."""
    if len(text) * 2 <= columns or _columns(text) <= columns:
        return text
    room, end = max(columns - 1, 0), 0
    for end, char in enumerate(text):  # noqa: B007 - the place where the room ends is what is wanted
        room -= _columns(char)
        if room < 0:
            break
    return text[:end].rstrip() + "…"


def pad(text: str, columns: int) -> str:
    """Return a line of exactly so many columns."""
    fitted = fit(text, columns)
    return fitted + " " * (columns - _columns(fitted))


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table: ruled on a terminal, plain columns elsewhere."""
    cells = [[line(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        _plain_table(headings, cells)
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    ruled = Table(*headings, box=SIMPLE_HEAD, pad_edge=False)
    for row in cells:
        ruled.add_row(*row)
    Console(color_system="auto" if is_coloured() else None, highlight=False, markup=False, emoji=False).print(ruled)


@contextmanager
def progress(label: str) -> Iterator[Progress | None]:
    """Yield what draws a bar on standard error; None where that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with ExitStack() as stack:
        bars: list[ProgressBar[Any]] = []

        def advance(done: int, total: int) -> None:
            # Made with the first report, so that what is done at once shows no bar.
            if not bars:
                bars.append(stack.enter_context(click.progressbar(length=max(total, 1), label=label, file=sys.stderr)))
            bars[0].update(done - bars[0].pos)

        yield advance
        for bar in bars:
            bar.update((bar.length or 0) - bar.pos)


def read_text() -> str:
    """Return standard input as text. Raises `Invalid` (`not_utf8`)."""
    raw = sys.stdin.buffer.read()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise Invalid(
            "not_utf8", f"standard input is not UTF-8 (byte {exc.start} is 0x{raw[exc.start]:02x}); convert it first"
        ) from exc


def _plain_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    columns = list(zip(headings, *rows, strict=True))
    widths = [max(_columns(cell) for cell in column) for column in columns]
    for row in (headings, *rows):
        say("  ".join(pad(cell, size) for cell, size in zip(row, widths, strict=True)).rstrip())


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)

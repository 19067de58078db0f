"""Where the demo is shown: numbered steps, short lines, and claims that are checked."""

from __future__ import annotations

import textwrap

import click

from eunoe.domain.text import printable
from eunoe.surfaces.cli import terminal

_COLUMNS = 98
_INDENT = "    "


class StepError(Exception):
    """A step did not do what it says."""


class Stage:
    """Where the story is shown: numbered steps and short lines."""

    steps = 0

    def scene(self, text: str) -> None:
        """Begin a part of the story."""
        terminal.say("\n" + terminal.paint(text, fg="cyan", bold=True))

    def step(self, title: str) -> None:
        """Begin a step, numbered."""
        self.steps += 1
        terminal.say("\n" + terminal.paint(f"{self.steps:>2}  {title}", bold=True))

    def command(self, *words: str) -> None:
        """Show what a person would type for what happens next."""
        self.say(" ".join(("eunoe", *(f'"{word}"' if " " in word else word for word in words))), mark="$ ", dim=True)

    def say(self, text: str, *, mark: str = "", **style: bool) -> None:
        """Show a text, each of its lines wrapped behind the mark."""
        room = _COLUMNS - len(_INDENT + mark)
        for part in (part for each in printable(text).splitlines() for part in _wrapped(each, room)):
            terminal.say(terminal.paint(_INDENT + mark + part, **style))
            mark = " " * len(mark)

    def row(self, text: str, **style: bool) -> None:
        """Show one line, cut where it is too long."""
        terminal.say(terminal.paint(_INDENT + "  " + terminal.fit(printable(text), _COLUMNS - 6), **style))

    def check(self, is_so: bool, claim: str) -> None:
        """Show a claim that holds; raise `StepError` for one that does not."""
        require(is_so, claim)
        lines = f"\n{_INDENT}    ".join(_wrapped(printable(claim), _COLUMNS - 8))
        terminal.say(_INDENT + terminal.paint("ok", fg="green", bold=True) + "  " + lines)

    def failed(self, reason: str) -> None:
        """Say on standard error at which step the story ended, and why."""
        click.echo(f"\nThe demo failed at step {self.steps}: {printable(reason)}", err=True)


def require(is_so: bool, claim: str) -> None:
    """Raise `StepError` unless what a step claims is so."""
    if not is_so:
        raise StepError(f"this does not hold: {claim}")


def _wrapped(text: str, columns: int) -> list[str]:
    return textwrap.wrap(text, columns, break_on_hyphens=False)

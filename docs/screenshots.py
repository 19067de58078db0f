"""Draws the pictures of the terminal: real commands in a temporary store, as a terminal shows them.

    python docs/screenshots.py           write docs/images/*.svg
    python docs/screenshots.py --check   change nothing; exit 1 when a picture shows something else than is printed now

Commands run on a pseudo-terminal, so that colours are those of a terminal. Dates, the name of the fence and paths are
written as always the same ones, so that a second run gives the same bytes. The pictures load nothing:
no fonts, no links.
"""

from __future__ import annotations

import os
import pty
import re
import shlex
import struct
import sys
import tempfile
from fcntl import ioctl
from html import escape
from io import StringIO
from pathlib import Path
from subprocess import Popen
from termios import TIOCSWINSZ
from typing import NamedTuple

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

IMAGES = Path(__file__).parent / "images"

ROWS = 60

_FONTS = "ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace"

# GitHub's page is white or nearly black; this stands out against both, and its colours are told apart on it.
_NORMAL = "3e4451 f07178 98cd79 e5c07b 61afef c678dd 56b6c2 d5d9e0"
_BRIGHT = "68707f ff8b92 b5e096 f0d694 82c4fa db94ee 70d0da ffffff"


def _colours(named: str) -> list[tuple[int, int, int]]:
    rows = (bytes.fromhex(each) for each in named.split())
    return [(red, green, blue) for red, green, blue in rows]


_THEME = TerminalTheme((24, 27, 33), (213, 217, 224), _colours(_NORMAL), _colours(_BRIGHT))

_PICTURE = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>{name}</title>
<desc>{told}</desc>
<style>
.{unique_id}-matrix {{ font-family: {fonts}; font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 15px; font-family: {fonts}; fill: #8b93a3; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


class Picture(NamedTuple):
    """One picture.

    Attributes:
        title: What it shows, in the bar above it.
        columns: Width of the terminal: that of the longest line.
        before: Commands that are run and not shown.
        shown: Commands that are shown; a `y` typed after each that asks.
    """

    title: str
    columns: int
    before: tuple[str, ...]
    shown: tuple[str, ...]


_GOTCHA = (
    'eunoe remember "Verify the signature on the raw body, before anything parses the request." '
    '--title "Stripe webhooks need the raw body" --kind gotcha --path src/api/hooks.py --tag stripe'
)
_DECISION = 'eunoe remember "Sessions live in Redis, because the API runs on three machines" --kind decision --tag auth'
_CONVENTION = 'eunoe remember "Migrations run before the rollout" --kind convention'
_FLY = 'eunoe remember "We deploy to Fly, region fra" --key deploy/target --value fly'
_HETZNER = 'eunoe remember "We deploy to Hetzner, one machine" --key deploy/target --value hetzner'

PICTURES = {
    "recall": Picture(
        "a correction sticks",
        92,
        (_GOTCHA, _DECISION, _CONVENTION),
        (_FLY, _HETZNER, 'eunoe recall "where do we deploy"', "eunoe history --key deploy/target"),
    ),
    "briefing": Picture(
        "what a session is told",
        100,
        (
            *(_GOTCHA, _DECISION, _CONVENTION, _FLY, _HETZNER, "eunoe link 1 2"),
            'eunoe remember "The worker retries a job 5 times"',
            'eunoe remember "The worker retries a job 3 times"',
        ),
        ('eunoe briefing "fix the webhook signature check"',),
    ),
    "setup": Picture("connecting a client", 113, (), ("eunoe setup claude-code",)),
    "review": Picture(
        "what needs tending",
        110,
        (
            *(_GOTCHA, _DECISION, _CONVENTION, "eunoe link 1 2"),
            'eunoe remember "Deploys run from the branch main"',
            'eunoe remember "Deploys are run from main, the branch"',
            "eunoe dispute 3",
        ),
        ("eunoe review", "eunoe confirm 3"),
    ),
}


class Terminal:
    """A shell in a home and a repository of its own."""

    def __init__(self, home: Path, columns: int) -> None:
        self._home = home
        self._columns = columns
        self._folder = home / "shop"
        (self._folder / ".git").mkdir(parents=True)
        (home / ".claude").mkdir()
        self._environment = {"HOME": str(home), "PATH": os.environ.get("PATH", os.defpath), "TERM": "xterm-256color"}
        self._environment |= {"XDG_DATA_HOME": str(home / ".local" / "share"), "LANG": "C.UTF-8"}

    def run(self, command: str) -> str:
        """Return what a command prints on a terminal, with the same dates, names and paths in every run."""
        ours, theirs = pty.openpty()
        ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", ROWS, self._columns, 0, 0))
        words = [sys.executable, "-m", *shlex.split(command)]
        process = Popen(  # noqa: S603 - the commands above
            words, stdin=theirs, stdout=theirs, stderr=theirs, env=self._environment, cwd=self._folder, close_fds=True
        )
        os.close(theirs)
        printed = b""
        while piece := _read(ours):
            printed += piece
            if printed.endswith(b"[y/N]: "):
                os.write(ours, b"y\n")
        os.close(ours)
        if process.wait():
            raise RuntimeError(f"{command}: {printed.decode()}")
        return self._same(printed.decode("utf-8").replace("\r\n", "\n"))

    def _same(self, text: str) -> str:
        text = text.replace(str(Path(sys.executable).parent), "/you/eunoe/.venv/bin").replace(str(self._home), "/you")
        text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "2026-11-30 10:19", text)
        text = re.sub(r"\d{4}-\d\d-\d\d(?! 10:19)", "2026-11-30", text)
        return re.sub(r"eunoe-[0-9a-f]{8}\b", "eunoe-3f9a2c1b", text)


def record(picture: Picture) -> Text:
    """Return what a terminal shows of a picture's commands."""
    with tempfile.TemporaryDirectory() as folder:
        terminal = Terminal(Path(folder).resolve(), picture.columns)
        for command in picture.before:
            terminal.run(command)
        screen = ""
        for command in picture.shown:
            screen += f"\x1b[32m$\x1b[0m \x1b[1m{_folded(command, picture.columns)}\x1b[0m\n{terminal.run(command)}"
    return Text.from_ansi(screen.rstrip("\n"), tab_size=4)


def draw(name: str, picture: Picture, screen: Text) -> str:
    """Return a picture."""
    console = Console(
        record=True, width=picture.columns, file=StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(screen, highlight=False)
    told = escape(screen.plain).replace("{", "{{").replace("}", "}}")
    template = _PICTURE.replace("{fonts}", _FONTS).replace("{name}", escape(picture.title)).replace("{told}", told)
    drawn = console.export_svg(title=picture.title, theme=_THEME, code_format=template, unique_id=f"eunoe-{name}")
    return "\n".join(line.rstrip() for line in drawn.splitlines() if line.strip()) + "\n"


def told_by(drawing: str) -> str:
    """Return the text that a picture holds for those who cannot see it."""
    found = re.search(r"<desc>(.*?)</desc>", drawing, re.DOTALL)
    return found[1] if found else ""


def outdated() -> list[Path]:
    """Return the pictures that show something else than is printed now."""
    stale = []
    for name, picture in PICTURES.items():
        file = IMAGES / f"{name}.svg"
        drawn = file.read_text(encoding="utf-8") if file.is_file() else ""
        now = "\n".join(line.rstrip() for line in escape(record(picture).plain).splitlines() if line.strip())
        if told_by(drawn) != now:
            stale.append(file)
    return stale


def _folded(command: str, columns: int) -> str:
    """Break a long command as one would type it."""
    words, lines = shlex.split(command), [""]
    for word in words:
        quoted = f'"{word}"' if " " in word else word
        if len(lines[-1]) + len(quoted) > columns - 6:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {quoted}" if lines[-1] else quoted
    return "\n".join(lines)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that the other end is closed
        return b""


def main() -> int:
    """Write the pictures, or with `--check` tell which are out of date."""
    if "--check" in sys.argv[1:]:
        stale = outdated()
        for file in stale:
            sys.stderr.write(f"{file.name} is out of date: run `python docs/screenshots.py`\n")
        return bool(stale)
    IMAGES.mkdir(exist_ok=True)
    for name, picture in PICTURES.items():
        (IMAGES / f"{name}.svg").write_text(draw(name, picture, record(picture)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Writes the reference pages that are made from tables in the code: the commands and the kinds.

    python docs/generate.py           write the pages
    python docs/generate.py --check   change nothing; exit 1 when a page is out of date

A test runs the check, so that a page never says anything else than the table it is made from.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

import click

from eunoe.domain.kinds import KINDS
from eunoe.service.catalog import CATALOG
from eunoe.surfaces.cli.main import group, sections, summary
from eunoe.surfaces.cli.options import shared_options

REFERENCE = Path(__file__).parent / "reference"

_NOTE = "<!-- Written by `make docs` out of {source}. -->\n\n"

_CLI_HEAD = """# Commands

Most commands are rows of `service/catalog.py`, and each of those is a method of `Memory` as well (see
[library.md](library.md)). A use case means the same on both faces. This page is made from the commands themselves.

Results go to standard output, everything else to standard error. A table is ruled on a terminal and plain elsewhere.
`NO_COLOR` turns colours off. Control characters of a text are printed as visible escapes.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | the store could not do it, a check found something wrong, or lines of an import were set aside |
| 2 | wrong usage, or what was given can never work |
| 3 | there is no such memory, project or file |
| 4 | it clashes with what is there |
| 5 | a rule forbids it |
| 130 | interrupted |

An error is one line on standard error, and its code in a second; with `--json` also an object on standard output. The
codes are in [errors.md](errors.md).

## Words used below

| word | what may be written |
|---|---|
| `MEMORY` | a number (`12` or `#12`), an id, `me#12`, or `acme/api#12` |
| `TIME` | ISO 8601: `2026-03-01`, `2026-03-01T09:30`, `2026-03-01T09:30:00+01:00`; without a zone it is UTC |
| `DURATION` | `90s`, `30m`, `24h`, `7d`, `2w` |
| `X` | a number from 0 to 1 |
| `FILE` | a path; for an import `-` is standard input |

An argument in brackets may be left out. "Repeatable" options may be given several times.

"""

_KINDS_HEAD = """# Kinds

The kind says what a memory is about. It decides the type, the importance where none is given, and the numbers by which
it ages. Without a kind a memory is a `fact`, and a `note` when its body is longer than 16,000 characters.

- **importance**: the default, 0 to 1.
- **half-life**: freshness halves in this many days after the last confirmation; "never" does not age. Stored here
  for later parts: nothing in this version reads it.
- **floor**: the least that ageing leaves of freshness.
- **body**: the most characters that a body may have.

`secret` has the type `vault`. It needs encryption, which this version does not have, so that it is refused with the
code [`vault`](errors.md).
"""


def commands() -> str:
    """Return the page of commands."""
    parts = [_NOTE.format(source="src/eunoe/service/catalog.py and src/eunoe/surfaces/cli"), _CLI_HEAD]
    parts.append("## Options of every command\n" + _table(shared_options()))
    for section, names in sections().items():
        parts.append(f"\n## {section}\n\n| command | what it does |\n|---|---|\n")
        parts += [f"| [`{name}`](#{name}) | {summary(name)} |\n" for name in names]
        parts += [_command(name) for name in names]
    return "".join(parts)


def kinds() -> str:
    """Return the page of kinds."""
    lines = [_NOTE.format(source="src/eunoe/domain/kinds.py"), _KINDS_HEAD, "\n"]
    lines.append("| kind | type | importance | half-life, days | floor | body |\n|---|---|--:|--:|--:|--:|\n")
    for row in KINDS.values():
        life = "never" if not row.half_life_days else str(row.half_life_days)
        size = "1,000,000" if row.long else "16,000"
        importance, floor = row.importance / 1000, row.decay_floor / 1000
        lines.append(f"| `{row.name}` | {row.type} | {importance:g} | {life} | {floor:g} | {size} |\n")
    return "".join(lines)


PAGES = {REFERENCE / "cli.md": commands, REFERENCE / "kinds.md": kinds}


def outdated() -> list[Path]:
    """Return the pages that do not say what the tables say."""
    return [page for page, text in PAGES.items() if not page.is_file() or page.read_text(encoding="utf-8") != text()]


def _command(name: str) -> str:
    command = group().get_command(click.Context(group()), name)
    if command is None:
        raise LookupError(name)
    params = [param for param in command.params if param.expose_value]
    arguments = [param for param in params if isinstance(param, click.Argument)]
    options = [param for param in params if isinstance(param, click.Option)]
    inner = sorted(command.commands) if isinstance(command, click.Group) else []
    words = [*inner, *(_placeholder(param) for param in arguments), *(["[OPTIONS]"] * bool(options))]
    first, *more = (command.help or "").split("\n\n")
    paragraphs = "".join(f"\n{fill(each, 120, break_on_hyphens=False)}\n" for each in (first, *more))
    return f"\n### {name}\n{paragraphs}\n```text\neunoe {' '.join([name, *words])}\n```\n{_table(params)}"


def _table(params: Sequence[click.Parameter]) -> str:
    if not params:
        return ""
    rows = "".join(f"| {_shown(param)} | {_meaning(param)} |\n" for param in params)
    return f"\n| argument | meaning |\n|---|---|\n{rows}"


def _shown(param: click.Parameter) -> str:
    if isinstance(param, click.Argument):
        return f"`{_placeholder(param)}`".replace("|", "\\|")
    names = [*param.opts, *param.secondary_opts]
    takes = "" if isinstance(param, click.Option) and param.is_flag else f" {_placeholder(param)}"
    return ", ".join(f"`{name}{takes}`" for name in names).replace("|", "\\|")


def _placeholder(param: click.Parameter) -> str:
    if param.metavar is not None:
        return param.metavar
    return "|".join(param.type.choices) if isinstance(param.type, click.Choice) else str(param.name).upper()


def _meaning(param: click.Parameter) -> str:
    """Return what the option says of itself; for an argument of a use case, what the catalogue says."""
    text = param.help if isinstance(param, click.Option) else _HELP.get(str(param.name), "")
    again = " (repeatable)" if isinstance(param, click.Option) and param.multiple else ""
    return f"{(text or '').replace('<', '&lt;').replace('|', '&#124;')}{again}"


# click's arguments carry no help of their own.
_HELP = {field.name: field.help for row in reversed(CATALOG) for field in row.fields if field.positional} | {
    "clients": "by name; default those that are found, or for uninstall all",
    "file": "the document",
    "folder": "default the current one",
    "shell": "whose script to print",
}


def main() -> int:
    """Write the pages, or with `--check` tell which are out of date."""
    stale = outdated()
    if "--check" in sys.argv[1:]:
        for page in stale:
            sys.stderr.write(f"{page.name} is out of date: run `python docs/generate.py`\n")
        return bool(stale)
    for page in stale:
        page.write_text(PAGES[page](), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

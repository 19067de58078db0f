"""Writes the reference pages that are made from tables in the code: the commands, the tools and the kinds.

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
from eunoe.service import show
from eunoe.service.catalog import BY_NAME, CATALOG
from eunoe.surfaces.cli.main import group, sections, summary
from eunoe.surfaces.cli.options import shared_options
from eunoe.surfaces.mcp.answers import RECALL_HITS
from eunoe.surfaces.mcp.tools import INSTRUCTIONS, TOOLS, Parameter, Tool
from eunoe.surfaces.mcp.tools import KINDS as OFFERED_KINDS

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
- **half-life**: freshness halves in this many days after the last confirmation; "never" does not age. Read by a
  [briefing](../explanation/budgets.md#what-a-briefing-holds); a search does not age.
- **floor**: the least that ageing leaves of freshness.
- **body**: the most characters that a body may have.

`secret` has the type `vault`. It needs encryption, which this version does not have, so that it is refused with the
code [`vault`](errors.md).
"""

_MCP_HEAD = """# The tools of an agent (MCP)

`eunoe mcp` serves one agent over standard input and output. A client starts it; [`eunoe setup`](cli.md#setup) writes
the entry ([connect a client](../howto/connect-a-client.md)). It needs the extra `pip install '.[mcp]'`. It speaks the
protocol in both eras, with the handshake `initialize` and without. Standard output carries JSON-RPC only; what went
wrong unexpectedly is on standard error. The server ends when its client closes standard input, and it opens the
store with the first call, not before. This page is made from the tools themselves. Which tool when:
[use it from an agent](../howto/use-from-an-agent.md).

## What a client is told

All definitions together cost at most 1,050 o200k tokens; a test counts them. For that they have no bounds, no defaults
and no output schemas. A bound that is broken gives an error which names it. The instructions of the server:

{instructions}

## What an answer is

Text that a model reads, and the facts behind it as an object: addresses, numbers and outcomes, so that a program need
not read the text. Which form the facts have depends on the name by which the client introduces itself:

| client | text | facts |
|---|---|---|
| name begins with `claude-code` or `codex` | content | `_meta["eunoe/facts"]` |
| any other | content, and `text` in the structured content | structured content |

The two in the first row show their model the structured form in place of the text, which would be dearer and without
the lines of the fence. See [what clients do](../explanation/clients-seen.md).

Text out of memories stands in a fence and within a [budget](../explanation/budgets.md). The budgets of one answer, in
o200k tokens; the structured form with its facts keeps to them as well:

| tool | budget | can be set |
|---|--:|---|
{budgets}
## Errors

An error is an answer with `isError`. Its text is `code: what to do`; its facts are
`{{"error": {{"kind", "code", "message", "retryable"}}}}`, with `details` where there are some. The codes are those of
[errors.md](errors.md). The server goes on after any of them. A setting that is wrong is an error of each call, so that
the agent can tell its person.

## How memories are named

| written | means |
|---|---|
| `12`, `"12"`, `"#12"` | number 12 of the session's project |
| `"me#12"` | number 12 of the user's own project |
| `"acme/api#12"` | number 12 of another project |
| an id | that memory |

Other projects are read by address, and with `project` in `briefing` and `recall`. Nothing is written there: a call that
would is refused with `other_project`. With `EUNOE_USER` set, `recall` finds what is in the user's own project as well.

Arguments are taken as models write them: `12` for `"12"`, one text where a list belongs, a list as its JSON text,
`"true"` for true. `null` and an empty list count as left out.

## Who speaks

An agent, always. Its name is the one by which the client introduces itself, its session the one that the client's
environment names (`CLAUDE_CODE_SESSION_ID`, `CODEX_THREAD_ID`), else one of its own. Neither can be given as an
argument. What an agent cannot do is in
[use it from an agent](../howto/use-from-an-agent.md#what-needs-a-person).

## The tools

"""

# What each tool answers: in words, and in the fields of its facts.
_ANSWERS = {
    "briefing": (
        "Returns what a session should know before it starts: see [budgets](../explanation/budgets.md). Where nothing "
        "is remembered yet, it says so.",
        "`project tokens omitted`",
    ),
    "recall": (
        "Returns the best hits in full, the next ones as lines, and the number of the others. When nothing fits well "
        "the text says so. `tags` must all be there; of `kinds` and `paths` any will do.",
        "`project total omitted weak`; `hits`, each with `number kind evidence`, and `project` when it is another one; "
        "`degraded` when a lane failed",
    ),
    "get": (
        "Returns memories whatever their status, by `ids`, by `key`, or both. A body that is longer than the budget is "
        "shown in part; `next_offset` is the `offset` to go on with.",
        "`memories`, each with `number kind id version status title tags paths` and, where it has them, `key value "
        "source superseded_by`, and `project` when it is another one; `body` as stated, when there is one memory "
        "and the budget holds it beside the text; `next_offset`, `omitted`",
    ),
    "remember": (
        "Returns a receipt when the memory is durable. Restating confirms; a new value of a `key` replaces the old "
        "one; a near-duplicate is refused with its number (`near_duplicate`). See "
        "[how corrections work](../explanation/corrections.md).",
        "`outcome number id`; `replaced`, `twins`, `masked` where there are some",
    ),
    "update": (
        "Writes a new version; what is not named stays. `clear` empties `title key value tags paths source "
        "valid_to`. "
        "`confirm` and `dispute` exclude each other; `archive` stands alone.",
        "`action numbers`",
    ),
    "link": ("Links have no direction. `cut` removes the link.", "`action numbers`"),
    "related": (
        "Returns what is linked, the nearest first, each memory once. What is believed no more is passed by.",
        "`related`, each with `number kind hops`, and `project` when it is another one; `omitted`",
    ),
    "history": (
        "Returns every step, the newest first, with the text of each version.",
        "`steps` that the text shows, each with `type recorded_at`, and `number version` where there is one; `omitted`",
    ),
    "review": (
        "Returns what needs tending, each section with what to do: see [tidy a project](../howto/tidy-a-project.md).",
        "`project omitted`; `sections`, each with how many there are",
    ),
    "forget": (
        "Takes back one memory, or all that have all the tags given and that scope. Without any of them it is refused. "
        "`dry_run` tells what would go.",
        "`action numbers`; `dry_run`",
    ),
    "list_projects": (
        "Returns the projects of the store with what the user may read in them; `*` marks the session's.",
        "`projects`, each with `slug memories links current`; `omitted` beyond 50",
    ),
}

# Where the catalogue has no words for an argument, or others.
_ARGUMENTS = {
    "a": "one memory",
    "b": "the other",
    "body": "what to remember, or the corrected text",
    "archive": "put it away; its key is free again",
    "budget_tokens": "o200k tokens at most",
    "clear": "names of fields to empty",
    "cut": "cut the link instead",
    "focus": "the task, in any words: what bears on it comes first",
    "id": "the memory",
    "ids": "memories by number, id, `me#12` or `acme/api#12`",
    "kinds": "only of these kinds",
    "limit": "hits at most",
    "links": "memories that it belongs with",
    "offset": "characters of a long body to skip",
    "paths": "files or folders that it is about",
    "project": "another project, by name; `me` for the user's own",
    "query": "any text; no character is grammar",
    "supersedes": "memories that it takes the place of",
    "tags": "tags",
}

_TYPES = {
    "text": "text",
    "texts": "list of texts",
    "integer": "whole number",
    "number": "number",
    "flag": "true or false",
    "kind": "one of the kinds above",
}


def tools() -> str:
    """Return the page of the tools of an agent."""
    told = fill(INSTRUCTIONS, 118, initial_indent="> ", subsequent_indent="> ")
    head = _MCP_HEAD.format(instructions=told, budgets=_budgets())
    parts = [_NOTE.format(source="src/eunoe/surfaces/mcp"), "\n\n".join(map(_wrapped, head.split("\n\n")))]
    parts.append("| tool | what a model reads of it | writes |\n|---|---|---|\n")
    parts += [f"| [`{tool.name}`](#{tool.name}) | {tool.help} | {_writes(tool)} |\n" for tool in TOOLS]
    kinds_ = " ".join(f"`{kind}`" for kind in OFFERED_KINDS)
    parts.append(f"\n{_wrapped(f'`kind` of `remember` takes {kinds_}; see [kinds.md](kinds.md).')}\n")
    parts += [_tool(tool) for tool in TOOLS]
    return "".join(parts)


def _budgets() -> str:
    limits = {"recall": f", for at most {RECALL_HITS} memories", "get": f", for at most {show.MOST} memories"}
    rows = []
    for tool in TOOLS:
        if tool.tokens:
            named = [each.name for each in tool.parameters if each.name in ("budget_tokens", "limit")]
            settable = ", ".join(f"`{name}`" for name in sorted(named))
            rows.append((tool.name, f"{tool.tokens:,}{limits.get(tool.name, '')}", settable))
    return "".join(f"| `{name}` | {most} | {settable} |\n" for name, most, settable in rows)


def _writes(tool: Tool) -> str:
    return "takes away" if tool.destroys else "" if tool.reads else "yes"


def _tool(tool: Tool) -> str:
    told, facts = _ANSWERS[tool.name]
    rows = "".join(_argument(tool, each) for each in tool.parameters)
    table = f"\n| argument | type | meaning |\n|---|---|---|\n{rows}" if rows else "\nIt takes no arguments.\n"
    return f"\n### {tool.name}\n\n{_wrapped(told)}\n{table}\n{_wrapped(f'Facts: {facts}.')}\n"


def _argument(tool: Tool, parameter: Parameter) -> str:
    known = {field.name: field.help for field in BY_NAME[tool.name].fields} if tool.name in BY_NAME else {}
    meaning = _ARGUMENTS.get(parameter.name) or known[parameter.field or parameter.name]
    needed = ", required" if parameter.required else ""
    return f"| `{parameter.name}` | {_TYPES[parameter.type]}{needed} | {meaning.replace('<', '&lt;')} |\n"


def _wrapped(text: str) -> str:
    return (
        text
        if text[:1] in tuple("|>#") or not text
        else fill(text, 120, break_on_hyphens=False, break_long_words=False)
    )


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


PAGES = {REFERENCE / "cli.md": commands, REFERENCE / "mcp.md": tools, REFERENCE / "kinds.md": kinds}


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

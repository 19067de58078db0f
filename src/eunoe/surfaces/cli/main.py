"""The command `eunoe`: a group that imports a command's module only when that command runs."""

from __future__ import annotations

import os
import sys
from importlib import import_module

import click

from eunoe._version import __version__
from eunoe.service.catalog import BY_NAME
from eunoe.surfaces.cli.options import shared_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Commands that are no use case, or whose use case is about files: name → (module with `COMMAND`, summary); the summary
# of a use case comes from the catalogue.
OWN = {
    "import": ("files", ""),
    "export": ("files", ""),
    "setup": ("setup", "Connect the programs that agents run in; shows every change before it is made"),
    "uninstall": ("setup", "Disconnect them again; memories stay"),
    "trust": ("trust", "Let the .eunoe.toml of this folder choose its project"),
    "config": ("config", "Show each setting and where it comes from"),
    "mcp": ("mcp", "Serve one agent over standard input and output (MCP)"),
    "model": ("model", "Install, list and check the models for search by meaning"),
    "doctor": ("doctor", "Check everything, and name what fails"),
    "migrate-store": ("stores", "Move a store to another database, and verify it there"),
    "grant-store": ("stores", "Let a role of the server use the store: as a service, a reader or an auditor"),
    "completion": ("extras", "Print the completion script of a shell"),
    "demo": ("extras", "Play a short story in a store of its own"),
    "eval": ("eval", "Measure how well memory answers, with the set that comes with Eunoe or your own"),
}
SECTIONS = {
    "Memory": (
        *(
            "briefing",
            "remember",
            "recall",
            "get",
            "related",
            "update",
            "confirm",
            "dispute",
            "history",
            "why",
            "count",
        ),
        *("archive", "restore", "forget", "link", "unlink", "review"),
    ),
    "Ledger": ("verify", "head", "log", "rebuild", "reembed", "export", "import"),
    "Setup": (
        *("setup", "uninstall", "mcp", "projects", "trust", "config", "model", "doctor", "completion", "demo"),
        *("eval", "migrate-store", "grant-store"),
    ),
}


class Commands(click.Group):
    """All commands, listed without being imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return [name for names in sections().values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command, made now."""
        if cmd_name in OWN:
            module = import_module(f"eunoe.surfaces.cli.{OWN[cmd_name][0]}")
            found: click.Command = module.COMMANDS[cmd_name]
            return found
        if cmd_name not in BY_NAME:
            return None
        from eunoe.surfaces.cli.build import command

        return command(BY_NAME[cmd_name])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections from the summaries alone."""
        for title, names in sections().items():
            with formatter.section(title):
                formatter.write_dl([(name, summary(name)) for name in names])


def sections() -> dict[str, tuple[str, ...]]:
    """Return the names of all commands by section; a use case that no section names is under More."""
    named = {name for names in SECTIONS.values() for name in names}
    rest = tuple(name for name in BY_NAME if name not in named)
    return SECTIONS | ({"More": rest} if rest else {})


def summary(name: str) -> str:
    """Return the one line about a command."""
    return BY_NAME[name].summary if name in BY_NAME else OWN[name][1]


def _print_version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(f"eunoe {__version__}")
        ctx.exit()


def group() -> Commands:
    """Return the group."""
    version = click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_print_version,
        help="print the version",
    )
    return Commands(
        "eunoe",
        params=[*shared_options(), version],
        help="One memory for every AI agent. The options of this page may also follow the command's name.",
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="Exit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 conflict, 5 refused.",
    )


def main(args: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Args:
        args: Without the program's name; default those of the process.
    """
    args = _arguments() if args is None else list(args)
    _use_utf8()
    try:
        return _run(args)
    except BrokenPipeError:
        return _leave_pipe()


def _run(args: list[str]) -> int:
    try:
        code = group().main(args or ["--help"], prog_name="eunoe", standalone_mode=False)
    except (Exception, KeyboardInterrupt) as exc:  # noqa: BLE001 - the surface's boundary: no traceback, ever
        from eunoe.surfaces.cli.failures import report

        return report(exc, as_json=_wants_json(args))
    return code if isinstance(code, int) else 0


def _use_utf8() -> None:
    """Speak UTF-8 whatever the console's code page: a memory must never fail to print, nor be printed as another."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")


def _arguments() -> list[str]:
    """Return the arguments of the process; a locale without UTF-8 gives their bytes one by one, so join them again."""
    given = sys.argv[1:]
    if sys.getfilesystemencoding() == "utf-8":
        return given
    return [os.fsencode(each).decode("utf-8", "surrogateescape") for each in given]


def _wants_json(args: list[str]) -> bool:
    options = args[: args.index("--")] if "--" in args else args
    return "--json" in options


def _leave_pipe() -> int:
    """Whoever read us has gone: say nothing more, not even when the interpreter flushes at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    return 1

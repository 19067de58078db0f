"""`eunoe completion` and `eunoe demo`."""

from __future__ import annotations

import click

from eunoe.surfaces.cli.options import define

SHELLS = ("bash", "zsh", "fish")


def _completion(shell: str) -> int:
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    root = click.get_current_context().find_root().command
    if made is not None:
        click.echo(made(root, {}, "eunoe", "_EUNOE_COMPLETE").source())
    return 0


def _demo(keep: str | None) -> int:
    from eunoe.surfaces.cli.demo import run

    return run(keep=keep)


COMMANDS = {
    "completion": define(
        "completion",
        "Print the completion script of a shell",
        _completion,
        click.Argument(["shell"], type=click.Choice(SHELLS)),
        more='For bash and zsh put `eval "$(eunoe completion bash)"` into the start-up file; fish reads '
        "`eunoe completion fish | source`.",
    ),
    "demo": define(
        "demo",
        "Play a short story in a store of its own",
        _demo,
        click.Option(["--keep"], metavar="FOLDER", help="keep the store of the story in this folder"),
    ),
}

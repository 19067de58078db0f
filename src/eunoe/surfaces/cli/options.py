"""The options that every command takes, before its name and after it; the one nearer to the end wins."""

from __future__ import annotations

import click

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_META = "eunoe."


class Given:
    """What was asked around a use case.

    Attributes:
        store, project, user: As given on the command line, or None: then the environment and the defaults decide.
        as_json: Whether to answer in JSON.
    """

    __slots__ = ("as_json", "project", "store", "user")

    def __init__(self, *, store: str | None, project: str | None, user: str | None, as_json: bool) -> None:
        self.store = store
        self.project = project
        self.user = user
        self.as_json = as_json


def shared_options() -> list[click.Parameter]:
    """Return fresh options; their values go into the context, not to the command."""
    return [
        _option("--store", "the store: a file, :memory:, or postgresql://… (EUNOE_STORE)", metavar="STORE"),
        _option("--project", "the project by name; me for your own (EUNOE_PROJECT)", metavar="NAME"),
        _option("--user", "on whose behalf (EUNOE_USER)", metavar="ID"),
        _option("--json", "answer in JSON", is_flag=True),
    ]


def given() -> Given:
    """Return the shared options of the running command."""
    meta = click.get_current_context().meta
    return Given(
        store=meta.get(_META + "store"),
        project=meta.get(_META + "project"),
        user=meta.get(_META + "user"),
        as_json=bool(meta.get(_META + "json")),
    )


def define(
    name: str, summary: str, callback: Callable[..., int | None], *params: click.Parameter, more: str = ""
) -> click.Command:
    """Return a command with its own parameters and the shared options.

    Args:
        name: The word for it.
        summary: One sentence without a full stop.
        callback: Gets the values of `params` by name, and returns the exit code; None is 0.
        params: Its own parameters.
        more: Further paragraphs of its help.
    """
    return click.Command(
        name,
        params=[*params, *shared_options()],
        callback=callback,
        help=f"{summary}.\n\n{more}".strip(),
        short_help=summary,
    )


def _option(flag: str, text: str, **settings: Any) -> click.Option:
    return click.Option([flag], help=text, expose_value=False, callback=_keep, default=None, **settings)


def _keep(context: click.Context, parameter: click.Parameter, value: object) -> None:
    """Keep a value in the context's `meta`, which a command shares with the group: what is parsed later wins."""
    if value is not None and value is not False and parameter.name is not None:
        context.meta[_META + parameter.name] = value

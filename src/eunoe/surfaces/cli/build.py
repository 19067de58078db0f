"""From the catalogue to commands: one generic builder, so that nothing about a use case is written twice."""

from __future__ import annotations

from functools import partial

import click

from eunoe.service.catalog import Field
from eunoe.surfaces.cli.options import define, given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from eunoe.service.catalog import UseCase

# What only the command line knows, by use case.
ADDED: dict[str, tuple[Field, ...]] = {
    "recall": (Field("no_me", "flag", "leave out your own project, which is searched as well when a user is set"),),
    "verify": (Field("all", "flag", "check every project that you may see"),),
}
MORE = {
    "update": 'An empty value clears a field: --key "" releases the key, --tag "" removes all tags.',
    "recall": "No character of the query is grammar. Ends with a cursor for --after when there is more.",
    "verify": "Exit code 1 when anything is wrong; the first bad event is named.",
    "rebuild": "Exit code 1 when --dry-run finds a difference.",
}

# An edit must be able to take a flag back; a first statement only sets it.
_TWO_WAY = frozenset({("update", "pinned")})
_FEW = 6  # more choices than this would fill the column of names
_LISTS = frozenset({"texts", "addresses"})
_METAVARS = {
    "text": "TEXT",
    "texts": "TEXT",
    "address": "MEMORY",
    "addresses": "MEMORY",
    "integer": "N",
    "number": "X",
    "time": "TIME",
    "duration": "DURATION",
}


def command(row: UseCase) -> click.Command:
    """Return the command of a use case. What the use case runs is imported only when the command runs."""
    fields = (*row.fields, *ADDED.get(row.name, ()))
    params = (parameter(row, field) for field in fields)
    return define(row.name, row.summary, partial(_run, row), *params, more=MORE.get(row.name, ""))


def parameter(row: UseCase, field: Field) -> click.Parameter:
    """Return the argument or option of one input; its value arrives under the field's name, None or () when absent."""
    if field.positional:
        return click.Argument([field.name], required=not field.optional, metavar=_argument(field))
    flag = "--" + (field.one or field.name).replace("_", "-")
    if field.type == "flag":
        both = (row.name, field.name) in _TWO_WAY
        declared = f"{flag}/--no-{flag[2:]}" if both else flag
        return click.Option([declared, field.name], is_flag=True, default=None, help=field.help)
    return click.Option(
        [flag, field.name],
        help=field.help if len(field.choices) <= _FEW else f"{field.help}: {', '.join(field.choices)}",
        type=_type(field),
        multiple=field.type in _LISTS,
        default=None,
        metavar=field.name.upper() if len(field.choices) > _FEW else _METAVARS.get(field.type),
        required=not field.optional,
    )


def _argument(field: Field) -> str:
    name = field.name.upper()
    return f"[{name}]" if field.optional else name


def _type(field: Field) -> click.ParamType[Any]:
    if field.choices:
        return click.Choice(field.choices)
    plain: dict[str, click.ParamType[Any]] = {"integer": click.INT, "number": click.FLOAT}
    return plain.get(field.type, click.STRING)


def _run(row: UseCase, **inputs: Any) -> int:
    from eunoe.surfaces.cli.run import use_case

    return use_case(row, given(), inputs)

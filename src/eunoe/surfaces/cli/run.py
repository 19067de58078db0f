"""Runs a use case for the command line: the few things a command does around the call, and the exit code."""

from __future__ import annotations

from eunoe.errors import Invalid
from eunoe.surfaces.cli import terminal
from eunoe.surfaces.cli.session import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from eunoe.service.catalog import UseCase
    from eunoe.service.context import Context
    from eunoe.surfaces.cli.options import Given

    Inputs = dict[str, Any]
    Handler = Callable[[UseCase, Context, Inputs], Any]

_STDIN = "-"


def use_case(row: UseCase, given: Given, inputs: Inputs) -> int:
    """Run a use case with what was given on the command line, print its result, and return the exit code."""
    asked = {name: value for name, value in inputs.items() if value is not None and value != ()}
    if asked.get("body") == _STDIN:
        asked["body"] = terminal.read_text()
    with opened(given, fast_model_only=row.name != "reembed") as session:
        result = _HANDLERS.get(row.name, _call)(row, session.context, asked)
        _show(row.name, result, given, session.context)
    return 1 if _has_failed(result) else 0


def _show(name: str, result: object, given: Given, context: Context) -> None:
    if given.as_json:
        from eunoe.surfaces.cli.encode import answer, dumps

        terminal.say(dumps(answer(name, result)))
        return
    from eunoe.surfaces.cli.render import render

    render(name, result, context)


def _has_failed(result: object) -> bool:
    """Tell whether a check found something: a ledger with a fault, or projections that a dry run would repair."""
    if isinstance(result, dict):
        return not result.get("ok", True)
    differs = bool(getattr(result, "differences", None)) and not getattr(result, "swapped", True)
    return differs or not getattr(result, "ok", True)


def _call(row: UseCase, context: Context, inputs: Inputs) -> Any:
    return row.load()(context, **inputs)


def _recall(row: UseCase, context: Context, inputs: Inputs) -> Any:
    with_me = context.caller.user is not None and not inputs.pop("no_me", False)
    return row.load()(context, include_me=with_me, **inputs)


def _get(row: UseCase, context: Context, inputs: Inputs) -> Any:
    """Show what it is linked to as well: a person who opens a memory wants to know where to go on."""
    from eunoe.service.read import links

    memory = row.load()(context, **inputs)
    address = memory.id if memory.project == context.slug else f"{memory.project}#{memory.number}"
    return {"memory": memory, "links": links(context, address)}


def _update(row: UseCase, context: Context, inputs: Inputs) -> Any:
    """An empty value clears: the only way to say None on a command line."""
    cleared: Inputs = {name: None if value == "" else value for name, value in inputs.items() if name != "target"}
    cleared |= {name: () for name, value in inputs.items() if value == ("",)}
    return row.load()(context, inputs["target"], **cleared)


def _with_progress(label: str) -> Handler:
    def handler(row: UseCase, context: Context, inputs: Inputs) -> Any:
        with terminal.progress(label) as progress:
            return row.load()(context, progress=progress, **inputs)

    return handler


def _verify(row: UseCase, context: Context, inputs: Inputs) -> Any:
    if not inputs.pop("all", False):
        with terminal.progress("verifying") as progress:
            return row.load()(context, progress=progress, **inputs)
    if inputs:
        raise Invalid("since_with_all", "--since belongs to one project; leave out --all, or --since")
    from eunoe.service.projects import list_projects

    results = []
    for each in list_projects(context):
        with terminal.progress(f"verifying {each.slug}") as progress:
            results.append(row.load()(context._replace(slug=each.slug, identity=None), progress=progress))
    return {"ok": all(result.ok for result in results), "projects": results}


_HANDLERS: dict[str, Handler] = {
    "recall": _recall,
    "get": _get,
    "update": _update,
    "rebuild": _with_progress("rebuilding"),
    "reembed": _with_progress("embedding"),
    "verify": _verify,
}

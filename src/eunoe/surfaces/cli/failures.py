"""Errors become exit codes and one line on standard error; never a traceback."""

from __future__ import annotations

import os
import sys

import click

from eunoe.domain.text import printable
from eunoe.errors import EunoeError

FAILED = 1
INTERRUPTED = 130

# The one table: kind of error → exit code. What is not in it is 1.
EXIT_CODES = {"invalid": 2, "not_found": 3, "conflict": 4, "refused": 5, "unavailable": FAILED}


def report(exc: BaseException, *, as_json: bool) -> int:
    """Tell what went wrong and return the exit code.

    The sentence goes to standard error; with `as_json` the error as an object goes to standard output as well.
    """
    if isinstance(exc, click.Abort | KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    facts, hint = _facts(exc)
    message = " ".join(printable(str(facts["message"])).split())
    click.echo(f"error: {message}\n{hint}", err=True)
    if as_json:
        from eunoe.surfaces.cli.encode import dumps

        click.echo(dumps({"error": facts}))
    return EXIT_CODES.get(str(facts["kind"]), FAILED)


def _facts(exc: BaseException) -> tuple[dict[str, object], str]:
    """Return an error as `EunoeError.to_dict` does, and the second line for people."""
    if isinstance(exc, EunoeError):
        return exc.to_dict(), f"code: {exc.code}"
    if isinstance(exc, click.ClickException):
        context = getattr(exc, "ctx", None)
        hint = f"help: {context.command_path} --help" if context is not None else ""
        return _fact("invalid", "usage", exc.format_message()), hint or "code: usage"
    if os.environ.get("EUNOE_DEBUG", "") not in ("", "0"):
        import traceback

        traceback.print_exception(exc, file=sys.stderr)
    said = f"unexpected {type(exc).__name__}: {exc} (EUNOE_DEBUG=1 shows where; please report it)"
    return _fact("unexpected", "unexpected", said), "code: unexpected"


def _fact(kind: str, code: str, message: str) -> dict[str, object]:
    return {"kind": kind, "code": code, "message": message, "retryable": False, "details": {}}

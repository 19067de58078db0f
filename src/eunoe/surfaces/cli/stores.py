"""`eunoe migrate-store` and `eunoe grant-store`: what is done to a store as a whole."""

from __future__ import annotations

import os

import click

from eunoe.surfaces.cli.options import define, given

_MAY = {
    "service": "as a service: it reads and writes, and to the ledger it can only add",
    "reader": "as a reader: it answers and never writes",
    "auditor": "as an auditor: it verifies ledgers and sees nothing else",
}


def _move(source: str, target: str) -> int:
    from eunoe import bootstrap, storing
    from eunoe.config.settings import load_settings
    from eunoe.surfaces.cli import terminal

    old, new = (load_settings(os.environ, store=place) for place in (source, target))
    with terminal.progress("moving") as progress:
        moved = storing.move_store(
            old, new, clock=bootstrap.SystemClock(), entropy=bootstrap.SystemEntropy(), progress=progress
        )
    if given().as_json:
        from eunoe.surfaces.cli.encode import dumps

        terminal.say(dumps({"moved": moved._asdict()}))
        return 0
    what = f"{moved.projects:,} projects and {moved.events:,} events"
    done = "are in the new store" if moved.rows else "were in the new store already"
    terminal.say(terminal.line(f"{what} {done}, and every chain verifies there."))
    terminal.note("The old store is as it was. Set EUNOE_STORE to the new one, and write to the old one no more.")
    return 0


def _grant(role: str, kind: str) -> int:
    from eunoe import bootstrap, storing
    from eunoe.config.settings import load_settings
    from eunoe.surfaces.cli import terminal

    settings = load_settings(os.environ, store=given().store)
    place = storing.grant_store(settings, role, kind=kind, clock=bootstrap.SystemClock())
    if given().as_json:
        from eunoe.surfaces.cli.encode import dumps

        terminal.say(dumps({"granted": {"role": role, "as": kind, "store": place}}))
    else:
        terminal.say(terminal.line(f"{role} may use {place} {_MAY[kind]}."))
    return 0


COMMANDS = {
    "migrate-store": define(
        "migrate-store",
        "Move a store to another database, and verify it there",
        _move,
        click.Argument(["source"], metavar="FROM"),
        click.Argument(["target"], metavar="TO"),
        more="FROM and TO are files or addresses (postgresql://…). The new store must be empty; an interrupted move "
        "goes on when it is run again. The old store stays as it is, and waits with writes meanwhile.",
    ),
    "grant-store": define(
        "grant-store",
        "Let a role of the server use the store: as a service, a reader or an auditor",
        _grant,
        click.Argument(["role"]),
        click.Option(["--as", "kind"], type=click.Choice(list(_MAY)), default="service", help="what the role is for"),
        more="A service reads and writes, but to the ledger it can only add; a reader answers and never writes; an "
        "auditor verifies ledgers and sees nothing else. Run it as the owner of the store.",
    ),
}

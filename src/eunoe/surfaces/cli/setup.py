"""`eunoe setup` and `eunoe uninstall`: what would be changed is shown, a person agrees, and only then it is written."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

import click

from eunoe.surfaces.cli.options import define, given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from eunoe.config.identity import Identity
    from eunoe.config.settings import Settings
    from eunoe.install.clients import Client, Scope
    from eunoe.install.files import Change, Record
    from eunoe.install.places import Places
    from eunoe.install.plan import Target


class _Here(NamedTuple):
    """Where the command runs, and all clients as they are from here."""

    settings: Settings
    identity: Identity
    places: Places
    every: dict[str, Client]


class _Wish(NamedTuple):
    """How far to go: only show, ask first, or not ask."""

    done: str
    dry_run: bool
    yes: bool
    notes: Sequence[str]


def _setup(clients: tuple[str, ...], scope: Scope | None, yes: bool, dry_run: bool, instructions: bool) -> int:
    from eunoe.install.plan import plan_setup, targets_of

    here = _look_around(names_project=True)
    targets, notes = _targets(_chosen(clients, here), here, scope, is_named=bool(clients))
    changes = plan_setup(targets, targets_of(here.every.values()), root=here.places.root, instructions=instructions)
    advice = [target.client.advice.get(target.scope, "") for target in targets]
    wish = _Wish("Set up", dry_run, yes, [*notes, *filter(None, advice), *_warnings()])
    code = _go(changes, _record(here), targets, wish)
    if changes and code == 0 and not dry_run and any(target.scope == "project" for target in targets):
        _register(here)
    return code


def _uninstall(clients: tuple[str, ...], scope: Scope | None, yes: bool, dry_run: bool) -> int:
    from eunoe.install.clients import SCOPES
    from eunoe.install.plan import installed, plan_uninstall, targets_of

    here = _look_around(names_project=False)
    chosen = _chosen(clients, here) if clients else list(here.every.values())
    targets = targets_of(chosen, SCOPES if scope is None else (scope,))
    record = _record(here)
    changes = plan_uninstall(targets, targets_of(here.every.values()), record)
    present = [each.target for each in installed(targets)]
    left = sorted({*record.files, *record.backups} - {str(change.real) for change in changes})
    elsewhere = [f"still set up elsewhere, run it there as well: {', '.join(left)}"] if left and not clients else []
    kept = f"memories are untouched: they stay in {_without_login(here.settings.store)}"
    return _go(changes, record, present, _Wish("Disconnected", dry_run, yes, [kept, *elsewhere]))


def _record(here: _Here) -> Record:
    from eunoe.install.files import RECORD_FILE, Record

    return Record(Path(here.settings.home) / RECORD_FILE)


def _look_around(*, names_project: bool) -> _Here:
    from eunoe.config.identity import find_identity
    from eunoe.config.settings import load_settings
    from eunoe.install.clients import all_clients
    from eunoe.install.places import Places
    from eunoe.install.server import Server, check_env, command_of

    asked = given()
    settings = load_settings(os.environ, store=asked.store, project=asked.project, user=asked.user)
    identity = find_identity(str(Path.cwd()))
    # A project in the environment is that of this folder; one that was asked for is meant for the client.
    env = {
        variable: value
        for variable, value, origin in (
            ("EUNOE_HOME", settings.home, settings.origin("home")),
            ("EUNOE_STORE", settings.store, settings.origin("store")),
            ("EUNOE_USER", settings.user, settings.origin("user")),
            ("EUNOE_PROJECT", asked.project, settings.origin("project")),
        )
        if value is not None and origin != "default"
    }
    named = asked.project or (_project_name(settings, identity) if names_project else None)
    places = Places(os.environ, Path(identity.root))
    return _Here(settings, identity, places, all_clients(places, Server(command_of(), check_env(env), named)))


def _project_name(settings: Settings, identity: Identity) -> str:
    """Return the project that the folder has or will have; what its identity suggests when the store cannot say."""
    from eunoe import bootstrap
    from eunoe.domain.project import slug_for
    from eunoe.errors import EunoeError

    try:
        return bootstrap.expected_slug(settings, identity)
    except EunoeError:
        return slug_for(identity.identity)


def _chosen(names: Iterable[str], here: _Here) -> list[Client]:
    """Return the clients that were named, or those that are there.

    Raises:
        Invalid: `unknown_client`. NotFound: `no_client`.
    """
    from eunoe.errors import Invalid, NotFound, shown
    from eunoe.install.clients import ALIASES

    wanted = {ALIASES.get(name.lower(), name.lower()): name for name in names}
    unknown = [given for name, given in wanted.items() if name not in here.every]
    if unknown:
        raise Invalid("unknown_client", f"{shown(unknown[0])} is no client; there are {' '.join(here.every)}")
    found = [client for name, client in here.every.items() if name in wanted]
    found = found or [client for client in here.every.values() if client.is_there(here.places)]
    if not found:
        raise NotFound("no_client", f"no client was found on this machine; name one of {' '.join(here.every)}")
    return found


def _targets(
    clients: Iterable[Client], here: _Here, scope: Scope | None, *, is_named: bool
) -> tuple[list[Target], list[str]]:
    """Return the clients with their scopes, and why others are left out.

    Raises:
        Invalid: `no_such_scope`, `no_project_folder`: a client that was named cannot be set up as it was asked for.
    """
    from eunoe.errors import Invalid
    from eunoe.install.plan import Target

    targets: list[Target] = []
    notes: list[str] = []
    is_home = here.places.root == here.places.home.resolve()
    for client in clients:
        at = scope or client.scope
        if at not in client.parts:
            problem = Invalid("no_such_scope", f"{client.title} has no files for one {at}: leave --scope {at} out")
        elif at == "project" and (is_home or (here.identity.source == "path" and not (is_named or scope))):
            problem = Invalid(
                "no_project_folder",
                f"{client.title} is set up for one project at a time: run it in the folder of one, or give "
                f"--scope user",
            )
        else:
            targets.append(Target(client, at))
            continue
        if is_named:
            raise problem
        notes.append(f"left out: {problem.message}")
    return targets, notes


def _warnings() -> list[str]:
    from eunoe.install.server import is_passing, lacks

    temporary = "this installation is a temporary one: install Eunoe for good, or the entries will point to nothing"
    incomplete = "the server needs packages that are not here: pip install 'eunoe[mcp]' in the environment of Eunoe"
    return [*([temporary] if is_passing() else []), *([incomplete] if lacks() else [])]


def _go(changes: Sequence[Change], record: Record, targets: Sequence[Target], wish: _Wish) -> int:
    """Show, ask, write, and tell.

    Raises:
        Invalid: `needs_yes`: there is nobody to ask. Conflict, Unavailable: see `carry_out`.
    """
    from eunoe.errors import Invalid
    from eunoe.install.files import carry_out

    as_json = given().as_json
    if not as_json:
        _show(changes)
    is_applied = False
    if changes and not wish.dry_run:
        if not wish.yes and (as_json or not (sys.stdin.isatty() and sys.stdout.isatty())):
            raise Invalid(
                "needs_yes",
                f"nothing was changed, because nobody can be asked: --yes changes {_files(changes)} without asking, "
                f"--dry-run only shows what would change",
            )
        if not wish.yes and not click.confirm(f"Change {_files(changes)}?", default=False):
            click.echo("nothing was changed", err=True)
            return 1
        carry_out(changes, record)
        is_applied = True
    _tell(changes, targets, wish, is_applied=is_applied, as_json=as_json)
    return 0


def _files(changes: Sequence[Change]) -> str:
    return f"{len(changes)} file{'s' if len(changes) > 1 else ''}"


def _show(changes: Iterable[Change]) -> None:
    from eunoe.domain.text import printable
    from eunoe.install.diff import unified
    from eunoe.surfaces.cli import terminal

    styles = {"+": {"fg": "green"}, "-": {"fg": "red"}, "@": {"fg": "cyan"}}
    for change in changes:
        for line in unified(change):
            style = {"bold": True} if line.startswith(("--- ", "+++ ")) else styles.get(line[:1], {})
            terminal.say(terminal.paint(printable(line), **style))


def _tell(
    changes: Sequence[Change], targets: Sequence[Target], wish: _Wish, *, is_applied: bool, as_json: bool
) -> None:
    from eunoe.install.diff import action, unified
    from eunoe.surfaces.cli import terminal
    from eunoe.surfaces.cli.encode import dumps, to_json

    if as_json:
        files = [{"file": str(each.path), "action": action(each), "diff": "\n".join(unified(each))} for each in changes]
        clients = [{"client": target.client.name, "scope": target.scope} for target in targets]
        answer = {"applied": is_applied, "clients": clients, "files": files, "notes": list(wish.notes)}
        terminal.say(dumps(to_json(answer)))
        return
    if not changes:
        what = f"all is done for {_named(targets)}" if targets else "nothing of ours is there"
        terminal.say(f"Nothing to change: {what}.")
    elif is_applied:
        terminal.say(f"{wish.done}: {_named(targets)}. Restart what is running, so that it reads its files again.")
    else:
        terminal.note(f"nothing was changed; without --dry-run {_files(changes)} would be")
    for note in wish.notes:
        terminal.note(note)


def _named(targets: Iterable[Target]) -> str:
    return ", ".join(dict.fromkeys(f"{target.client.title} ({target.scope})" for target in targets))


def _register(here: _Here) -> None:
    """Take the name that was written into a file, where the folder would get another one later."""
    from eunoe import bootstrap
    from eunoe.domain.project import slug_for

    if _project_name(here.settings, here.identity) != slug_for(here.identity.identity):
        bootstrap.resolve_project(here.identity.root, here.settings.store)


def _without_login(store: str) -> str:
    scheme, mark, rest = store.partition("://")
    return f"{scheme}{mark}{rest.rpartition('@')[2]}"


_CLIENTS = click.Argument(["clients"], nargs=-1, metavar="[CLIENT]...")
_SCOPE = click.Option(
    ["--scope"], type=click.Choice(["user", "project"]), help="for all your projects, or for this one"
)
_YES = click.Option(["-y", "--yes"], is_flag=True, help="do not ask")
_DRY_RUN = click.Option(["--dry-run"], is_flag=True, help="only show what would change")

COMMANDS = {
    "setup": define(
        "setup",
        "Connect the programs that agents run in; shows every change before it is made",
        _setup,
        _CLIENTS,
        _SCOPE,
        _YES,
        _DRY_RUN,
        click.Option(
            ["--no-instructions", "instructions"],
            is_flag=True,
            flag_value=False,
            default=True,
            help="leave the instruction files of agents alone",
        ),
        more="Without a CLIENT, all that are found here: claude-code, codex, opencode, cursor, gemini, windsurf, "
        "vscode, zed. Each gets an entry for the MCP server, with the --store, --user and --project given here, and an "
        "instruction for its agent. Without --scope it is the one that works: the project for Cursor and VS Code, "
        "the user for all others. Everything else in their files stays as it is, byte for byte, and a copy is kept as "
        "FILE.bak.",
    ),
    "uninstall": define(
        "uninstall",
        "Disconnect them again; memories stay",
        _uninstall,
        click.Argument(["clients"], nargs=-1, metavar="[CLIENT]..."),
        click.Option(["--scope"], type=click.Choice(["user", "project"]), help="only yours, or only this project's"),
        click.Option(["-y", "--yes"], is_flag=True, help="do not ask"),
        click.Option(["--dry-run"], is_flag=True, help="only show what would change"),
        more="Without a CLIENT, all of them, yours and this project's. A file that nobody edited since becomes what it "
        "was before, byte for byte; from another only what is ours is taken. Memories are never removed.",
    ),
}

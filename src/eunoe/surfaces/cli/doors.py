"""What `doctor` sees of the clients: which are set up, and whether the server answers through their very entries."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from eunoe._version import __version__
from eunoe.config.identity import find_identity
from eunoe.errors import EunoeError, Unavailable
from eunoe.install.clients import all_clients
from eunoe.install.parts import Command
from eunoe.install.places import Places
from eunoe.install.plan import Target, installed, targets_of
from eunoe.install.probe import hand_down, probe
from eunoe.install.server import Server, command_of


def look() -> dict[str, Any] | str:
    """Return what the server does behind each entry, by client and scope; a sentence when no client is set up.

    Raises:
        Unavailable: `client_broken`: an entry cannot be read, or what it runs does not answer as it must;
            `details["clients"]` has what was seen of each.
    """
    places = Places(os.environ, Path(find_identity(str(Path.cwd())).root))
    doors: dict[tuple[object, ...], tuple[Command, list[str]]] = {}
    seen: dict[str, str] = {}
    broken: dict[str, list[str]] = {}
    for target in targets_of(all_clients(places, Server(command_of(), {})).values()):
        name = f"{target.client.name} ({target.scope})"
        try:
            for command in _commands(target):
                # The same one is run once, however many clients have it.
                key = (command.words, *sorted(command.env.items()))
                doors.setdefault(key, (command, []))[1].append(name)
        except EunoeError as exc:
            broken.setdefault(exc.message, []).append(name)
    for command, names in doors.values():
        try:
            seen |= dict.fromkeys(names, _answer(command))
        except EunoeError as exc:
            broken.setdefault(exc.message, []).extend(names)
    if broken:
        what = "; ".join(f"{', '.join(names)}: {problem}" for problem, names in broken.items())
        seen |= {name: problem for problem, names in broken.items() for name in names}
        raise Unavailable(
            "client_broken", f"{what}. Run eunoe setup to write the entry anew", details={"clients": seen}
        )
    return seen or "no client is set up; eunoe setup connects them"


def _commands(target: Target) -> list[Command]:
    found = installed([target])
    for each in found:
        if each.command is None:
            raise Unavailable("client_broken", f"{each.file} has an entry eunoe that runs no command")
    return [each.command for each in found if each.command is not None]


def _answer(command: Command) -> str:
    if shutil.which(command.words[0]) is None:
        raise Unavailable("client_broken", f"{command.words[0]} is not there any more")
    version = probe(command, hand_down(os.environ))
    other = "" if version == __version__ else f", while this is {__version__}: run eunoe setup with the one you mean"
    return f"Eunoe {version} remembers and recalls{other}"

"""What setup and uninstall would change: reads the files, writes none."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import reduce
from pathlib import Path
from typing import NamedTuple

from eunoe.errors import Conflict, Refused
from eunoe.install.clients import SCOPES, Client, Scope
from eunoe.install.files import Change, Record, bad_file, decode, read
from eunoe.install.files import real as real_of
from eunoe.install.parts import NAME, Command, Instruction, Part, TakenError
from eunoe.install.text import MalformedError

# A CLAUDE.md that takes AGENTS.md in has its readers read what is written there.
_IMPORT = re.compile(r"^\s*@((?:\.{1,2}/)*AGENTS\.md)\s*$", re.MULTILINE)


class Target(NamedTuple):
    """A client, and the scope in which it is meant."""

    client: Client
    scope: Scope

    @property
    def parts(self) -> tuple[Part, ...]:
        """Return what the client gets in this scope."""
        return self.client.parts.get(self.scope, ())


class Installed(NamedTuple):
    """A client that has an entry of ours; `command` is None when that entry runs nothing on this machine."""

    target: Target
    file: Path
    command: Command | None


def targets_of(clients: Iterable[Client], scopes: Collection[Scope] = SCOPES) -> list[Target]:
    """Return each client in each of these scopes that it has."""
    return [
        Target(client, scope) for client in clients for scope in SCOPES if scope in scopes and scope in client.parts
    ]


def plan_setup(targets: Sequence[Target], every: Sequence[Target], *, root: Path, instructions: bool) -> list[Change]:
    """Return the changes that set clients up, in the order of the files' first mention; none when all is done.

    Args:
        targets: What is to be set up.
        every: All clients in all scopes, to tell which files hold something of ours.
        root: The real folder of the project; a file of it must not lead out of it.
        instructions: Whether to write the instruction as well.

    Raises:
        Invalid: `bad_config_file`. Conflict: `foreign_entry`. Refused: `leads_outside`. Unavailable:
            `config_unreadable`.
    """
    drafts = _Drafts()
    for target in targets:
        for part in target.parts:
            if instructions or not isinstance(part, Instruction):
                draft = drafts.of(_place(part, drafts))
                if target.scope == "project" and not draft.real.is_relative_to(root):
                    raise _outside(draft)
                draft.now = draft.edited(part.put)
    return drafts.changes(every)


def plan_uninstall(targets: Sequence[Target], every: Sequence[Target], record: Record) -> list[Change]:
    """Return the changes that take clients out again; an instruction stays while another client reads it.

    A file that is as setup left it becomes byte for byte what it was before; in one that was edited since, only what
    is ours goes. A file that setup made is removed when nothing else is in it.

    Raises:
        Invalid: `bad_config_file`. Unavailable: `config_unreadable`.
    """
    drafts = _Drafts()
    others = [target for target in every if target not in targets]
    going: dict[Path, list[Part]] = {}
    for part in (part for target in targets for part in target.parts):
        for file in part.files:
            draft = drafts.of(file)
            if draft.before is None or not draft.tells(part.is_in):
                continue
            if not (isinstance(part, Instruction) and any(_reads(other, draft.real) for other in others)):
                going.setdefault(draft.real, []).append(part)
    for real, parts in going.items():
        draft = drafts.of(real)
        draft.now = _without(draft, parts, record.before(real))
        draft.is_gone = str(real) in record.files and all(part.is_blank(draft.now) for part in parts)
    return drafts.changes(every)


def installed(every: Iterable[Target]) -> list[Installed]:
    """Return the clients that have an entry of ours. Raises `Invalid` (`bad_config_file`), `Unavailable`."""
    found: list[Installed] = []
    for target in every:
        entry = target.client.entry(target.scope)
        for file in entry.files if entry is not None else ():
            draft = _Draft(file)
            if entry is not None and draft.before is not None and draft.tells(entry.is_in):
                found.append(Installed(target, file, entry.command(draft.text)))
    return found


class _Draft:
    """A file as it is and as it will be."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.real = real_of(path)
        self.before = read(self.real)
        self.bom, self.text = decode(path, self.before or b"")
        self.now = self.text
        self.is_gone = False

    def edited(self, edit: Callable[[str], str]) -> str:
        try:
            return edit(self.now)
        except MalformedError as exc:
            raise bad_file(self.path, exc.line, exc.problem) from exc
        except TakenError as exc:
            raise Conflict(
                "foreign_entry",
                f"{self.path} is not ours to change: {exc}. Rename that entry or remove it, then run it again",
                details={"file": str(self.path), "entry": NAME},
            ) from exc

    def tells(self, question: Callable[[str], bool]) -> bool:
        """Return the answer to a question about the file as it is."""
        try:
            return question(self.text)
        except MalformedError as exc:
            raise bad_file(self.path, exc.line, exc.problem) from exc


class _Drafts:
    """The drafts by the file to which a path leads, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._drafts: dict[Path, _Draft] = {}

    def of(self, path: Path) -> _Draft:
        real = real_of(path)
        if real not in self._drafts:
            self._drafts[real] = _Draft(path)
        return self._drafts[real]

    def makes(self, path: Path) -> bool:
        """Return whether a file that is not there will be."""
        draft = self._drafts.get(real_of(path))
        return draft is not None and draft.before is None and draft.now != draft.text

    def changes(self, every: Iterable[Target]) -> list[Change]:
        parts: dict[Path, list[Part]] = {}
        for part in (part for target in every for part in target.parts):
            for file in part.files:
                parts.setdefault(real_of(file), []).append(part)
        return [
            Change(
                path=draft.path,
                real=draft.real,
                before=draft.before,
                after=None if draft.is_gone else draft.bom + draft.now.encode(),
                was_ours=any(part.is_in(draft.text) for part in parts.get(draft.real, ())),
                is_ours=any(part.is_in(draft.now) for part in parts.get(draft.real, ())),
            )
            for draft in self._drafts.values()
            if draft.is_gone or draft.now != draft.text
        ]


def _place(part: Part, drafts: _Drafts) -> Path:
    """Return the file for a part: the first that the client reads, or the one to make."""
    made_now = part.default if drafts.makes(part.default) else None
    file = next((file for file in part.files if file == made_now or file.exists()), part.default)
    if not isinstance(part, Instruction):
        return file
    found = _IMPORT.search(drafts.of(file).text)
    return file if found is None else file.parent / found[1]


def _outside(draft: _Draft) -> Refused:
    """Return the error of a link that came with a repository and leads to a file that is none of its business."""
    return Refused(
        "leads_outside",
        f"{draft.path} is a link that leads out of the project, to {draft.real}: make it a file, or leave the client "
        "out",
        details={"file": str(draft.path), "real": str(draft.real)},
    )


def _reads(other: Target, real: Path) -> bool:
    """Return whether a client that is set up reads its instruction in this file; one that cannot be read counts."""
    drafts = _Drafts()
    entry = other.client.entry(other.scope)
    places = [_place(part, drafts) for part in other.parts if isinstance(part, Instruction)]
    if entry is None or real not in [real_of(place) for place in places]:
        return False
    try:
        return any(entry.is_in(drafts.of(file).text) for file in entry.files)
    except MalformedError:
        return True


def _without(draft: _Draft, parts: Sequence[Part], before: str | None) -> str:
    """Return the text without these parts; what it was before, when nothing but ours was changed since."""

    def bare(text: str) -> str:
        return reduce(lambda text, part: part.drop(text, before), parts, text)

    left = draft.edited(bare)
    if before is None:
        return left
    try:
        redone = bare(reduce(lambda text, part: part.put(text), parts, before))
    except (MalformedError, TakenError):
        return left
    return before if redone == left else left

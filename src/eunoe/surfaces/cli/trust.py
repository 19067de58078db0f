"""`eunoe trust`: a person lets the `.eunoe.toml` of a folder choose the project, for the one name it holds now."""

from __future__ import annotations

import os

import click

from eunoe.surfaces.cli.options import define, given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eunoe.config.identity import ProjectFile


def _trust(folder: str | None, show: bool, remove: bool) -> int:
    from eunoe import bootstrap
    from eunoe.config.settings import load_settings

    trusted = bootstrap.trusted_folders(load_settings(os.environ))
    if show:
        _show(trusted.entries())
        return 0
    _need_person()
    found = _nearest(folder)
    if remove:
        place = found.folder if found is not None else os.path.realpath(folder or ".")
        removed = trusted.remove(place)
        _answer({"folder": place, "removed": removed}, f"{place} is {'no longer' if removed else 'not'} trusted.")
        return 0
    named = _named(found)
    trusted.add(*named)
    place, project = named
    _answer(
        {"folder": place, "project": project},
        f"{place} is trusted: its .eunoe.toml chooses the project {project}. Take it back with eunoe trust --remove.",
    )
    return 0


def _need_person() -> None:
    from eunoe.errors import Refused
    from eunoe.surfaces.cli.session import at_terminal

    if not at_terminal():
        raise Refused(
            "needs_person",
            "only a person decides whom to trust: run it in a terminal of your own, outside an agent, "
            "without a pipe on either side",
        )


def _nearest(folder: str | None) -> ProjectFile | None:
    from eunoe.config.identity import find_identity, read_project_file

    place = os.path.abspath(folder or ".")  # noqa: PTH100 - the form that `config.identity` takes
    return read_project_file(place, find_identity(place).root)


def _named(found: ProjectFile | None) -> tuple[str, str]:
    from eunoe.errors import Invalid, NotFound

    if found is None:
        raise NotFound("no_project_file", "there is no .eunoe.toml here or above, up to the root of the repository")
    if found.project is None:
        raise Invalid("no_project_named", f'{found.folder}/.eunoe.toml names no project: add `project = "acme/api"`')
    return found.folder, found.project


def _show(entries: dict[str, str]) -> None:
    from eunoe.surfaces.cli import terminal

    if given().as_json:
        _answer({"trusted": [{"folder": folder, "project": name} for folder, name in entries.items()]}, "")
    elif entries:
        terminal.table(("folder", "project"), list(entries.items()))
    else:
        terminal.note("no folder is trusted")


def _answer(facts: object, sentence: str) -> None:
    from eunoe.surfaces.cli import terminal
    from eunoe.surfaces.cli.encode import dumps, to_json

    terminal.say(dumps(to_json(facts)) if given().as_json else terminal.line(sentence))


COMMANDS = {
    "trust": define(
        "trust",
        "Let the .eunoe.toml of this folder choose its project",
        _trust,
        click.Argument(["folder"], required=False, metavar="[FOLDER]"),
        click.Option(["--list", "show"], is_flag=True, help="list the trusted folders"),
        click.Option(["--remove"], is_flag=True, help="trust the folder no more"),
        more="Needs a person at a terminal. Only the name that the file holds now is trusted: a file that changes it "
        "must be trusted again.",
    )
}

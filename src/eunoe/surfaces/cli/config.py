"""`eunoe config show`: each setting, its value, and where it comes from."""

from __future__ import annotations

import click

from eunoe.surfaces.cli.options import given, shared_options

NAMES = ("home", "store", "project", "user", "model", "max_memories", "max_links")


def settings_shown() -> list[dict[str, str | None]]:
    """Return name, value and origin of each setting; the password of an address is masked."""
    import os

    from eunoe.config.settings import load_settings

    asked = given()
    settings = load_settings(os.environ, store=asked.store, project=asked.project, user=asked.user)
    return [{"name": name, "value": _shown(getattr(settings, name)), "origin": settings.origin(name)} for name in NAMES]


def _shown(value: str | int | None) -> str | None:
    if value is None or isinstance(value, int):
        return None if value is None else str(value)
    scheme, mark, rest = value.partition("://")
    login, at, place = rest.rpartition("@")
    return f"{scheme}{mark}{login.partition(':')[0]}:…@{place}" if mark and at and ":" in login else value


def _show() -> int:
    from eunoe.surfaces.cli import terminal

    rows = settings_shown()
    if given().as_json:
        from eunoe.surfaces.cli.encode import dumps

        terminal.say(dumps({"settings": rows}))
    else:
        cells = [(row["name"], row["value"] if row["value"] is not None else "–", row["origin"]) for row in rows]
        terminal.table(("setting", "value", "from"), cells)
    return 0


def _config() -> int | None:
    return _show() if click.get_current_context().invoked_subcommand is None else None


_COMMAND = click.Group(
    "config",
    params=shared_options(),
    callback=_config,
    invoke_without_command=True,
    help="Show each setting and where it comes from.",
    commands=[click.Command("show", params=shared_options(), callback=_show, help="Show each setting and its origin.")],
)

COMMANDS = {"config": _COMMAND}

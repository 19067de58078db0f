"""`eunoe doctor`: looks at one layer after the other, and names the one that fails. Changes nothing."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from eunoe.errors import EunoeError, Unavailable
from eunoe.surfaces.cli import terminal
from eunoe.surfaces.cli.options import Given, define, given

Facts = dict[str, Any]


@dataclass(slots=True)
class Check:
    """What was seen in one layer; `error` is None when it is well, and what else is wrong says `skipped`."""

    layer: str
    facts: Facts = field(default_factory=dict)
    error: Facts | None = None
    skipped: str | None = None


class Examination:
    """Looks at the layers in the order in which they build on one another."""

    def __init__(self, asked: Given) -> None:
        """Keep what was asked; nothing is opened yet."""
        self._asked = asked
        self._settings: Any = None
        self._resolution: Any = None
        self._held: Any = None
        self._is_made = False

    def run(self) -> list[Check]:
        """Return a check for each layer. Never raises: an exception is what a layer reports."""
        layers: dict[str, Callable[[], Facts | str]] = {
            "runtime": self._runtime,
            "settings": self._look_at_settings,
            "caller": self._caller,
            "trust": self._trust,
            "project": self._project,
            "store": self._store,
            "model": self._model,
            "ledger": self._ledger,
            "self-test": self._self_test,
            "clients": self._clients,
        }
        return [_checked(layer, look) for layer, look in layers.items()]

    def _runtime(self) -> Facts:
        import apsw

        from eunoe._version import __version__

        return {"eunoe": __version__, "python": platform.python_version(), "sqlite": apsw.sqlite_lib_version()}

    def _look_at_settings(self) -> Facts | str:
        from eunoe.config.settings import load_settings
        from eunoe.surfaces.cli.config import settings_shown

        asked = self._asked
        self._settings = load_settings(os.environ, store=asked.store, project=asked.project, user=asked.user)
        return {str(row["name"]): f"{row['value'] or '–'} ({row['origin']})" for row in settings_shown()}

    def _caller(self) -> Facts | str:
        from eunoe.config.trust import find_agent
        from eunoe.surfaces.cli.session import author

        agent = find_agent(os.environ)
        return {"author": author(), "agent": agent or "none detected"}

    def _trust(self) -> Facts | str:
        from eunoe import bootstrap

        if self._settings is None:
            return "the settings must be right first"
        return {"folders": [f"{place}: {name}" for place, name in self._trusted(bootstrap).items()]}

    def _trusted(self, bootstrap: Any) -> dict[str, str]:
        entries: dict[str, str] = bootstrap.trusted_folders(self._settings).entries()
        return entries

    def _project(self) -> Facts | str:
        from eunoe import bootstrap
        from eunoe.config.identity import resolve

        settings = self._settings
        if settings is None:
            return "the settings must be right first"
        by_argument = settings.origin("project") == "argument"
        self._resolution = found = resolve(
            os.getcwd(),  # noqa: PTH109 - the form that `config.identity` takes
            argument=settings.project if by_argument else None,
            environment=None if by_argument else settings.project,
            user=settings.user,
            trust=bootstrap.trusted_folders(settings),
        )
        facts: Facts = {
            "found by": found.source,
            "name": found.name,
            "identity": found.identity.identity,
            "from": found.identity.source,
            "root": found.identity.root,
        }
        return facts | ({"ignored": found.ignored} if found.ignored else {})

    def _store(self) -> Facts | str:
        from eunoe import bootstrap
        from eunoe.service.embedded import held

        settings = self._settings
        if settings is None:
            return "the settings must be right first"
        if "://" not in settings.store and settings.store != ":memory:" and not os.path.lexists(settings.store):
            return f"{settings.store} is not there yet; the first thing remembered makes it"
        store = bootstrap.open_store(
            settings, durability="process", clock=bootstrap.SystemClock(), entropy=bootstrap.SystemEntropy()
        )
        try:
            facts = store.describe()
            self._held = held(store)
            self._is_made = self._is_registered(store)
        finally:
            store.close()
        return facts

    def _model(self) -> Facts | str:
        from eunoe.modelling import used_model

        settings = self._settings
        if settings is None:
            return "the settings must be right first"
        chosen = used_model(settings)
        facts: Facts = {"model": chosen.name or "none", "why": chosen.reason}
        found = self._held
        if found is None:
            return facts if chosen.state == "ready" else chosen.reason
        if found.dead:
            raise Unavailable(
                "dead_letters",
                f"{found.dead} texts could not be embedded ({found.error}); run `eunoe reembed` to try them again",
            )
        return {**facts, **found.facts()}

    def _is_registered(self, store: Any) -> bool:
        """Tell whether opening a session would find its project: doctor must not be what registers one."""
        if self._resolution is None:
            return False
        if self._resolution.name is not None:
            return True
        with store.reading() as view:
            return view.projects.find_identity(self._resolution.identity.identity) is not None

    def _ledger(self) -> Facts | str:
        from eunoe.service.ledger import verify
        from eunoe.surfaces.cli.session import opened

        if not self._is_made:
            return "nothing was recorded in this project yet, or a layer before this one failed"
        with opened(self._asked) as session:
            result = verify(session.context)
        if result.fault is not None:
            raise Unavailable(result.fault.code, f"the ledger of {result.project} is broken: {result.fault.message}")
        return {"project": result.project, "events": result.events, "heads": list(result.heads)}

    def _self_test(self) -> Facts:
        from eunoe import bootstrap
        from eunoe.service.recall import recall
        from eunoe.service.remember import remember

        session = bootstrap.open_session(store=":memory:", project="self-test", folder=os.sep, environ={})
        try:
            remember(session.context, "The self-test of doctor wrote this sentence.")
            found = recall(session.context, "sentence of the self-test")
        finally:
            session.close()
        if not found.hits:
            raise Unavailable("self_test", "what was remembered in a temporary store was not found again")
        return {"remember": "ok", "recall": "ok"}

    def _clients(self) -> Facts | str:
        from eunoe.surfaces.cli.doors import look

        return look()


def _checked(layer: str, look: Callable[[], Facts | str]) -> Check:
    try:
        seen = look()
    except EunoeError as exc:
        return Check(layer, error=exc.to_dict())
    except Exception as exc:  # noqa: BLE001 - a surface's boundary: whatever a layer does, the others are looked at
        return Check(layer, error={"kind": "unexpected", "code": "unexpected", "message": f"{exc!r}"})
    return Check(layer, skipped=seen) if isinstance(seen, str) else Check(layer, facts=seen)


def _doctor() -> int:
    asked = given()
    checks = Examination(asked).run()
    failed = [check.layer for check in checks if check.error is not None]
    if asked.as_json:
        from eunoe.surfaces.cli.encode import dumps, to_json

        terminal.say(dumps({"ok": not failed, "failed": failed, "checks": to_json(checks)}))
    else:
        for check in checks:
            _show(check)
    if failed:
        sys.stdout.flush()
        terminal.note(f"failing: {', '.join(failed)}")
    return 1 if failed else 0


def _show(check: Check) -> None:
    if check.error is not None:
        mark = terminal.paint("FAIL", fg="red", bold=True)
        terminal.say(f"{mark} {check.layer}: {terminal.line(check.error['message'])} ({check.error['code']})")
        return
    if check.skipped is not None:
        terminal.say(f"{terminal.paint('--', fg='yellow')}   {check.layer}: {terminal.line(check.skipped)}")
        return
    terminal.say(f"{terminal.paint('ok', fg='green')}   {terminal.paint(check.layer, bold=True)}")
    for name, value in check.facts.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        terminal.say(f"       {name:<12} {terminal.line('–' if shown in (None, '') else shown)}")


COMMANDS = {
    "doctor": define(
        "doctor",
        "Check everything, and name what fails",
        _doctor,
        more="Works when the store does not. Exit code 1 when a layer fails. Changes nothing, except that it opens the "
        "store, which brings an older one up to date.",
    )
}

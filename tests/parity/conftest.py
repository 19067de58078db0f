"""Two memories in step: one in a file of SQLite, one in a schema of PostgreSQL, with equal clocks and equal chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from eunoe import Memory, bootstrap
from eunoe.domain.document import dump
from eunoe.errors import EunoeError, Unavailable
from eunoe.stores.sql.tables import TABLES
from eunoe.testing.clock import ManualClock, SeededEntropy

CALLERS: dict[str, dict[str, Any]] = {
    "kim": {"user": "kim", "author": "person"},
    "bob": {"user": "bob"},
    "agent": {"user": "kim", "author": "agent"},
    "nobody": {},
    "own": {"user": "kim", "project": "me"},
    "other": {"user": "kim", "project": "acme/other"},
}


class Side:
    """One engine: a clock, and a session for each caller."""

    def __init__(self, store: str, home: Path, **settings: str) -> None:
        self.clock = ManualClock()
        self._store = store
        self._environ = {"EUNOE_HOME": str(home), "EUNOE_MODEL": "none", **settings}
        self._sessions: dict[str, Memory] = {}

    def __getitem__(self, caller: str) -> Memory:
        """Return a caller's session, opened when it first speaks."""
        if caller not in self._sessions:
            who = {"project": "acme/api", **CALLERS[caller]}
            chance = SeededEntropy(caller)
            opened = bootstrap.open_session(
                store=self._store, environ=self._environ, clock=self.clock, entropy=chance, background=False, **who
            )
            self._sessions[caller] = Memory(opened)
        return self._sessions[caller]

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return every row of every projection, in order."""
        found = {}
        with self["kim"]._context.store._engine.reading() as connection:  # type: ignore[attr-defined]
            for table, columns in TABLES.items():
                found[table] = sorted(connection.run(f"select {', '.join(columns)} from {table}"), key=repr)
        return found

    def close(self) -> None:
        """Close every session."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()


class Both:
    """What is asked here is asked of both engines, and both answers must be one and the same to the byte."""

    def __init__(self, sqlite: Side, postgres: Side) -> None:
        self.sides = (sqlite, postgres)
        self.steps = 0

    def do(self, act: Callable[[Side], Any]) -> Any:
        """Do something on both sides and return what came of it."""
        self.steps += 1
        one, other = (outcome(act, side) for side in self.sides)
        assert told(one) == told(other)
        return one

    def say(self, caller: str, name: str, *args: Any, **given: Any) -> Any:
        """Call a method of a caller's `Memory`; an error on purpose is an outcome."""
        return self.do(lambda side: getattr(side[caller], name)(*args, **given))

    def advance(self, **span: float) -> None:
        """Let time pass."""
        for side in self.sides:
            side.clock.advance(**span)

    def same(self) -> None:
        """Assert that the projections are equal, row by row."""
        one, other = (side.rows() for side in self.sides)
        for table in TABLES:
            assert one[table] == other[table], table


def outcome(act: Callable[[Side], Any], side: Side) -> Any:
    """Return an answer, or an error on purpose as (kind, code, message, details). An engine's error is a failure."""
    try:
        return act(side)
    except Unavailable as exc:
        if exc.code != "no_model":
            raise
        return type(exc).__name__, exc.code, str(exc), exc.details
    except EunoeError as exc:
        return type(exc).__name__, exc.code, str(exc), exc.details


def told(answer: Any) -> str:
    """Return all that an answer says, to the last digit; a document as its text."""
    if isinstance(answer, dict) and "events" in answer:
        return "".join(dump(answer))
    text = repr(plain(answer))
    assert " object at 0x" not in text, "an answer that does not show what it holds"
    return text


def plain(value: Any) -> Any:
    """Return a value with the fields of everything in it, whatever its own text leaves out."""
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return type(value).__name__, {name: plain(part) for name, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


@pytest.fixture(params=["words", "fake model"])
def both(request: pytest.FixtureRequest, tmp_path: Path, postgres_store: str) -> Iterator[Both]:
    """Both engines, without a model and with the one for tests."""
    model = "none" if request.param == "words" else "fake"
    homes = [tmp_path / name for name in ("sqlite", "postgres")]
    stores = (str(tmp_path / "sqlite" / "store.sqlite"), postgres_store)
    sides = [Side(store, home, EUNOE_MODEL=model) for store, home in zip(stores, homes, strict=True)]
    yield Both(*sides)
    for side in sides:
        side.close()

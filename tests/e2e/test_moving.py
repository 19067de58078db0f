"""Moving a store: either way, resumable, and the same to the byte."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.postgres import Server

from eunoe import Memory, storing
from eunoe.bootstrap import SystemClock, SystemEntropy
from eunoe.config.settings import load_settings
from eunoe.domain.document import dump
from eunoe.errors import Conflict, EunoeError, Invalid, NotFound
from eunoe.stores.sql import moving
from eunoe.stores.sql.moving import Moved
from eunoe.stores.sql.tables import BESIDE, LEDGER, REFERENCE, TABLES

WAYS = ["file to server", "server to file", "file to file"]


@pytest.fixture(params=WAYS)
def ends(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """Where a store is, and where it goes."""
    files = (str(tmp_path / "one.sqlite"), str(tmp_path / "other.sqlite"))
    if request.param == "file to file":
        return files
    server = str(request.getfixturevalue("postgres_store"))
    return (files[0], server) if request.param == "file to server" else (server, files[1])


@pytest.fixture
def filled(ends: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Two projects with all kinds of rows in the old store: vectors, states, jobs, reads, what was taken back."""
    monkeypatch.setenv("EUNOE_MODEL", "fake")
    fill(ends[0], "acme/api")
    fill(ends[0], "acme/web")
    monkeypatch.setenv("EUNOE_MODEL", "none")
    with Memory.open(ends[0], project="acme/api", user="kim") as memory:
        memory.remember("This waits to be embedded")
    return ends


def fill(place: str, project: str) -> None:
    with Memory.open(place, project=project, user="kim") as memory:
        for turn in range(6):
            memory.remember(f"Turn {turn} of the talk about apples", session="s", turn=turn, speaker="Ana")
        memory.remember("The deploy target is v1", key="deploy/current", tags=["deploy", "ops"])
        memory.remember("The deploy target is v2", key="deploy/current", paths=["src/deploy.py"])
        memory.remember("Gone it is: naïve 'quotes' \\ and tabs\tin it")
        memory.forget(9)
        memory.link(1, 2, note="both talk")
        memory.flush()
        memory.get(1)


def move(ends: tuple[str, str], progress: Callable[[int, int], None] | None = None) -> Moved:
    source, target = (load_settings({}, store=place) for place in ends)
    return storing.move_store(source, target, clock=SystemClock(), entropy=SystemEntropy(), progress=progress)


def exported(place: str, project: str) -> str:
    with Memory.open(place, project=project, user="kim") as memory:
        return "".join(dump(memory.export()))


def everything(place: str) -> dict[str, list[Any]]:
    """Return all rows of a store that move."""
    settings = load_settings({}, store=place)
    engine = storing.open_engine(settings, durability="process", clock=SystemClock())
    tables = {**LEDGER, **TABLES, **BESIDE, **REFERENCE}
    try:
        with engine.reading() as connection:
            return {
                table: sorted(connection.run(f"select {', '.join(columns)} from {table}"), key=repr)
                for table, columns in tables.items()
            }
    finally:
        engine.close()


def test_every_row_arrives_and_exports_are_the_same_to_the_byte(filled: tuple[str, str]) -> None:
    before = [exported(filled[0], project) for project in ("acme/api", "acme/web")]
    old = everything(filled[0])
    told: list[tuple[int, int]] = []
    moved = move(filled, lambda done, total: told.append((done, total)))
    assert moved.projects == 2
    assert all(old[table] for table in ("events", "vectors", "token_states", "embed_jobs", "links", "keys", "models"))
    assert everything(filled[1]) == old
    assert [exported(filled[1], project) for project in ("acme/api", "acme/web")] == before
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]


def test_the_moved_store_finds_and_goes_on(filled: tuple[str, str]) -> None:
    move(filled)
    found = []
    for place in filled:
        with Memory.open(place, project="acme/api", user="kim") as memory:
            found.append([(hit.memory.id, hit.evidence) for hit in memory.recall("deploy target apples").hits])
            memory.remember("One more, after the move")
            assert memory.verify().ok
            assert memory.rebuild(dry_run=True).differences == {}
    assert found[0] == found[1]
    assert found[0]


def test_moving_again_writes_nothing(filled: tuple[str, str]) -> None:
    first = move(filled)
    again = move(filled)
    assert first.rows > 0
    assert again == first._replace(rows=0)


class MoveEndedError(Exception):
    """What ends a move in the middle."""


@pytest.mark.parametrize("after", [1, 7, 30, 60])
def test_an_interrupted_move_goes_on(filled: tuple[str, str], after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "_AT_ONCE", 5)
    seen = 0

    def interrupt(done: int, total: int) -> None:
        nonlocal seen
        seen += 1
        if seen == after:
            raise MoveEndedError

    with pytest.raises(MoveEndedError):
        move(filled, interrupt)
    move(filled)
    assert everything(filled[1]) == everything(filled[0])


def test_what_was_written_to_the_old_store_since_is_caught_up(filled: tuple[str, str]) -> None:
    move(filled)
    with Memory.open(filled[0], project="acme/api", user="kim") as memory:
        memory.remember("Written after the move")
        memory.update(1, body="Turn 0 was about pears")
    move(filled)
    assert everything(filled[1]) == everything(filled[0])


@pytest.mark.parametrize("how", ["another project", "written to since"])
def test_a_store_that_holds_something_else_is_refused_and_left_as_it_is(filled: tuple[str, str], how: str) -> None:
    if how == "written to since":
        move(filled)
    with Memory.open(filled[1], project="acme/api" if how == "written to since" else "other/one") as memory:
        memory.remember("Mine alone")
    before = everything(filled[1])
    with pytest.raises(Conflict) as caught:
        move(filled)
    assert caught.value.code == "other_store"
    assert everything(filled[1]) == before


@pytest.mark.parametrize(
    ("target", "code", "kind"), [("one.sqlite", "same_store", Invalid), ("other.sqlite", "no_store", NotFound)]
)
def test_what_cannot_be_moved_is_named(tmp_path: Path, target: str, code: str, kind: type[EunoeError]) -> None:
    with pytest.raises(kind) as caught:
        move((str(tmp_path / "one.sqlite"), str(tmp_path / target)))
    assert caught.value.code == code
    assert list(tmp_path.iterdir()) == []


def test_the_command_moves_and_says_so(tmp_path: Path, postgres_server: Server, postgres_store: str) -> None:
    old = tmp_path / "old.sqlite"
    with Memory.open(old, project="acme/api") as memory:
        memory.remember("The deploy target is v1")
    command = [sys.executable, "-m", "eunoe", "migrate-store", str(old), postgres_store]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["moved"]["events"] == 2
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "in the new store already, and every chain verifies there" in again.stdout
    assert "EUNOE_STORE" in again.stderr
    found = subprocess.run(
        [sys.executable, "-m", "eunoe", "--store", postgres_store, "--project", "acme/api", "recall", "deploy"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "v1" in found.stdout


def test_every_table_of_the_schema_moves_or_is_named_here(postgres_server: Server, postgres_store: str) -> None:
    with Memory.open(postgres_store, project="acme/api"):
        pass
    schema = postgres_store.rpartition("=")[2]
    rows = postgres_server.execute(f"select tablename from pg_tables where schemaname = '{schema}'")
    own = {"store", "migrations", "leases", "counters", "passages_fts", "vector_index"}  # each database's own, or made
    assert {name for (name,) in rows} - own == {*LEDGER, *TABLES, *BESIDE, *REFERENCE}

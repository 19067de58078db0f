"""Every statement names its project and is answered by an index.

Statements of `queries/*.sql` are checked as they stand; those with `{fragments}` as the use cases compose them, caught
on their way into the engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eunoe import Memory
from eunoe.ports.text_index import Filter
from eunoe.service.flush import flush
from eunoe.service.projects import list_projects
from eunoe.stores.sql.migrate import TABLE, load_migrations
from eunoe.stores.sql.statements import FOLDER, load
from eunoe.stores.sqlite.connection import SqliteConnection

STATEMENTS = {
    f"{path.stem}.{name}": sql for path in sorted(Path(FOLDER).glob("*.sql")) for name, sql in load(path.stem).items()
}
PLAIN = {name: sql for name, sql in STATEMENTS.items() if "{" not in sql}
COMPOSED = {name: sql for name, sql in STATEMENTS.items() if "{" in sql}

# What lists every project may scan the table of projects, and what registers one asks for the largest number.
SCANS = {
    "projects.store_uuid": {"store"},
    "projects.counts": {"k"},
    "projects.numbers": {"projects"},
    "signals.since": {"g"},  # of the migrations, which are few
    # Models are few, and the queue is what is still to be done; what is due is read from its beginning.
    **{f"vectors.{name}": {"models"} for name in ("bound", "unserved")},
    **{f"vectors.{name}": {"embed_jobs"} for name in ("jobs_due", "jobs_revive", "jobs_counted")},
}


@pytest.fixture(scope="module")
def connection() -> Iterator[SqliteConnection]:
    """A migrated, empty database: its plans are the same on every machine, for nothing was analysed."""
    connection = SqliteConnection(":memory:")
    connection.run(TABLE)
    connection.db.create_scalar_function("eunoe_shape", lambda body: 0, 1, deterministic=True)
    for migration in load_migrations("sqlite"):
        connection.run(migration.sql)
    yield connection
    connection.close()


def plan(connection: SqliteConnection, sql: str) -> list[str]:
    named = re.findall(r":([a-z_]\w*)", sql)
    params: Any = dict.fromkeys(named, 1) if named else (1,) * sql.count("?")
    return [row[3] for row in connection.run(f"explain query plan {sql}", params)]


def scanned(steps: list[str]) -> set[str]:
    """Return what is read from end to end. A full-text table with a MATCH, and what the query itself made, is not."""
    made = {step.split()[-1] for step in steps if step.startswith(("CO-ROUTINE", "MATERIALIZE"))}
    scans = (step.split()[1] for step in steps if step.startswith("SCAN ") and "VIRTUAL TABLE" not in step)
    return {name for name in scans if name not in made and name != "CONSTANT"}


def searched_by_project_alone(steps: list[str]) -> set[str]:
    return {step for step in steps if re.search(r"\(p=\?\)$", step)}


# ── as they stand ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_a_statement_is_answered_by_an_index(connection: SqliteConnection, name: str) -> None:
    assert scanned(plan(connection, PLAIN[name])) == SCANS.get(name, set())


# Of these the whole project is the answer, in the order of an index.
WHOLE_PROJECT = {"ledger.heads", "ledger.event_count", "ledger.position", "projects.counts", "projects.adopt"}
WHOLE_PROJECT |= {"moving.reached"}  # the largest number, which is the end of an index
WHOLE_PROJECT |= {"projects.register"}  # checks the foreign keys of a number that may come back
# A row a scope; and an index of those alone that may end.
WHOLE_PROJECT |= {"upkeep.live", "upkeep.ended", "survey.ended"}
# What is left to do is all that waits; and after a rebuild or a change of model, everything is looked at once.
WHOLE_PROJECT |= {f"vectors.{name}" for name in ("jobs_counted_of", "jobs_requeue", "unserved")}
WHOLE_PROJECT |= {f"vectors.orphaned_{name}" for name in ("vectors", "states", "jobs")}


@pytest.mark.parametrize("name", sorted(set(PLAIN) - WHOLE_PROJECT))
def test_a_statement_about_one_thing_does_not_read_the_whole_project(connection: SqliteConnection, name: str) -> None:
    # Tables with one row a project are found by `p` alone.
    single = ("counters", " c ", "projects", " r ", " k ", "store")
    steps = {
        step for step in searched_by_project_alone(plan(connection, PLAIN[name])) if "INTEGER PRIMARY KEY" not in step
    }
    assert {step for step in steps if not any(word in step for word in single)} == set()


# ── as they are composed ─────────────────────────────────────────────────────────────────────────────────────────────


def use_everything(memory: Memory) -> None:
    """Every read with every filter, and a rebuild that swaps."""
    memory.remember_many(
        [
            {"body": f"thing{i} is blue", "tags": ["a", "b"], "paths": ["src/x.py"], "session": "s", "turn": i}
            for i in range(9)
        ]
    )
    memory.remember("deploy is v1", key="deploy/current")
    memory.remember("deploy is v2", key="deploy/current")
    memory.link(1, 2)
    narrow: dict[str, Any] = {"kinds": ["fact"], "tags": ["a"], "any_tags": ["b"], "paths": ["src"], "session": "s"}
    narrow |= {"since": "2020-01-01", "until": "2100-01-01", "scope": "project"}
    for filters in ({}, narrow, {**narrow, "as_of": "2090-01-01"}, {"known_at": "2090-01-01"}):
        for order in ("relevance", "newest", "oldest"):
            memory.recall("thing1 blue", limit=2, order=order, **filters)
            first = memory.recall(None, limit=2, order=order, **filters)
            if first.next:
                memory.recall(None, limit=2, order=order, after=first.next, **filters)
        memory.count(**filters)
    memory.recall("blue", limit=1, kinds=["gotcha"])
    memory.get(1, known_at="2090-01-01")
    memory.get(key="deploy/current", as_of="2090-01-01")
    memory.history(1)
    memory.why(1, "thing1")
    memory.links(1)
    memory.export()
    list_projects(memory._context)
    memory.dispute(2)
    memory.review()
    memory.briefing(focus="blue", paths=["src"])
    with memory._context.store.reading() as view:
        view.upkeep(1).find("unread", Filter(scopes=("project",), now=1), before=1, limit=1)
    memory._context.signals.flush()
    memory._context.signals.last_reads(1, [memory.get(1).id])
    memory.forget(**narrow, dry_run=True)
    flush(memory._context)
    memory.recall("thing1 blue", kinds=["fact"])
    memory.recall("thing1 on 3 May", since="2020-01-01")
    memory.forget(3)
    flush(memory._context)
    engine: Any = memory._opened.context.store._engine  # type: ignore[attr-defined]
    with engine.writing() as connection:
        connection.run("delete from tags where p = 1 and tag = 'a'")
    memory.rebuild()


@pytest.fixture(scope="module")
def composed() -> set[str]:
    """All statements that reach the engine while everything is used."""
    seen: set[str] = set()

    def noting(method: Callable[..., Any]) -> Callable[..., Any]:
        def noted(self: SqliteConnection, sql: str, *args: Any) -> Any:
            seen.add(sql)
            return method(self, sql, *args)

        return noted

    with pytest.MonkeyPatch.context() as patch:
        for name in ("run", "many", "stream"):
            patch.setattr(SqliteConnection, name, noting(getattr(SqliteConnection, name)))
        patch.setenv("EUNOE_MODEL", "fake")
        with Memory.open(":memory:", project="acme/api", user="kim") as memory:
            use_everything(memory)
    return {sql for sql in seen if re.match(r"\s*(select|with|update|delete)\b", sql)}


def test_every_composed_statement_was_used(composed: set[str]) -> None:
    unused = set()
    for name, template in COMPOSED.items():
        literal = max(re.split(r"\{\w+\}|\nfrom ", template), key=len).strip()
        if not template.startswith("insert") and not any(literal in sql for sql in composed):
            unused.add(name)
    moved = {"moving.events_from"}  # by key, in its order
    assert unused - {"memories.tally", "rebuild.clear", "rebuild.dump"} - moved == set()


def test_composed_statements_are_answered_by_indexes(connection: SqliteConnection, composed: set[str]) -> None:
    connection.run(
        "create virtual table if not exists temp.passages_vocab using fts5vocab(main, passages_fts, instance)"
    )
    exempt = {STATEMENTS[name] for name in SCANS}
    found = {sql: scanned(plan(connection, sql)) for sql in composed - exempt if "sqlite_master" not in sql}
    # `migrations` has a row a migration, and start-up reads it whole; `wanted` is a list of parameters; `k` has a row a
    # project and is walked to list them all.
    allowed = {"migrations", "store", "wanted", "k", "g"}
    assert {sql: tables - allowed for sql, tables in found.items() if tables - allowed} == {}


def test_no_row_of_an_answer_costs_a_walk_through_the_project(connection: SqliteConnection, composed: set[str]) -> None:
    """Only the first table of a statement may be read by its project alone; what follows is read once a row."""
    found = set()
    for sql in composed:
        if any(word in sql for word in ("passages_vocab", "sqlite_master", "from projects r")):  # these count it all
            continue
        steps = [step for step in plan(connection, sql) if step.startswith(("SEARCH", "SCAN"))]
        found |= searched_by_project_alone(steps[1:])
    assert {step for step in found if not step.startswith(("SEARCH r ", "SEARCH c ", "SEARCH k "))} == set()


def test_a_filter_does_not_keep_browsing_from_its_index(connection: SqliteConnection, composed: set[str]) -> None:
    """Browsing by relevance reads in the order of `versions_browse`, so a page costs a page and not a project."""
    wanted = "order by v.pinned desc, v.importance desc, v.recorded_from desc, v.memory desc"
    listings = [sql for sql in composed if wanted in sql and ":known_at" not in sql]
    assert listings
    for sql in listings:
        steps = plan(connection, sql)
        assert any("versions_browse" in step for step in steps), steps
        assert not any("TEMP B-TREE" in step and "ORDER BY" in step for step in steps), steps


def test_candidates_are_looked_up_by_their_row_number(connection: SqliteConnection, composed: set[str]) -> None:
    searches = [sql for sql in composed if "passages_fts match" in sql]
    assert len(searches) >= 2
    for sql in searches:
        steps = plan(connection, sql)
        assert any("SEARCH pa USING INTEGER PRIMARY KEY" in step for step in steps), steps
        assert any("f VIRTUAL TABLE" in step for step in steps), steps

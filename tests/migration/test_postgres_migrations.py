"""Migrations of PostgreSQL: the numbers of SQLite, all pending ones in one transaction, and nothing half done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw
import psycopg
import pytest
from tests.postgres import Server, schema_of, until
from tests.processes import Child, together

from eunoe import EunoeError, Memory, Unavailable
from eunoe.stores.postgres.dialect import schema as in_dialect
from eunoe.stores.postgres.engine import PostgresEngine
from eunoe.stores.sql.migrate import Migration, load_migrations
from eunoe.stores.sqlite.engine import SqliteEngine
from eunoe.testing.clock import ManualClock

KNOWN = load_migrations("postgres")
NEXT = len(KNOWN) + 1
LATER = Migration(NEXT, "later", "create table later (x integer); insert into later values (1);")
EVEN_LATER = Migration(NEXT + 1, "even_later", "alter table later add column y text;")
FAILING = Migration(NEXT + 1, "failing", "create table half (x integer); insert into nowhere values (1);")
HALTING = Migration(NEXT + 1, "halting", "create table half (x integer); select pg_advisory_xact_lock(4711);")

ASKED = ("thing7", "blue", "where does staging run", "deploy", "berlin zone", "since when")

# What a schema is made of, without the name of the schema itself.
STRUCTURE = {
    "columns": """
        select table_name, column_name, ordinal_position, data_type, udt_name, is_nullable, column_default,
          collation_name
        from information_schema.columns where table_schema = '{schema}'""",
    "indexes": """
        select tablename, indexname, replace(indexdef, '{schema}.', '')
        from pg_indexes where schemaname = '{schema}'""",
    "constraints": """
        select conrelid::regclass::text, conname, contype::text, replace(pg_get_constraintdef(oid), '{schema}.', '')
        from pg_constraint where connamespace = '{schema}'::regnamespace""",
    "triggers": """
        select tgrelid::regclass::text, tgname, tgenabled::text, replace(pg_get_triggerdef(t.oid), '{schema}.', '')
        from pg_trigger t join pg_class c on c.oid = t.tgrelid
        where c.relnamespace = '{schema}'::regnamespace and not tgisinternal""",
    "functions": """
        select proname, prosrc, pg_get_function_result(oid)
        from pg_proc where pronamespace = '{schema}'::regnamespace""",
    "storage": """
        select c.relname, c.relkind::text, c.reloptions::text, a.attname, a.attstorage::text from pg_class c
        left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and c.relkind = 'r'
        where c.relnamespace = '{schema}'::regnamespace""",
}


def open_memory(store: str, *, later_s: float = 0) -> Memory:
    """Open a store at a moment that is always the same, because ages are part of what ranks."""
    clock = ManualClock()
    clock.advance(s=later_s)
    return Memory.open(store, project="acme/api", user="kim", clock=clock)


def migrate(store: str, migrations: Sequence[Migration], *, allowed: bool = True) -> None:
    """Open the store as the version that has these migrations does."""

    def none() -> Any:
        raise NotImplementedError

    PostgresEngine(store, now_us=lambda: 42, scratch=none, migrations=migrations, migrate=allowed).close()


def structure(server: Server, store: str) -> dict[str, list[tuple[Any, ...]]]:
    schema = schema_of(store)
    return {name: sorted(server.rows(store, sql.format(schema=schema)), key=repr) for name, sql in STRUCTURE.items()}


def applied(server: Server, store: str) -> list[tuple[Any, ...]]:
    return server.rows(store, "select no, name, checksum from migrations order by no")


@contextmanager
def another(server: Server) -> Iterator[str]:
    address = server.fresh()
    yield address
    server.drop(address)


@pytest.fixture
def old(postgres_store: str) -> str:
    """A closed store of the present version, with a memory in it."""
    with open_memory(postgres_store) as memory:
        memory.remember("kept by the old version")
    return postgres_store


# ── the list ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_both_engines_have_the_same_numbers_and_names() -> None:
    assert [(each.no, each.name) for each in KNOWN] == [(each.no, each.name) for each in load_migrations("sqlite")]


def test_a_fresh_schema_is_the_migrations_replayed_one_by_one(postgres_server: Server, postgres_store: str) -> None:
    migrate(postgres_store, [*KNOWN, LATER, EVEN_LATER])
    with another(postgres_server) as stepped:
        for count in range(1, NEXT + 2):
            migrate(stepped, [*KNOWN, LATER, EVEN_LATER][:count])
            assert len(applied(postgres_server, stepped)) == count
        assert structure(postgres_server, stepped) == structure(postgres_server, postgres_store)
        assert applied(postgres_server, stepped) == applied(postgres_server, postgres_store)
    found = structure(postgres_server, postgres_store)
    assert len(found["columns"]) > 150
    assert {name for _, name, *_ in found["triggers"]} >= {"events_are_frozen", "events_are_kept"}


def test_each_migration_is_recorded_with_its_checksum_and_time(postgres_server: Server, old: str) -> None:
    migrate(old, [*KNOWN, LATER])
    recorded = [(each.no, each.name, each.checksum) for each in [*KNOWN, LATER]]
    assert applied(postgres_server, old) == recorded
    assert postgres_server.rows(old, f"select applied_at from migrations where no = {NEXT}") == [(42,)]


TYPES = {"integer": "int8", "text": "text", "blob": "bytea", "real": "float8"}


def test_shared_tables_have_the_same_columns_and_keys_on_both_engines(
    postgres_server: Server, postgres_store: str, tmp_path: Any
) -> None:
    file = tmp_path / "store.sqlite"
    SqliteEngine(str(file), now_us=lambda: 0).close()
    migrate(postgres_store, KNOWN)
    connection = apsw.Connection(str(file))
    tables = [
        name
        for (name,) in connection.execute("select name from sqlite_master where type = 'table'").fetchall()
        if not name.startswith(("sqlite_", "passages_fts"))
    ]
    on_sqlite = {
        (table, name, TYPES[kind.lower()], bool(required or key), bool(key))
        for table in tables
        for _, name, kind, required, _, key in connection.execute(f"pragma table_info({table})").fetchall()
    }
    connection.close()
    on_postgres = set(
        postgres_server.rows(
            postgres_store,
            f"""
            select c.table_name, c.column_name, c.udt_name, c.is_nullable = 'NO', exists (
              select 1 from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
              where i.indrelid = c.table_name::regclass and i.indisprimary and a.attname = c.column_name)
            from information_schema.columns c where c.table_schema = '{schema_of(postgres_store)}'
              and c.table_name not in ('passages_fts', 'vector_index')""",
        )
    )
    sharded = ("passages", "p", "int8", True)  # its key leads with the project there
    assert {row for row in on_sqlite if row[:4] != sharded} == {row for row in on_postgres if row[:4] != sharded}
    assert len(tables) > 20


def test_every_text_is_compared_by_its_bytes(postgres_server: Server, postgres_store: str) -> None:
    migrate(postgres_store, KNOWN)
    schema = schema_of(postgres_store)
    texts = postgres_server.execute(
        "select table_name, column_name, collation_name from information_schema.columns "
        f"where table_schema = '{schema}' and data_type = 'text'"
    )
    assert len(texts) > 50
    # What is compared with nothing: words for an index that reads them itself.
    assert {(table, column) for table, column, collation in texts if collation != "C"} <= {("passages_fts", "words")}
    foreign = postgres_server.execute(
        "select table_name, column_name, data_type from information_schema.columns "
        f"where table_schema = '{schema}' and data_type not in ('text', 'bigint', 'bytea', 'double precision')"
    )
    assert sorted(foreign) == [
        ("passages_fts", "tokens", "tsvector"),
        ("vector_index", "embedding", "USER-DEFINED"),
    ]


def test_types_are_translated_and_words_in_texts_and_comments_are_not() -> None:
    said = "create table x (a integer, b text not null, c blob, d real); -- integer\nselect 'text' cross join y"
    assert in_dialect(said) == (
        "create table x (a bigint, b text collate \"C\" not null, c bytea, d double precision); \nselect 'text' join y"
    )


# ── upgrading ────────────────────────────────────────────────────────────────────────────────────────────────────────


def fill(store: str) -> None:
    with open_memory(store) as memory:
        memory.remember_many(
            [{"body": f"thing{i} is blue", "tags": ["colour"], "paths": [f"{i}.py"]} for i in range(9)]
        )
        memory.remember_many(
            [
                {"body": body, "kind": "message", "session": "s", "turn": turn, "speaker": "Kim" if turn % 2 else "Lou"}
                for turn, body in enumerate(("Where does staging run?", "It runs in the Berlin zone.", "Since when?"))
            ]
        )
        memory.remember("deploy is v1", key="deploy/current")
        memory.remember("deploy is v2", key="deploy/current")
        memory.link(1, 2)
        memory.update(3, title="On blue")
        memory.forget(4)


def answers(store: str) -> list[Any]:
    """What a store says, without what it costs to say it."""
    with open_memory(store, later_s=3600) as memory:
        found: list[Any] = [[hit.number for hit in memory.recall(each, limit=50).hits] for each in ASKED]
        told: list[Any] = [memory.get(number) for number in (1, 3, 9, 11)]
        told += [memory.get(key="deploy/current"), memory.history(key="deploy/current"), memory.links(1)]
        found += [re.sub(r"tokens_(full|line)=\w+", "", repr(each)) for each in told]
        found += [memory.count(tags=("colour",)), memory.head(), memory.export()["events"]]
        assert memory.verify().ok
    return found


def hand_down(server: Server, store: str, older: str) -> None:
    """Put the rows of a store into one of an older schema, as far as it has their tables and columns."""
    new, old = schema_of(store), schema_of(older)
    columns = server.execute(
        f"""
        select c.table_name, string_agg(quote_ident(c.column_name), ', ')
        from information_schema.columns c join information_schema.columns o using (table_name, column_name)
        where c.table_schema = '{new}' and o.table_schema = '{old}' and c.table_name <> 'migrations'
        group by c.table_name"""
    )
    with psycopg.connect(server.url) as db:
        db.execute("set session_replication_role = replica")  # in any order
        for table, names in columns:
            db.execute(f"delete from {old}.{table}".encode())
            db.execute(f"insert into {old}.{table} ({names}) select {names} from {new}.{table}".encode())


@pytest.mark.parametrize("version", range(1, len(KNOWN)))
def test_a_store_of_an_older_schema_answers_the_same_when_it_is_upgraded(
    postgres_server: Server, postgres_store: str, version: int
) -> None:
    """There never was a PostgreSQL store below schema 4, so this is what one would have been.

    What kind of sentence a turn is stays unknown until a rebuild, and changes the order alone.
    """
    fill(postgres_store)
    with another(postgres_server) as older:
        migrate(older, KNOWN[:version])
        hand_down(postgres_server, postgres_store, older)
        found, wanted = answers(older), answers(postgres_store)
        assert [sorted(each) for each in found[: len(ASKED)]] == [sorted(each) for each in wanted[: len(ASKED)]]
        assert found[len(ASKED) :] == wanted[len(ASKED) :]
        assert structure(postgres_server, older) == structure(postgres_server, postgres_store)
        with open_memory(older) as memory:
            memory.rebuild()
            assert memory.rebuild(dry_run=True).differences == {}
        assert answers(older) == wanted
        for table in ("passages", "memory_versions"):
            rows = [sorted(postgres_server.rows(each, f"table {table}"), key=repr) for each in (older, postgres_store)]
            assert rows[0] == rows[1]


def test_a_store_of_this_version_is_upgraded_by_the_next(postgres_server: Server, postgres_store: str) -> None:
    fill(postgres_store)
    before = answers(postgres_store)
    migrate(postgres_store, [*KNOWN, LATER])
    assert postgres_server.rows(postgres_store, "select x from later") == [(1,)]
    with pytest.raises(Unavailable) as caught:
        open_memory(postgres_store)
    assert caught.value.code == "newer_schema"
    postgres_server.rows(postgres_store, f"delete from migrations where no = {NEXT}")
    assert answers(postgres_store) == before


# ── refusing ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def refusal(server: Server, store: str, migrations: Sequence[Migration], *, allowed: bool = True) -> str:
    """Return the code of the refusal; the schema is as it was."""
    before = structure(server, store), applied(server, store)
    with pytest.raises(EunoeError) as caught:
        migrate(store, migrations, allowed=allowed)
    assert (structure(server, store), applied(server, store)) == before
    return caught.value.code


def test_a_caller_that_must_not_migrate_gets_a_typed_error(postgres_server: Server, old: str) -> None:
    assert refusal(postgres_server, old, [*KNOWN, LATER], allowed=False) == "older_schema"
    migrate(old, KNOWN, allowed=False)  # there is nothing to do


def test_what_does_not_fit_is_refused_and_left_untouched(postgres_server: Server, old: str) -> None:
    edited = [Migration(KNOWN[0].no, KNOWN[0].name, KNOWN[0].sql + "\n-- an afterthought"), *KNOWN[1:]]
    assert refusal(postgres_server, old, edited) == "edited_migration"
    assert refusal(postgres_server, old, [*edited, LATER]) == "edited_migration"
    migrate(old, [*KNOWN, LATER])
    assert refusal(postgres_server, old, KNOWN) == "newer_schema"


def test_a_process_of_an_older_version_is_refused_from_the_upgrade_on(old: str) -> None:
    with open_memory(old) as memory:
        assert memory.count() == 1
        migrate(old, [*KNOWN, LATER])
        for call in (lambda: memory.remember("too late"), lambda: memory.recall("kept"), memory.count, memory.rebuild):
            with pytest.raises(Unavailable) as caught:
                call()
            assert caught.value.code == "newer_schema"


# ── interruptions ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_migration_that_fails_rolls_back_all(postgres_server: Server, old: str) -> None:
    assert refusal(postgres_server, old, [*KNOWN, LATER, FAILING]) == "damaged"
    with open_memory(old) as memory:
        assert memory.remember("written by the old version").number == 2
        assert memory.verify().ok
    migrate(old, [*KNOWN, LATER])
    assert postgres_server.rows(old, "select x from later") == [(1,)]


def test_a_first_migration_that_fails_leaves_no_schema(postgres_server: Server, postgres_store: str) -> None:
    with pytest.raises(Unavailable):
        migrate(postgres_store, [*KNOWN, Migration(NEXT, "failing", FAILING.sql)])
    assert postgres_server.execute(f"select 1 from pg_namespace where nspname = '{schema_of(postgres_store)}'") == []
    with open_memory(postgres_store) as memory:
        assert memory.remember("the second attempt works").number == 1


def migrate_and_halt(acknowledge: Any, store: str, migrations: Sequence[Migration]) -> None:
    acknowledge("begins")
    migrate(store, migrations)


@pytest.mark.parametrize("how", ["killed", "disconnected"])
@pytest.mark.parametrize("there", [True, False], ids=["an_old_store", "a_new_store"])
def test_an_interrupted_migration_leaves_nothing_half_done(
    postgres_server: Server, postgres_store: str, there: bool, how: str
) -> None:
    if there:
        fill(postgres_store)
    before = structure(postgres_server, postgres_store) if there else {}
    with psycopg.connect(postgres_server.url) as other:
        other.execute("select pg_advisory_xact_lock(4711)")  # at which the last migration halts
        child = Child(migrate_and_halt, postgres_store, [*KNOWN, LATER, HALTING])
        until(postgres_server.waiting)
        if how == "disconnected":
            postgres_server.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock'"
            )
        child.kill(20 if how == "disconnected" else 0)
    exists = postgres_server.execute(f"select 1 from pg_namespace where nspname = '{schema_of(postgres_store)}'")
    assert bool(exists) == there
    if there:
        assert structure(postgres_server, postgres_store) == before
    with open_memory(postgres_store) as memory:
        assert memory.remember("the next process goes on").number == (15 if there else 1)


def upgrade(at: int, barrier: Any, store: str) -> None:
    barrier.wait()
    migrate(store, [*KNOWN, LATER, EVEN_LATER])


def test_processes_that_migrate_at_once_apply_each_migration_once(postgres_server: Server, old: str) -> None:
    together(upgrade, 4, old)
    assert postgres_server.rows(old, "select x from later") == [(1,)]
    assert [no for no, *_ in applied(postgres_server, old)] == list(range(1, NEXT + 2))


def test_waiting_for_another_process_that_migrates_has_no_limit(postgres_server: Server, old: str) -> None:
    hasty = f"{old}&options=-clock_timeout%3D200%20-cstatement_timeout%3D200"
    with psycopg.connect(postgres_server.url) as other:
        other.execute("select pg_advisory_xact_lock(4711)")
        child = Child(migrate_and_halt, hasty, [*KNOWN, LATER, HALTING])
        until(postgres_server.waiting)
        second = Child(migrate_and_halt, hasty, [*KNOWN, LATER, HALTING])
        until(lambda: postgres_server.waiting() == 2)
        until(
            lambda: postgres_server.execute(
                "select 1 from pg_stat_activity where wait_event_type = 'Lock' "
                "and now() - query_start > '1 second' having count(*) = 2"
            )
        )
    for each in (child, second):
        each.process.join(20)
        assert each.process.exitcode == 0
        each.kill(0)
    assert len(applied(postgres_server, old)) == NEXT + 1

"""Migrations go forward only, all pending ones in one transaction, after one backup; what is newer is left alone."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw
import pytest

from eunoe import Memory, Unavailable
from eunoe.stores.sql.migrate import FOLDER, Migration, apply, check_applied, load_migrations
from eunoe.stores.sqlite.connection import SqliteConnection
from eunoe.stores.sqlite.engine import SqliteEngine

KNOWN = load_migrations("sqlite")
NEXT = len(KNOWN) + 1
LATER = Migration(NEXT, "later", "create table later (x integer); insert into later values (1)")
EVEN_LATER = Migration(NEXT + 1, "even_later", "alter table later add column y integer")
FAILING = Migration(NEXT + 1, "failing", "create table half (x); insert into nowhere values (1)")

Schema = list[tuple[Any, ...]]


def open_memory(store: Path) -> Memory:
    return Memory.open(store, project="acme/api", user="kim")


def migrate(store: Path, migrations: Sequence[Migration], *, allowed: bool = True) -> None:
    """Open the store as the version that has these migrations does."""
    SqliteEngine(str(store), now_us=lambda: 42, migrations=migrations, migrate=allowed).close()


def rows(store: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def schema(store: Path) -> Schema:
    return rows(store, "select type, name, tbl_name, sql from sqlite_master order by type, name")


def digest(store: Path) -> str:
    return sha256(store.read_bytes()).hexdigest()


def backups(store: Path) -> list[Path]:
    return sorted(store.parent.glob(f"{store.name}.*"))


@pytest.fixture
def old(store_path: Path) -> Path:
    """A closed store of the present version, with a memory in it."""
    with open_memory(store_path) as memory:
        memory.remember("kept by the old version")
    return store_path


# ── the list ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_fresh_schema_is_the_migrations_replayed_one_by_one(tmp_path: Path) -> None:
    fresh, stepped = tmp_path / "fresh.sqlite", tmp_path / "stepped.sqlite"
    migrate(fresh, [*KNOWN, LATER, EVEN_LATER])
    for count in range(1, NEXT + 2):
        migrate(stepped, [*KNOWN, LATER, EVEN_LATER][:count])
    assert schema(fresh) == schema(stepped)
    recorded = "select no, name, checksum from migrations order by no"
    assert rows(fresh, recorded) == rows(stepped, recorded)
    for pragma in ("user_version", "application_id", "journal_mode"):
        assert rows(fresh, f"pragma {pragma}") == rows(stepped, f"pragma {pragma}")


def test_each_migration_is_recorded_with_its_checksum_and_time(old: Path) -> None:
    migrate(old, [*KNOWN, LATER])
    recorded = rows(old, "select no, name, checksum from migrations order by no")
    assert recorded == [(each.no, each.name, each.checksum) for each in [*KNOWN, LATER]]
    assert rows(old, f"select applied_at from migrations where no = {NEXT}") == [(42,)]
    assert rows(old, "pragma user_version") == [(NEXT,)]


def test_migrations_of_a_dialect_follow_the_shared_ones_of_their_number(tmp_path: Path) -> None:
    (tmp_path / "0001_a.sql").write_text("shared;")
    (tmp_path / "0001_a.sqlite.sql").write_text("own;")
    (tmp_path / "0001_a.postgres.sql").write_text("other;")
    (tmp_path / "0002_b.sqlite.sql").write_text("second;")
    loaded = load_migrations("sqlite", str(tmp_path))
    assert loaded == [Migration(1, "a", "shared;own;"), Migration(2, "b", "second;")]


@pytest.mark.parametrize(
    "files", [["0002_b.sql"], ["0001_a.sql", "0003_c.sql"], ["0001_a.sql", "0001_b.sql"], ["0000_a.sql", "0001_b.sql"]]
)
def test_numbers_with_a_gap_or_twice_are_refused(tmp_path: Path, files: list[str]) -> None:
    for file in files:
        (tmp_path / file).write_text("select 1;")
    with pytest.raises(ValueError, match="gaps"):
        load_migrations("sqlite", str(tmp_path))


def test_every_file_of_the_folder_belongs_to_a_known_dialect() -> None:
    suffixes = {path.name.partition(".")[2] for path in Path(FOLDER).iterdir() if path.is_file()}
    assert suffixes <= {"sql", "sqlite.sql", "postgres.sql"}


# ── upgrading ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_old_store_is_upgraded_after_one_backup_that_opens_as_it_was(old: Path) -> None:
    before = schema(old)
    migrate(old, [*KNOWN, LATER])
    assert rows(old, "select x from later") == [(1,)]
    (backup,) = backups(old)
    assert backup.stat().st_mode & 0o777 == 0o600
    assert schema(backup) == before
    with open_memory(backup) as memory:
        assert [hit.number for hit in memory.recall("kept").hits] == [1]
        assert memory.verify().ok
        assert memory.rebuild(dry_run=True).differences == {}


def test_at_most_one_backup_is_kept(old: Path) -> None:
    migrate(old, [*KNOWN, LATER])
    migrate(old, [*KNOWN, LATER, EVEN_LATER])
    (backup,) = backups(old)
    assert rows(backup, "pragma user_version") == [(NEXT,)]


def test_a_new_store_and_one_that_is_up_to_date_need_no_backup(old: Path) -> None:
    assert backups(old) == []
    migrate(old, KNOWN)
    assert backups(old) == []


def test_what_stands_only_in_the_wal_is_in_the_backup(store_path: Path) -> None:
    with open_memory(store_path) as memory:
        memory.remember("still in the log that is written ahead")
        assert (store_path.parent / f"{store_path.name}-wal").stat().st_size > 0
        migrate(store_path, [*KNOWN, LATER])
    (backup,) = (path for path in backups(store_path) if path.suffix.startswith(".before"))
    with open_memory(backup) as memory:
        assert [hit.number for hit in memory.recall("written ahead").hits] == [1]


def test_a_migration_that_fails_rolls_back_all_and_leaves_the_store_to_the_old_version(old: Path) -> None:
    before = schema(old)
    with pytest.raises(Unavailable):
        migrate(old, [*KNOWN, LATER, FAILING])
    assert schema(old) == before
    assert rows(old, "pragma user_version") == [(len(KNOWN),)]
    assert rows(old, "select max(no) from migrations") == [(len(KNOWN),)]
    with open_memory(old) as memory:
        assert memory.remember("written by the old version").number == 2
        assert memory.verify().ok
    migrate(old, [*KNOWN, LATER])
    assert rows(old, "select x from later") == [(1,)]
    assert len(backups(old)) == 1


def test_a_first_migration_that_fails_leaves_a_file_that_can_become_a_store(store_path: Path) -> None:
    with pytest.raises(Unavailable):
        migrate(
            store_path, [*KNOWN, Migration(NEXT, "failing", "create table half (x); insert into nowhere values (1)")]
        )
    with open_memory(store_path) as memory:
        assert memory.remember("the second attempt works").number == 1


# ── refusing ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def refused(store: Path, attempt: Callable[[], None]) -> str:
    """Return the code of the refusal; the file is as it was, and nothing is beside it."""
    before = digest(store)
    with pytest.raises(Unavailable) as caught:
        attempt()
    assert digest(store) == before
    assert [path.name for path in store.parent.iterdir()] == [store.name]
    return caught.value.code


def test_a_caller_that_must_not_migrate_gets_a_typed_error(old: Path) -> None:
    assert refused(old, lambda: migrate(old, [*KNOWN, LATER], allowed=False)) == "older_schema"
    migrate(old, KNOWN, allowed=False)  # there is nothing to do


def test_a_caller_that_must_not_migrate_may_make_a_new_store(store_path: Path) -> None:
    migrate(store_path, KNOWN, allowed=False)
    assert rows(store_path, "pragma user_version") == [(len(KNOWN),)]


def test_a_store_of_a_newer_version_is_refused_and_untouched(old: Path) -> None:
    migrate(old, [*KNOWN, LATER])
    for backup in backups(old):
        backup.unlink()
    assert refused(old, lambda: open_memory(old).close()) == "newer_schema"


def test_a_newer_migration_is_found_though_the_header_hides_it(old: Path) -> None:
    rows(old, f"insert into migrations values ({NEXT}, 'later', 'x', 0)")
    rows(old, "pragma user_version = 0")
    assert refused(old, lambda: open_memory(old).close()) == "newer_schema"


def test_editing_an_applied_migration_is_an_error(old: Path) -> None:
    edited = [Migration(KNOWN[0].no, KNOWN[0].name, KNOWN[0].sql + "\n-- an afterthought"), *KNOWN[1:], LATER]
    assert refused(old, lambda: migrate(old, edited)) == "edited_migration"


def test_editing_an_applied_migration_is_an_error_though_nothing_is_pending(old: Path) -> None:
    edited = [Migration(KNOWN[0].no, KNOWN[0].name, KNOWN[0].sql + "\n-- an afterthought"), *KNOWN[1:]]
    connection = SqliteConnection(str(old))
    try:
        with pytest.raises(Unavailable) as caught:
            check_applied(connection, edited, str(old))
        assert caught.value.code == "edited_migration"
        assert check_applied(connection, KNOWN, str(old)) == []
    finally:
        connection.close()


def test_apply_leaves_the_end_of_the_transaction_to_its_caller(old: Path) -> None:
    connection = SqliteConnection(str(old))
    try:
        connection.run("begin exclusive")
        apply(connection, [LATER], now=1, execute=connection.run)
        connection.run("rollback")
    finally:
        connection.close()
    assert rows(old, "select name from sqlite_master where name = 'later'") == []


# ── several processes ────────────────────────────────────────────────────────────────────────────────────────────────


def test_processes_that_migrate_at_once_apply_each_migration_once(old: Path) -> None:
    processes = multiprocessing.get_context("fork")
    barrier, answers = processes.Barrier(6, timeout=30), processes.SimpleQueue()

    def upgrade() -> None:
        barrier.wait()
        try:
            migrate(old, [*KNOWN, LATER, EVEN_LATER])
            answers.put("done")
        except BaseException as exc:  # noqa: BLE001 - the parent must hear of it
            answers.put(f"{type(exc).__name__}: {exc}")

    children = [processes.Process(target=upgrade) for _ in range(6)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [answers.get() for _ in children] == ["done"] * 6
    assert rows(old, "select x from later") == [(1,)]
    assert rows(old, "select no from migrations order by no") == [(no,) for no in range(1, NEXT + 2)]
    (backup,) = backups(old)
    assert rows(backup, "pragma user_version") == [(len(KNOWN),)]


def test_a_migration_that_is_killed_leaves_the_old_schema_whole(old: Path) -> None:
    processes = multiprocessing.get_context("fork")
    before = schema(old)
    endless = "with recursive n (x) as (select 1 union all select x + 1 from n) insert into later select x from n"

    child = processes.Process(target=migrate, args=(old, [*KNOWN, LATER, Migration(NEXT + 1, "endless", endless)]))
    child.start()
    child.join(0.15)
    child.kill()
    child.join()
    assert schema(old) == before
    with open_memory(old) as memory:
        assert [hit.number for hit in memory.recall("kept").hits] == [1]
    migrate(old, [*KNOWN, LATER])
    assert len(backups(old)) == 1

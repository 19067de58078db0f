"""Files that cannot be used: a typed error that names the file, never a traceback, never "no memories"."""

from __future__ import annotations

import multiprocessing
import os
import random
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.resealing import hash_of

from eunoe import EunoeError, Invalid, Memory, Unavailable
from eunoe.domain.ids import next_id
from eunoe.stores.sql.migrate import Migration, load_migrations
from eunoe.stores.sqlite.connection import SqliteConnection
from eunoe.stores.sqlite.engine import SqliteEngine

PROCESSES = multiprocessing.get_context("fork")  # whoever forks has no store open
PROJECT = "acme/api"
NOBODY = 65534
PAGE = 4096


def open_memory(store: Path | str) -> Memory:
    return Memory.open(store, project=PROJECT, user="kim")


@pytest.fixture
def filled(store_path: Path) -> Path:
    """A closed store with 120 memories: one file."""
    with open_memory(store_path) as memory:
        memory.remember_many(
            [{"body": f"thing{i} is blue and goes to place{i}", "tags": [f"t{i % 5}"]} for i in range(120)]
        )
        memory.link(1, 2)
        memory.remember("deploy is v1", key="deploy/current")
    return store_path


@contextmanager
def raw(store: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(store))
    try:
        yield connection
    finally:
        connection.close()


def folder_of(store: Path) -> dict[str, str]:
    """Every file beside the store, with the hash of its content; of a `-shm`, which is locks alone, only that it is."""
    files = {file.name: file for file in store.parent.iterdir() if file.is_file()}
    return {
        name: "" if name.endswith("-shm") else sha256(file.read_bytes()).hexdigest() for name, file in files.items()
    }


def assert_names(error: EunoeError, store: Path) -> None:
    """The error tells which file, and that is enough to act on."""
    assert store.name in error.message or str(error.details.get("store", "")).endswith(store.name)


def assert_refused(store: Path, *codes: str) -> None:
    """Opening gives one of the codes and changes nothing: no byte of the file, and no file beside it."""
    before = folder_of(store)
    with pytest.raises(Unavailable) as caught:
        open_memory(store).close()
    assert caught.value.code in codes
    assert_names(caught.value, store)
    assert folder_of(store) == before


# ── what is no store of ours ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "content",
    [b"x", b"not a database\n" * 500, b'{"body": "a JSONL file"}\n', b"SQLite format 3\0", bytes(8192)],
    ids=["one_byte", "text", "json_lines", "only_the_magic", "zeros"],
)
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    store = tmp_path / "store.sqlite"
    store.write_bytes(content)
    assert_refused(store, "foreign_file")


@pytest.mark.parametrize(
    "pragmas",
    [
        "",
        "pragma application_id = 7",
        "pragma user_version = 1",
        "pragma journal_mode = wal",
        "pragma page_size = 65536",
    ],
    ids=["plain", "with_an_id", "with_a_version", "in_wal_mode", "with_large_pages"],
)
def test_a_database_of_another_program_is_refused(tmp_path: Path, pragmas: str) -> None:
    store = tmp_path / "store.sqlite"
    with raw(store) as other:
        other.execute(f"{pragmas}; create table theirs (x); insert into theirs values (1)").fetchall()
    assert_refused(store, "foreign_file")


def test_a_database_that_another_program_has_open_in_wal_mode_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    with raw(store) as other:
        other.execute("pragma journal_mode = wal; create table theirs (x); insert into theirs values (1)").fetchall()
        assert_refused(store, "foreign_file")
        assert other.execute("select name from sqlite_master").fetchall() == [("theirs",)]
        other.execute("pragma wal_checkpoint; insert into theirs values (2)").fetchall()
        assert_refused(store, "foreign_file")
        assert other.execute("select name from sqlite_master").fetchall() == [("theirs",)]


def test_an_empty_file_becomes_a_new_store(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    store.touch(mode=0o600)
    with open_memory(store) as memory:
        assert memory.remember("an empty file is nobody's").number == 1


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    assert_refused(tmp_path / "store", "cannot_open")


def test_a_path_below_a_file_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("mine")
    with pytest.raises(Unavailable) as caught:
        open_memory(tmp_path / "file.txt" / "store.sqlite")
    assert caught.value.code == "cannot_open"
    assert_names(caught.value, tmp_path / "file.txt" / "store.sqlite")
    assert (tmp_path / "file.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "y" * 300 + "/store.sqlite"], ids=["long", "nul", "long_folder"])
def test_a_name_that_no_file_can_have_is_a_typed_error(tmp_path: Path, name: str) -> None:
    with pytest.raises((Invalid, Unavailable)):
        open_memory(f"{tmp_path}/{name}")
    assert list(tmp_path.iterdir()) == []


# ── what was ours ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("length", [1, 16, 50, 99, 100, 512, 4095, 4096, 4097, 8192, 0.25, 0.5, 0.9, -4096, -1])
def test_a_store_that_lost_its_end_is_refused(filled: Path, length: int | float) -> None:
    size = filled.stat().st_size
    keep = int(size * length) if isinstance(length, float) else length % size
    os.truncate(filled, keep)
    # What is shorter than a header cannot be told from a file of somebody else's.
    assert_refused(filled, "truncated_file", *(["foreign_file"] if keep < 100 else []))


def test_a_store_of_a_newer_schema_is_refused(filled: Path) -> None:
    with raw(filled) as connection:
        connection.execute("pragma user_version = 99; pragma wal_checkpoint(truncate)").fetchall()
    assert_refused(filled, "newer_schema")


CALLS: dict[str, Callable[[Memory], Any]] = {
    "recall": lambda memory: [hit.number for hit in memory.recall("thing77", limit=1).hits] == [78],
    "recall_many": lambda memory: memory.recall("blue", limit=1000).total > 0,
    "browse": lambda memory: memory.recall(None, limit=1000).total == 121,
    "count": lambda memory: memory.count() == 121,
    "by_tag": lambda memory: memory.count(tags=("t3",)) == 24,
    "get": lambda memory: memory.get(78).number == 78,
    "by_key": lambda memory: memory.get(key="deploy/current").number == 121,
    "links": lambda memory: len(memory.links(1)) == 1,
    "history": lambda memory: len(memory.history(78)) == 1,
    "why": lambda memory: memory.why(78, "thing77").memory.number == 78,
    "log": lambda memory: len(memory.log(limit=500)) == 123,
    "export": lambda memory: len(memory.export()["events"]) == 123,
    "verify": lambda memory: memory.verify().events == 123 or memory.verify().fault is not None,
    "rebuild": lambda memory: memory.rebuild(dry_run=True).events == 123,
    "remember": lambda memory: memory.remember("after the damage").number == 122,
}


def answers(store: Path) -> dict[str, str]:
    """Each call's answer: `right`, `wrong`, or the code of its error; any other exception fails the test."""
    found = {}
    try:
        memory = open_memory(store)
    except EunoeError as exc:
        assert_names(exc, store)
        return {"open": exc.code}
    with memory:
        for name, call in CALLS.items():
            try:
                found[name] = "right" if call(memory) else "wrong"
            except EunoeError as exc:
                found[name] = exc.code
    return found


def test_every_call_is_right_while_nothing_is_damaged(filled: Path) -> None:
    assert set(answers(filled).values()) == {"right"}


def test_a_page_of_garbage_is_told_as_damage_and_never_as_no_memories(filled: Path) -> None:
    """Every page in turn: each answer is the right one, or says that the store is damaged."""
    whole = filled.read_bytes()
    codes = set()
    for page in range(1, len(whole) // PAGE):
        garbage = random.Random(page).randbytes(PAGE)
        filled.write_bytes(whole[: page * PAGE] + garbage + whole[(page + 1) * PAGE :])
        for name, answer in answers(filled).items():
            assert (page, name, answer) in {(page, name, "right"), (page, name, "damaged")}
            codes.add(answer)
        for rest in filled.parent.glob("store.sqlite-*"):
            rest.unlink()
    assert codes == {"right", "damaged"}


def test_a_few_flipped_bytes_never_end_in_a_traceback(filled: Path) -> None:
    """Bytes within a row can change what it says; `verify` is what finds that. No call may crash over it."""
    whole = filled.read_bytes()
    pages = len(whole) // PAGE
    for at in range(60):
        chance = random.Random(at)
        start = (1 + at % (pages - 1)) * PAGE + chance.randrange(200, PAGE - 32)
        filled.write_bytes(
            whole[:start] + bytes(byte ^ 0xFF for byte in whole[start : start + 24]) + whole[start + 24 :]
        )
        answers(filled)
        for rest in filled.parent.glob("store.sqlite-*"):
            rest.unlink()


# ── events of a newer Eunoe ──────────────────────────────────────────────────────────────────────────────────────────


def append_newer(memory: Memory, type_: str, v: int) -> None:
    """Append an event that this version does not know, as a newer one would: well-formed and chained."""
    store = memory._opened.context.store
    with store.writing() as tx:
        project = memory._context.existing(tx)
        ledger = tx.ledger(project.p)
        at = ledger.position(store.uuid)
        (last,) = list(ledger.events(after=at.seq - 1))
        event = last._replace(
            seq=at.seq + 1,
            id=next_id(at.recorded_at + 1, bytes(10), after=at.id),
            n=at.n + 1,
            type=type_,
            v=v,
            recorded_at=at.recorded_at + 1,
            dedupe_key=None,
            meta="{}",
            payload=None,
            payload_hash=None,
            prev_hash=at.hash,
        )
        ledger.append(event._replace(hash=hash_of(event._asdict(), project.uuid)), number=at.number)


@pytest.mark.parametrize(("type_", "v"), [("memory.dreamed", 1), ("memory.recorded", 2), ("memory.recorded", 0)])
def test_an_event_of_a_newer_version_is_refused_and_nothing_is_changed(store_path: Path, type_: str, v: int) -> None:
    with open_memory(store_path) as memory:
        memory.remember("kept beside what is unknown")
        append_newer(memory, type_, v)
    before = folder_of(store_path)
    with open_memory(store_path) as memory:
        calls: dict[str, Callable[[], object]] = {
            "rebuild": memory.rebuild,
            "dry_run": lambda: memory.rebuild(dry_run=True),
            "log": memory.log,
        }
        for name, call in calls.items():
            with pytest.raises(Unavailable) as caught:
                call()
            assert (name, caught.value.code) == (name, "newer_event")
            assert caught.value.details == {"type": type_, "v": v}
    assert folder_of(store_path) == before
    with open_memory(store_path) as memory:  # what is read is noted beside the ledger
        assert [hit.number for hit in memory.recall("kept").hits] == [1]


def test_a_document_with_an_event_of_a_newer_version_is_not_imported(store_path: Path) -> None:
    with open_memory(":memory:") as memory:
        memory.remember("exported by a newer version")
        append_newer(memory, "memory.dreamed", 1)
        document = memory.export()
    open_memory(store_path).close()
    before = folder_of(store_path)
    with open_memory(store_path) as memory:
        with pytest.raises(Unavailable) as caught:
            memory.import_(document)
        assert caught.value.code == "newer_event"
        assert memory.count() == 0
    assert folder_of(store_path) == before


# ── what the system does not allow ───────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = SqliteConnection.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "busy_wait_s", 0.05)


@pytest.mark.usefixtures("impatient")
def test_a_write_to_a_locked_store_says_so_and_succeeds_later(filled: Path) -> None:
    with open_memory(filled) as memory, raw(filled) as other:
        other.execute("begin exclusive").fetchall()
        with pytest.raises(Unavailable) as caught:
            memory.remember("while it is locked")
        assert (caught.value.code, caught.value.retryable) == ("locked", True)
        assert_names(caught.value, filled)
        assert [hit.number for hit in memory.recall("thing77", limit=1).hits] == [78]  # readers are not kept waiting
        other.execute("rollback").fetchall()
        assert memory.remember("when it is free").number == 122
        assert memory.verify().ok


@pytest.mark.usefixtures("impatient")
def test_a_store_that_another_program_keeps_for_itself_is_locked_and_not_empty(filled: Path) -> None:
    with raw(filled) as other:
        other.execute("pragma locking_mode = exclusive; update store set created_at = created_at").fetchall()
        with pytest.raises(Unavailable) as caught:
            open_memory(filled).recall("thing77")
        assert (caught.value.code, caught.value.retryable) == ("locked", True)
        assert_names(caught.value, filled)


def as_nobody(work: Callable[[], str]) -> str:
    """Return what `work` says in a process that the system does not let do everything."""
    answer = PROCESSES.SimpleQueue()

    def run() -> None:
        if os.getuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        try:
            answer.put(work())
        except EunoeError as exc:
            answer.put(exc.code)
        except BaseException as exc:  # noqa: BLE001 - the parent must hear of it
            answer.put(f"{type(exc).__name__}: {exc}")

    child = PROCESSES.Process(target=run)
    child.start()
    child.join()
    return str(answer.get())


@pytest.fixture
def shared_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that other users can reach, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        monkeypatch.setenv("EUNOE_HOME", str(folder / "home"))
        yield folder
        for path in (folder, *folder.iterdir()):
            path.chmod(0o700)


def use(store: Path) -> str:
    with open_memory(store) as memory:
        memory.remember("as nobody")
    return "written"


def test_a_folder_that_may_not_be_written_is_read_only(shared_folder: Path) -> None:
    shared_folder.chmod(0o555)
    assert as_nobody(lambda: use(shared_folder / "store.sqlite")) == "read_only"
    assert list(shared_folder.iterdir()) == []


def test_a_folder_that_may_not_be_made_is_read_only(shared_folder: Path) -> None:
    shared_folder.chmod(0o555)
    assert as_nobody(lambda: use(shared_folder / "below" / "store.sqlite")) == "read_only"


@pytest.mark.parametrize("mode", [0o555, 0o777], ids=["in_a_read_only_folder", "in_an_open_folder"])
def test_a_read_only_file_is_told_as_such_and_stays_as_it_was(shared_folder: Path, mode: int) -> None:
    store = shared_folder / "store.sqlite"
    with open_memory(store) as memory:
        memory.remember("kept")
    before = folder_of(store)
    store.chmod(0o444)
    shared_folder.chmod(mode)
    assert as_nobody(lambda: use(store)) == "read_only"
    assert folder_of(store)[store.name] == before[store.name]


def test_a_file_that_may_not_be_read_cannot_be_opened(shared_folder: Path) -> None:
    store = shared_folder / "store.sqlite"
    open_memory(store).close()
    store.chmod(0)
    assert as_nobody(lambda: use(store)) in ("cannot_open", "read_only")


def fill_up(store: Path) -> str:
    """Write until the system refuses; lift the limit; tell what had been acknowledged and what is there."""
    acknowledged = []
    with open_memory(store) as memory:
        memory.remember("the first")
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
        code = "never full"
        for i in range(5000):
            try:
                acknowledged.append(memory.remember(f"filler{i} " + f"text{i} " * 100).number)
            except Unavailable as exc:
                code = exc.code if str(store) in str(exc.details) else f"{exc.code} without the file"
                break
        assert acknowledged
        assert memory.count() == 1 + len(acknowledged)  # readers go on
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert memory.remember("there is room again").number == len(acknowledged) + 2
        assert memory.verify().ok
        assert memory.rebuild(dry_run=True).differences == {}
    with open_memory(store) as memory:
        assert memory.count() == len(acknowledged) + 2
    return code


def test_a_write_beyond_the_limit_of_a_file_is_a_typed_error_and_loses_nothing(shared_folder: Path) -> None:
    shared_folder.chmod(0o777)
    assert as_nobody(lambda: fill_up(shared_folder / "store.sqlite")) in ("io_error", "disk_full")


FULL = """
import sys, pathlib
from eunoe import Memory, Unavailable
folder = pathlib.Path(sys.argv[1])
spare = folder / "spare"
spare.write_bytes(bytes(1_000_000))
acknowledged = []
with Memory.open(folder / "store.sqlite", project="acme/api", user="kim") as memory:
    try:
        for i in range(5000):
            acknowledged.append(memory.remember(f"filler{i} " + f"text{i} " * 100).number)
    except Unavailable as exc:
        print(exc.code, exc.retryable, str(exc.details.get("store", "")).endswith("store.sqlite"))
    assert memory.count() == len(acknowledged) > 10
    spare.unlink()
    assert memory.remember("there is room again").number == len(acknowledged) + 1
    assert memory.verify().ok
with Memory.open(folder / "store.sqlite", project="acme/api", user="kim") as memory:
    assert memory.count() == len(acknowledged) + 1
    assert memory.recall("room again").hits[0].number == len(acknowledged) + 1
"""


def on_a_small_disk(folder: Path, code: str, size: str) -> subprocess.CompletedProcess[str]:
    """Run code on a small disk that is mounted in a namespace of its own and gone with the process."""
    folder.mkdir()
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount")
    script = f'mount -t tmpfs -o size={size} none "$1" && exec "$2" -c "$3" "$1"'
    return subprocess.run(
        [unshare, "-m", "sh", "-c", script, "sh", str(folder), sys.executable, code],
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_full_disk_is_a_typed_error_and_loses_nothing(tmp_path: Path) -> None:
    done = on_a_small_disk(tmp_path / "disk", FULL, "3m")
    assert (done.stdout, done.stderr) == ("disk_full True True\n", "")


NO_ROOM = """
import sys, pathlib
from eunoe import Memory, Unavailable
folder = pathlib.Path(sys.argv[1])
spare = folder / "spare"
try:
    spare.write_bytes(bytes(10_000_000))
except OSError:
    pass
store = folder / "store.sqlite"
try:
    Memory.open(store, project="acme/api", user="kim")
except Unavailable as exc:
    print(exc.code)
spare.unlink()
with Memory.open(store, project="acme/api", user="kim") as memory:
    print(memory.remember("there is room again").number)
"""


def test_a_store_that_found_no_room_when_it_was_made_can_be_made_later(tmp_path: Path) -> None:
    done = on_a_small_disk(tmp_path / "disk", NO_ROOM, "1m")
    assert (done.stdout, done.stderr) == ("disk_full\n1\n", "")


# ── who may read the files ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def careless() -> Iterator[None]:
    """A umask that takes nothing away."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


@pytest.mark.usefixtures("careless")
def test_files_are_0600_and_folders_0700_whatever_the_umask(tmp_path: Path) -> None:
    store = tmp_path / "one" / "two" / "store.sqlite"
    with open_memory(store) as memory:
        memory.remember("for my eyes")
        memory.recall("eyes")
        assert modes(store.parent) == dict.fromkeys(("store.sqlite", "store.sqlite-wal", "store.sqlite-shm"), 0o600)
        assert modes(tmp_path) == {"one": 0o700}
        assert modes(tmp_path / "one") == {"two": 0o700}


@pytest.mark.usefixtures("careless")
def test_the_backup_before_a_migration_is_0600(store_path: Path) -> None:
    with open_memory(store_path) as memory:
        memory.remember("for my eyes")
    known = load_migrations("sqlite")
    newer = [*known, Migration(len(known) + 1, "later", "create table later (x)")]
    SqliteEngine(str(store_path), now_us=lambda: 0, migrations=newer).close()
    assert set(modes(store_path.parent).values()) == {0o600}
    assert len(modes(store_path.parent)) == 2


@pytest.mark.usefixtures("careless")
def test_what_a_rebuild_puts_aside_is_for_its_owner_alone(filled: Path) -> None:
    seen: list[int] = []

    def look(*_: object) -> None:
        seen.extend(stat.S_IMODE(scratch.stat().st_mode) for scratch in filled.parent.glob("*.rebuild-*"))

    with open_memory(filled) as memory:
        memory.rebuild(progress=look)
    assert set(seen) == {0o600}


@pytest.mark.usefixtures("careless")
def test_the_default_store_lies_in_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EUNOE_HOME", str(tmp_path / "home"))
    with Memory.open(project=PROJECT) as memory:
        memory.remember("for my eyes")
        assert modes(tmp_path) == {"home": 0o700}
        assert set(modes(tmp_path / "home").values()) == {0o600}


def test_a_file_of_zeros_is_no_store_and_stays_as_it_is(store_path: Path) -> None:
    store_path.parent.mkdir(parents=True, exist_ok=True)
    store_path.write_bytes(bytes(8192))
    with pytest.raises(Unavailable) as caught:
        open_memory(store_path)
    assert caught.value.code == "foreign_file"
    assert store_path.read_bytes() == bytes(8192)


@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_a_store_that_is_taken_away_while_it_is_open_is_not_written_to(store_path: Path, how: str) -> None:
    with Memory.open(store_path, project="acme/api") as memory:
        memory.remember("The build needs make")
        for file in store_path.parent.glob(f"{store_path.name}*"):
            file.rename(file.with_name(f"away-{file.name}"))
        if how == "replaced":
            store_path.write_bytes(b"")
        with pytest.raises(Unavailable) as caught:
            memory.remember("This would be lost")
        assert caught.value.code == "moved_away"
    if how == "replaced":
        assert store_path.read_bytes() == b""

"""A store's file before it is a database: making it, telling whether it is ours, keeping a copy, clearing leftovers."""

from __future__ import annotations

import os
from contextlib import suppress

import apsw

from eunoe.errors import Invalid, Unavailable, shown
from eunoe.stores.sql.migrate import newer_schema
from eunoe.stores.sqlite.connection import APPLICATION_ID, SqliteConnection, translated

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100


def prepare(path: str) -> None:
    """Make the file with 0600, in folders that are made with 0700 whatever the umask; leave what exists as it is.

    Raises:
        Invalid: `bad_store`. Unavailable: `read_only`, `cannot_open`.
    """
    if "\0" in path:
        raise Invalid("bad_store", f"store={shown(path)} holds a NUL character; give a file path")
    try:
        _make_folders(os.path.dirname(os.path.abspath(path)))
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if os.path.isdir(path):
            raise unusable("cannot_open", path, "is a folder; EUNOE_STORE names a file") from None
    except PermissionError as exc:
        raise unusable("read_only", path, f"cannot be made ({exc.strerror}); set EUNOE_STORE elsewhere") from exc
    except OSError as exc:
        raise unusable("cannot_open", path, f"cannot be made ({exc.strerror}); set EUNOE_STORE elsewhere") from exc


def inspect(path: str, known: int) -> None:
    """Refuse a file that is no store of ours, by its first bytes and without opening it as a database.

    Raises:
        Unavailable: `foreign_file`, `newer_schema`, `truncated_file`, `cannot_open`.
    """
    try:
        with open(path, "rb") as file:
            header = file.read(_HEADER_BYTES)
            size = file.seek(0, os.SEEK_END)
    except OSError as exc:
        raise unusable("cannot_open", path, f"cannot be read ({exc.strerror})") from exc
    if not size or _is_blank(header):
        return
    if not header.startswith(_MAGIC) or int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise foreign_file(path)
    if (found := int.from_bytes(header[60:64], "big")) > known:
        raise newer_schema(path, found, known)
    # SQLite gives the file its full size before it writes the first page, which tells that size.
    page = int.from_bytes(header[16:18], "big")
    if size < int.from_bytes(header[28:32], "big") * (65536 if page == 1 else page):
        raise unusable("truncated_file", path, "has lost its end; restore a backup")


def _is_blank(header: bytes) -> bool:
    """Tell whether a database never had a schema: another process is making it right now, or was ended at it.

    SQLite first gives the file a size, of zeros, and then writes its first page. A file of zeros that is no database
    at all is refused when it is opened.
    """
    return not any(header) or (header.startswith(_MAGIC) and header[68:72] == bytes(4) == header[40:44])


def foreign_file(path: str) -> Unavailable:
    """Return the error for a file that is another program's."""
    return unusable("foreign_file", path, "is no Eunoe store and was left untouched; set EUNOE_STORE elsewhere")


def unusable(code: str, path: str, what: str) -> Unavailable:
    """Return an error about a store's file that names it whole."""
    return Unavailable(code, f"the store {path!r} {what}", details={"store": path})


def back_up(path: str, schema: int) -> None:
    """Keep a copy of a store as it was before its migration, in place of an earlier copy.

    Raises:
        Unavailable: `disk_full`, `io_error`, …; the earlier copy is still there.
    """
    folder, name = os.path.split(os.path.abspath(path))
    target = f"{path}.before-{schema + 1}"
    remove(f"{target}.part")
    os.close(os.open(f"{target}.part", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    source, copy = SqliteConnection(path), SqliteConnection(f"{target}.part")
    try:
        with copy.db.backup("main", source.db, "main") as job:
            job.step()
    except apsw.Error as exc:
        raise translated(exc, path) from exc
    finally:
        copy.close()
        source.close()
    for file in os.listdir(folder):
        if file.startswith(f"{name}.before-") and not file.endswith(".part"):
            os.unlink(os.path.join(folder, file))
    os.replace(f"{target}.part", target)


def scratch_path(path: str) -> str:
    """Return a new path for a rebuild beside a store, after clearing what ended rebuilds have left there.

    A rebuild that is running holds its file's write lock, so a file that can be locked belongs to none.
    """
    folder, name = os.path.split(os.path.abspath(path))
    mark = f"{name}.rebuild-"
    for file in sorted(os.listdir(folder)):
        if file.startswith(mark) and not file.endswith(("-wal", "-shm")):
            _clear(os.path.join(folder, file))
    return os.path.join(folder, f"{mark}{os.urandom(6).hex()}")


def _clear(leftover: str) -> None:
    try:
        connection = SqliteConnection(leftover, busy_wait_s=0.0)
    except Unavailable:
        return
    try:
        connection.run("begin immediate")
        connection.run("rollback")
    except Unavailable as exc:
        if exc.code == "locked":
            return
    finally:
        connection.close()
    remove_store(leftover)


def remove_store(path: str) -> None:
    """Remove a database and what SQLite keeps beside it."""
    for file in (path, f"{path}-wal", f"{path}-shm"):
        remove(file)


def remove(path: str) -> None:
    """Remove a file if it is there."""
    if os.path.exists(path):
        os.unlink(path)


def _make_folders(folder: str) -> None:
    if folder and not os.path.isdir(folder):
        _make_folders(os.path.dirname(folder))
        # Another process may make it at this moment; a file in its place is found by the next step.
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)

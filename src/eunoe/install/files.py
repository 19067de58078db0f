"""Reads and writes other programs' files, each as a whole or not at all, and keeps the record of what was made.

A file is replaced by a new one beside it, with the old one's mode; a symbolic link is followed, so that it stays one.
Before Eunoe changes a file for the first time it copies it to `NAME.bak` (`NAME.eunoe.bak` where that name is taken),
and never writes that copy again. The record in the data directory says which files, folders and copies setup made:
only those are ever removed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from eunoe.errors import Conflict, Invalid, Unavailable, shown

RECORD_FILE = "setup.json"
_FORMAT = 1
_BOM = b"\xef\xbb\xbf"


class Change(NamedTuple):
    """What happens to one file.

    Attributes:
        path: As the client names it; `real` is where it leads.
        before: Its bytes, or None when it is not there yet.
        after: Its new bytes, or None to remove it.
        was_ours, is_ours: Whether something of ours is in it, before and after.
    """

    path: Path
    real: Path
    before: bytes | None
    after: bytes | None
    was_ours: bool
    is_ours: bool


class Record:
    """What setup made on this machine: files, folders, and copies of files by the file."""

    def __init__(self, path: Path) -> None:
        """Read the record; one that is not there is empty.

        Raises:
            Unavailable: `bad_setup_record`.
        """
        self.path = path
        self.files: set[str] = set()
        self.folders: set[str] = set()
        self.backups: dict[str, str] = {}
        raw = read(path)
        if raw is None:
            return
        try:
            document = json.loads(raw)
            if document["format"] != _FORMAT:
                raise ValueError(document["format"])
            self.files, self.folders = set(document["files"]), set(document["folders"])
            self.backups = dict(document["backups"])
        except (ValueError, TypeError, KeyError, RecursionError) as exc:
            raise Unavailable(
                "bad_setup_record",
                f"{path}, which lists what setup made, is damaged or of another version. Remove it to go on: what was "
                f"made until then stays where it is",
            ) from exc

    def before(self, real: Path) -> str | None:
        """Return a file's text as it was before the first change: "" when setup made it, None when that is not known.

        Raises:
            Invalid: `bad_config_file`. Unavailable: `config_unreadable`.
        """
        if str(real) in self.files:
            return ""
        backup = self.backups.get(str(real))
        raw = read(Path(backup)) if backup else None
        return None if raw is None else decode(real, raw)[1]

    def save(self) -> None:
        """Write the record, 0600 in a 0700 folder."""
        document = {
            "format": _FORMAT,
            "files": sorted(self.files),
            "folders": sorted(self.folders),
            "backups": dict(sorted(self.backups.items())),
        }
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _replace(self.path, json.dumps(document, indent=1).encode() + b"\n", mode=0o600)

    def settle(self) -> None:
        """Remove the folders that setup made and nobody uses, and the record itself when it lists nothing any more."""
        held = [Path(name) for name in (*self.files, *self.backups, str(self.path))]
        for name in sorted(self.folders, key=len, reverse=True):
            # One that others use by now, and nothing of ours is in, is theirs.
            if _is_removed(Path(name)) or not any(path.is_relative_to(name) for path in held):
                self.folders.discard(name)
        if self.files or self.backups:
            self.save()
            return
        self.path.unlink(missing_ok=True)
        for name in sorted(self.folders, key=len, reverse=True):
            _is_removed(Path(name))


def real(path: Path) -> Path:
    """Return where a path leads. Raises `Unavailable` (`config_unreadable`) for links that lead in a circle."""
    try:
        return path.resolve()
    except (OSError, RuntimeError) as exc:
        raise Unavailable(
            "config_unreadable", f"{shown(str(path))} is a link that leads nowhere; nothing was changed"
        ) from exc


def read(path: Path) -> bytes | None:
    """Return the bytes of a file, or None when there is none. Raises `Unavailable` (`config_unreadable`)."""
    try:
        if path.exists() and not path.is_file():
            raise Unavailable("config_unreadable", f"{shown(str(path))} is no ordinary file; nothing was changed")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as exc:
        raise Unavailable(
            "config_unreadable", f"{shown(str(path))} cannot be read ({exc.strerror}); nothing was changed"
        ) from exc


def decode(path: Path, raw: bytes) -> tuple[bytes, str]:
    """Return the byte order mark of a file, or nothing, and its text. Raises `Invalid` (`bad_config_file`)."""
    bom = _BOM if raw.startswith(_BOM) else b""
    try:
        return bom, raw[len(bom) :].decode()
    except UnicodeDecodeError as exc:
        raise bad_file(path, raw.count(b"\n", 0, exc.start) + 1, "is not UTF-8") from exc


def bad_file(path: Path, line: int, problem: str) -> Invalid:
    """Return the error of a file that cannot be changed safely."""
    where = f", line {line}," if line else ""
    return Invalid(
        "bad_config_file",
        f"{path}{where} {problem}. Nothing was changed: correct the file and run it again, or name the other clients",
        details={"file": str(path), "line": line or None},
    )


def carry_out(changes: Iterable[Change], record: Record) -> None:
    """Make all the changes; when one fails, take back those that were made.

    Raises:
        Conflict: `file_changed`: a file is not what the plan saw. Unavailable: `config_unwritable`,
            `config_unreadable`.
    """
    changes = list(changes)
    for change in changes:
        if read(change.real) != change.before:
            raise Conflict(
                "file_changed",
                f"{change.path} was changed by another program in the meantime; nothing was changed. Run it again",
                details={"file": str(change.path)},
            )
    done: list[Change] = []
    files, backups = set(record.files), dict(record.backups)
    try:
        for change in changes:
            _enter(change, record)
        record.save()
        for change in changes:
            done.append(change)
            _back_up(change, record)
            _write(change.real, change.after)
        for change in changes:
            _forget(change, record)
        record.settle()
    except OSError as exc:
        for change in reversed(done):
            _write(change.real, change.before)
        for name in record.backups.keys() - backups.keys():
            Path(record.backups[name]).unlink(missing_ok=True)
        record.files, record.backups = files, backups
        record.settle()
        place = done[-1].path if done else record.path
        raise Unavailable(
            "config_unwritable",
            f"{place} cannot be written ({exc.strerror}); nothing was changed. Change its permissions and run it again",
            details={"file": str(place)},
        ) from exc


def _enter(change: Change, record: Record) -> None:
    """Enter into the record what is about to be made; before it is made, so that a crash leaves nothing unlisted."""
    name = str(change.real)
    for place in (change.real, record.path):
        record.folders |= {str(folder) for folder in place.parents if not folder.exists()}
    if change.before is None:
        record.files.add(name)
        record.backups.pop(name, None)
        return
    if not change.was_ours:
        record.files.discard(name)  # another one than setup made, once
    if change.is_ours and name not in record.files and name not in record.backups:
        record.backups[name] = str(_free_name(change.real))


def _free_name(real: Path) -> Path:
    plain, own = (real.with_name(real.name + ending) for ending in (".bak", ".eunoe.bak"))
    return own if os.path.lexists(plain) else plain


def _back_up(change: Change, record: Record) -> None:
    backup = record.backups.get(str(change.real))
    if backup and change.before is not None and not os.path.lexists(backup):
        _replace(Path(backup), change.before, mode=change.real.stat().st_mode & 0o7777)


def _forget(change: Change, record: Record) -> None:
    """Let go of a file that has nothing of ours any more, and of its copy when the file is again as it was."""
    name = str(change.real)
    if change.after is None:
        record.files.discard(name)
    backup = record.backups.get(name)
    if backup is None:
        return
    is_restored = read(Path(backup)) == change.after
    if is_restored:
        Path(backup).unlink()
    if is_restored or not change.is_ours:
        del record.backups[name]


def _write(real: Path, content: bytes | None) -> None:
    if content is None:
        if os.path.lexists(real):
            real.unlink()
        return
    real.parent.mkdir(parents=True, exist_ok=True)
    _replace(real, content, mode=real.stat().st_mode & 0o7777 if real.exists() else None)


def _replace(path: Path, content: bytes, *, mode: int | None) -> None:
    """Write a file in place of any that is there, durable on return; `mode` None is what a new file gets."""
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(temporary, flags, 0o666 if mode is None else 0o600), "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _is_removed(folder: Path) -> bool:
    """Remove a folder when it is empty; returns whether it is not there any more."""
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    return not folder.exists()

"""Files that hold memories: 0600, and there only when they are whole."""

from __future__ import annotations

import os
from itertools import count

from eunoe.errors import Unavailable, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def write_whole(path: str, pieces: Iterable[bytes]) -> None:
    """Write a file in place of any that is there, durable on return; a failure leaves the old one as it was.

    Raises:
        Unavailable: `file_unwritable`.
    """
    temporary = f"{path}.{os.urandom(4).hex()}.tmp"
    try:
        try:
            _write(temporary, pieces)
            os.replace(temporary, path)  # noqa: PTH105 - one way to name files in this module
        except BaseException:
            if os.path.lexists(temporary):
                os.unlink(temporary)  # noqa: PTH108 - see above
            raise
    except OSError as exc:
        raise _unwritable(path, exc) from exc


def write_aside(stem: str, suffix: str, content: bytes) -> str:
    """Write a new file beside any of an earlier run, and return its name: `stem.jsonl`, `stem.2.jsonl`, ….

    One that holds the same bytes already is enough.

    Raises:
        Unavailable: `file_unwritable`.
    """
    for n in count(1):
        path = f"{stem}{suffix}" if n == 1 else f"{stem}.{n}{suffix}"
        try:
            _write(path, (content,))
        except FileExistsError:
            if _holds(path, content):
                break
        except OSError as exc:
            raise _unwritable(path, exc) from exc
        else:
            break
    return path


def _write(path: str, pieces: Iterable[bytes]) -> None:
    with os.fdopen(os.open(path, _NEW, 0o600), "wb") as stream:
        for piece in pieces:
            stream.write(piece)
        stream.flush()
        os.fsync(stream.fileno())


def _holds(path: str, content: bytes) -> bool:
    try:
        with open(path, "rb") as stream:  # noqa: PTH123 - see write_whole
            return stream.read() == content
    except OSError:
        return False


def _unwritable(path: str, exc: OSError) -> Unavailable:
    return Unavailable("file_unwritable", f"{shown(path)} cannot be written ({exc.strerror}); name another file")

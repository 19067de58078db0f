# Loaded by every agent's session, and pathlib costs 18 ms.
"""The store's secret: 32 random bytes in a 0600 file beside the database, never in it; of a server's in the home.

It names the fence around recalled text, so that nothing in a memory can know and close it. Losing the file costs
nothing: another secret is drawn, and the next session's fence has another name.
"""

from __future__ import annotations

import os

from eunoe.errors import Unavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SECRET_BYTES = 32
_SUFFIX = ".secret"


def secret_file(store: str, home: str, uuid: str) -> str:
    """Return where the secret of a store lies: beside its file, or in the data directory by its uuid."""
    return os.path.join(home, uuid + _SUFFIX) if "://" in store else store + _SUFFIX


def read_secret(path: str, draw: Callable[[int], bytes]) -> bytes:
    """Return the secret in a file, drawing and keeping one where there is none. Of two processes the first one's stays.

    Raises:
        Unavailable: `no_secret`: the file can neither be read nor made.
    """
    try:
        return _read(path) or _made(path, draw(SECRET_BYTES))
    except OSError as exc:
        raise Unavailable(
            "no_secret", f"the secret {path!r} of the store can be neither read nor made: {exc.strerror}"
        ) from exc


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            found = file.read(SECRET_BYTES)
    except FileNotFoundError:
        return None
    return found if len(found) == SECRET_BYTES else None


def _made(path: str, secret: bytes) -> bytes:
    """Write beside, then link under the name: the file appears whole, and only if no other process was faster."""
    draft = f"{path}.{os.urandom(8).hex()}"
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secret)
    try:
        os.link(draft, path)
    except FileExistsError:
        if _read(path) is None:  # what stands there is no secret
            os.replace(draft, path)
    finally:
        if os.path.lexists(draft):
            os.unlink(draft)
    return _read(path) or secret

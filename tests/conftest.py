"""What holds for every test: no setting of this machine leaks in, and nothing leaves this machine."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.engines import engine, places
from tests.postgres import Server

__all__ = ["engine", "places"]  # fixtures

_LOOPBACK = ("127.", "::1", "localhost", "::ffff:127.")

# Read before the settings of this machine are taken away.
_MODEL = Path(
    os.environ.get("EUNOE_TEST_MODEL") or Path(__file__).parents[1] / ".venv" / "models" / "bge-small-en-v1.5"
).absolute()


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Let SIGINT mean what it means: a run in the background ignores it, and hands that on to what it starts."""
    with suppress(ValueError):  # only the main thread may say so
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def clean_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Take every `EUNOE_*` out of the environment; `EUNOE_HOME` is an empty folder, so no test sees a real store.

    There is no model, whatever is installed, unless a test asks for one.
    """
    for name in [name for name in os.environ if name.startswith("EUNOE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("EUNOE_HOME", str(tmp_path_factory.mktemp("home") / "eunoe"))
    monkeypatch.setenv("EUNOE_MODEL", "none")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse to connect anywhere but to this machine."""

    def guarded(connect: Any) -> Any:
        def checked(self: socket.socket, address: Any) -> Any:
            if not _is_local(self.family, address):
                raise AssertionError(f"a test tried to reach {address!r}; nothing may leave this machine")
            return connect(self, address)

        return checked

    monkeypatch.setattr(socket.socket, "connect", guarded(socket.socket.connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(socket.socket.connect_ex))


@pytest.fixture
def anyio_backend() -> str:
    """Run asynchronous tests on asyncio, as the server does."""
    return "asyncio"


@pytest.fixture(scope="session")
def model_folder() -> Path:
    """Return the folder of the default model, installed; `EUNOE_TEST_MODEL` says where."""
    if not (_MODEL / "eunoe-model.json").is_file():
        pytest.skip(f"the default model is not installed in {_MODEL}: set EUNOE_TEST_MODEL to its folder")
    return _MODEL


@pytest.fixture
def fake_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let memories that are opened from now on use the model for tests."""
    monkeypatch.setenv("EUNOE_MODEL", "fake")


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    """Return where a store may be made, in a folder that is not there yet."""
    return tmp_path / "data" / "store.sqlite"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """Yield a running PostgreSQL server with pgvector; tests that need it are skipped where no package brings one."""
    server = Server()
    yield server
    server.stop()


@pytest.fixture
def postgres_store(postgres_server: Server) -> Iterator[str]:
    """Yield the address of a store that is not there yet."""
    address = postgres_server.fresh()
    yield address
    postgres_server.drop(address)


def _is_local(family: int, address: Any) -> bool:
    unix = getattr(socket, "AF_UNIX", None)
    return family == unix or str(address[0]).startswith(_LOOPBACK)

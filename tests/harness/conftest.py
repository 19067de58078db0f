"""The suite with real clients: collected only where it is named, skipped where a client is not installed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.harness.clients import Client
from tests.harness.sink import Sink
from tests.harness.stubs.server import Stub

HERE = Path(__file__).parent
_SEEN = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_SEEN] = []


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    named = [Path(config.invocation_params.dir, argument.partition("::")[0]) for argument in config.args]
    return None if any(HERE in (path, *path.parents) for path in named) else True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if lines := config.stash[_SEEN]:
        terminalreporter.section("seen")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture
def seen(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Print a line at the end of the run: what was seen is for the page, not only for the test."""
    return request.config.stash[_SEEN].append


@pytest.fixture
def sink() -> Iterator[Sink]:
    """Return the proxy that lets nothing through."""
    with Sink() as sink:
        yield sink


@pytest.fixture
def client(request: pytest.FixtureRequest, tmp_path: Path, sink: Sink) -> Iterator[Client]:
    """Return the client that the test is parametrised with, in a new home and a new repository."""
    kind: type[Client] = request.param
    if not kind.path().exists():
        pytest.skip(f"{kind.binary} is not installed; `make test-harness` installs it")
    home, project = tmp_path / "home", tmp_path / "parcel"
    home.mkdir()
    project.mkdir()
    for git in (["init", "-q"], ["remote", "add", "origin", "git@github.com:acme/parcel.git"]):
        subprocess.run(["git", *git], cwd=project, check=True, timeout=30)
    with Stub(kind.dialect) as stub:
        yield kind(home, project, stub, sink.environment)

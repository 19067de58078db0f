"""A memory to speak to: a clock that stands still, chance that repeats, and as many callers as a case needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eunoe import Memory, bootstrap
from eunoe.domain.caller import Author
from eunoe.testing.clock import ManualClock, SeededEntropy

Open = Callable[..., Memory]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "data" / "eunoe.sqlite"


@pytest.fixture
def opened(store: Path, clock: ManualClock) -> Iterator[Open]:
    """Open the case's store as anybody; closed at the end."""
    memories: list[Memory] = []

    def open_(
        project: str = "acme/api", *, user: str | None = "kim", author: Author = "application", at: Path | str = store
    ) -> Memory:
        session = bootstrap.open_session(
            store=at,
            project=project,
            user=user,
            author=author,
            environ={"HOME": str(store.parent)},
            clock=clock,
            entropy=SeededEntropy(f"{project} {user} {author} {len(memories)}"),
        )
        memories.append(Memory(session))
        return memories[-1]

    yield open_
    for memory in memories:
        memory.close()


@pytest.fixture
def m(opened: Open) -> Memory:
    """A memory of kim's application in the project acme/api, in no file."""
    return opened(at=":memory:")

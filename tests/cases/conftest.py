"""A memory to speak to: a clock that stands still, chance that repeats, and as many callers as a case needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eunoe import Memory, bootstrap
from eunoe.domain.caller import Author
from eunoe.models.opening import find, load
from eunoe.ports.embedder import Embedder
from eunoe.testing.clock import ManualClock, SeededEntropy

Open = Callable[..., Memory]
OpenMeaning = Callable[..., Memory]


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
        project: str = "acme/api",
        *,
        user: str | None = "kim",
        author: Author = "application",
        at: Path | str = store,
        model: str | Embedder = "none",
        background: bool = True,
        **settings: str,
    ) -> Memory:
        chosen = model if isinstance(model, str) else "fake"
        session = bootstrap.open_session(
            store=at,
            project=project,
            user=user,
            author=author,
            environ={"HOME": str(store.parent), "EUNOE_MODEL": chosen, **settings},
            clock=clock,
            entropy=SeededEntropy(f"{project} {user} {author} {len(memories)}"),
            background=background,
        )
        memories.append(Memory(session))
        return memories[-1] if isinstance(model, str) else put_in(memories[-1], model)

    yield open_
    for memory in memories:
        memory.close()


def put_in(memory: Memory, model: Embedder) -> Memory:
    """Give a memory that was opened with the fake model another one, before it has embedded anything."""
    semantics = memory._context.semantics
    semantics._load, semantics.name = lambda: model, model.name
    return memory


@pytest.fixture(scope="session")
def real_model(model_folder: Path) -> Embedder:
    """The default model, loaded once."""
    return load(find(str(model_folder), str(model_folder.parent)), environ={})


@pytest.fixture(params=["words", "fake", "real"])
def meaning(request: pytest.FixtureRequest, opened: Open) -> OpenMeaning:
    """Open a memory without a model, with the one for tests, or with the default one, for each test."""

    def open_(project: str = "acme/api", **how: Any) -> Memory:
        how.setdefault("at", ":memory:")
        if request.param == "words":
            return opened(project, **how)
        return opened(
            project, model="fake" if request.param == "fake" else request.getfixturevalue("real_model"), **how
        )

    return open_


@pytest.fixture
def m(opened: Open) -> Memory:
    """A memory of kim's application in the project acme/api, in no file."""
    return opened(at=":memory:")

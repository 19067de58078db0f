"""Models that misbehave, or tell what they were given: all are the model for tests underneath."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Event
from typing import Any

import numpy as np

from eunoe.errors import Unavailable
from eunoe.models.fake import FakeEmbedder
from eunoe.ports.embedder import Meaning, States

PATIENCE_S = 5.0


class SlowEmbedder(FakeEmbedder):
    """Reads nothing before it is let.

    Attributes:
        reading: Set while it has been given something to read.
        go_on: Lets it read.
    """

    def __init__(self) -> None:
        super().__init__()
        self.reading, self.go_on = Event(), Event()

    def passages(self, texts: Sequence[str]) -> Any:
        self.reading.set()
        self.go_on.wait(PATIENCE_S)
        return super().passages(texts)


class FailingEmbedder(FakeEmbedder):
    """Fails where it is told to.

    Attributes:
        fails: Tells of each text whether it cannot be read; of a query as well.
        attempts: How often it was given something to embed.
    """

    def __init__(self, fails: Callable[[str], bool] = lambda text: True, *, retryable: bool = False) -> None:
        super().__init__()
        self.fails = fails
        self.attempts = 0
        self._retryable = retryable

    def passages(self, texts: Sequence[str]) -> Any:
        self.attempts += 1
        self._check(texts)
        return super().passages(texts)

    def states(self, texts: Sequence[str], start: int, stop: int) -> list[States]:
        self._check(texts)
        return super().states(texts, start, stop)

    def query(self, text: str) -> Meaning:
        self._check([text])
        return super().query(text)

    def _check(self, texts: Sequence[str]) -> None:
        if any(self.fails(text) for text in texts):
            code = "model_unreachable" if self._retryable else "model_failed"
            raise Unavailable(code, "the model cannot read this", retryable=self._retryable)


class InterruptedEmbedder(FakeEmbedder):
    """Something happens while it reads, once.

    Attributes:
        meanwhile: What happens.
    """

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], object] | None = None

    def passages(self, texts: Sequence[str]) -> Any:
        act, self.meanwhile = self.meanwhile, None
        if act is not None:
            act()
        return super().passages(texts)


class ContextualEmbedder(FakeEmbedder):
    """The state of a word depends on all that is read with it, as with a real model.

    Attributes:
        read: The texts that were read together, of each call.
    """

    def __init__(self) -> None:
        super().__init__()
        self.read: list[tuple[str, ...]] = []

    def states(self, texts: Sequence[str], start: int, stop: int) -> list[States]:
        self.read.append(tuple(texts))
        around = self._vector(" ".join(texts))
        found = []
        for alone in super().states(texts, start, stop):
            rows = alone.states + 0.5 * around
            norms = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
            found.append(States(alone.ids, (rows / norms).astype(np.float32)))
        return found

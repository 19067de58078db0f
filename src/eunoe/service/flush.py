"""Waiting until everything that was written is embedded."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event
from typing import NamedTuple

from eunoe.service.context import Context

Progress = Callable[[int, int], None]

_POLL_S = 0.05
_PATIENCE_S = 70.0  # for another process that makes no progress; longer than the lease of one that died


class Flushed(NamedTuple):
    """What is embedded now.

    Attributes:
        embedded: Texts that this call embedded.
        waiting: Texts that still wait; 0 unless another process has the work and makes no progress, or they failed.
        dead: Texts that failed for good.
        error: The code of their failure, or None.
    """

    embedded: int
    waiting: int
    dead: int
    error: str | None


def flush(context: Context, *, progress: Progress | None = None) -> Flushed:
    """Wait until everything that was written is embedded.

    Does the work itself where no other process does. Without a model there is nothing to wait for.

    Raises:
        Unavailable: the model failed, or the store is bound to another one.
    """
    embedding = context.embedding
    if embedding is None or not context.semantics.wanted:
        return Flushed(0, 0, 0, None)
    total, embedded, stalled_since, last = embedding.counts()[0], 0, time.monotonic(), -1
    pause = Event()
    while True:
        done = embedding.step()
        embedded += done or 0
        waiting, dead, error = embedding.counts()
        if progress is not None:
            progress(max(total - waiting, 0), max(total, 1))
        if waiting == 0:
            embedding.release()
            return Flushed(embedded, waiting, dead, error)
        if waiting != last or done:
            stalled_since, last = time.monotonic(), waiting
        elif time.monotonic() - stalled_since > _PATIENCE_S:
            return Flushed(embedded, waiting, dead, error)
        if not done:
            pause.wait(_POLL_S)

"""The part of the composition root that is about models: which one, loaded when, and who embeds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from eunoe.config.settings import Settings
from eunoe.models.opening import find, find_reranker, load, load_reranker
from eunoe.ports.clock import Clock, Entropy
from eunoe.ports.store import Store
from eunoe.retrieval.semantics import Semantics
from eunoe.service.embedding import Embedding
from eunoe.service.reranking import Reranking
from eunoe.service.worker import Worker

FAST_MS = 400
"""A command that ends after one use case loads a model only if that takes no longer."""

TOLD = "told-no-model"
_MB = 1 << 20


def semantics(settings: Settings, environ: Mapping[str, str], *, fast_only: bool) -> Semantics:
    """Return what meaning this process has; loads nothing yet."""
    chosen = find(settings.model, settings.home)
    absent = chosen.reason if chosen.state == "missing" else ""
    if chosen.state == "ready":
        if not fast_only or (chosen.load_ms or 0) <= FAST_MS:
            return Semantics(
                partial(load, chosen, environ=environ),
                name=chosen.name,
                keep_states=settings.recall_quality == "best",
            )
        absent = (
            f"{chosen.name} takes {chosen.load_ms:.0f} ms to load here, too long for one command: words and keys "
            "answer; a process that lives on (`eunoe mcp`, the library) uses it"
        )
    if not fast_only:
        return Semantics(absent=absent)
    mark = os.path.join(settings.home, TOLD)
    return Semantics(absent="" if os.path.exists(mark) else absent, on_said=partial(_note_that_it_was_told, mark))


def _note_that_it_was_told(mark: str) -> None:
    """Commands tell once, and not each of them, that there is no model; where that cannot be noted, they tell again."""
    with suppress(OSError):
        os.close(os.open(mark, os.O_CREAT | os.O_WRONLY, 0o600))


class Started(NamedTuple):
    """What a session has of meaning; nothing is loaded and no thread runs before the first use."""

    semantics: Semantics
    embedding: Embedding | None
    worker: Worker | None
    reranking: Reranking | None

    def wake(self) -> None:
        """Tell whoever embeds that there is something to do."""
        if self.worker is not None:
            self.worker.wake()


def start(
    store: Store,
    settings: Settings,
    environ: Mapping[str, str],
    clock: Clock,
    entropy: Entropy,
    *,
    background: bool,
    fast_only: bool,
) -> Started:
    """Return what a session has of meaning.

    Args:
        store: Open; every write to it wakes the worker.
        settings: Which model, and how well.
        environ: Holds the key of an endpoint.
        clock, entropy: Of the session.
        background: Embed in a thread.
        fast_only: Use only a model that loads fast.
    """
    found = semantics(settings, environ, fast_only=fast_only)
    look = Reranking(partial(load_reranker, find_reranker(settings.home))) if settings.reranker else None
    if not found.wanted:
        return Started(found, None, None, look)
    most = settings.max_states_mb * _MB
    embedding = Embedding(store, found, clock, holder=entropy.random_bytes(8).hex(), most_state_bytes=most)
    worker = Worker(embedding) if background else None
    if worker is not None:
        store.watch(worker.wake)
    return Started(found, embedding, worker, look)

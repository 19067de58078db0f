"""Changing the model of a store, and finishing what was left undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from eunoe.errors import Conflict, Unavailable
from eunoe.ports.store import REGISTRATION
from eunoe.ports.vectors import Model
from eunoe.service.context import Context
from eunoe.service.embedding import BATCH, LEASE_US, Embedding
from eunoe.service.flush import flush

Progress = Callable[[int, int], None]

LEASE = "reembed"


class Reembedded(NamedTuple):
    """What a store is embedded by now.

    Attributes:
        model: The model that serves.
        before: The one that served before, where it was another.
        embedded: Texts that this call embedded.
        waiting: Texts that still wait: another process has the work.
        dead: Texts that failed for good.
        error: The code of their failure, or None.
    """

    model: str
    before: str | None
    embedded: int
    waiting: int
    dead: int
    error: str | None

    @property
    def ok(self) -> bool:
        """Tell whether everything is embedded."""
        return not self.dead and not self.waiting

    @property
    def text(self) -> str:
        """Return it in a sentence or two."""
        changed = f"Changed over from {self.before} to {self.model}" if self.before else f"Embedded by {self.model}"
        failed = f"\n{self.dead} failed ({self.error}); see `eunoe doctor`." if self.dead else ""
        return f"{changed}: {self.embedded} texts were embedded.{failed}"


def reembed(context: Context, *, everything: bool = False, progress: Progress | None = None) -> Reembedded:
    """Embed all projects of the store by the model of this session, and let it serve.

    With the store's own model it finishes what waits or failed. With another one the old vectors serve until all new
    ones are there, then the new model takes over in one transaction. Resumable: what is embedded stays embedded.

    Args:
        context: The session.
        everything: Embed anew what is embedded already: after a change of `EUNOE_RECALL_QUALITY`.
        progress: Called with (texts embedded, texts in all).

    Raises:
        Unavailable: `no_model`, or the model failed. Conflict: `reembedding`: another process is at it.
    """
    embedding = context.embedding
    embedder = context.semantics.embedder()
    if embedding is None:
        raise Unavailable("no_model", context.semantics.absent or "EUNOE_MODEL=none: there is no model")
    now = context.clock.now_us()
    with context.store.writing() as tx:
        tx.lock(REGISTRATION)
        if not tx.models.lease(LEASE, embedding.holder, now=now, until=now + LEASE_US):
            raise Conflict("reembedding", "another process is embedding this store anew; wait until it has ended")
        bound = tx.models.bound()
        target = tx.models.register(embedder.name, embedder.fingerprint, embedder.dim)
    try:
        if bound is None or bound.id == target.id:
            return _finished(context, target, everything=everything, progress=progress)
        return _changed(context, embedding, bound, target, progress)
    finally:
        with context.store.writing() as tx:
            tx.models.release(LEASE, embedding.holder)


def _finished(context: Context, model: Model, *, everything: bool, progress: Progress | None) -> Reembedded:
    with context.store.writing() as tx:
        tx.jobs.revive()
        for p in tx.projects.numbers():
            tx.lock(p)
            tx.jobs.requeue(p, model=0 if everything else model.id)
    done = flush(context, progress=progress)
    with context.store.reading() as view:
        projects = view.projects.numbers()
    for p in projects:
        _tend(context, p, model)
    return Reembedded(model.name, None, done.embedded, done.waiting, done.dead, done.error)


def _changed(
    context: Context, embedding: Embedding, bound: Model, target: Model, progress: Progress | None
) -> Reembedded:
    with context.store.reading() as view:
        projects = view.projects.numbers()
        total = sum(len(view.vectors(p, target.id).missing(after=0, limit=1 << 40)) for p in projects)
    done = 0
    for p in projects:
        after = 0
        while batch := _missing(context, p, target, after):
            embedding.renew(LEASE)
            embedding.embed(p, batch, target, settle=False)
            after, done = batch[-1], done + len(batch)
            if progress is not None:
                progress(done, total)
        _tend(context, p, target)
    with context.store.writing() as tx:
        tx.models.bind(target, now=context.clock.now_us())
        tx.jobs.revive()
        for p in tx.projects.numbers():
            tx.lock(p)
            tx.vectors(p, bound.id).clear()
            tx.jobs.requeue(p, model=target.id)
    rest = flush(context)
    return Reembedded(target.name, bound.name, done + rest.embedded, rest.waiting, rest.dead, rest.error)


def _tend(context: Context, p: int, model: Model) -> None:
    """Make what searching many vectors needs, unless another process is at it."""
    try:
        context.store.tend_vectors(p, model)
    except Unavailable as exc:
        if exc.code != "locked":
            raise


def _missing(context: Context, p: int, target: Model, after: int) -> list[int]:
    with context.store.reading() as view:
        return view.vectors(p, target.id).missing(after=after, limit=BATCH)

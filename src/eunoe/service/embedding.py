"""Embedding: what waits in the queue becomes vectors and token states, behind everybody's back.

A write only queues. One worker a store, whoever holds the lease, takes jobs, reads their texts, lets the model read
them outside of any transaction, and stores the result if the texts are still what they were. What fails is tried again,
later and later; after the last attempt it is a dead letter, which `doctor` shows and `reembed` revives.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from eunoe.errors import EunoeError
from eunoe.ports.clock import Clock
from eunoe.ports.store import REGISTRATION, Store
from eunoe.ports.vectors import Model
from eunoe.retrieval.semantics import Semantics, other_model
from eunoe.service.embedding_plan import planned

LEASE = "embed"
LEASE_US = 60_000_000
BATCH = 32
_AWAY_US = 5_000_000  # after which an address that did not answer is asked again
_CHECKED_EVERY = 64  # batches between two looks at how much the token states occupy


class Embedding:
    """The work of one process on the queue of one store. Thread-safe; one batch at a time."""

    def __init__(
        self, store: Store, semantics: Semantics, clock: Clock, *, holder: str, most_state_bytes: int | None = None
    ) -> None:
        self._store = store
        self._semantics = semantics
        self._clock = clock
        self.holder = holder
        self._most_state_bytes = most_state_bytes
        self._lock = Lock()
        self._batches = 0
        self._stopped = False
        self._has_lease = False
        # Projects with new vectors since `tend`; None: any may have some.
        self._grown: set[int] | None = None if store.tends_vectors else set()

    def stop(self) -> None:
        """Leave the batch that is being read, for good: its jobs stay queued."""
        self._stopped = True

    def step(self) -> int | None:
        """Embed one batch; return how many jobs were done, or None when the lease is another process's.

        Raises:
            Unavailable: there is no model, it failed at all that it was given, or the store is bound to another one.
        """
        self._semantics.embedder()
        with self._lock:
            now = self._clock.now_us()
            with self._store.reading() as view:
                due = view.jobs.due(now=now, limit=BATCH)
            if not due:
                self.release()
                return 0
            model = self._claim(now)
            if model is None:
                return None
            done = 0
            for p in sorted({p for p, _ in due}):
                done += self._take(p, [rid for each, rid in due if each == p], model)
            self._batches += 1
            if self._grown is not None and self._store.tends_vectors:
                self._grown.update(p for p, _ in due)
            if self._batches % _CHECKED_EVERY == 1:
                self._bound_states(model, [p for p, _ in due])
            return done

    def _take(self, p: int, rids: Sequence[int], model: Model) -> int:
        """Embed jobs; where the model fails at some of them, one by one, so that none takes others with it."""
        try:
            return self.embed(p, rids, model)
        except EunoeError as exc:
            if len(rids) == 1 or exc.retryable:
                self._note_failure(p, rids, exc)
                raise
        done, failure = 0, None
        for rid in rids:
            try:
                done += self._take(p, [rid], model)
            except EunoeError as exc:
                failure = exc
        if failure is not None and not done:
            raise failure
        return done

    def release(self) -> None:
        """Give the lease back, if this process has it."""
        if not self._has_lease:
            return
        self._has_lease = False
        try:
            with self._store.writing() as tx:
                tx.models.release(LEASE, self.holder)
        except EunoeError:
            return  # it ends by itself

    @property
    def has_grown(self) -> bool:
        """Tell whether there is something to `tend`."""
        return self._grown is None or bool(self._grown)

    def tend(self) -> None:
        """Make what searching many vectors needs, where there are new ones; may take minutes."""
        with self._store.reading() as view:
            model = view.models.bound()
            grown = view.projects.numbers() if self._grown is None else sorted(self._grown)
        self._grown = set()
        try:
            for p in grown:
                if model is not None and not self._stopped:
                    self._store.tend_vectors(p, model)
        except EunoeError:
            self._grown.update(grown)
            raise

    def counts(self) -> tuple[int, int, str | None]:
        """Return how many jobs wait, how many are dead, and why."""
        with self._store.reading() as view:
            return view.jobs.counts()

    def _claim(self, now: int) -> Model | None:
        """Take the lease and the store's model; bind ours where none is bound."""
        embedder = self._semantics.embedder()
        with self._store.writing() as tx:
            if not tx.models.lease(LEASE, self.holder, now=now, until=now + LEASE_US):
                return None
            bound = tx.models.bound()
            if bound is None:
                tx.lock(REGISTRATION)
                bound = tx.models.register(embedder.name, embedder.fingerprint, embedder.dim)
                tx.models.bind(bound, now=now)
            if bound.fingerprint != embedder.fingerprint:
                raise other_model(bound, embedder)  # which takes the lease back as well
        self._has_lease = True
        return bound

    def renew(self, lease: str) -> None:
        """Keep a lease that this process has."""
        now = self._clock.now_us()
        with self._store.writing() as tx:
            tx.models.lease(lease, self.holder, now=now, until=now + LEASE_US)

    def embed(self, p: int, rids: Sequence[int], model: Model, *, settle: bool = True) -> int:
        """Embed texts; return how many jobs are done. What changed while the model read it is not stored.

        Args:
            p: The project.
            rids: Row numbers of its passages.
            model: Under which model to store it; that of this process.
            settle: Take the jobs off the queue.
        """
        with self._store.reading() as view:
            plan = planned(view.jobs, p, rids)
        made = plan.read(
            self._semantics.embedder(), with_states=self._semantics.keeps_states, go_on=lambda: not self._stopped
        )
        if made is None:
            return 0
        with self._store.writing() as tx:
            tx.lock(p)
            kept, done = made.still_true(plan, planned(tx.jobs, p, plan.rids))
            vectors = tx.vectors(p, model.id)
            vectors.put(kept.vectors, kept.states, kept.sources)
            vectors.discount(plan.gone)
            if settle:
                tx.jobs.done(p, done)
        return len(done)

    def _note_failure(self, p: int, rids: Sequence[int], exc: EunoeError) -> None:
        now = self._clock.now_us()
        with self._store.writing() as tx:
            if exc.retryable:
                tx.jobs.delayed(p, rids, error=exc.code, not_before=now + _AWAY_US)
            else:
                tx.jobs.failed(p, rids, error=exc.code, now=now)

    def _bound_states(self, model: Model, projects: Sequence[int]) -> None:
        """Token states go first when a store grows past its size: the oldest of them."""
        if self._most_state_bytes is None:
            return
        for p in sorted(set(projects)):
            with self._store.reading() as view:
                size = view.vectors(p, model.id).sizes()["state_bytes"]
            if size > self._most_state_bytes:
                with self._store.writing() as tx:
                    tx.lock(p)
                    tx.vectors(p, model.id).drop_states(keep_bytes=self._most_state_bytes * 9 // 10)

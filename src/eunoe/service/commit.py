"""Writing one event: the ledger entry, its projections and its index rows, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from eunoe.domain.canonical import parse
from eunoe.domain.event import Event
from eunoe.domain.ids import ID_BYTES, SECRET_BYTES, next_id
from eunoe.domain.rendering import Statement, static_tokens
from eunoe.domain.sealing import SALT_BYTES, seal
from eunoe.ports.projects import Project
from eunoe.ports.store import REGISTRATION, Writing
from eunoe.projections.decided import decided
from eunoe.projections.project import needs_whole, touched
from eunoe.projections.project import project as project_event
from eunoe.service.context import Context

VERSION = 1


class Session:
    """A write transaction on one project, and the moment at which its events are recorded.

    Recording times are strictly increasing in a project, so that "what did we know at that moment" has one answer.
    """

    def __init__(self, context: Context, tx: Writing, project: Project) -> None:
        self.context = context
        self.tx = tx
        self.project = project
        self.p = project.p
        self._origin = context.caller.origin()
        self._origin_facts = parse(self._origin)
        self._stream = context.store.uuid
        self.position = tx.ledger(self.p).position(self._stream)
        self._stamp: dict[str, Any] = {}
        if self.position.seq:
            context.known[project.slug] = project

    @property
    def now(self) -> int:
        """Return the instant at which the next event will be recorded."""
        return max(self.context.clock.now_us(), self.position.recorded_at + 1)

    @contextmanager
    def retelling(self, *, occurred_at: int, dedupe_key: str) -> Iterator[None]:
        """Let the first event recorded in this block carry this time and key: it retells an event of elsewhere."""
        self._stamp = {"occurred_at": occurred_at, "dedupe_key": dedupe_key}
        try:
            yield
        finally:
            self._stamp = {}

    def record(
        self,
        kind: str,
        meta: dict[str, Any],
        payload: dict[str, Any] | None = None,
        *,
        now: int | None = None,
        occurred_at: int | None = None,
        dedupe_key: str | None = None,
        memory: str | None = None,
    ) -> Event:
        """Append an event and project it.

        Args:
            kind: The event's type.
            meta: Structure. For `memory.recorded` the memory's id is added: `memory`, or that of the event.
            payload: Content of one subject, or None.
            now: The instant that the decision was taken for, at least `self.now`; default `self.now`.
            occurred_at: When it happened; default when it is recorded.
            dedupe_key: Unique in the project.
            memory: The id of a newly recorded memory; default the event's id.
        """
        instant = self.now if now is None else now
        occurred_at = self._stamp.get("occurred_at", occurred_at)
        dedupe_key = self._stamp.get("dedupe_key", dedupe_key)
        self._stamp = {}
        entropy = self.context.entropy.random_bytes(ID_BYTES + (SALT_BYTES if payload else 0))
        ident = next_id(instant, entropy[:ID_BYTES], after=self.position.id)
        is_new = kind == "memory.recorded"
        if is_new:
            meta = {**meta, "memory": memory or ident, **self.tokens(meta, payload or {})}
        event = seal(
            project=self.project.uuid,
            seq=self.position.seq + 1,
            stream=self._stream,
            n=self.position.n + 1,
            prev_hash=self.position.hash,
            ident=ident,
            kind=kind,
            v=VERSION,
            origin=self._origin,
            occurred_at=instant if occurred_at is None else occurred_at,
            recorded_at=instant,
            dedupe_key=dedupe_key,
            meta=meta,
            payload=payload or None,
            salt=entropy[ID_BYTES:],
        )
        number = self.position.number + is_new
        ledger = self.tx.ledger(self.p)
        ledger.append(event, number=number)
        self.position = type(self.position)(
            seq=event.seq, id=event.id, recorded_at=instant, number=number, n=event.n, hash=event.hash
        )
        self._project(event, meta, payload or {}, number)
        return event

    def tokens(self, meta: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, int]:
        """Return what a memory of this content costs to show, as its event states it."""
        blank = {"title": None, "key": None, "value": None, "source": None, "speaker": None, "tags": (), "paths": ()}
        known = {**blank, **content, "origin": self._origin_facts, **meta}
        whole, line = static_tokens(self.context.tokens, Statement(**{name: known[name] for name in Statement._fields}))
        return {"tokens_full": whole, "tokens_line": line}

    def _project(self, event: Event, meta: dict[str, Any], payload: dict[str, Any], number: int) -> None:
        needed = touched(event.type, meta)
        before = self.tx.snapshots(self.p, needed, whole=needs_whole(event.type)) if needed else {}
        self.tx.apply(
            project_event(
                decided(self.p, event, meta, payload), before, number=number, analyse=self.context.analyser.terms
            )
        )


def open_session(context: Context, tx: Writing) -> Session:
    """Begin writing to the context's project, which is registered and gets its first event if it is new."""
    known = context.project(tx)
    if known is None:
        tx.lock(REGISTRATION)
        known = context.project(tx)
    if known is None:
        known = tx.projects.register(
            uuid=next_id(context.clock.now_us(), context.entropy.random_bytes(ID_BYTES)),
            slug=context.slug,
            identity=context.identity,
            secret=context.entropy.random_bytes(SECRET_BYTES),
            now=context.clock.now_us(),
        )
    tx.lock(known.p)
    session = Session(context, tx, known)
    if session.position.seq == 0:
        content = {"slug": known.slug, "identity": known.identity}
        payload = {name: value for name, value in content.items() if value is not None}
        session.record("project.created", {"uuid": known.uuid}, payload)
    return session

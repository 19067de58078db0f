"""Writing through the ports alone: what a contract suite needs to put something into a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eunoe.domain.event import Event
from eunoe.domain.ids import next_id
from eunoe.domain.sealing import SALT_BYTES, seal
from eunoe.ports.ledger import Position
from eunoe.ports.projects import Project
from eunoe.ports.store import Store, Writing
from eunoe.projections.decided import decided
from eunoe.projections.project import project as project_event
from eunoe.projections.project import touched
from eunoe.testing.clock import START_US, SeededEntropy

ORIGIN = '{"author_type":"application","surface":"contract"}'


def words(text: str) -> list[str]:
    """Return the lower-case words of a text: an analyser that is good enough to tell stores apart."""
    return text.lower().split()


class Recorder:
    """Writes events and their projections to one project of any store, one second after another.

    Attributes:
        now: When the next event is recorded, microseconds.
        project: Registered with the first use.
    """

    def __init__(self, store: Store, *, slug: str = "acme/api", now: int = START_US) -> None:
        self.store = store
        self.now = now
        self._entropy = SeededEntropy(slug)
        with store.writing() as tx:
            uuid = next_id(now, self._entropy.random_bytes(10))
            self.project: Project = tx.projects.register(
                uuid=uuid, slug=slug, identity=f"host/{slug}", secret=b"s" * 32, now=now
            )

    @property
    def p(self) -> int:
        """Return the project's number in the store."""
        return self.project.p

    def record(self, kind: str, meta: dict[str, Any], payload: dict[str, Any] | None = None) -> Event:
        """Write one event in a transaction of its own."""
        with self.store.writing() as tx:
            return self.within(tx, kind, meta, payload)

    def within(
        self,
        tx: Writing,
        kind: str,
        meta: dict[str, Any],
        payload: dict[str, Any] | None = None,
        *,
        dedupe_key: str | None = None,
    ) -> Event:
        """Write one event in a transaction that is open."""
        ledger = tx.ledger(self.p)
        at = ledger.position(self.store.uuid)
        event, meta = self.event(at, kind, meta, payload, dedupe_key=dedupe_key)
        number = at.number + (kind == "memory.recorded")
        ledger.append(event, number=number)
        seen = decided(self.p, event, meta, payload or {})
        before = tx.snapshots(self.p, touched(kind, meta))
        tx.apply(project_event(seen, before, number=number, analyse=words))
        return event

    def event(
        self,
        at: Position,
        kind: str,
        meta: dict[str, Any],
        payload: dict[str, Any] | None,
        *,
        dedupe_key: str | None = None,
    ) -> tuple[Event, dict[str, Any]]:
        """Return the event that follows a position, sealed, and its meta; nothing is written."""
        self.now += 1_000_000
        ident = next_id(self.now, self._entropy.random_bytes(10), after=at.id)
        if kind == "memory.recorded":
            meta = {**meta, "memory": ident}
        event = seal(
            project=self.project.uuid,
            seq=at.seq + 1,
            stream=self.store.uuid,
            n=at.n + 1,
            prev_hash=at.hash,
            ident=ident,
            kind=kind,
            v=1,
            origin=ORIGIN,
            occurred_at=self.now,
            recorded_at=self.now,
            dedupe_key=dedupe_key,
            meta=meta,
            payload=payload,
            salt=b"" if payload is None else self._entropy.random_bytes(SALT_BYTES),
        )
        return event, meta

    def remember(self, body: str, *, scope: str = "project", links: Sequence[str] = (), **given: Any) -> str:
        """Record a memory and return its id; `given` are fields of its payload, or of its meta by their names."""
        meta: dict[str, Any] = {
            "kind": "fact",
            "tier": "ltm",
            "scope": scope,
            "trust": "stated",
            "status": "active",
            "importance": 500,
            "pinned": False,
            "valid_from": self.now + 1_000_000,
            "lifts": [],
            "links": list(links),
        }
        payload: dict[str, Any] = {"body": body, "fp": f"fp {body}", "words_fp": f"words {body}"}
        for name, value in given.items():
            (meta if name in _STRUCTURE else payload)[name] = value
        if "key_fp" in payload:
            payload["fp"] = payload["words_fp"] = None
        return self.record("memory.recorded", meta, payload).id


_STRUCTURE = frozenset(
    (
        *("kind", "tier", "trust", "status", "importance", "pinned", "valid_from", "valid_to", "expires_at"),
        *("supersedes", "tokens_full"),
    )
)

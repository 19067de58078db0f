"""Merging an exported project into one that holds something: its history is stated again, event by event.

Every memory passes the gate like any other statement, so keys, rejections and restatements have their rules here too.
Ids and versions are kept, when it happened and was valid as well; when *we* recorded it is now, because now we did.
Each new event carries the id of the one it comes from as its dedupe key: importing again changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eunoe.admission.admit import Circumstances, admit
from eunoe.admission.decision import Confirm
from eunoe.admission.draft import Cleaner, Draft, draft
from eunoe.domain import limits
from eunoe.domain.caller import Caller
from eunoe.domain.document import Document
from eunoe.domain.event import Event
from eunoe.domain.fingerprint import key_fingerprint, value_fingerprint
from eunoe.domain.memory import TRUSTS, Memory
from eunoe.errors import Conflict, Refused
from eunoe.service.commit import Session
from eunoe.service.freshness import find_doubtful, find_true
from eunoe.service.lifecycle import bring_back, withdraw
from eunoe.service.update import cleaned, revise

Progress = Callable[[int, int], None]

_CONTENT = ("title", "body", "tags", "paths", "key", "value", "source")
_STRUCTURE = ("kind", "importance", "pinned", "valid_from", "valid_to")
_CARRIED = ("title", "tags", "paths", "key", "value", "session", "turn", "speaker", "source")


class Merge:
    """One document on its way into a project, inside one write transaction.

    Attributes:
        numbers: Number there → number here.
        set_aside: What the gate did not take, and why.
        events: Events written.
    """

    def __init__(self, session: Session, document: Document) -> None:
        self._session = session
        self._document = document
        self._here: dict[str, str] = {}
        self._numbers_there: dict[str, int] = {}
        self._ours: set[str] = set()
        self._caller = Caller(user=session.context.caller.user, author="import", surface=session.context.caller.surface)
        self.numbers: dict[int, int] = {}
        self.set_aside: list[str] = []
        self.events = 0

    def run(self, progress: Progress | None = None) -> None:
        """Take in every event.

        Raises:
            Conflict: `held_key`.
        """
        total = len(self._document.events)
        self._recall_earlier_imports()
        for done, event in enumerate(self._document.events, 1):
            self._one(event)
            if progress is not None and done % 500 == 0:
                progress(done, total)

    def _recall_earlier_imports(self) -> None:
        """Know what an earlier import brought in before anything is judged: it holds no key against its own history."""
        ledger = self._session.tx.ledger(self._session.p)
        for event in self._document.events:
            if event.type == "memory.recorded":
                known = ledger.find(dedupe_key=self._dedupe_key(event))
                if known is not None and known.type == "memory.recorded":
                    # One that was only confirmed was here before: what is done to it there is not ours.
                    self._ours.add(known.read_meta()["memory"])

    def _one(self, event: Event) -> None:
        meta = event.read_meta()
        if event.type == "memory.recorded":
            self._numbers_there[meta["memory"]] = len(self._numbers_there) + 1
        known = self._session.tx.ledger(self._session.p).find(dedupe_key=self._dedupe_key(event))
        if known is not None:
            self._remember_known(event, known)
        elif event.type == "memory.recorded":
            self._recorded(event, meta)
        elif event.type.startswith("link."):
            self._link(event, meta)
        elif meta.get("memory") in self._here:
            self._changed(event, meta)

    def _remember_known(self, event: Event, known: Event) -> None:
        if event.type == "memory.recorded":
            self._here[event.read_meta()["memory"]] = known.read_meta()["memory"]

    def _recorded(self, event: Event, meta: dict[str, Any]) -> None:
        ident, payload = meta["memory"], event.read_payload()
        if not payload:
            self.set_aside.append(f"#{self._numbers_there[ident]}: erased there")
            return
        try:
            statement = self._draft(event, meta, payload)
            self._check_key(statement, ident)
            now = self._session.now
            decision = admit(statement, self._circumstances(now))
        except Refused as exc:
            self.set_aside.append(f"#{self._numbers_there[ident]}: {exc.message}")
            return
        if isinstance(decision, Confirm):
            self._here[ident] = decision.memory.id
            self.numbers[self._numbers_there[ident]] = decision.memory.number
            confirmed = {"memory": decision.memory.id, "how": "restated", "counts_as_confirmation": False}
            self._write(event, "memory.confirmed", confirmed, None, now)
            return
        decision.meta["importance"] = meta["importance"]
        self._write(event, "memory.recorded", decision.meta, decision.payload, now, memory=self._free_id(ident))
        self.numbers[self._numbers_there[ident]] = self._session.position.number

    def _free_id(self, ident: str) -> str | None:
        """Keep the memory's id, unless a memory of this project has it."""
        return None if self._session.tx.beliefs(self._session.p).stand(ident) is not None else ident

    def _write(
        self,
        event: Event,
        kind: str,
        meta: dict[str, Any],
        payload: dict[str, Any] | None,
        now: int,
        *,
        memory: str | None = None,
    ) -> None:
        written = self._session.record(
            kind,
            meta,
            payload,
            now=now,
            occurred_at=event.occurred_at,
            dedupe_key=self._dedupe_key(event),
            memory=memory,
        )
        self.events += 1
        if kind == "memory.recorded":
            here = memory or written.id
            self._here[event.read_meta()["memory"]] = here
            self._ours.add(here)

    def _changed(self, event: Event, meta: dict[str, Any]) -> None:
        """Do again what was done to a memory after it was recorded; what no longer applies is left out and told."""
        here = self._here[meta["memory"]]
        memory = self._session.tx.memories(self._session.p).read([here], now=self._session.now)[here]
        if event.type == "memory.confirmed" and meta.get("how", "restated") == "restated":
            counts = here in self._ours and bool(meta.get("counts_as_confirmation"))
            seen = {"memory": here, "how": "restated", "counts_as_confirmation": counts}
            self._write(event, event.type, seen, None, self._session.now)
        elif here in self._ours:
            with self._session.retelling(occurred_at=event.occurred_at, dedupe_key=self._dedupe_key(event)):
                try:
                    self.events += bool(self._again(event, meta, memory))
                except (Conflict, Refused) as exc:
                    self.set_aside.append(f"#{self._numbers_there[meta['memory']]}, {event.type}: {exc.message}")

    def _again(self, event: Event, meta: dict[str, Any], memory: Memory) -> object:
        if event.type == "memory.revised":
            payload = event.read_payload()
            clean = Cleaner()
            content, _ = cleaned(clean, {name: payload[name] for name in _CONTENT if name in payload})
            structure = {name: meta[name] for name in _STRUCTURE if name in meta}
            return revise(self._session, memory, content, structure, clean)
        if event.type == "memory.restored":
            return bring_back(self._session, memory)
        if event.type == "memory.confirmed":
            return find_true(self._session, memory)
        if event.type == "memory.disputed":
            # Even when it is disputed here: an event that was not told would be told by the next import.
            return find_doubtful(self._session, memory._replace(disputed_at=None))
        return withdraw(self._session, memory, event.type)

    def _link(self, event: Event, meta: dict[str, Any]) -> None:
        a, b = self._here.get(meta["a"]), self._here.get(meta["b"])
        if a and b and a != b:
            pair = {"a": min(a, b), "b": max(a, b)}
            note = Cleaner().optional(event.read_payload().get("note"), "note", limit=limits.NOTE, line=True)
            self._write(event, event.type, pair, None if note is None else {"note": note}, self._session.now)

    def _draft(self, event: Event, meta: dict[str, Any], payload: dict[str, Any]) -> Draft:
        given = {name: payload[name] for name in _CARRIED if payload.get(name) is not None}
        given |= {name: meta[name] for name in ("kind", "tier", "scope", "valid_from", "valid_to") if name in meta}
        given["pinned"] = bool(meta.get("pinned"))
        given["trust"] = max(meta["trust"], "imported", key=TRUSTS.index)
        statement = draft(self._caller, payload["body"], occurred_at=event.occurred_at, **given)
        links = tuple(self._here[ident] for ident in meta.get("links", ()) if self._here.get(ident))
        followed = (self._here.get(entry["memory"]) for entry in meta.get("supersedes", ()))
        supersedes = tuple(ident for ident in followed if ident in self._ours) if statement.key is None else ()
        return statement._replace(links=links, supersedes=supersedes, expires_at=meta.get("expires_at"))

    def _check_key(self, statement: Draft, ident: str) -> None:
        if statement.key is None:
            return
        secret, scope = self._session.project.secret, statement.scope
        beliefs = self._session.tx.beliefs(self._session.p)
        value = value_fingerprint(
            secret, scope, statement.key, statement.body if statement.value is None else statement.value
        )
        for each in beliefs.intervals(scope, key_fingerprint(secret, scope, statement.key)):
            if each.memory not in self._ours and each.value_fp != value:
                stand = beliefs.stand(each.memory)
                raise Conflict(
                    "held_key",
                    f"the key {statement.key!r} of #{self._numbers_there[ident]} is held here by "
                    f"#{stand.number if stand else '?'} with another value; archive one of them first",
                    details={"key": statement.key},
                )

    def _circumstances(self, now: int) -> Circumstances:
        return Circumstances(
            beliefs=self._session.tx.beliefs(self._session.p),
            secret=self._session.project.secret,
            analyse=self._session.context.analyser.terms,
            caller=self._caller,
            now=now,
            single=False,
        )

    def _dedupe_key(self, event: Event) -> str:
        return f"import:{self._document.uuid}:{event.id}"

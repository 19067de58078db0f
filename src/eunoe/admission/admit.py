"""`admit()`: the one gate. Its order is part of the contract (DESIGN §6):

normalise → redact (both in `draft`) → key rule, values first → exact fingerprint → rejections → twins → trust policy.
It reads, decides and returns; it writes nothing. The caller holds the project's lock, so what it read stays true until
the decision is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from eunoe.admission.decision import Confirm, Decision, Record
from eunoe.admission.draft import Draft, check_period
from eunoe.admission.keys import Takes, is_within, place
from eunoe.admission.rejections import lifted
from eunoe.admission.trust import initial_status
from eunoe.domain.caller import Caller
from eunoe.domain.fingerprint import (
    key_fingerprint,
    text_fingerprint,
    turn_fingerprint,
    value_fingerprint,
    words_fingerprint,
)
from eunoe.domain.hard_tokens import hard_tokens
from eunoe.domain.instants import iso
from eunoe.domain.memory import Outcome
from eunoe.errors import Conflict, Invalid, Refused
from eunoe.ports.memories import Beliefs, Stand

TWIN_LEAST_TERMS = 3  # fewer words than this say too little to be called nearly the same

_NOT_IN_A_CONFIRMATION = ("title", "tags", "paths", "importance", "pinned", "source", "tier")


class Circumstances(NamedTuple):
    """What the gate judges by.

    Attributes:
        beliefs: What is believed, under the project's lock.
        secret: Keys the project's fingerprints.
        analyse: The analyser's `terms`.
        caller: Who states it.
        now: The instant at which it will be recorded, in microseconds.
        single: True for a call about one statement, whose near-duplicates are refused; in batches they are flagged.
    """

    beliefs: Beliefs
    secret: bytes
    analyse: Callable[[str], list[str]]
    caller: Caller
    now: int
    single: bool = True


def admit(draft: Draft, by: Circumstances) -> Decision:
    """Decide what a statement means.

    Raises:
        Invalid: `supersedes_with_key`. Conflict: `near_duplicate`, `superseded`, `not_active`.
        Refused: `rejected`, `other_scope`.
    """
    superseded = [_to_supersede(ident, draft.scope, by.beliefs) for ident in draft.supersedes]
    carried = next((stand.key for stand in superseded if stand.key), None)
    if draft.key is None and carried is not None:
        draft = draft._replace(key=carried)
    if draft.key is not None:
        return _keyed(draft, by, superseded)
    return _unkeyed(draft, by, superseded)


def _keyed(draft: Draft, by: Circumstances, superseded: list[Stand]) -> Decision:
    key = draft.key or ""
    key_fp = key_fingerprint(by.secret, draft.scope, key)
    value_fp = value_fingerprint(by.secret, draft.scope, key, draft.value if draft.value is not None else draft.body)
    valid_from = _valid_from(draft, by)
    check_period(valid_from, _until(draft, by))
    intervals = by.beliefs.intervals(draft.scope, key_fp)
    status = initial_status(draft)
    if status == "pending" and (waiting := by.beliefs.pending_value(draft.scope, value_fp)) is not None:
        return Confirm(memory=waiting, notes=_unapplied(draft))
    spot = place(intervals, value_fp, valid_from=valid_from, valid_to=_until(draft, by))
    if not isinstance(spot, Takes):
        return Confirm(memory=_known(spot.memory, by), notes=_unapplied(draft))
    for stand in superseded:
        if spot.ends is None or stand.id != spot.ends.memory:
            raise Invalid(
                "supersedes_with_key", f"#{stand.number} does not hold the key {key!r}; name one or the other"
            )
    lifts = lifted(by.beliefs.rejections(draft.scope, [value_fp]), by.caller, trust=draft.trust)
    meta = _meta(draft, by, status) | {"valid_from": spot.valid_from}
    if lifts:
        meta["lifts"] = list(lifts)
    replaced: tuple[Stand, ...] = ()
    if spot.valid_to is not None:
        meta["valid_to"] = spot.valid_to
    if status == "active":
        if spot.next is not None and spot.valid_to == spot.next.valid_from:
            meta["superseded_by"] = spot.next.memory
        if spot.ends is not None:
            replaced = (_known(spot.ends.memory, by),)
            meta["supersedes"] = [_superseded(replaced[0], spot.valid_from)]
            meta["links"] = [ident for ident in meta.get("links", ()) if ident != spot.ends.memory]
            meta["move_links"] = _is_current(spot, by.now)
    payload = _payload(draft) | {"key": key, "key_fp": key_fp, "value_fp": value_fp}
    outcome, notes = _keyed_outcome(spot, by.now, status, key, replaced)
    return Record(outcome=outcome, meta=meta, payload=payload, replaced=replaced, notes=(*draft.warnings, *notes))


def _keyed_outcome(
    spot: Takes, now: int, status: str, key: str, replaced: tuple[Stand, ...]
) -> tuple[Outcome, tuple[str, ...]]:
    if status == "pending":
        return "pending", (f"It waits for a person before it takes the key {key}.",)
    if spot.valid_from > now:
        return "scheduled", (f"It takes the key {key} on {iso(spot.valid_from)}.",)
    if not _is_current(spot, now):
        return "recorded", (f"It went into the history of the key {key}: a later value is in force.",)
    return ("replaced" if replaced else "recorded"), ()


def _is_current(spot: Takes, now: int) -> bool:
    return spot.valid_from <= now and (spot.valid_to is None or spot.valid_to > now)


def _unkeyed(draft: Draft, by: Circumstances, superseded: list[Stand]) -> Decision:
    valid_from = _valid_from(draft, by)
    check_period(valid_from, draft.valid_to)
    hard = hard_tokens(draft.body)
    fp, words_fp = _identity(draft, hard, by), _words(draft, hard, by)
    notes = list(draft.warnings)
    same_text, same_words = by.beliefs.alike(draft.scope, fp, words_fp)
    for stand in same_text:
        if stand.status in ("active", "pending") and is_within(stand, max(by.now, valid_from)):
            if stand.id in draft.supersedes:
                raise Invalid("supersedes_itself", f"#{stand.number} says the same already")
            return Confirm(memory=stand, notes=(*draft.warnings, *_unapplied(draft)))
        if stand.status == "active" and stand.valid_from > valid_from and not stand.superseded_by:
            superseded.append(stand)  # it was to become true later: it is now
        if stand.status == "archived":
            notes.append(f"#{stand.number} says the same and is archived; restore it to have its history.")
    lifts = lifted(by.beliefs.rejections(draft.scope, [fp]), by.caller, trust=draft.trust)
    twins = tuple(stand for stand in same_words if is_within(stand, by.now) and stand.id not in draft.supersedes)
    if twins and by.single and not draft.force:
        raise _near_duplicate(twins)
    notes += [f"#{stand.number} says nearly the same." for stand in twins]
    status = initial_status(draft)
    meta = _meta(draft, by, status) | {"valid_from": valid_from}
    if lifts:
        meta["lifts"] = list(lifts)
    if draft.valid_to is not None:
        meta["valid_to"] = draft.valid_to
    replaced = tuple(superseded) if status == "active" else ()
    if replaced:
        meta["supersedes"] = [_superseded(stand, _end(stand, valid_from)) for stand in replaced]
        meta["move_links"] = True
    payload = _payload(draft) | {"fp": fp} | ({"words_fp": words_fp} if words_fp else {})
    outcome = _unkeyed_outcome(status, replaced, is_scheduled=valid_from > by.now)
    return Record(outcome=outcome, meta=meta, payload=payload, replaced=replaced, twins=twins, notes=tuple(notes))


def _identity(draft: Draft, hard: frozenset[str], by: Circumstances) -> str:
    if draft.turn is not None and draft.session is not None:
        return turn_fingerprint(by.secret, draft.scope, draft.session, draft.turn, draft.body, hard)
    return text_fingerprint(by.secret, draft.scope, draft.body, hard)


def _superseded(stand: Stand, valid_to: int) -> dict[str, Any]:
    """Return the entry of what ends at `valid_to`, with the end of its own that it gets back if this is withdrawn."""
    entry: dict[str, Any] = {"memory": stand.id, "valid_to": valid_to}
    if stand.valid_to is not None and not stand.superseded_by:
        entry["own_end"] = stand.valid_to
    return entry


def _end(stand: Stand, valid_from: int) -> int:
    """Return when a memory ends whose successor is true from `valid_from` on: not later than it would have anyway."""
    end = max(valid_from, stand.valid_from)
    return end if stand.valid_to is None else min(end, stand.valid_to)


def _unkeyed_outcome(status: str, replaced: tuple[Stand, ...], *, is_scheduled: bool) -> Outcome:
    if status == "pending":
        return "pending"
    return "scheduled" if is_scheduled else "replaced" if replaced else "recorded"


def _words(draft: Draft, hard: frozenset[str], by: Circumstances) -> str | None:
    """Return what twins share: the content words, in their order, and the hard tokens. They only suggest."""
    if draft.turn is not None:
        return None  # a turn of a conversation is an event: said again, it happened again
    terms = by.analyse(draft.body)
    if len(set(terms)) < TWIN_LEAST_TERMS:
        return None
    return words_fingerprint(by.secret, draft.scope, terms, hard)


def _near_duplicate(twins: tuple[Stand, ...]) -> Conflict:
    names = ", ".join(f"#{stand.number}" for stand in twins)
    return Conflict(
        "near_duplicate",
        f"{names} has the same words: update it, or pass force to record this as well",
        details={"twins": [stand.number for stand in twins], "ids": [stand.id for stand in twins]},
    )


def _to_supersede(ident: str, scope: str, beliefs: Beliefs) -> Stand:
    stand = beliefs.stand(ident)
    if stand is None:
        raise Conflict("not_active", f"the memory {ident} is gone")
    if stand.scope != scope:
        raise Refused("other_scope", f"#{stand.number} is in the scope {stand.scope!r}; a successor stays in its scope")
    if stand.superseded_by:
        raise Conflict("superseded", f"#{stand.number} has a successor already; supersede that one")
    if stand.status != "active":
        raise Conflict("not_active", f"#{stand.number} is {stand.status}; only what is believed can be superseded")
    return stand


def _known(ident: str, by: Circumstances) -> Stand:
    stand = by.beliefs.stand(ident)
    if stand is None:
        raise Conflict("not_active", f"the memory {ident} holds a key but is gone; run `eunoe rebuild`")
    return stand


def _unapplied(draft: Draft) -> tuple[str, ...]:
    given = [name for name in _NOT_IN_A_CONFIRMATION if name in draft.explicit]
    return (f"Known already; {', '.join(given)} stayed as before (use update).",) if given else ()


def _valid_from(draft: Draft, by: Circumstances) -> int:
    given = draft.valid_from if draft.valid_from is not None else draft.occurred_at
    return by.now if given is None else given


def _until(draft: Draft, by: Circumstances) -> int | None:
    """A key held by a short-term memory is free when the memory expires."""
    ends = [end for end in (draft.valid_to, _expiry(draft, by)) if end is not None]
    return min(ends) if ends else None


def _expiry(draft: Draft, by: Circumstances) -> int | None:
    if draft.expires_at is not None:
        return draft.expires_at
    return None if draft.ttl_us is None else by.now + draft.ttl_us


def _meta(draft: Draft, by: Circumstances, status: str) -> dict[str, Any]:
    meta: dict[str, Any] = {
        "kind": draft.kind,
        "tier": draft.tier,
        "scope": draft.scope,
        "trust": draft.trust,
        "status": status,
        "importance": draft.importance,
        "pinned": draft.pinned,
    }
    if (expires_at := _expiry(draft, by)) is not None:
        meta["expires_at"] = expires_at
    if draft.masked:
        meta["masked"] = list(draft.masked)
    links = [ident for ident in draft.links if ident not in draft.supersedes]
    if links:
        meta["links"] = links
    return meta


def _payload(draft: Draft) -> dict[str, Any]:
    payload: dict[str, Any] = {"body": draft.body}
    for name in ("title", "value", "source", "speaker", "session", "turn"):
        value = getattr(draft, name)
        if value is not None:
            payload[name] = value
    if draft.tags:
        payload["tags"] = list(draft.tags)
    if draft.paths:
        payload["paths"] = list(draft.paths)
    return payload

"""Update: correct what a memory says, in a new version. The old one stays in its history."""

from __future__ import annotations

from typing import Any

from eunoe.admission.draft import Cleaner, check_flag, check_importance, check_new_key, check_period
from eunoe.admission.keys import is_free
from eunoe.admission.rejections import lifted
from eunoe.domain import limits
from eunoe.domain.address import Target
from eunoe.domain.fingerprint import (
    key_fingerprint,
    text_fingerprint,
    turn_fingerprint,
    value_fingerprint,
    words_fingerprint,
)
from eunoe.domain.hard_tokens import hard_tokens
from eunoe.domain.instants import optional_us
from eunoe.domain.kinds import kind_named
from eunoe.domain.memory import Change, Memory, display_title
from eunoe.domain.rendering import statement_of
from eunoe.errors import Conflict, Invalid, Refused, shown
from eunoe.ports.memories import Stand
from eunoe.service.commit import Session, open_session
from eunoe.service.context import Context
from eunoe.service.find import addressed, written
from eunoe.service.freshness import Judgement, check_judged, judge, resolutions
from eunoe.service.retrying import retried

FIELDS = (
    *("title", "body", "kind", "tags", "paths", "key", "value", "source", "importance", "pinned"),
    *("valid_from", "valid_to"),
)


@retried
def update(
    context: Context,
    target: Target,
    *,
    version: int | None = None,
    confirm: bool = False,
    dispute: bool = False,
    **changes: Any,
) -> Change:
    """Change fields of a memory, and say whether it is true; all in one transaction.

    An edit of title or body confirms it and ends a dispute.

    Args:
        context: The session.
        target: The memory.
        version: If given, the version that the caller has read: refused when there is a newer one.
        confirm, dispute: What `confirm` and `dispute` do, after the fields are changed.
        **changes: Any of `FIELDS`. None clears title, key (which releases it), value, source and valid_to.

    Raises:
        Invalid: `nothing_to_change`, `unknown_field`, `confirm_and_dispute`, and those of `remember`.
        NotFound: `no_memory`. Conflict: `held_key`, `stale_version`, `not_active`, `superseded`, `duplicate_text`.
    """
    judgement = _judgement(confirm, dispute)
    if not changes and judgement is None:
        raise Invalid("nothing_to_change", f"name at least one field to change: {' '.join(FIELDS)}")
    if unknown := changes.keys() - set(FIELDS):
        raise Invalid("unknown_field", f"{shown(min(unknown))} cannot be updated; fields are {' '.join(FIELDS)}")
    cleaner = Cleaner()
    content, structure = cleaned(cleaner, changes)
    context, address = written(context, target)
    with context.store.writing() as tx:
        session = open_session(context, tx)
        memory = addressed(session, address)
        _check_version(memory, version)
        if judgement is not None:
            check_judged(memory)
        fields = revise(session, memory, content, structure, cleaner) if changes else []
        judged = judgement is not None and judge(session, _edited(memory, fields), judgement)
    return _change(memory, fields, judgement if judged else None, cleaner)


def _judgement(confirm: object, dispute: object) -> Judgement | None:
    """Return what the flags say. Raises `Invalid`: `confirm_and_dispute`, `bad_type`."""
    confirming, disputing = check_flag(confirm, "confirm"), check_flag(dispute, "dispute")
    if confirming and disputing:
        raise Invalid("confirm_and_dispute", "a memory is confirmed or disputed; give one of the two")
    return "confirmed" if confirming else "disputed" if disputing else None


def _edited(memory: Memory, fields: list[str]) -> Memory:
    """Return the memory as far as judging it goes: an edit of its title or body has ended its dispute."""
    return memory._replace(disputed_at=None) if {"title", "body"} & set(fields) else memory


def _change(memory: Memory, fields: list[str], judged: Judgement | None, cleaner: Cleaner) -> Change:
    masked = ", ".join(dict.fromkeys(cleaner.masked))
    notes = (f"A secret was masked in: {masked}.",) if fields and masked else ()
    details: dict[str, Any] = {"version": memory.version + 1, "fields": fields} if fields else {}
    if fields and judged:
        notes = (*notes, f"It is {judged}.")
        details["judged"] = judged
    return Change(
        action="updated" if fields else judged or "unchanged",
        memories=(memory.number,),
        ids=(memory.id,),
        notes=(*notes, *(cleaner.warnings if fields else ()), *(resolutions(memory) if judged == "disputed" else ())),
        details=details,
    )


def revise(
    session: Session,
    memory: Memory,
    content: dict[str, Any],
    structure: dict[str, Any],
    clean: Cleaner,
) -> list[str]:
    """Record what changes of a memory, through the rules of the gate; return the names of the fields that did.

    Args:
        session: The write transaction.
        memory: The memory as it is.
        content: Cleaned texts by field; None clears.
        structure: Cleaned kind, importance (thousandths), pinned and times (microseconds).
        clean: What cleaned the texts; it also masks the value of a key that names a secret.

    Raises:
        Conflict: `not_active`, `held_key`, `duplicate_text`. Refused: `rejected`.
        Invalid: `too_long`, `bad_period`, `value_without_key`.
    """
    if memory.status not in ("active", "pending"):
        raise Conflict("not_active", f"{memory.address} is {memory.status}; only what is believed can be updated")
    stand = session.tx.beliefs(session.p).stand(memory.id)
    assert stand is not None  # noqa: S101 - it was just read in this transaction
    if content.get("key", memory.key) is None and "key" in content and memory.value is not None:
        content = {**content, "value": None}
    key, value = content.get("key", memory.key), content.get("value", memory.value)
    if key is not None and value is not None and not content.keys().isdisjoint(("key", "value")):
        content = {**content, "value": clean.keyed(value, key)}
    content, structure = _changed(memory, content, structure)
    if not content and not structure:
        return []
    fields = sorted(content.keys() | structure.keys())
    _check_body(memory, content, structure)
    prints = _prints(session, memory, stand, content, structure)
    meta = {"memory": memory.id, "version": memory.version + 1, "fields": fields, **structure}
    said = statement_of(memory)._asdict() | content | {name: structure[name] for name in ("kind",) if name in structure}
    if memory.title == display_title(None, memory.body) and "title" not in content:
        said["title"] = None  # it was the beginning of the old body
    meta |= session.tokens({"kind": said["kind"], "trust": memory.trust, "scope": memory.scope}, said)
    if clean.masked:
        meta["masked"] = list(dict.fromkeys(clean.masked))
    if lifts := _lifts(session, memory, stand, prints):
        meta["lifts"] = list(lifts)
    session.record("memory.revised", meta, {**content, **prints})
    return fields


def _lifts(session: Session, memory: Memory, stand: Stand, prints: dict[str, Any]) -> tuple[int, ...]:
    """Return the rejections that the new wording lifts. Raises `Refused` (`rejected`) where it may not."""
    new = [prints[name] for name in ("fp", "value_fp") if prints.get(name) not in (None, getattr(stand, name))]
    if not new:
        return ()
    caller = session.context.caller
    trust = "imported" if caller.author == "import" else "stated"
    return lifted(session.tx.beliefs(session.p).rejections(memory.scope, new), caller, trust=trust)


def cleaned(clean: Cleaner, changes: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the changes as content and structure, checked; times in microseconds, importance in thousandths."""
    content: dict[str, Any] = {}
    structure: dict[str, Any] = {}
    for name, value in changes.items():
        match name:
            case "body":
                content[name] = clean.text(value, name, limit=limits.LONG_BODY)
            case "title":
                content[name] = clean.optional(value, name, limit=limits.TITLE, line=True)
            case "value":
                content[name] = clean.optional(value, name, limit=limits.VALUE)
            case "source":
                content[name] = clean.optional(value, name, limit=limits.SOURCE, line=True)
            case "key":
                content[name] = None if value is None else check_new_key(value)
            case "tags":
                content[name] = list(clean.listed(value, name, most=limits.TAGS, limit=limits.TAG))
            case "paths":
                content[name] = list(clean.listed(value, name, most=limits.PATHS, limit=limits.PATH))
            case _:
                structure[name] = _structural(name, value)
    return content, structure


def _structural(name: str, value: Any) -> Any:
    if name == "kind":
        if kind_named(value).type == "vault":
            raise Refused("vault", "kind='secret' needs encryption, which this version does not have")
        return value
    if name == "importance":
        return check_importance(value)
    if name == "pinned":
        return check_flag(value, name)
    instant = optional_us(value, setting=name)
    if instant is None and name == "valid_from":
        raise Invalid("bad_time", "valid_from cannot be cleared; give the time from which it is true")
    return instant


def _check_version(memory: Memory, version: int | None) -> None:
    if version is not None and version != memory.version:
        raise Conflict(
            "stale_version",
            f"{memory.address} is at version {memory.version}, you have read {version}; read it again",
            details={"version": memory.version},
        )


def _check_body(memory: Memory, content: dict[str, Any], structure: dict[str, Any]) -> None:
    kind, body = kind_named(structure.get("kind", memory.kind)), content.get("body", memory.body)
    if len(body) > limits.BODY and not kind.long:
        raise Invalid(
            "too_long", f"body has {len(body):,} characters; the limit for kind={kind.name} is {limits.BODY:,}"
        )


def _changed(
    memory: Memory, content: dict[str, Any], structure: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return only what differs from the memory as it is."""
    from_us = {name: optional_us(getattr(memory, name), setting=name) for name in ("valid_from", "valid_to")}
    old = {"importance": round(memory.importance * 1000), "pinned": memory.pinned, "kind": memory.kind, **from_us}
    structure = {name: value for name, value in structure.items() if value != old[name]}
    kept = {name: list(value) if isinstance(value, tuple) else value for name, value in _content(memory).items()}
    content = {name: value for name, value in content.items() if value != kept[name]}
    check_period(structure.get("valid_from", old["valid_from"]), structure.get("valid_to", old["valid_to"]))
    return content, structure


def _content(memory: Memory) -> dict[str, Any]:
    names = ("body", "value", "source", "key", "tags", "paths", "title")
    return {name: getattr(memory, name) for name in names}


def _prints(
    session: Session, memory: Memory, stand: Stand, content: dict[str, Any], structure: dict[str, Any]
) -> dict[str, Any]:
    """Return the fingerprints that change with the content. Raises `Conflict` where they clash."""
    key = content.get("key", memory.key)
    body = content.get("body", memory.body)
    value = content.get("value", memory.value)
    secret, scope, beliefs = session.project.secret, memory.scope, session.tx.beliefs(session.p)
    if key is None:
        if value is not None and "value" in content:
            raise Invalid("value_without_key", "value names the value of a key; give key as well")
        if "body" not in content and "key" not in content:
            return {}
        hard = hard_tokens(body)
        if memory.turn is not None and memory.session is not None:
            fp = turn_fingerprint(secret, scope, memory.session, memory.turn, body, hard)
        else:
            fp = text_fingerprint(secret, scope, body, hard)
        _check_same_text(beliefs.same_text(scope, fp), memory, session.now)
        words_fp = words_fingerprint(secret, scope, session.context.analyser.terms(body), hard)
        return {"fp": fp, "words_fp": words_fp if stand.words_fp else None, "key_fp": None, "value_fp": None}
    key_fp = key_fingerprint(secret, scope, key)
    valid_from: int = structure.get("valid_from", stand.valid_from)
    valid_to = structure.get("valid_to", stand.valid_to)
    others = [each for each in beliefs.intervals(scope, key_fp) if each.memory != memory.id]
    if memory.status == "active" and not is_free(others, valid_from, valid_to):
        holder = next(filter(None, (beliefs.stand(each.memory) for each in reversed(others))))
        raise Conflict(
            "held_key",
            f"the key {key!r} is held by #{holder.number}; remember a new value under the key, or archive that one",
            details={"holder": holder.number, "id": holder.id},
        )
    if not {"key", "value", "body"} & content.keys():
        return {}
    value_fp = value_fingerprint(secret, scope, key, body if value is None else value)
    return {"fp": None, "words_fp": None, "key_fp": key_fp, "value_fp": value_fp}


def _check_same_text(stands: list[Stand], memory: Memory, now: int) -> None:
    for stand in stands:
        alive = stand.status in ("active", "pending") and (stand.expires_at is None or stand.expires_at > now)
        if alive and stand.id != memory.id:
            raise Conflict(
                "duplicate_text",
                f"#{stand.number} says exactly this already; archive {memory.address} instead",
                details={"twins": [stand.number]},
            )

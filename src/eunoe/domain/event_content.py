"""What an event of each type holds, checked where events come from outside.

A chain proves that nothing was changed since, not that it was Eunoe who wrote it: the hashes have no key. So whatever
an import adopts is checked for what the projector and the gate rely on: fields, types, known words, and that memories
are recorded before something else happens to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from eunoe.domain.canonical import LARGEST_INTEGER
from eunoe.domain.event import Event
from eunoe.domain.keys import is_key
from eunoe.domain.kinds import KINDS
from eunoe.domain.memory import TRUSTS
from eunoe.errors import Invalid, shown

Check = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _line(value: Any) -> bool:
    return isinstance(value, str) and len(value.splitlines()) <= 1


def is_integer(value: Any) -> bool:
    """Tell whether a value is a whole number that canonical JSON can hold."""
    return type(value) is int and abs(value) <= LARGEST_INTEGER


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _one_of(*words: str) -> Check:
    return lambda value: isinstance(value, str) and value in words


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _all(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(check(each) for each in value)


def _followed(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and _text(value.get("memory"))
        and "valid_to" in value
        and all(_or_none(is_integer)(value.get(name)) for name in ("valid_to", "own_end"))
        and _or_none(_text)(value.get("superseded_by"))
    )


_RECORDED = ("memory", "kind", "importance", "tier", "scope", "status", "trust", "valid_from")
_REQUIRED: dict[str, tuple[str, ...]] = {
    "project.created": (),
    "memory.recorded": _RECORDED,
    "memory.revised": ("memory",),
    "memory.confirmed": ("memory",),
    "memory.disputed": ("memory",),
    "memory.archived": ("memory",),
    "memory.forgotten": ("memory", "by"),
    "memory.restored": ("memory", "status", "valid_from"),
    "link.made": ("a", "b"),
    "link.cut": ("a", "b"),
}

_META: dict[str, Check] = {
    "memory": _text,
    "a": _text,
    "b": _text,
    "kind": _one_of(*(name for name, row in KINDS.items() if row.type != "vault")),  # which needs encryption
    **dict.fromkeys(("tokens_full", "tokens_line"), lambda value: is_integer(value) and value >= 0),
    "importance": lambda value: is_integer(value) and 0 <= value <= 1000,
    "pinned": _flag,
    "tier": _one_of("ltm", "stm"),
    "scope": lambda value: value == "project" or (_text(value) and value.startswith("user:")),
    "status": _one_of("active", "pending", "superseded", "archived", "forgotten"),
    "trust": _one_of(*TRUSTS),
    "by": _one_of("person", "agent", "application", "import"),
    "valid_from": is_integer,
    "valid_to": _or_none(is_integer),
    "expires_at": _or_none(is_integer),
    "superseded_by": _or_none(_text),
    "how": _one_of("restated", "explicit"),
    "counts_as_confirmation": _flag,
    "move_links": _flag,
    "supersedes": _all(_followed),
    "reopens": _all(lambda entry: _followed(entry) and "superseded_by" in entry),
    "links": _all(_text),
    "evidence": _all(_text),
    "lifts": _all(is_integer),
}

_PAYLOAD: dict[str, Check] = {
    "key": _or_none(is_key),
    **dict.fromkeys(("title", "value", "source", "speaker", "session", "note", "slug"), _or_none(_text)),
    **dict.fromkeys(("fp", "words_fp", "key_fp", "value_fp"), _or_none(_text)),
    "body": _text,
    "tags": _all(_line),
    "paths": _all(_line),
    "turn": _or_none(is_integer),
}


def check_content(event: Event, meta: Mapping[str, Any], payload: Mapping[str, Any], recorded: set[str]) -> None:
    """Check one event, and add to `recorded` the memory that it records.

    Args:
        event: Of any type; types and versions unknown here are left to the projector, which refuses them.
        meta, payload: Of the event, as the document gives them; no payload is an empty one.
        recorded: The memories that earlier events recorded.

    Raises:
        Invalid: `bad_document`: names the event and the field.
    """
    if event.v != 1 or event.type not in _REQUIRED:
        return
    _check_fields(event, meta, _META, _REQUIRED[event.type])
    _check_fields(event, payload, _PAYLOAD, ("body",) if payload and event.type == "memory.recorded" else ())
    if payload.get("body") is not None and meta.get("tokens_full", 0) > _most_tokens(payload):
        raise _bad(event, "tokens_full", "is more than its text can cost")
    if payload.get("key_fp") is not None and payload.get("value_fp") is None:
        raise _bad(event, "value_fp", "is missing beside key_fp")
    if event.type == "memory.recorded":
        if meta["memory"] in recorded:
            raise _bad(event, "memory", "was recorded before")
        _check_known(event, meta, recorded, "superseded_by")
        recorded.add(meta["memory"])
    else:
        _check_known(event, meta, recorded, "superseded_by", "memory", "a", "b")


def _most_tokens(payload: Mapping[str, Any]) -> int:
    """Return what no rendering can exceed: a token has a byte at least, a character four at most, escapes ten."""
    return 10 * sum(len(str(value)) for value in payload.values()) + 1000


def _check_fields(
    event: Event, fields: Mapping[str, Any], checks: Mapping[str, Check], required: tuple[str, ...]
) -> None:
    for name in required:
        if name not in fields:
            raise _bad(event, name, "is missing")
    for name, value in fields.items():
        if name in checks and not checks[name](value):
            raise _bad(event, name, f"cannot be {shown(value)}")


def _check_known(event: Event, meta: Mapping[str, Any], recorded: set[str], *fields: str) -> None:
    named = [("links", each) for each in meta.get("links", ())]
    named += [(name, entry["memory"]) for name in ("supersedes", "reopens") for entry in meta.get(name, ())]
    named += [(name, meta[name]) for name in fields if meta.get(name) is not None]
    for name, ident in named:
        if ident not in recorded:
            raise _bad(event, name, f"names {shown(ident)}, which no earlier event recorded")


def _bad(event: Event, field: str, problem: str) -> Invalid:
    return Invalid(
        "bad_document",
        f"the event {event.type} number {event.seq}: {field} {problem}; no export of Eunoe holds this",
        details={"seq": event.seq, "field": field},
    )

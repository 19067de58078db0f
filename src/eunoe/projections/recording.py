"""Events that open a version: recorded, revised, restored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from eunoe.domain.canonical import canonical, parse
from eunoe.domain.instants import from_us
from eunoe.domain.postings import pack
from eunoe.domain.turns import shape
from eunoe.ports.snapshot import Row, Snapshot
from eunoe.projections.changes import RowChange, passage_row
from eunoe.projections.closing import (
    close_keys,
    labelled,
    link_pair,
    open_key,
    retire_passage,
    reweigh,
    supersede,
)
from eunoe.projections.decided import Decided

Analyse = Callable[[str], list[str]]

# Not by strftime: the index must not depend on the locale of whoever wrote.
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
CONTENT = ("title", "body", "key", "value", "source", "speaker")
STRUCTURE = ("kind", "importance", "pinned", "valid_from", "valid_to")


def recorded(event: Decided, before: Mapping[str, Snapshot], number: int, analyse: Analyse) -> list[RowChange]:
    """A new memory, with all that its recording settled: whom it supersedes, which key it takes, what it links to."""
    meta, payload = event.meta, event.payload
    ident = meta["memory"]
    changes: list[RowChange] = [("subject_insert", {"p": event.p, "memory": ident, "seq": event.seq})]
    if not payload:
        return changes
    version = _first_version(event)
    changes += [
        ("memory_insert", _memory_row(event, number)),
        ("version_insert", version),
        *_listed(event.p, ident, payload),
        *passage(event, version, meta["scope"], meta["status"] == "active", analyse, {**payload, **_standing(meta)}),
    ]
    for entry in meta.get("supersedes", ()):
        changes += supersede(event, before[entry["memory"]], valid_to=entry["valid_to"])
    if payload.get("key_fp") and meta["status"] == "active":
        changes.append(open_key(event, ident, meta["scope"], payload, version))
    for source in meta.get("evidence", ()):
        changes.append(
            ("evidence_insert", {"p": event.p, "memory": ident, "version": 1, "source": source}),
        )
    for seq in meta.get("lifts", ()):
        changes.append(("rejection_lift", {"p": event.p, "seq": seq, "lifted_seq": event.seq}))
    for other in meta.get("links", ()):
        changes.append(link_pair(event, ident, other))
    return changes


def revised(event: Decided, before: Mapping[str, Snapshot], number: int, analyse: Analyse) -> list[RowChange]:
    """A new version of a memory: what the event names is changed, all else stays."""
    del number
    meta, payload = event.meta, event.payload
    old = before[meta["memory"]]
    version = {**old.version, **{name: meta[name] for name in STRUCTURE if name in meta}}
    version |= {name: payload[name] for name in CONTENT if name in payload}
    version |= {name: canonical(payload[name]) for name in ("tags", "paths") if name in payload}
    version |= {name: meta.get(name) for name in ("tokens_full", "tokens_line")}
    changes = reopened(event, old, version, old.memory["status"] == "active", analyse)
    prints = {name: payload.get(name, old.memory[name]) for name in ("fp", "words_fp", "key_fp", "value_fp")}
    confirmed = "title" in payload or "body" in payload
    changes.append(
        (
            "memory_revised",
            {
                "p": event.p,
                "id": meta["memory"],
                "confirmed_at": event.recorded_at if confirmed else old.memory["confirmed_at"],
                "disputed_at": None if confirmed else old.memory["disputed_at"],
                **prints,
            },
        )
    )
    for seq in meta.get("lifts", ()):
        changes.append(("rejection_lift", {"p": event.p, "seq": seq, "lifted_seq": event.seq}))
    if {"key_fp", "value_fp"} & payload.keys() or {"valid_from", "valid_to"} & meta.keys():
        changes += close_keys(event, old)
        if prints["key_fp"] and old.memory["status"] == "active":
            changes.append(open_key(event, meta["memory"], old.memory["scope"], prints, version))
    return changes


def restored(event: Decided, before: Mapping[str, Snapshot], number: int, analyse: Analyse) -> list[RowChange]:
    """An archived or forgotten memory is believed again, from now on, in a version of its own."""
    del number
    meta = event.meta
    old = before[meta["memory"]]
    version = {**old.version, "valid_from": meta["valid_from"], "valid_to": meta.get("valid_to")}
    status = meta["status"]
    changes = reopened(event, old, version, status == "active", analyse)
    changes.append(
        ("memory_restored", {"p": event.p, "id": meta["memory"], "status": status, "confirmed_at": event.recorded_at})
    )
    changes.append(("rejections_lift_memory", {"p": event.p, "memory": meta["memory"], "lifted_seq": event.seq}))
    if old.memory["key_fp"] and status == "active":
        changes.append(open_key(event, meta["memory"], old.memory["scope"], old.memory, version))
    return changes


def reopened(event: Decided, old: Snapshot, version: Row, live: bool, analyse: Analyse) -> list[RowChange]:
    """Close the live version of a memory and open `version` as the next one, with its passage."""
    ident, number = old.memory["id"], old.memory["version"] + 1
    content = {"tags": parse(version["tags"]), "paths": parse(version["paths"])}
    row = {
        **version,
        "version": number,
        "seq": event.seq,
        "valid_to_at": None,
        "recorded_from": event.recorded_at,
        "recorded_to": None,
    }
    context = {**content, **_standing(old.memory), "session": old.memory["session"], "turn": old.memory["turn"]}
    return [
        ("subject_insert", {"p": event.p, "memory": ident, "seq": event.seq}),
        *retire_passage(event.p, old),
        (
            "version_close",
            {"p": event.p, "memory": ident, "version": old.memory["version"], "recorded_to": event.recorded_at},
        ),
        ("version_insert", row),
        ("memory_version", {"p": event.p, "id": ident, "version": number}),
        ("tags_clear", {"p": event.p, "memory": ident}),
        ("paths_clear", {"p": event.p, "memory": ident}),
        *_listed(event.p, ident, content),
        *passage(event, row, old.memory["scope"], live, analyse, context),
    ]


def passage(
    event: Decided, version: Row, scope: str, live: bool, analyse: Analyse, context: Mapping[str, Any]
) -> list[RowChange]:
    """Return the index rows of a version: the passage, its full text, and its share of the statistics."""
    own = analyse(version["body"])
    if version["value"]:
        own += analyse(version["value"])
    if context.get("turn") is not None:
        own += _spoken(version, analyse)
    titles = (
        " ".join(filter(None, (version["title"], version["key"]))),
        " ".join(context.get("tags", ())),
        " ".join(context.get("paths", ())),
    )
    fields = (own, *(analyse(title) if title else [] for title in titles))
    terms, rid = pack(fields), passage_row(event.p, event.seq)
    row = {
        "rid": rid,
        "p": event.p,
        "memory": version["memory"],
        "version": version["version"],
        "ordinal": 0,
        "live": int(live),
        "scope": scope,
        "session": context.get("session"),
        "turn": context.get("turn"),
        "length": len(own),
        "terms": terms,
        "trust": context["trust"],
        "valid_from": version["valid_from"],
        "valid_to": version["valid_to"],
        "expires_at": context.get("expires_at"),
        "speaker": version["speaker"] if context.get("turn") is not None else None,
        "shape": shape(version["body"]) if context.get("turn") is not None else None,
    }
    changes: list[RowChange] = [
        ("passage_insert", row),
        ("fulltext_insert", {"p": event.p, "rid": rid, "fields": fields}),
    ]
    if live:
        labels = labelled(version["kind"], context.get("tags") or ())
        changes += reweigh(event.p, scope, terms, len(own), +1, labels)
        changes.append(("embed_queue", {"p": event.p, "rid": rid}))
    return changes


def _spoken(version: Row, analyse: Analyse) -> list[str]:
    """Return the terms of who said it and on which day: in a conversation they are part of what was said."""
    day = from_us(version["valid_from"])
    return analyse(f"{version['speaker'] or ''} {day.day} {MONTHS[day.month - 1]} {day.year}")


def _listing(entries: list[str] | None) -> str:
    return canonical(entries) if entries else "[]"


def _standing(of: Mapping[str, Any]) -> dict[str, Any]:
    return {"trust": of["trust"], "expires_at": of.get("expires_at")}


def _first_version(event: Decided) -> Row:
    meta, payload = event.meta, event.payload
    return {
        "p": event.p,
        "memory": meta["memory"],
        "version": 1,
        "seq": event.seq,
        "kind": meta["kind"],
        "title": payload.get("title"),
        "body": payload["body"],
        "tags": _listing(payload.get("tags")),
        "paths": _listing(payload.get("paths")),
        "key": payload.get("key"),
        "value": payload.get("value"),
        "source": payload.get("source"),
        "speaker": payload.get("speaker"),
        "importance": meta["importance"],
        "pinned": int(meta.get("pinned", False)),
        "valid_from": meta["valid_from"],
        "valid_to": meta.get("valid_to"),
        "valid_to_at": None,
        "recorded_from": event.recorded_at,
        "recorded_to": None,
        "tokens_full": meta.get("tokens_full"),
        "tokens_line": meta.get("tokens_line"),
    }


def _memory_row(event: Decided, number: int) -> Row:
    meta, payload = event.meta, event.payload
    return {
        "p": event.p,
        "id": meta["memory"],
        "number": number,
        "version": 1,
        "tier": meta["tier"],
        "scope": meta["scope"],
        "status": meta["status"],
        "trust": meta["trust"],
        "origin": event.origin,
        "session": payload.get("session"),
        "turn": payload.get("turn"),
        "expires_at": meta.get("expires_at"),
        "occurrences": 1,
        "first_seen": event.occurred_at,
        "last_seen": event.occurred_at,
        "recorded_at": event.recorded_at,
        "confirmed_at": event.recorded_at,
        "superseded_by": meta.get("superseded_by"),
        "seq": event.seq,
        "fp": payload.get("fp"),
        "words_fp": payload.get("words_fp"),
        "key_fp": payload.get("key_fp"),
        "value_fp": payload.get("value_fp"),
    }


def _listed(p: int, ident: str, content: Mapping[str, Any]) -> list[RowChange]:
    changes: list[RowChange] = [
        ("tag_insert", {"p": p, "memory": ident, "tag": tag}) for tag in content.get("tags", ())
    ]
    changes += [("path_insert", {"p": p, "memory": ident, "path": path}) for path in content.get("paths", ())]
    return changes

"""Rows that stop being believed: passages retired, versions and key intervals closed, successors named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eunoe.domain.canonical import parse
from eunoe.domain.postings import term_names
from eunoe.ports.snapshot import Row, Snapshot
from eunoe.projections.changes import EACH, RowChange
from eunoe.projections.decided import Decided


def reweigh(p: int, scope: str, terms: str, length: int, by: int, labels: Sequence[str]) -> list[RowChange]:
    """Add a passage to the scope's statistics (`by` = 1) or take it out (`by` = -1)."""
    return [
        ("scope_weigh", {"p": p, "scope": scope, "n": by, "length": by * length}),
        ("term_weigh", {"p": p, "scope": scope, "by": by, EACH: ("term", term_names(terms))}),
        ("label_weigh", {"p": p, "scope": scope, "by": by, EACH: ("label", labels)}),
    ]


def labelled(kind: str, tags: Sequence[str]) -> list[str]:
    """Return under which labels a memory is counted for the overview of its project."""
    return [f"kind:{kind}", *(f"tag:{tag}" for tag in tags)]


def retire_passage(p: int, old: Snapshot) -> list[RowChange]:
    """Take a memory's live passage out of search; its row stays for questions about the past."""
    if old.passage is None or not old.passage["live"]:
        return []
    row = old.passage
    labels = labelled(old.version["kind"], parse(old.version["tags"]))
    return [
        ("passage_retire", {"p": p, "rid": row["rid"], "memory": row["memory"]}),
        *reweigh(p, row["scope"], row["terms"], row["length"], -1, labels),
        *unread(p, row),
    ]


def unread(p: int, row: Row) -> list[RowChange]:
    """Void what a model read together with a turn that goes: nothing is derived from its words any longer."""
    named = {"p": p, "rid": row["rid"]}
    changes: list[RowChange] = [("embed_queue", named)]  # whoever embeds takes it out of the statistics
    if row["turn"] is not None:
        changes += [("embed_requeue", named), ("states_void", named)]
    return changes


def close_version(event: Decided, old: Snapshot) -> list[RowChange]:
    """Stop believing a memory's live version, and its key intervals with it."""
    ident, version = old.memory["id"], old.memory["version"]
    return [
        *retire_passage(event.p, old),
        ("version_close", {"p": event.p, "memory": ident, "version": version, "recorded_to": event.recorded_at}),
        *close_keys(event, old),
    ]


def close_keys(event: Decided, old: Snapshot) -> list[RowChange]:
    """Close every interval that the memory holds in what is recorded now."""
    return [("key_close", _key_name(event, row) | {"recorded_to": event.recorded_at}) for row in old.keys]


def open_key(
    event: Decided, memory: str, scope: str, prints: Mapping[str, Any], version: Mapping[str, Any]
) -> RowChange:
    """Let a memory hold its key for as long as its version is valid."""
    return (
        "key_insert",
        {
            "p": event.p,
            "scope": scope,
            "key_fp": prints["key_fp"],
            "valid_from": version["valid_from"],
            "recorded_from": event.recorded_at,
            "valid_to": version["valid_to"],
            "memory": memory,
            "value_fp": prints["value_fp"],
        },
    )


def supersede(event: Decided, old: Snapshot, *, valid_to: int) -> list[RowChange]:
    """Let the memory that `event` records follow `old` from `valid_to` on: status, interval, key and links.

    Until that moment `old` stays believed and findable; after it, it is history. Its links move to the successor.
    """
    ident, successor = old.memory["id"], event.meta["memory"]
    ended = valid_to <= event.recorded_at
    changes: list[RowChange] = [
        ("subject_insert", {"p": event.p, "memory": ident, "seq": event.seq}),
        (
            "memory_superseded",
            {
                "p": event.p,
                "id": ident,
                "superseded_by": successor,
                "status": "superseded" if ended else old.memory["status"],
            },
        ),
        (
            "version_until",
            {
                "p": event.p,
                "memory": ident,
                "version": old.memory["version"],
                "valid_to": valid_to,
                "valid_to_at": event.recorded_at,
            },
        ),
    ]
    if ended:
        changes += retire_passage(event.p, old)
    if old.passage is not None:
        changes.append(
            ("passage_until", {"p": event.p, "rid": old.passage["rid"], "memory": ident, "valid_to": valid_to})
        )
    for row in old.keys:
        changes.append(("key_close", _key_name(event, row) | {"recorded_to": event.recorded_at}))
        if valid_to > row["valid_from"]:
            changes.append(("key_insert", _reopened_key(event, row, valid_to)))
    return changes + (move_links(event, old, successor) if event.meta.get("move_links") else [])


def move_links(event: Decided, old: Snapshot, successor: str) -> list[RowChange]:
    """Move a memory's links to its successor, except those to others that go; one it has already stays."""
    superseded = {entry["memory"] for entry in event.meta["supersedes"]}
    changes: list[RowChange] = []
    for row in old.links:
        other = row["b"] if row["a"] == old.memory["id"] else row["a"]
        changes.append(("link_delete", {"p": event.p, "a": row["a"], "b": row["b"]}))
        if other != successor and other not in superseded:
            a, b = sorted((other, successor))
            moved = {"p": event.p, "a": a, "b": b, "note": row["note"], "made_at": row["made_at"]}
            changes.append(("link_insert", moved))
    return changes


def link_pair(event: Decided, one: str, other: str) -> RowChange:
    """Link two memories; the link of a pair that has one stays as it is."""
    a, b = sorted((one, other))
    note = event.payload.get("note")
    return ("link_insert", {"p": event.p, "a": a, "b": b, "note": note, "made_at": event.recorded_at})


def _key_name(event: Decided, row: Row) -> dict[str, Any]:
    return {"p": event.p} | {name: row[name] for name in ("scope", "key_fp", "valid_from", "recorded_from", "memory")}


def _reopened_key(event: Decided, row: Row, valid_to: int) -> dict[str, Any]:
    return {
        "p": event.p,
        **{name: row[name] for name in ("scope", "key_fp", "valid_from", "memory", "value_fp")},
        "recorded_from": event.recorded_at,
        "valid_to": valid_to,
    }

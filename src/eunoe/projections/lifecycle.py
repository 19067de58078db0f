"""Events that change how a memory stands, but not what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from eunoe.ports.snapshot import Snapshot
from eunoe.projections.changes import RowChange
from eunoe.projections.closing import close_keys, close_version, link_pair, open_key
from eunoe.projections.decided import Decided
from eunoe.projections.recording import reopened

Analyse = Callable[[str], list[str]]


def nothing(event: Decided, before: Mapping[str, Snapshot], number: int, analyse: Analyse) -> list[RowChange]:
    """An event that is only history."""
    del event, before, number, analyse
    return []


def confirmed(event: Decided, before: Mapping[str, Snapshot], number: int, analyse: Analyse) -> list[RowChange]:
    """Said again: seen once more. Or found true, which is no saying. What counts as a confirmation ends a dispute."""
    del number, analyse
    meta = event.meta
    old = before[meta["memory"]].memory
    counts = meta.get("counts_as_confirmation", False)
    said = meta.get("how", "restated") == "restated"
    row = {
        "p": event.p,
        "id": meta["memory"],
        "occurrences": old["occurrences"] + said,
        "first_seen": min(old["first_seen"], event.occurred_at) if said else old["first_seen"],
        "last_seen": max(old["last_seen"], event.occurred_at) if said else old["last_seen"],
        "confirmed_at": event.recorded_at if counts else old["confirmed_at"],
        "disputed_at": None if counts else old["disputed_at"],
    }
    return [_subject(event, meta["memory"]), ("memory_seen", row)]


def disputed(event: Decided, before: Mapping[str, Snapshot], number: int, analyse: Analyse) -> list[RowChange]:
    """Probably wrong: marked until it is confirmed, or its title or body edited."""
    del before, number, analyse
    row = {"p": event.p, "id": event.meta["memory"], "disputed_at": event.recorded_at}
    return [_subject(event, event.meta["memory"]), ("memory_disputed", row)]


def archived(event: Decided, before: Mapping[str, Snapshot], number: int, analyse: Analyse) -> list[RowChange]:
    """Put away: out of every reading of now, its key free again."""
    del number
    return _withdrawn(event, before, "archived", analyse)


def forgotten(event: Decided, before: Mapping[str, Snapshot], number: int, analyse: Analyse) -> list[RowChange]:
    """Taken back: withdrawn, and rejected, so that what it said does not come back by itself."""
    del number
    changes = _withdrawn(event, before, "forgotten", analyse)
    old = before[event.meta["memory"]].memory
    for match, fp in (("text", old["fp"]), ("key_value", old["value_fp"])):
        if fp:
            row = {
                "p": event.p,
                "scope": old["scope"],
                "match": match,
                "fp": fp,
                "memory": old["id"],
                "by_person": int(event.meta["by"] != "agent"),
                "seq": event.seq,
            }
            changes.append(("rejection_insert", row))
    return changes


def _withdrawn(event: Decided, before: Mapping[str, Snapshot], status: str, analyse: Analyse) -> list[RowChange]:
    old = before[event.meta["memory"]]
    changes: list[RowChange] = [_subject(event, old.memory["id"])]
    if old.memory["status"] in ("active", "pending"):
        changes += close_version(event, old)
    changes.append(("memory_status", {"p": event.p, "id": old.memory["id"], "status": status}))
    for entry in event.meta.get("reopens", ()):
        changes += _reopens(event, before[entry["memory"]], entry, analyse)
    return changes


def _reopens(event: Decided, old: Snapshot, entry: Mapping[str, Any], analyse: Analyse) -> list[RowChange]:
    """A scheduled successor was withdrawn before its day: what it would have followed goes on until the next one."""
    version = {**old.version, "valid_to": entry["valid_to"]}
    changes = reopened(event, old, version, True, analyse)
    named = {"p": event.p, "id": old.memory["id"], "superseded_by": entry["superseded_by"], "status": "active"}
    changes.append(("memory_superseded", named))
    changes += close_keys(event, old)
    if old.memory["key_fp"]:
        changes.append(open_key(event, old.memory["id"], old.memory["scope"], old.memory, version))
    return changes


def link_made(event: Decided, before: Mapping[str, Snapshot], number: int, analyse: Analyse) -> list[RowChange]:
    """Two memories belong together."""
    del before, number, analyse
    a, b = event.meta["a"], event.meta["b"]
    return [_subject(event, a), _subject(event, b), link_pair(event, a, b)]


def link_cut(event: Decided, before: Mapping[str, Snapshot], number: int, analyse: Analyse) -> list[RowChange]:
    """Two memories no longer belong together."""
    del before, number, analyse
    a, b = sorted((event.meta["a"], event.meta["b"]))
    return [_subject(event, a), _subject(event, b), ("link_delete", {"p": event.p, "a": a, "b": b})]


def _subject(event: Decided, memory: str) -> RowChange:
    return ("subject_insert", {"p": event.p, "memory": memory, "seq": event.seq})

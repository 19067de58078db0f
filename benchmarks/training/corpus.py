"""The training data as projects of a store, and the labelled questions that belong to them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent


class Labelled(NamedTuple):
    """A question, and the `source` of each memory that answers it; none for a question that nothing answers."""

    project: str
    text: str
    gold: frozenset[str]
    category: str


class Project(NamedTuple):
    """Memories as fields of `remember` (their ids as `source`), and questions about them."""

    name: str
    kind: str
    items: tuple[dict[str, Any], ...]
    questions: tuple[Labelled, ...]


def memories() -> Iterator[Project]:
    """Yield the projects of single memories."""
    rows, asked, unanswerable = (lines(HERE / f"{name}.jsonl") for name in ("memories", "queries", "unanswerable"))
    for name in sorted({row["project"] for row in rows}):
        questions = [
            Labelled(name, row["text"], frozenset(row.get("gold", ())), row.get("category", "none"))
            for row in (*asked, *unanswerable)
            if row["project"] == name
        ]
        items = tuple(item(row) for row in rows if row["project"] == name)
        yield Project(f"training/{name}", "plain", items, tuple(questions))


def conversations(folder: Path = HERE / "conversations") -> Iterator[Project]:
    """Yield the conversations of a folder; to each are added questions of the next one, which nothing answers."""
    chats = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))]
    for at, chat in enumerate(chats):
        name = f"training/{chat['name']}"
        questions = [
            Labelled(name, row["text"], frozenset(f"{s}:{t}" for s, t in row["gold"]), row["category"])
            for row in chat["questions"]
        ]
        questions += foreign(chats[(at + 1) % len(chats)], chat, name) if len(chats) > 1 else []
        yield Project(name, "chat", tuple(turns(chat)), tuple(questions))


def foreign(other: dict[str, Any], chat: dict[str, Any], name: str) -> list[Labelled]:
    """Return every third question of another conversation, put about the people of this one."""
    found = []
    for row in other["questions"][::3]:
        text = row["text"]
        for theirs, ours in zip(other["speakers"], chat["speakers"], strict=True):
            text = text.replace(theirs, ours)
        found.append(Labelled(name, text, frozenset(), "none"))
    return found


def turns(chat: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a conversation's turns as fields of `remember`."""
    for s, session in enumerate(chat["sessions"]):
        for t, (speaker, text) in enumerate(session["turns"]):
            yield {
                "body": text,
                "kind": "message",
                "session": f"session-{s}",
                "turn": t,
                "speaker": speaker,
                "occurred_at": session["date"],
                "source": f"{s}:{t}",
            }


def item(row: dict[str, Any]) -> dict[str, Any]:
    """Return a memory of a data file as fields of `remember`."""
    given = {name: row[name] for name in ("body", "kind", "title", "tags", "paths", "key", "value") if row.get(name)}
    return given | {"source": row["id"], "occurred_at": f"{row['said']}T12:00:00Z"}


def lines(file: Path) -> Sequence[dict[str, Any]]:
    """Return the rows of a JSON-lines file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]

"""Recall by words against the very same FTS5 query, and in one of many projects against a file of its own.

    python benchmarks/recall.py [--sizes 10000 100000] [--queries 200] [--projects 100]

Raw: `select rowid, bm25(…) from passages_fts where passages_fts match … order by … limit 100` with the MATCH string
that recall itself composes; nothing else. Both run in turns over the same file; CPU of this process.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus import queries, sentences
from measure import in_turns, summary

from eunoe import Memory
from eunoe.retrieval.recipes import DEFAULT
from eunoe.stores.sqlite import fulltext
from eunoe.stores.sqlite.connection import SqliteConnection
from eunoe.stores.sqlite.fulltext import match_any

RAW = (
    "select rowid, bm25(passages_fts, 1.0, 2.0, 1.5, 1.0) as place from passages_fts "
    f"where passages_fts match ? order by place limit {DEFAULT.candidates}"
)


def fill(memory: Memory, texts: Iterator[str] | list[str], *, chats: bool = False) -> None:
    """Remember texts in batches; as turns of conversations of 40 turns if asked."""
    batch: list[dict[str, Any]] = []
    for at, text in enumerate(texts):
        chat = {"kind": "message", "session": f"session-{at // 40}", "turn": at % 40, "speaker": "Kim"} if chats else {}
        batch.append({"body": text, **chat})
        if len(batch) == 5000:
            memory.remember_many(batch)
            batch = []
    if batch:
        memory.remember_many(batch)


def match_strings(memory: Memory, asked: list[str]) -> list[str]:
    """Return the MATCH strings that recall composes for the queries."""
    seen: list[str] = []

    def noted(p: int, terms: Any) -> str:
        seen.append(match_any(p, terms))
        return seen[-1]

    fulltext.match_any = noted
    try:
        found = []
        for query in asked:
            seen.clear()
            memory.recall(query)
            found.append(seen[0] if seen else "")
        return found
    finally:
        fulltext.match_any = match_any


def against_raw(size: int, count: int, folder: Path, *, chats: bool = False) -> dict[str, Any]:
    """Return the times of recall and of the raw query over a store of one project."""
    texts = list(sentences(size))
    file = folder / f"store-{size}-{chats}.sqlite"
    with Memory.open(file, project="bench") as memory:
        fill(memory, texts, chats=chats)
        asked = queries(texts, count)
        strings = match_strings(memory, asked)
        raw = SqliteConnection(str(file))
        pairs = [
            (lambda query=query: memory.recall(query), lambda words=words: raw.run(RAW, (words,)))
            for query, words in zip(asked, strings, strict=True)
            if words
        ]
        in_turns(pairs[:20])
        mine, theirs = in_turns(pairs)
        raw.close()
    return {
        "memories": size,
        "kind": "turns of conversations" if chats else "single memories",
        "recall": summary(mine),
        "raw": summary(theirs),
        "over twice raw, ms": round(summary(mine)["p50"] - 2 * summary(theirs)["p50"], 3),
    }


def among_projects(projects: int, each: int, count: int, folder: Path) -> dict[str, Any]:
    """Return recall in a file of its own, and in the same project among many."""
    texts = list(sentences(projects * each, seed=3))
    alone, among = folder / "alone.sqlite", folder / "among.sqlite"
    middle = projects // 2
    for at in range(projects):
        part = texts[at * each : (at + 1) * each]
        with Memory.open(among, project=f"bench/{at}") as memory:
            fill(memory, part)
        if at == middle:
            with Memory.open(alone, project=f"bench/{at}") as memory:
                fill(memory, part)
            asked = queries(part, count)
    with Memory.open(alone, project=f"bench/{middle}") as one, Memory.open(among, project=f"bench/{middle}") as other:
        same = all(
            [hit.body for hit in one.recall(query).hits] == [hit.body for hit in other.recall(query).hits]
            and [hit.score for hit in one.recall(query).hits] == [hit.score for hit in other.recall(query).hits]
            for query in asked[:50]
        )
        mine, theirs = in_turns(
            [(lambda query=query: one.recall(query), lambda query=query: other.recall(query)) for query in asked]
        )
    return {
        "projects": projects,
        "memories each": each,
        "alone": summary(mine),
        "among": summary(theirs),
        "more, ms": round(summary(theirs)["p50"] - summary(mine)["p50"], 3),
        "same hits and scores": same,
    }


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--projects", type=int, default=100)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for size in arguments.sizes:
            for chats in (False, True):
                print(json.dumps(against_raw(size, arguments.queries, Path(folder), chats=chats)), flush=True)
        if arguments.projects:
            print(json.dumps(among_projects(arguments.projects, 1000, arguments.queries, Path(folder))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`remember` against a raw transaction that writes the very same rows.

    python benchmarks/remember.py [--count 2000] [--before 0]

Raw: one `BEGIN IMMEDIATE … COMMIT` by plain apsw with the statements and ready-made values that the call left behind
(recorded from it by a trace): event, head, counters, memory, version, subject, passage, statistics, full text. No
look-up, no hashing, no analysis. Both write to files on the same disk, in turns, starting from equal stores.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import apsw
from corpus import sentences
from measure import in_turns, summary

from eunoe import Memory
from eunoe.stores.sqlite.connection import SqliteConnection

_READS = ("select", "pragma", "begin", "commit", "rollback")


def traced(memory: Memory) -> list[tuple[str, Any]]:
    """Return a list to which every write of the memory's connection is added from now on."""
    writes: list[tuple[str, Any]] = []

    def trace(_: Any, sql: str, bindings: Any) -> bool:
        if not sql.lstrip().lower().startswith(_READS):
            writes.append((sql, bindings))
        return True

    writer: SqliteConnection = memory._opened.context.store._engine._writer  # type: ignore[attr-defined]
    writer.db.exec_trace = trace
    return writes


def run(count: int, before: int) -> dict[str, Any]:
    """Return the times of both, and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        ours, recorded, raw = (Path(folder) / name for name in ("ours.sqlite", "recorded.sqlite", "raw.sqlite"))
        texts = list(sentences(before + count + 50))
        with Memory.open(ours, project="bench") as memory:
            for start in range(0, before + 50, 1000):
                memory.remember_many([{"body": text} for text in texts[start : min(start + 1000, before + 50)]])
        for copy in (recorded, raw):
            shutil.copy(ours, copy)
        with Memory.open(recorded, project="bench") as memory:
            writes = traced(memory)
            calls = []
            for text in texts[before + 50 :]:
                writes.clear()
                memory.remember(text, tags=("alpha", "beta"), paths=("src/api/app.py",))
                calls.append(list(writes))
        plain = SqliteConnection(str(raw)).db

        def replay(statements: list[tuple[str, Any]]) -> None:
            plain.execute("begin immediate")
            for sql, bindings in grouped(statements):
                plain.executemany(sql, bindings) if len(bindings) > 1 else plain.execute(sql, bindings[0])
            plain.execute("commit")

        with Memory.open(ours, project="bench") as memory:
            pairs = [
                (
                    lambda text=text: memory.remember(text, tags=("alpha", "beta"), paths=("src/api/app.py",)),
                    lambda call=call: replay(call),
                )
                for text, call in zip(texts[before + 50 :], calls, strict=True)
            ]
            mine, theirs = in_turns(pairs)
    ratio = {name: round(summary(mine)[name] / summary(theirs)[name], 2) for name in ("p50", "mean")}
    return {
        "memories before": before,
        "calls": count,
        "remember": summary(mine),
        "raw": summary(theirs),
        "ratio": ratio,
    }


def grouped(statements: list[tuple[str, Any]]) -> list[tuple[str, list[Any]]]:
    """Return statements with equal ones in a row put together, as the raw baseline would write them."""
    groups: list[tuple[str, list[Any]]] = []
    for sql, bindings in statements:
        if groups and groups[-1][0] == sql:
            groups[-1][1].append(bindings)
        else:
            groups.append((sql, [bindings]))
    return groups


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--before", type=int, default=0)
    arguments = parser.parse_args()
    print(json.dumps(run(arguments.count, arguments.before), indent=2))
    print(f"SQLite {apsw.sqlite_lib_version()}; CPU milliseconds of this process")
    return 0


if __name__ == "__main__":
    sys.exit(main())

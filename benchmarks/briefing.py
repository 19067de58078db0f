"""A briefing of 1,500 tokens over a project of 10,000 and of 100,000 memories, with and without a focus.

    python benchmarks/briefing.py [--sizes 10000 100000] [--rounds 40]

CPU of this process, whole call. Beside it, in turns, the counting of a text of the same length: what any briefing must
at least do.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from corpus import sentences
from measure import in_turns, summary

from eunoe import Memory
from eunoe.models import tokens

KINDS = ("gotcha", "decision", "convention", "howto", "state", "fact", "reference", "lesson")


def fill(memory: Memory, size: int) -> None:
    """Remember `size` different facts of all kinds, some of them pinned, tagged and about paths."""
    random = Random(7)
    batch: list[dict[str, Any]] = []
    for at, text in enumerate(sentences(size)):
        batch.append(
            {
                "body": text,
                "kind": random.choice(KINDS),
                "importance": random.randrange(20, 100) / 100,
                "tags": [f"tag-{random.randrange(40)}"],
                "paths": [f"src/part{random.randrange(50)}/file.py"],
                "pinned": at % 997 == 0,
            }
        )
        if len(batch) == 5000:
            memory.remember_many(batch)
            batch = []
    memory.remember_many(batch)


def measure(size: int, rounds: int) -> dict[str, Any]:
    """Return what was measured with one store."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.sqlite"
        with Memory.open(store, project="bench/briefing") as memory:
            fill(memory, size)
        with Memory.open(store, project="bench/briefing") as memory:
            focus = next(iter(sentences(1)))
            text = memory.briefing().text
            again = memory.briefing(focus=focus)

            def counted() -> None:
                tokens._known.cache_clear()
                tokens.count_tokens(text)

            def aimed() -> None:
                memory.briefing(focus=focus, paths=["src/part3"])

            times = in_turns([(counted, memory.briefing, aimed)] * rounds)
            names = ("count", "plain", "focus")
            return {"size": size, "tokens": again.tokens, **dict(zip(names, map(summary, times), strict=True))}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=40)
    asked = parser.parse_args()
    for size in asked.sizes:
        print(json.dumps(measure(size, asked.rounds)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

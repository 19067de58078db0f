"""The ledger's speed: verify and rebuild, in events a second, over a file of one project.

    python benchmarks/ledger.py [--events 50000]

A fifth of the events are restatements and new values of keys; the rest are new memories. CPU of this process; the
baseline is SHA-256 over the same stored bytes, without any check.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

from corpus import sentences

from eunoe import Memory
from eunoe.stores.sqlite.connection import SqliteConnection


def fill(memory: Memory, events: int) -> None:
    """Write about that many events."""
    texts = list(sentences(events))
    for start in range(0, events, 1000):
        batch: list[dict[str, Any]] = []
        for at, text in enumerate(texts[start : start + 1000]):
            if at % 10 == 0:
                batch.append({"body": text, "key": f"key/{at}"})
            elif at % 10 == 5:
                batch.append({"body": batch[1]["body"]})
            else:
                batch.append({"body": text})
        memory.remember_many(batch)


def run(events: int) -> dict[str, Any]:
    """Return events a second of hashing alone, verify and rebuild."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "store.sqlite"
        with Memory.open(file, project="bench") as memory:
            fill(memory, events)
            count = memory.verify().events
            rates: dict[str, list[float]] = {"hashing alone": [], "verify": [], "rebuild": []}
            for _ in range(3):
                connection = SqliteConnection(str(file))
                started = time.process_time()
                for meta, payload, own in connection.stream("select meta, payload, hash from events order by p, seq"):
                    sha256(payload or b"").digest()
                    sha256(meta.encode() + own).digest()
                rates["hashing alone"].append(count / (time.process_time() - started))
                connection.close()
                started = time.process_time()
                assert memory.verify().ok
                rates["verify"].append(count / (time.process_time() - started))
            started = time.process_time()
            assert memory.rebuild(dry_run=True).differences == {}
            rates["rebuild"].append(count / (time.process_time() - started))
    return {"events": count} | {f"{name}, events/s": round(max(each)) for name, each in rates.items()}


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=50_000)
    print(json.dumps(run(parser.parse_args().events), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Many processes writing one store: how long the slowest write waits.

python benchmarks/writers.py [--processes 8] [--each 500]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import summary

from eunoe import Memory

_WRITER = """
import sys, time
from eunoe import Memory
store, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Memory.open(store, project="bench") as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    for at in range(count):
        started = time.perf_counter()
        memory.remember(f"Writer {name} notes its thing number {at} about deploys and queues")
        print(round((time.perf_counter() - started) * 1000, 3), flush=True)
"""


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--each", type=int, default=500)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "store.sqlite")
        Memory.open(store, project="bench").close()
        command = [sys.executable, "-c", _WRITER, store]
        writers = [
            subprocess.Popen(
                [*command, str(at), str(arguments.each)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for at in range(arguments.processes)
        ]
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        started = time.perf_counter()
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write("go\n")
            writer.stdin.flush()
        waits = [float(line) for writer in writers for line in writer.communicate()[0].split()]
        took = time.perf_counter() - started
        with Memory.open(store, project="bench") as memory:
            total, ok = memory.count(), memory.verify().ok
            gapless = memory.get(total).number == total
    expected = arguments.processes * arguments.each
    print(
        json.dumps(
            {
                "processes": arguments.processes,
                "written": total,
                "all there": total == expected,
                "numbers gapless": gapless,
                "verify": ok,
                "writes/s": round(total / took),
                "slowest write, ms": max(waits),
                **summary(waits),
            },
            indent=2,
        )
    )
    return 0 if total == expected and ok and gapless else 1


if __name__ == "__main__":
    sys.exit(main())

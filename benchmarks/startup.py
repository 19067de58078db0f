"""Start-up: commands against bare Python, in turns, as processes.

    python benchmarks/startup.py [--rounds 15]

Wall milliseconds; the least of many runs says most on a busy machine. Bytecode is compiled before, as pip does.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import eunoe

COMMANDS = {
    "python -c pass": ("-c", "pass"),
    "import eunoe": ("-c", "import eunoe"),
    "import click": ("-c", "import click"),
    "eunoe --help": ("-m", "eunoe", "--help"),
    "eunoe recall --help": ("-m", "eunoe", "recall", "--help"),
    "eunoe recall": ("-m", "eunoe", "recall", "webhook signature"),
    "eunoe remember": ("-m", "eunoe", "remember", "the very same thing each time"),
    "eunoe get": ("-m", "eunoe", "get", "1"),
    "eunoe projects": ("-m", "eunoe", "projects"),
}


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    compileall.compile_dir(str(Path(eunoe.__file__).parent), quiet=2)
    with tempfile.TemporaryDirectory() as home:
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("EUNOE_", "PYTHON"))}
        environ |= {"EUNOE_HOME": home, "EUNOE_PROJECT": "bench"}
        with eunoe.Memory.open(Path(home) / "eunoe.sqlite", project="bench") as memory:
            memory.remember_many([{"body": f"Webhook {at} needs the raw body for its signature"} for at in range(1000)])
        times: dict[str, list[float]] = {name: [] for name in COMMANDS}
        for _ in range(arguments.rounds):
            for name, command in COMMANDS.items():
                started = time.perf_counter()
                subprocess.run([sys.executable, *command], env=environ, check=True, capture_output=True)
                times[name].append((time.perf_counter() - started) * 1000)
    bare = min(times["python -c pass"])
    for name, each in times.items():
        ordered = sorted(each)
        row = {
            "min": round(ordered[0], 1),
            "p50": round(ordered[len(ordered) // 2], 1),
            "x bare": round(min(each) / bare, 1),
        }
        print(json.dumps({"command": name, **row, "over bare, ms": round(min(each) - bare, 1)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""All benchmarks, one after the other; what `make bench` runs.

python benchmarks/run.py [--quick] [--locomo FILE]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent

FULL = (
    ("startup.py",),
    ("remember.py", "--count", "2000"),
    ("remember.py", "--count", "2000", "--before", "20000"),
    ("writers.py",),
    ("ledger.py", "--events", "50000"),
    ("recall.py",),
    ("embedding.py",),
    ("meaning.py",),
    ("review.py",),
    ("briefing.py",),
    ("mcp.py",),
)
QUICK = (
    ("startup.py", "--rounds", "5"),
    ("remember.py", "--count", "500"),
    ("writers.py", "--each", "50"),
    ("ledger.py", "--events", "5000"),
    ("recall.py", "--sizes", "5000", "--projects", "10", "--queries", "50"),
    ("embedding.py",),
    ("meaning.py", "--sizes", "2000", "--queries", "20"),
    ("review.py", "--sizes", "5000"),
    ("briefing.py", "--sizes", "5000", "--rounds", "10"),
    ("mcp.py", "--rounds", "3"),
)


def main() -> int:
    """Run; the exit code is the worst of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--locomo", type=Path)
    arguments = parser.parse_args()
    commands = list(QUICK if arguments.quick else FULL)
    if arguments.locomo:
        commands.append(("locomo.py", str(arguments.locomo)))
    worst = 0
    for script, *options in commands:
        print(f"\n── {script} {' '.join(options)}", flush=True)
        worst = max(worst, subprocess.run([sys.executable, str(HERE / script), *options], check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())

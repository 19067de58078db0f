"""The long run: 1,000 kills amid writes, 8 processes of 500 writes each, and a server under load. `make soak` runs it.

The tests are those of every day; only their numbers are turned up.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

TESTS = ("tests/e2e/test_durability.py", "tests/e2e/test_concurrency.py")
# Skipped where no package brings a server.
POSTGRES = ("tests/e2e/test_postgres_concurrency.py", "tests/e2e/test_postgres_killed.py")


def main() -> int:
    """Run the tests with the numbers of the command line, and tell how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="processes killed amid writes (default 1000)")
    parser.add_argument("--writes", type=int, default=500, help="writes of each of the 8 processes (default 500)")
    parser.add_argument("--seconds", type=float, default=300, help="of mixed load on a server (default 300)")
    parser.add_argument("--outages", type=int, default=20, help="of a server that a client goes through (default 20)")
    given = parser.parse_args()
    environ = os.environ | {
        "EUNOE_SOAK_KILLS": str(given.kills),
        "EUNOE_SOAK_WRITES": str(given.writes),
        "EUNOE_SOAK_SECONDS": str(given.seconds),
        "EUNOE_SOAK_OUTAGES": str(given.outages),
    }
    started = time.monotonic()
    command = [sys.executable, "-m", "pytest", *TESTS, *POSTGRES, "-q", "-s", "--durations=10"]
    code = subprocess.run(command, cwd=Path(__file__).parents[1], env=environ, check=False).returncode
    took = time.monotonic() - started
    what = f"{given.kills:,} kills, 8 × {given.writes:,} writes, {given.seconds:.0f} s of load, {given.outages} outages"
    print(f"{what}, {took:.0f} s: {'failed' if code else 'nothing lost'}")
    return code


if __name__ == "__main__":
    raise SystemExit(main())

"""Measures how long it takes from a clone to a first recall in Claude Code: `python -m tests.harness.from_clone`.

It clones this repository as it is committed, installs it into an environment of its own, sets the client up, and lets a
scripted model remember and recall. Installing the client itself is not in it. What pip fetches depends on its cache and
on the line, and is told apart.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.harness.clients import ROOT, ClaudeCode
from tests.harness.sink import Sink
from tests.harness.stubs.server import Call, Say, Stub

BAR_S = 60.0
FACT = "Stripe webhooks need the raw body"


def main() -> int:
    """Print each step's seconds; 0 if the fact came back within the bar."""
    with tempfile.TemporaryDirectory(prefix="eunoe-") as name:
        folder = Path(name)
        home, project, clone = (folder / each for each in ("home", "parcel", "clone"))
        for made in (home, project):
            made.mkdir()
        python = folder / "venv" / "bin" / "python"
        steps: list[tuple[str, float]] = []

        def step(what: str, *command: str | Path) -> None:
            began = time.monotonic()
            subprocess.run([str(each) for each in command], check=True, timeout=600, stdout=subprocess.DEVNULL)
            steps.append((what, time.monotonic() - began))

        step("clone", "git", "-c", "advice.detachedHead=false", "clone", "--quiet", f"file://{ROOT}", clone)
        step("environment", sys.executable, "-m", "venv", folder / "venv")
        step("install", python, "-m", "pip", "install", "--quiet", clone)
        step("repository", "git", "init", "--quiet", project)
        with Sink() as sink, Stub(ClaudeCode.dialect) as stub:
            client = ClaudeCode(home, project, stub, sink.environment)
            done = client.setup(python)
            steps.append(("setup", done.took_s))
            session = client.play([Call("remember", {"body": FACT}), Call("recall", {"query": "webhooks"}), Say("So.")])
            steps.append(("first recall", session.ended.took_s))
    came = bool(session.results) and FACT in session.results[-1]
    took_s = sum(each for _, each in steps)
    print(*(f"{what:<14}{seconds:6.1f} s" for what, seconds in steps), sep="\n")
    print(f"{'in all':<14}{took_s:6.1f} s (bar: {BAR_S:.0f} s, {os.cpu_count()} cores)")
    if not came:
        print(done, session.ended, sep="\n", file=sys.stderr)
    return 0 if came and took_s <= BAR_S else 1


if __name__ == "__main__":
    sys.exit(main())

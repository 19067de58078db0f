"""Runs a client under a time limit, and leaves none of its processes behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LIMIT_S = 60.0


@dataclass(frozen=True)
class Ended:
    """What a process left: `began` is on the monotonic clock, `stragglers` are the commands that outlived it."""

    code: int
    out: str
    err: str
    began: float
    took_s: float
    stragglers: list[str]

    def __str__(self) -> str:
        return f"exit {self.code} after {self.took_s:.1f} s\n{self.out[-2000:]}\n{self.err[-2000:]}"


def run(command: Sequence[str | Path], *, env: Mapping[str, str], cwd: Path, limit_s: float = LIMIT_S) -> Ended:
    """Run a command in a session of its own with no input; kill it and all below it when it ends or at its limit.

    Raises:
        subprocess.TimeoutExpired: It was still running at the limit.
    """
    began = time.monotonic()
    process = subprocess.Popen(
        list(command),
        env=dict(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    stragglers: list[str] = []
    try:
        out, err = process.communicate(timeout=limit_s)
    finally:
        took_s = time.monotonic() - began
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        stragglers = _end_those_of(env["HOME"])
        process.wait()
    return Ended(process.returncode, out, err, began, took_s, stragglers)


def _end_those_of(home: str) -> list[str]:
    """Kill what still runs with that home, in whichever session it is, and return the commands; Linux only."""
    ended = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"HOME={home}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                os.kill(int(entry.name), signal.SIGKILL)
                if command:
                    ended.append(command)
        except (OSError, ValueError):
            continue  # it ended meanwhile, or is another user's
    return ended

"""Runs a client under a time limit, and leaves none of its processes behind."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LIMIT_S = 60.0
GRACE_S = 3.0


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
    try:
        out, err = process.communicate(timeout=limit_s)
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    finally:
        took_s = time.monotonic() - began
        stragglers = _end_those_of(env["HOME"])
    return Ended(process.returncode, out, err, began, took_s, stragglers)


def _end_those_of(home: str) -> list[str]:
    """Wait a moment for what still runs with that home, then kill it, and return those commands; Linux only.

    A server ends when its client closes its input, which it may see a little after the client has gone.
    """
    ended = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended meanwhile, or is another user's
            if f"HOME={home}".encode() not in (entry / "environ").read_bytes().split(b"\0"):
                continue
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            process = os.pidfd_open(int(entry.name))
            try:
                if not select.select([process], [], [], GRACE_S)[0]:
                    signal.pidfd_send_signal(process, signal.SIGKILL)
                    ended.append(command)
            finally:
                os.close(process)
    return ended

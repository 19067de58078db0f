"""Stands between a client and a stdio server and writes down what each says: `wire.py LOG COMMAND …`."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any


@dataclass(frozen=True)
class Said:
    """One message: when on the monotonic clock, whether the client said it, and what."""

    at: float
    by_client: bool
    message: dict[str, Any]


def watched(command: Sequence[str], log: Path) -> list[str]:
    """Return the command that runs the server and writes down what is said to and by it."""
    return [sys.executable, "-S", __file__, str(log), *command]


def read(log: Path) -> list[Said]:
    """Return what was said, in order."""
    lines = (line.split(" ", 2) for line in log.read_text(encoding="utf-8").splitlines())
    return [Said(float(at), mark == ">", json.loads(message)) for at, mark, message in lines]


def main(log: str, *command: str) -> int:
    """Run the server until its client closes its input."""
    with Path(log).open("ab", buffering=0) as kept:
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert server.stdin is not None
        assert server.stdout is not None
        threading.Thread(target=_copy, args=(sys.stdin.buffer, server.stdin, kept, ">"), daemon=True).start()
        _copy(server.stdout, sys.stdout.buffer, kept, "<")
        return server.wait()


def _copy(source: IO[bytes], target: IO[bytes], log: IO[bytes], mark: str) -> None:
    with target:
        for line in source:
            log.write(f"{time.monotonic():.3f} {mark} ".encode() + line)
            target.write(line)
            target.flush()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Stands between a client and a stdio server and writes down what each says: `wire.py LOG COMMAND …`.

Each line of the log is what was said with `>` (to the server) or `<` (from it) before it.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import IO


def main(log: str, *command: str) -> int:
    """Run the server until its client closes its input."""
    with Path(log).open("ab", buffering=0) as kept:
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert server.stdin is not None
        assert server.stdout is not None
        asking = threading.Thread(target=_copy, args=(sys.stdin.buffer, server.stdin, kept, b"> "), daemon=True)
        asking.start()
        _copy(server.stdout, sys.stdout.buffer, kept, b"< ")
        return server.wait()


def _copy(source: IO[bytes], target: IO[bytes], log: IO[bytes], mark: bytes) -> None:
    with target:
        for line in source:
            log.write(mark + line)
            target.write(line)
            target.flush()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Runs a server as a client would, in a store of its own, and sees whether what it is told is found again.

The exchange is one JSON object a line, after the handshake that every client speaks. It is written out here because
the check must not depend on the library that the server is made with.
"""

from __future__ import annotations

import json
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from eunoe.errors import Unavailable
from eunoe.install.parts import Command

TIME_LIMIT_S = 20.0
"""For the whole exchange. A server that starts cold on a slow disk took 3 s."""

_PROTOCOL = "2025-06-18"
_SENTENCE = "The self-test of doctor wrote this sentence through the installed door."
_TAIL_CHARACTERS = 600


def probe(command: Command, environ: Mapping[str, str], *, limit_s: float = TIME_LIMIT_S) -> str:
    """Return the version that the server names, after it has remembered a sentence and recalled it.

    Args:
        command: The very command line of an entry. Its store, home and project are replaced by temporary ones.
        environ: The environment that the client would hand down.
        limit_s: Seconds for the whole exchange.

    Raises:
        Unavailable: `client_broken`; `details` has the step that failed (`start`, `initialize`, `remember` or
            `recall`) and the end of what the server wrote to standard error.
    """
    with tempfile.TemporaryDirectory(prefix="eunoe-", ignore_cleanup_errors=True) as folder:
        own = {"EUNOE_HOME": folder, "EUNOE_STORE": str(Path(folder) / "store.sqlite"), "EUNOE_PROJECT": "self-test"}
        errors = Path(folder) / "stderr"
        with errors.open("wb") as stderr:
            exchange = _Exchange(command, {**environ, **command.env, **own}, folder, stderr, time.monotonic() + limit_s)
            try:
                return exchange.run()
            except (OSError, ValueError, KeyError, TypeError, AttributeError, queue.Empty) as exc:
                problem = f"gave no answer within {limit_s:g} s" if isinstance(exc, queue.Empty) else _sentence(exc)
                tail = errors.read_bytes().decode(errors="replace").strip()[-_TAIL_CHARACTERS:]
                raise Unavailable(
                    "client_broken",
                    f"{' '.join(command.words)} failed at {exchange.step}: {problem}"
                    + (f"; it wrote: {tail}" if tail else ""),
                    details={"step": exchange.step, "stderr": tail},
                ) from exc
            finally:
                exchange.close()


class _Exchange:
    """One conversation with one process; `step` is what is being tried."""

    def __init__(
        self, command: Command, environ: Mapping[str, str], folder: str, stderr: IO[bytes], deadline: float
    ) -> None:
        self.step = "start"
        self._command = command
        self._environ = environ
        self._folder = folder
        self._stderr = stderr
        self._deadline = deadline
        self._running: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def run(self) -> str:
        running = self._running = subprocess.Popen(  # noqa: S603 - the command line that the client would run
            self._command.words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=dict(self._environ),
            cwd=self._folder,
        )
        threading.Thread(target=self._pump, args=(running.stdout,), daemon=True).start()
        self.step = "initialize"
        client = {"name": "eunoe-doctor", "version": "1"}
        hello = self._ask(1, "initialize", protocolVersion=_PROTOCOL, capabilities={}, clientInfo=client)
        self._send({"method": "notifications/initialized"})
        self.step = "remember"
        self._call(2, "remember", body=_SENTENCE)
        self.step = "recall"
        found = self._call(3, "recall", query=_SENTENCE)
        if _SENTENCE not in json.dumps(found):
            raise ValueError("what was remembered was not found again")
        return str(hello["serverInfo"]["version"])

    def close(self) -> None:
        """End the server: a closed input asks it to go, and nobody waits long for one that stays."""
        running = self._running
        if running is None:
            return
        if running.stdin is not None:
            with suppress(OSError):  # what was still unsent is of no use to a server that has gone
                running.stdin.close()
        try:
            running.wait(2)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()

    def _pump(self, stdout: IO[bytes]) -> None:
        with stdout:
            for line in stdout:
                self._lines.put(line)
        self._lines.put(b"")

    def _call(self, number: int, tool: str, **arguments: str) -> dict[str, Any]:
        result = self._ask(number, "tools/call", name=tool, arguments=arguments)
        if result.get("isError"):
            raise ValueError(" ".join(str(each.get("text", "")) for each in result.get("content", ())))
        return result

    def _ask(self, number: int, method: str, **params: Any) -> dict[str, Any]:
        self._send({"id": number, "method": method, "params": params})
        while True:
            line = self._lines.get(timeout=max(self._deadline - time.monotonic(), 0.001))
            if not line:
                raise ValueError("the server ended before it answered")
            answer = json.loads(line)
            if answer.get("id") != number:
                continue  # a notification, or a question of the server's that nobody has to answer
            if "error" in answer:
                raise ValueError(str(answer["error"].get("message", answer["error"])))
            result: dict[str, Any] = answer["result"]
            return result

    def _send(self, message: Mapping[str, Any]) -> None:
        running = self._running
        if running is not None and running.stdin is not None:
            running.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            running.stdin.flush()


def _sentence(exc: Exception) -> str:
    return (exc.strerror or str(exc)) if isinstance(exc, OSError) else str(exc)


def hand_down(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what a client would hand down: everything but our own settings, which its entry must name."""
    return {name: value for name, value in environ.items() if not name.startswith("EUNOE_")}

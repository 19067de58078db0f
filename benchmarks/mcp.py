"""The server for agents against a server of one tool on the same SDK: start to the first list of tools, and memory.

    python benchmarks/mcp.py [--rounds 12]

Both speak the handshake era over pipes, in turns. Wall time, because a client waits; resident memory after the list,
and of ours also after each tool was called once. Then: how long ours takes to end when its client goes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

ONE_TOOL = """
from mcp.server import MCPServer
server = MCPServer("one")
@server.tool()
def echo(text: str) -> str:
    "Say it again."
    return text
server.run()
"""
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("remember", {"body": "Stripe webhooks need the raw body"}),
    ("briefing", {"focus": "webhooks"}),
    ("recall", {"query": "stripe"}),
    ("get", {"ids": ["1"]}),
    ("update", {"id": "1", "title": "Raw body"}),
    ("history", {"id": "1"}),
    ("related", {"id": "1"}),
    ("review", {}),
    ("list_projects", {}),
)


class Process:
    """A server as a process, spoken to line by line."""

    def __init__(self, command: list[str], home: str) -> None:
        env = {**os.environ, "EUNOE_HOME": home, "EUNOE_PROJECT": "bench/mcp"}
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
        )
        self._id = 0

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its result."""
        self._id += 1
        self.send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        assert self.process.stdout
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer["result"]

    def send(self, message: dict[str, Any]) -> None:
        """Send a message."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def rss_mb(self) -> float:
        """Return resident memory in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def end(self) -> float:
        """Close its input and return the seconds until it has gone."""
        assert self.process.stdin
        self.process.stdin.close()
        closed = time.perf_counter()
        if self.process.wait(timeout=60) != 0:
            raise RuntimeError(f"it ended with {self.process.returncode}")
        return time.perf_counter() - closed


def once(command: list[str], *, is_ours: bool) -> dict[str, float]:
    """Return what one run measured."""
    with tempfile.TemporaryDirectory() as home:
        server = Process(command, home)
        server.ask("initialize", INITIALIZE)
        server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        server.ask("tools/list", {})
        found = {"list_s": time.perf_counter() - server.started, "rss_mb": server.rss_mb()}
        if is_ours:
            for name, arguments in CALLS:
                if server.ask("tools/call", {"name": name, "arguments": arguments})["isError"]:
                    raise RuntimeError(f"{name} failed")
            found["rss_used_mb"] = server.rss_mb()
        return found | {"end_s": server.end()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "one.py"
        script.write_text(ONE_TOOL)
        commands = {"one tool": [sys.executable, str(script)], "eunoe": [sys.executable, "-m", "eunoe", "mcp"]}
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in commands}
        for at in range(rounds + 1):
            for name in commands if at % 2 else reversed(commands):
                measured = once(commands[name], is_ours=name == "eunoe")
                if at:  # the first one of each warms the disk
                    runs[name].append(measured)
    found = {name: {key: round(median(row[key] for row in rows), 3) for key in rows[0]} for name, rows in runs.items()}
    ours, one = found["eunoe"], found["one tool"]
    ratios = {"list": ours["list_s"] / one["list_s"], "rss": ours["rss_mb"] / one["rss_mb"]}
    ratios["rss used"] = ours["rss_used_mb"] / one["rss_mb"]
    print(json.dumps({**found, "ratio": {name: round(value, 2) for name, value in ratios.items()}}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

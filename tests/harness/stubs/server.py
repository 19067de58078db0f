"""A scripted model on the loopback: it answers from a list of turns, and keeps every request for assertions.

It is not a model and checks nothing that a model's service would. A turn is taken only by a request that offers tools,
so that what a client asks besides (a title, a quota) does not use the script up. A tool is called by the end of its
name, because every client puts a prefix of its own before it.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

Json = dict[str, Any]


@dataclass(frozen=True)
class Say:
    """A turn of text; it ends what the client asked for."""

    text: str


@dataclass(frozen=True)
class Call:
    """A turn that calls the tool whose name ends with `tool`."""

    tool: str
    arguments: Json = field(default_factory=dict)


Turn = Say | Call


class Dialect(Protocol):
    """One model API: where requests come in, what they say, and how an answer is streamed."""

    path: str

    def tools(self, body: Json) -> dict[str, Json]:
        """Return the definitions of the tools that the request offers for calling, by full name, in order."""
        ...

    def search(self, tool: str, body: Json) -> Call | None:
        """Return the call with which a model would load a tool that the client holds back; None if there is no way."""
        ...

    def system(self, body: Json) -> str:
        """Return all text that reaches the model as system or developer text."""
        ...

    def results(self, body: Json) -> list[str]:
        """Return the text of each tool result that the client sends back, in order."""
        ...

    def answer(self, turn: Turn, number: int, body: Json) -> Iterator[tuple[str, Json | str]]:
        """Yield the events (name, or blank for none, and data) of one streamed answer; a `Call` has its full name."""
        ...


@dataclass(frozen=True)
class Request:
    """One request as it came in; `turn` is what it was answered with, None for what was asked besides the script."""

    at: float
    path: str
    body: Json
    turn: Turn | None
    dialect: Dialect

    @property
    def tools(self) -> dict[str, Json]:
        """The tools that the model may call."""
        return self.dialect.tools(self.body)

    @property
    def system(self) -> str:
        """All text that reaches the model as system or developer text."""
        return self.dialect.system(self.body)

    @property
    def results(self) -> list[str]:
        """The text of every tool result in the conversation so far."""
        return self.dialect.results(self.body)

    @property
    def words(self) -> str:
        """All text of the request, wherever it is, in one line."""
        return " ".join(word for text in _strings(self.body) for word in text.split())


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


class Stub:
    """A server at 127.0.0.1 that plays one script after another; use it as a context manager."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.requests: list[Request] = []
        self.others: list[str] = []  # method and path of what no dialect answers
        self._turns: list[Turn] = []
        self._searched = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        """Where the stub listens, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Stub:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def play(self, turns: Sequence[Turn]) -> None:
        """Begin a new script, and forget the requests of the one before."""
        with self._lock:
            self._turns = list(turns)
            self._searched = 0
            self.requests.clear()

    @property
    def left(self) -> list[Turn]:
        """The turns that no request has asked for."""
        return list(self._turns)

    def reply(self, body: Json) -> tuple[int, Turn]:
        """Take the next turn for a request, keep the request, and return its number and the turn."""
        with self._lock:
            offered = self.dialect.tools(body)
            turn = self._next(body, offered) if offered else None
            self.requests.append(Request(time.monotonic(), self.dialect.path, body, turn, self.dialect))
            return len(self.requests), turn or Say("Nothing to add.")

    def _next(self, body: Json, offered: dict[str, Json]) -> Turn:
        if not self._turns:
            return Say("That is all.")
        turn = self._turns[0]
        if isinstance(turn, Say):
            return self._turns.pop(0)
        for name in offered:
            if is_named(name, turn.tool):
                self._turns.pop(0)
                return Call(name, turn.arguments)
        loading = self.dialect.search(turn.tool, body)
        if loading and self._searched < 5:
            self._searched += 1
            return loading
        return Say(f"No tool is named {turn.tool}: {', '.join(offered)}")


def is_named(name: str, suffix: str) -> bool:
    """Tell whether a client's name for a tool ends with the tool's own name."""
    return re.search(rf"(^|[_.]){re.escape(suffix)}$", name) is not None


def _handler(stub: Stub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            return

        def do_GET(self) -> None:
            self._refuse()

        def do_HEAD(self) -> None:
            self._refuse()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path.partition("?")[0] != stub.dialect.path:
                self._refuse()
                return
            request = json.loads(body)
            number, turn = stub.reply(request)
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for name, data in stub.dialect.answer(turn, number, request):
                line = data if isinstance(data, str) else json.dumps(data)
                self.wfile.write(((f"event: {name}\n" if name else "") + f"data: {line}\n\n").encode())

        def _refuse(self) -> None:
            stub.others.append(f"{self.command} {self.path}")
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()

    return Handler

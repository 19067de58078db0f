"""HTTP servers on this machine, for tests: a function answers each request."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Asked:
    """A request, and the way to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        self.path = handler.path
        self.headers = dict(handler.headers.items())
        self.body = body
        self._handler = handler

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        """Send an answer; `Content_Length` and the like become headers."""
        self.begin(status, **{"Content_Length": str(len(body)), **headers})
        self.send(body)

    def begin(self, status: int, **headers: str) -> None:
        """Send the head of an answer."""
        self._handler.send_response(status)
        for name, value in headers.items():
            self._handler.send_header(name.replace("_", "-"), value)
        self._handler.end_headers()

    def send(self, body: bytes) -> None:
        """Send a part of the body; whoever has gone does not mind."""
        try:
            self._handler.wfile.write(body)
            self._handler.wfile.flush()
        except OSError:
            self._handler.close_connection = True


@contextmanager
def served(answer: Callable[[Asked], None]) -> Iterator[str]:
    """Yield the address of a server that lets `answer` handle each request, in a thread of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(Asked(self, b""))

        def do_POST(self) -> None:
            answer(Asked(self, self.rfile.read(int(self.headers.get("Content-Length", "0")))))

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

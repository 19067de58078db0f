"""A proxy on the loopback that lets nothing through and keeps what was asked of it.

A client that is told to use it as its proxy shows here each address outside this machine that it wanted to reach. What
opens a socket past the proxy is not seen; `sealed.sh` is for that.
"""

from __future__ import annotations

import socketserver
import threading


class Sink:
    """Listens while it is open; use it as a context manager."""

    def __init__(self) -> None:
        self.asked: list[str] = []  # the first line of each request
        asked = self.asked

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                asked.append(self.rfile.readline(4096).decode("latin-1").strip())
                self.wfile.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        """The proxy's address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def environment(self) -> dict[str, str]:
        """The variables that send a program's requests here, but for those to this machine."""
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), self.url)
        proxies["NO_PROXY"] = "127.0.0.1,localhost"
        return proxies | {name.lower(): value for name, value in proxies.items()}

    def __enter__(self) -> Sink:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

"""Hearing of what other processes wrote: a thread that listens on a connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable

import psycopg
from psycopg import sql

_LOOK_S = 0.5
_LONGEST_PAUSE_S = 30.0


class Watcher:
    """Calls `wake` when another process tells of a write, from its making on until it is stopped.

    What was told while the connection was lost is made up for by one call when it is back.
    """

    def __init__(self, conninfo: str, channel: str, name: str, wake: Callable[[], None]) -> None:
        self._conninfo = conninfo
        self._channel = channel
        self._name = name
        self._wake = wake
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="eunoe-watching", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread. Stopping twice is allowed."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        pause = _LOOK_S
        while not self._stopping.is_set():
            try:
                with psycopg.connect(self._conninfo, autocommit=True, connect_timeout=10) as db:
                    db.execute(sql.SQL("listen {}").format(sql.Identifier(self._channel)))
                    self._wake()
                    pause = _LOOK_S
                    self._listen(db)
            except psycopg.Error:
                self._stopping.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _listen(self, db: psycopg.Connection[tuple[object, ...]]) -> None:
        while not self._stopping.is_set():
            for note in db.notifies(timeout=_LOOK_S, stop_after=1):
                if note.payload != self._name:
                    self._wake()

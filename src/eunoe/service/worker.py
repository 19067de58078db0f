"""The thread of a long-lived process that embeds what was written, so that nobody waits for a model."""

from __future__ import annotations

import atexit
from contextlib import suppress
from threading import Event, Lock, Thread, current_thread

from eunoe.errors import EunoeError
from eunoe.service.embedding import Embedding

_IDLE_S = 2.0  # what another process wrote is found by looking, so often
_BUSY_ELSEWHERE_S = 1.0
_AFTER_FAILURE_S = 15.0


class Worker:
    """Embeds in the background from the first `wake` on, until it is stopped.

    It never raises: a failure stays with its jobs, where `doctor` finds it, and recall says which lane is missing.
    """

    def __init__(self, embedding: Embedding) -> None:
        self._embedding = embedding
        self._thread: Thread | None = None
        self._lock = Lock()
        self._something = Event()
        self._stopping = Event()
        self._tending: Thread | None = None

    def wake(self) -> None:
        """Say that there may be something to do; starts the thread at the first time."""
        if current_thread() is self._thread:
            return  # what it writes itself is no news
        self._something.set()
        if self._thread is not None:
            return
        with self._lock:
            if self._thread is None and not self._stopping.is_set():
                self._thread = Thread(target=self._run, name="eunoe-embedding", daemon=True)
                self._thread.start()
                atexit.register(self.stop)  # a thread inside a model's library must not outlive the interpreter

    def stop(self) -> None:
        """End the thread after the text that it is at. Stopping twice is allowed."""
        self._stopping.set()
        self._embedding.stop()
        self._something.set()
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()
            self._embedding.release()
            atexit.unregister(self.stop)

    def _run(self) -> None:
        while not self._stopping.is_set():
            pause = self._step()
            if pause and not self._stopping.is_set():
                self._something.wait(pause)
            self._something.clear()

    def _step(self) -> float:
        """Embed a batch; return for how long there is nothing to do."""
        try:
            done = self._embedding.step()
        except EunoeError:
            return _AFTER_FAILURE_S
        if done == 0:
            self._tend()
        return _BUSY_ELSEWHERE_S if done is None else 0.0 if done else _IDLE_S

    def _tend(self) -> None:
        """Tend in a thread of its own, which nobody waits for: what it began, the store's server ends without it."""
        if self._embedding.has_grown and (self._tending is None or not self._tending.is_alive()):
            self._tending = Thread(target=self._tended, name="eunoe-tending", daemon=True)
            self._tending.start()

    def _tended(self) -> None:
        with suppress(EunoeError):  # searching goes on without it, exactly; the next idle moment tries again
            self._embedding.tend()

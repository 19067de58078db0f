"""Real processes for tests: many that work together, and one that acknowledges what it did until it is killed.

Forked children start in milliseconds, so that a kill falls into the work and not into imports. Whoever forks has no
store open: a connection must not cross a fork.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable
from operator import itemgetter
from threading import BrokenBarrierError
from traceback import format_exception
from typing import Any

from eunoe import Memory

PROCESSES = multiprocessing.get_context("fork")


def together(work: Callable[..., Any], count: int, *args: Any) -> list[Any]:
    """Run `work(at, barrier, …)` in so many processes and return their answers; an error in one is an error here."""
    barrier = PROCESSES.Barrier(count, timeout=30)
    answers = PROCESSES.SimpleQueue()

    def run(at: int) -> None:
        try:
            answers.put((at, None, work(at, barrier, *args)))
        except BrokenBarrierError:
            answers.put((at, None, None))  # another one failed, and tells why
        except BaseException as exc:  # noqa: BLE001 - the parent must hear of it
            answers.put((at, f"{getattr(exc, 'code', '')} {''.join(format_exception(exc, limit=-4))}", None))
            barrier.abort()

    children = [PROCESSES.Process(target=run, args=(at,)) for at in range(count)]
    for child in children:
        child.start()
    found = sorted((answers.get() for _ in children), key=itemgetter(0))
    for child in children:
        child.join()
    errors = [error for _, error, _ in found if error is not None]
    assert not errors, "\n".join(errors)
    return [answer for _, _, answer in found]


class Child:
    """A process that does `work(acknowledge, …)`; each acknowledgement is one line on a pipe, written at once."""

    def __init__(self, work: Callable[..., None], *args: Any) -> None:
        out, into = os.pipe()
        self.process = PROCESSES.Process(target=self._run, args=(work, out, into, args))
        self.process.start()
        os.close(into)
        self.lines = os.fdopen(out, "r", encoding="utf-8")

    @staticmethod
    def _run(work: Callable[..., None], out: int, into: int, args: tuple[Any, ...]) -> None:
        os.close(out)

        def acknowledge(*fields: Any) -> None:
            os.write(into, (json.dumps(fields) + "\n").encode())

        work(acknowledge, *args)

    def read(self, count: int) -> list[list[Any]]:
        """Wait for so many acknowledgements, or the end of the child."""
        lines = (self.lines.readline() for _ in range(count))
        return [json.loads(line) for line in lines if line]

    def kill(self, after_s: float) -> list[list[Any]]:
        """Kill the child that much later, and return what it had acknowledged since the last `read`."""
        self.process.join(after_s)
        self.process.kill()
        self.process.join()
        with self.lines:
            return [json.loads(line) for line in self.lines]


def write_without_end(acknowledge: Callable[..., None], memory: Memory, tag: str) -> None:
    """Write single things of every sort, and acknowledge each new memory by a word of its own and its number."""
    for i in range(100_000):
        word = f"{tag}n{i}"
        acknowledge(word, memory.remember(f"The {word} needs the raw body", tags=["soak"]).number)
        if i % 4 == 1:
            memory.remember(f"deploy is {word}", key="deploy/current")
        if i % 4 == 3:
            memory.update(memory.recall(word).hits[0].number, title=f"On {word}")

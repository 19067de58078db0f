"""The thread that embeds: woken once or often, it works until there is nothing left, and ends when it is told to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from queue import Queue
from threading import Barrier, Event, Thread
from typing import Any

import pytest

from eunoe.errors import Unavailable
from eunoe.service.worker import Worker

PATIENCE_S = 5.0
Answer = Callable[[], int | None]


class ScriptedEmbedding:
    """Answers each step as it is told to, then that there is nothing to do.

    Attributes:
        steps: One entry a step, as soon as it begins.
        released: How often the lease was given back.
    """

    def __init__(self, *answers: int | Answer | None) -> None:
        self._answers = list(answers)
        self.steps: Queue[int] = Queue()
        self.count = self.released = 0
        self.stopped = self.has_grown = False
        self.tended: Queue[str] = Queue()

    def stop(self) -> None:
        self.stopped = True

    def step(self) -> int | None:
        self.count += 1
        self.steps.put(self.count)
        answer = self._answers.pop(0) if self._answers else 0
        return answer() if callable(answer) else answer

    def release(self) -> None:
        self.released += 1

    def tend(self) -> None:
        self.has_grown = False
        self.tended.put(threading.current_thread().name)
        raise Unavailable("no_server", "it is gone")


@pytest.fixture
def worker_of() -> Iterator[Callable[..., tuple[Worker, ScriptedEmbedding]]]:
    made: list[Worker] = []

    def make(*answers: Any) -> tuple[Worker, ScriptedEmbedding]:
        embedding = ScriptedEmbedding(*answers)
        made.append(Worker(embedding))  # type: ignore[arg-type]
        return made[-1], embedding

    yield make
    for worker in made:
        worker.stop()


def running() -> int:
    return sum(thread.name == "eunoe-embedding" for thread in threading.enumerate())


def test_nothing_runs_before_the_first_wake(worker_of: Any) -> None:
    before = running()
    worker, embedding = worker_of()
    assert (running(), embedding.count) == (before, 0)
    worker.stop()
    assert (embedding.count, embedding.released) == (0, 0)


def test_it_works_without_a_pause_until_there_is_nothing_left(worker_of: Any) -> None:
    worker, embedding = worker_of(32, 32, 5)
    worker.wake()
    assert [embedding.steps.get(timeout=1.0) for _ in range(4)] == [1, 2, 3, 4]


def test_threads_that_wake_it_at_once_start_one(worker_of: Any) -> None:
    before, barrier = running(), Barrier(8, timeout=PATIENCE_S)
    worker, _ = worker_of()

    def wake() -> None:
        barrier.wait()
        worker.wake()

    threads = [Thread(target=wake) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert running() == before + 1


def test_a_wake_while_it_works_is_not_lost(worker_of: Any) -> None:
    entered, go_on = Event(), Event()

    def slow() -> int:
        entered.set()
        go_on.wait(PATIENCE_S)
        return 0

    worker, embedding = worker_of(slow)
    worker.wake()
    assert entered.wait(PATIENCE_S)
    worker.wake()
    go_on.set()
    assert [embedding.steps.get(timeout=1.0) for _ in range(2)] == [1, 2]


def test_a_failure_does_not_end_it(worker_of: Any) -> None:
    def fail() -> int:
        raise Unavailable("model_failed", "the model failed")

    worker, embedding = worker_of(fail, 3)
    worker.wake()
    assert embedding.steps.get(timeout=PATIENCE_S) == 1
    worker.wake()
    assert [embedding.steps.get(timeout=1.0) for _ in range(2)] == [2, 3]


@pytest.mark.parametrize("answer", [0, None])
def test_it_rests_when_there_is_nothing_to_do_or_another_one_does_it(worker_of: Any, answer: int | None) -> None:
    many = Event()

    def counted() -> int | None:
        if embedding.count > 5:
            many.set()
        return answer

    worker, embedding = worker_of(*[counted] * 1000)
    worker.wake()
    assert not many.wait(0.5)


def test_stopping_waits_for_the_batch_and_gives_the_lease_back(worker_of: Any) -> None:
    entered, go_on = Event(), Event()

    def slow() -> int:
        entered.set()
        go_on.wait(PATIENCE_S)
        return 1

    worker, embedding = worker_of(slow)
    worker.wake()
    assert entered.wait(PATIENCE_S)
    stopping = Thread(target=worker.stop)
    stopping.start()
    assert embedding.released == 0  # it is still at its batch
    go_on.set()
    stopping.join(PATIENCE_S)
    assert (stopping.is_alive(), embedding.count, embedding.released) == (False, 1, 1)


def test_stopping_twice_is_allowed_and_nothing_starts_after_it(worker_of: Any) -> None:
    before = running()
    worker, embedding = worker_of()
    worker.wake()
    assert embedding.steps.get(timeout=PATIENCE_S) == 1
    worker.stop()
    worker.stop()
    worker.wake()
    assert (running(), embedding.released, embedding.stopped) == (before, 1, True)


def test_it_tends_in_a_thread_of_its_own_once_there_is_nothing_to_embed(worker_of: Any) -> None:
    worker, embedding = worker_of(32)
    embedding.has_grown = True
    worker.wake()
    assert [embedding.steps.get(timeout=PATIENCE_S) for _ in range(2)] == [1, 2]
    assert embedding.tended.get(timeout=PATIENCE_S) == "eunoe-tending"
    worker.wake()  # that it failed has ended nothing
    assert embedding.steps.get(timeout=PATIENCE_S) == 3

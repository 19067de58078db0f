"""A process that is killed while its model reads loses nothing, and the next one finishes."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from eunoe import Memory
from eunoe.service.embedding import BATCH, LEASE_US
from eunoe.testing.clock import ManualClock

TEXTS = 3 * BATCH + 4

# Writes, lets the model read some texts, and then hangs in it for ever.
WRITER = """
import sys
from threading import Event
from eunoe import Memory

memory = Memory.open(sys.argv[1], project="acme/api", user="kim")
model = memory._context.semantics.embedder()
read, left = model.passages, [int(sys.argv[2])]

def passages(texts):
    if not left[0]:
        print("reading", flush=True)
        Event().wait()
    left[0] -= 1
    return read(texts)

model.passages = passages
items = [{"body": f"entry number{at} of many"} for at in range(int(sys.argv[3]) - 20)]
items += [{"body": f"turn number{at}", "session": "s", "turn": at} for at in range(20)]
memory.remember_many(items)
Event().wait()
"""


def killed_after(store: Path, texts: int) -> None:
    """Run a process that has read so many texts when it is killed."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(store), str(texts), str(TEXTS)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "reading\n"
    finally:
        writer.kill()
        writer.communicate()


@pytest.mark.usefixtures("fake_model")
@pytest.mark.parametrize("texts", [0, 5, BATCH, 2 * BATCH + 3], ids=lambda texts: f"after {texts}")
def test_a_killed_process_loses_no_job_and_the_next_one_finishes(store_path: Path, texts: int) -> None:
    killed_after(store_path, texts)
    later = ManualClock(time.time_ns() // 1000 + LEASE_US + 1_000_000)
    with Memory.open(store_path, project="acme/api", user="kim", clock=later) as memory:
        assert memory.count() == TEXTS
        assert "entry number7 of many" in {hit.body for hit in memory.recall("entry number7").hits}
        assert memory.flush().waiting == 0
        with memory._context.store.reading() as view:
            bound = view.models.bound()
            assert bound is not None
            sizes = view.vectors(memory._context.existing(view).p, bound.id).sizes()
        assert (sizes["vectors"], sizes["states"]) == (TEXTS, TEXTS)
        assert memory.rebuild().differences == {}
        assert memory.verify().ok


@pytest.mark.usefixtures("fake_model")
def test_what_was_stored_before_the_kill_is_not_read_again(store_path: Path) -> None:
    killed_after(store_path, 2 * BATCH)
    later = ManualClock(time.time_ns() // 1000 + LEASE_US + 1_000_000)
    with Memory.open(store_path, project="acme/api", user="kim", clock=later) as memory:
        embedding = memory._context.embedding
        assert embedding is not None
        assert embedding.counts() == (TEXTS - 2 * BATCH, 0, None)
        assert memory.flush().waiting == 0

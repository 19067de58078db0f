"""What the ledger promises beyond its chain: memory that does not grow, durability by choice, text in and out."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from eunoe import Invalid, Memory
from eunoe.domain.document import dump


def test_verify_needs_no_more_memory_for_more_events(tmp_path: Path) -> None:
    peaks = []
    with Memory.open(tmp_path / "store.sqlite", project="acme/api") as memory:
        for start in (0, 400):
            memory.remember_many([{"body": f"Note {at}: {'word ' * 200}{at}"} for at in range(start, start + 400)])
            memory.verify()
            tracemalloc.start()
            assert memory.verify().events == start + 401
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    # Holding the other 400 texts would take 400 kB more; tracing by coverage itself takes up to 170 kB.
    assert peaks[1] < peaks[0] * 1.5 + 200_000
    assert peaks[1] < 400_000  # the second half alone holds 400 kB of texts


def test_a_result_of_verify_is_as_true_as_the_ledger_is_whole(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "store.sqlite", project="acme/api") as memory:
        memory.remember("Whole")
        assert memory.verify()
        elsewhere = memory.head()[0]
    with Memory.open(":memory:", project="acme/api") as other:
        assert not other.verify(since=elsewhere)


@pytest.mark.sqlite("PostgreSQL's durability is a setting of its role or server")
@pytest.mark.parametrize(("durability", "synchronous"), [("process", 1), ("power", 2)])
def test_durability_decides_whether_a_commit_waits_for_the_disk(
    tmp_path: Path, durability: str, synchronous: int
) -> None:
    with Memory.open(tmp_path / "store.sqlite", project="acme/api", durability=durability) as memory:
        memory.remember("Kept")
        engine = memory._opened.context.store._engine  # type: ignore[attr-defined]
        with engine.writing() as connection:
            assert connection.run("pragma synchronous") == [(synchronous,)]
            assert connection.run("pragma journal_mode") == [("wal",)]
            assert connection.run("pragma secure_delete") == [(1,)]
    with pytest.raises(Invalid) as caught:
        Memory.open(tmp_path / "store.sqlite", project="acme/api", durability="hope")
    assert caught.value.code == "bad_durability"


def test_the_text_of_an_export_is_taken_in_as_well_as_the_document() -> None:
    with Memory.open(":memory:", project="acme/api") as memory:
        memory.remember("Kept", key="a/b")
        text = "".join(dump(memory.export()))
    for given in (text, text.encode()):
        with Memory.open(":memory:", project="acme/api") as other:
            assert other.import_(given).adopted
            assert "".join(dump(other.export())) == text

"""The store's secret: drawn once, kept outside the database, readable to nobody else."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from eunoe import Memory, Unavailable
from eunoe.config.secret import SECRET_BYTES, read_secret, secret_file
from eunoe.domain.session import AgentSession


def test_it_is_drawn_once_and_stays(tmp_path: Path) -> None:
    path = str(tmp_path / "store.secret")
    first = read_secret(path, os.urandom)
    assert len(first) == SECRET_BYTES
    assert read_secret(path, lambda size: b"x" * size) == first
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["store.secret"]


def test_a_torn_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "store.secret"
    path.write_bytes(b"short")
    assert read_secret(str(path), lambda size: b"y" * size) == b"y" * SECRET_BYTES


def test_of_many_at_once_all_get_the_same(tmp_path: Path) -> None:
    path, found = str(tmp_path / "store.secret"), []
    threads = [threading.Thread(target=lambda: found.append(read_secret(path, os.urandom))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert set(found) == {read_secret(path, os.urandom)}


def test_a_folder_that_is_not_there_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(Unavailable) as caught:
        read_secret(str(tmp_path / "nowhere" / "store.secret"), os.urandom)
    assert caught.value.code == "no_secret"


def test_it_is_not_made_before_something_is_shown_to_an_agent(store_path: Path) -> None:
    with Memory.open(store_path, project="acme/api") as memory:
        memory.remember("The queue is Redis")
        memory.recall("queue")
        assert not Path(secret_file(str(store_path), "", "")).exists()
        memory.briefing()
        assert Path(secret_file(str(store_path), "", "")).exists()


def test_a_fence_needs_both_the_secret_and_the_session() -> None:
    def fence(ident: str, secret: bytes) -> str:
        return AgentSession(ident, 0, lambda: secret).fence

    assert fence("a", b"s") == fence("a", b"s")
    assert len({fence("a", b"s"), fence("b", b"s"), fence("a", b"t")}) == 3
    assert len(fence("a", b"s")) == 8


def test_the_secret_of_a_server_lies_in_the_home_under_the_store_s_uuid() -> None:
    address = "postgresql://kim:not-a-password@db/eunoe"
    assert secret_file(address, "/home/kim/eunoe", "0190") == "/home/kim/eunoe/0190.secret"

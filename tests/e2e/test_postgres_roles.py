"""What a role is granted: to serve, to read, or to verify; each can do its own, and no more."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest
from tests.postgres import Server

from eunoe import Memory
from eunoe.errors import Unavailable

KINDS = ("service", "reader", "auditor")


@pytest.fixture(params=KINDS)
def role(request: pytest.FixtureRequest, postgres_server: Server, postgres_store: str) -> Iterator[tuple[str, str]]:
    """A store with a memory, and its address for a role that was granted it by the command."""
    with Memory.open(postgres_store, project="acme/api") as memory:
        memory.remember("The deploy target is v1", key="deploy/current")
    name = f"role_{request.param}"
    postgres_server.execute(f"create role {name} login")
    command = [sys.executable, "-m", "eunoe", "--store", postgres_store, "grant-store", name, "--as", request.param]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert name in done.stdout
    yield request.param, postgres_store.replace("postgres:@", f"{name}@")
    postgres_server.execute(f"drop owned by {name}; drop role {name}")


def test_each_can_do_what_it_is_for_and_nothing_else(role: tuple[str, str]) -> None:
    kind, address = role
    with Memory.open(address, project="acme/api") as memory:
        assert memory.verify().ok
        if kind == "auditor":
            assert refused(lambda: memory.recall("deploy"))
        else:
            assert memory.recall("deploy target").hits[0].memory.number == 1
        if kind == "service":
            assert memory.remember("The deploy target is v2", key="deploy/current").outcome == "replaced"
            assert memory.rebuild().differences == {}
        else:
            assert refused(lambda: memory.remember("The deploy target is v2", key="deploy/current"))
        assert memory.verify().events == (3 if kind == "service" else 2)


def test_a_service_may_tend_tables_that_it_does_not_own(role: tuple[str, str]) -> None:
    kind, address = role
    url, _, schema = address.rpartition("&schema=")
    with psycopg.connect(url, autocommit=True) as db:
        warned: list[str] = []
        db.add_notice_handler(lambda note: warned.append(note.message_primary or ""))
        db.execute(f"analyze {schema}.memories".encode())
    assert bool(warned) == (kind != "service")


def refused(call: object) -> bool:
    with pytest.raises(Unavailable) as caught:
        call()  # type: ignore[operator]
    assert "grant-store" in caught.value.message
    return caught.value.code == "forbidden"

"""A ledger on a server only grows: by grant for the role of a service, by trigger for the owner, and `verify` sees."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import psycopg
import pytest
from psycopg import errors
from tests.postgres import Server, schema_of, until

from eunoe import Memory, Unavailable, storing
from eunoe.bootstrap import SystemClock
from eunoe.config.settings import load_settings
from eunoe.ports.store import Store
from eunoe.ports.vectors import Model
from eunoe.stores.postgres import nearest

PROJECT = "acme/api"
FROZEN = {
    "text": ("id", "stream", "type", "origin", "dedupe_key", "meta"),
    "number": ("p", "seq", "n", "v", "occurred_at", "recorded_at", "received_at"),
    "bytes": ("payload_hash", "prev_hash", "hash"),
}
OTHERWISE = {
    "text": "coalesce({column}, '') || 'x'",
    "number": "{column} + 1000",
    "bytes": "coalesce({column}, '') || '\\x00'",
}
CHANGES = {column: OTHERWISE[kind].format(column=column) for kind, columns in FROZEN.items() for column in columns}


class Ground(NamedTuple):
    """A store with its owner and a service, neither of them a superuser; addresses, and the name of the service."""

    owner: str
    service: str
    role: str


def open_memory(store: str) -> Memory:
    return Memory.open(store, project=PROJECT, user="kim")


@pytest.fixture(scope="module")
def roles(postgres_server: Server) -> Iterator[tuple[str, str]]:
    """Yield the names of two roles: one that makes stores, and one that only uses them."""
    owner, service = (f"{kind}_{os.getpid()}" for kind in ("owner", "service"))
    postgres_server.execute("create extension if not exists vector")
    postgres_server.execute(f"create role {owner} login; grant create on database postgres to {owner}")
    postgres_server.execute(f"create role {service} login")
    yield owner, service
    postgres_server.execute(f"drop owned by {owner}, {service} cascade; drop role {owner}, {service}")


def made(postgres_server: Server, roles: tuple[str, str]) -> Iterator[Ground]:
    """Yield a store with three memories of its owner, granted to the service."""
    address = postgres_server.fresh()
    owner, service = (address.replace("//postgres:", f"//{role}:") for role in roles)
    with open_memory(owner) as memory:
        memory.remember("The first is kept", tags=["kept"])
        memory.remember("deploy is v1", key="deploy/current")
        memory.remember("The third has a path", paths=["src/a.py"])
    storing.grant_store(load_settings({}, store=owner), roles[1], clock=SystemClock())
    yield Ground(owner, service, roles[1])
    postgres_server.drop(address)


@pytest.fixture
def ground(postgres_server: Server, roles: tuple[str, str]) -> Iterator[Ground]:
    """A store of this test's own."""
    yield from made(postgres_server, roles)


@pytest.fixture(scope="module")
def lasting(postgres_server: Server, roles: tuple[str, str]) -> Iterator[Ground]:
    """A store that no test changes."""
    yield from made(postgres_server, roles)


def attempt(address: str, statement: str) -> int:
    """Run a statement as whoever the address names; return how many rows it changed."""
    with psycopg.connect(address.partition("&schema=")[0], autocommit=True) as db:
        db.execute(f"set search_path = {schema_of(address)}")
        return db.execute(statement.encode()).rowcount


def fault(ground: Ground) -> str | None:
    """Return what `verify` finds."""
    with open_memory(ground.owner) as memory:
        found = memory.verify()
    return found.fault.code if found.fault else None


# ── what a service can do ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_service_can_use_the_store_completely(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EUNOE_MODEL", "fake")
    with open_memory(ground.service) as memory:
        assert memory.remember("The fourth is the service's", tags=["mine"], paths=["src/b.py"]).number == 4
        assert memory.remember("deploy is v2", key="deploy/current").number == 5
        assert memory.remember_many([{"body": f"thing{i} is blue"} for i in range(3)])[-1].number == 8
        memory.update(4, title="On the service")
        memory.link(1, 4)
        memory.unlink(1, 4)
        memory.confirm(1)
        memory.dispute(3)
        memory.archive(6)
        memory.restore(6)
        memory.forget(7)
        memory.review()
        assert memory.briefing()
        assert memory.flush().waiting == 0
        assert 4 in [hit.number for hit in memory.recall("service").hits]
        assert memory.recall("service").degraded == ()
        assert memory.get(key="deploy/current").number == 5
        assert memory.history(4)
        assert len(memory.export()["events"]) > 10
        assert memory.verify().ok
        attempt(ground.owner, "delete from tags")
        assert memory.rebuild().swapped
        assert memory.rebuild(dry_run=True).differences == {}
        assert memory.reembed(everything=True)
        memory._context.store.signals.flush()
        assert memory._context.store.describe()["engine"] == "postgres"


def test_a_service_begins_projects_of_its_own(ground: Ground) -> None:
    with Memory.open(ground.service, project="acme/new", user="kim") as memory:
        assert memory.remember("The service's own").number == 1
        assert memory.verify().ok


def test_only_the_owner_makes_the_index_of_many_vectors_and_the_service_searches_without(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EUNOE_MODEL", "fake")
    monkeypatch.setattr(nearest, "EXACT_BELOW", 1)
    indexes = f"select 1 from pg_indexes where schemaname = '{schema_of(ground.owner)}' and indexdef like '%hnsw%'"
    for address, made_by_then in ((ground.service, 0), (ground.owner, 1), (ground.service, 1)):
        with open_memory(address) as memory:
            assert memory.flush().waiting == 0
            with memory._context.store.reading() as view:
                model = view.models.bound()
                assert model is not None
            until(partial(tended, memory._context.store, model))
            found = memory.recall("first")
            assert found.degraded == ()
            assert 1 in [hit.number for hit in found.hits]
        assert attempt(ground.owner, indexes) == made_by_then


def tended(store: Store, model: Model) -> bool:
    """Make the index; return False while another one is at it."""
    try:
        store.tend_vectors(1, model)
    except Unavailable as exc:
        assert (exc.code, exc.retryable) == ("locked", True)
        return False
    return True


# ── what a service cannot do ─────────────────────────────────────────────────────────────────────────────────────────

EVIL = "returns trigger language plpgsql as $$ begin return new; end $$"
CHEATS = [
    *(f"update events set {column} = {otherwise}" for column, otherwise in CHANGES.items()),
    "update events set payload = null, meta = '{}'",
    "insert into events select * from events where seq = 1 on conflict (p, seq) do update set meta = '{}'",
    "merge into events e using (select 1) s on true when matched then delete",
    "delete from events",
    "truncate events",
    "truncate projects cascade",
    "drop table events cascade",
    "drop trigger events_are_frozen on events",
    "drop trigger events_are_kept on events",
    "alter table events disable trigger all",
    "alter table events disable trigger events_are_frozen",
    "alter table events rename to old_events",
    "alter table events add column x int",
    "alter table events drop column meta",
    "alter table events owner to current_user",
    "alter table events enable row level security",
    f"create or replace function event_is_frozen() {EVIL}",
    "drop function event_is_frozen() cascade",
    "alter function event_is_frozen() rename to other",
    "create rule other as on insert to events do instead nothing",
    "create trigger other before insert on events for each row execute function event_is_frozen()",
    "create table other (x int)",
    "create function pg_temp.x() returns int language sql as 'select 1'; set session_replication_role = replica",
    "set session_replication_role = replica",
    "update pg_catalog.pg_trigger set tgenabled = 'D'",
    "delete from migrations",
    "insert into migrations values (99, 'x', 'x', 0)",
    "update store set uuid = 'x'",
    "delete from store",
]


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_service_cannot_cheat_the_ledger(lasting: Ground, cheat: str) -> None:
    with pytest.raises(errors.InsufficientPrivilege):
        attempt(lasting.service, cheat)
    assert fault(lasting) is None


def test_a_service_cannot_become_the_owner(lasting: Ground, roles: tuple[str, str]) -> None:
    attempt(lasting.service, "grant all on events to current_user")  # a warning alone: nothing is granted
    for way in (f"set role {roles[0]}", f"set session authorization {roles[0]}", "delete from events"):
        with pytest.raises(errors.InsufficientPrivilege):
            attempt(lasting.service, way)


def test_every_column_of_an_event_is_either_frozen_or_its_payload(lasting: Ground, postgres_server: Server) -> None:
    named = postgres_server.execute(
        "select column_name from information_schema.columns "
        f"where table_name = 'events' and table_schema = '{schema_of(lasting.owner)}'"
    )
    assert {name for (name,) in named} == {*CHANGES, "payload", "payload_key"}


# ── what everybody can do is found ───────────────────────────────────────────────────────────────────────────────────


def test_a_payload_that_is_cleared_or_replaced_without_an_event_is_found(ground: Ground) -> None:
    assert attempt(ground.service, "update events set payload_key = 'k' where seq = 2") == 1
    assert attempt(ground.service, "update events set payload_key = null where seq = 2") == 1
    assert fault(ground) is None
    assert attempt(ground.service, "update events set payload = convert_to('{}', 'UTF8') where seq = 2") == 1
    assert fault(ground) == "payload_replaced"
    assert attempt(ground.service, "update events set payload = null where seq = 2") == 1
    assert fault(ground) == "payload_cleared"


FORGED = """
insert into events
  (p, seq, id, stream, n, type, v, origin, occurred_at, recorded_at, received_at, meta, prev_hash, hash)
select
  p, seq + 1, 'forged', stream, n + 1, type, v, origin, occurred_at, recorded_at + 1, received_at, meta, hash, {hash}
from events order by seq desc limit 1
"""


@pytest.mark.parametrize("hash", ["hash", "sha256(hash)"], ids=["the_last_one", "another"])
def test_an_event_that_is_put_into_the_chain_by_hand_is_found(ground: Ground, hash: str) -> None:
    assert attempt(ground.service, FORGED.format(hash=hash)) == 1
    assert fault(ground) is not None


@pytest.mark.parametrize(
    ("cheat", "code"),
    [("delete from heads", "head_missing"), ("update heads set n = n + 1", "tail_cut")],
)
def test_heads_that_are_tampered_with_are_found(ground: Ground, cheat: str, code: str) -> None:
    assert attempt(ground.service, cheat) == 1
    assert fault(ground) == code


# ── the owner ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "cheat",
    [
        *(f"update events set {column} = {otherwise}" for column, otherwise in CHANGES.items()),
        "update events set payload = null, meta = '{}'",
        "delete from events",
        "truncate events",
        "truncate projects cascade",
    ],
)
def test_the_owner_meets_the_trigger(lasting: Ground, cheat: str) -> None:
    with pytest.raises(errors.RaiseException, match="never changes"):
        attempt(lasting.owner, cheat)
    assert fault(lasting) is None


def test_an_owner_that_switches_the_trigger_off_is_found(ground: Ground) -> None:
    attempt(ground.owner, "alter table events disable trigger user")
    assert attempt(ground.owner, "update events set occurred_at = occurred_at + 1 where seq = 2") == 1
    assert fault(ground) == "event_changed"
    assert attempt(ground.owner, "update events set occurred_at = occurred_at - 1 where seq = 2") == 1
    assert fault(ground) is None
    assert attempt(ground.owner, "delete from events where seq = 2") == 1
    assert fault(ground) == "event_missing"

"""Promise 3: `verify` finds any change to the ledger, and names the first bad event."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from eunoe import Memory
from eunoe.domain.event import GENESIS
from eunoe.service.ledger import Verified
from tests.engines import Raw, raw
from tests.resealing import hash_of
from tests.strategies import Op, World, budget, histories

COLUMNS = (
    *("p", "seq", "id", "stream", "n", "type", "v", "origin", "occurred_at", "recorded_at", "received_at"),
    *("dedupe_key", "meta", "payload", "payload_key", "payload_hash", "prev_hash", "hash"),
)
HASHED = (
    *("id", "stream", "n", "type", "v", "origin", "occurred_at", "recorded_at", "dedupe_key", "meta"),
    *("payload_hash", "prev_hash", "hash"),
)

Event = dict[str, Any]
_NUMBERS = count(1)


class Forger:
    """Somebody with the database, SQL and time."""

    def __init__(self, database: Raw) -> None:
        self.db = database
        self.db.unfreeze()
        ((self.uuid,),) = self.db.execute("select uuid from projects where p = 1")

    def events(self) -> list[Event]:
        rows = self.db.execute(f"select {', '.join(COLUMNS)} from events where p = 1 order by seq")
        return [dict(zip(COLUMNS, row, strict=True)) for row in rows]

    def set(self, seq: int, **columns: Any) -> None:
        for name, value in columns.items():
            self.db.execute(f"update events set {name} = ? where p = 1 and seq = ?", (value, seq))

    def replace(self, events: list[Event]) -> None:
        """Put these events in the place of all there are."""
        self.db.execute("delete from events where p = 1")
        marks = ", ".join("?" * len(COLUMNS))
        for event in events:
            self.db.execute(f"insert into events values ({marks})", tuple(event[c] for c in COLUMNS))

    def fix_heads(self) -> None:
        """Make the table of heads agree with the events."""
        self.db.execute("delete from heads where p = 1")
        self.db.execute("insert into heads select p, stream, max(n), hash from events where p = 1 group by stream")


def resealed(events: list[Event], uuid: str) -> list[Event]:
    """Number and hash events anew, so that nothing inside the file speaks against them."""
    ends: dict[str, tuple[int, bytes]] = {}
    done = []
    for seq, event in enumerate(events, 1):
        n, prev = ends.get(event["stream"], (0, GENESIS))
        payload_hash = None if event["payload"] is None else hashlib.sha256(event["payload"]).digest()
        event = {**event, "seq": seq, "n": n + 1, "prev_hash": prev, "payload_hash": payload_hash}
        event["hash"] = hash_of(event, uuid)
        ends[event["stream"]] = (event["n"], event["hash"])
        done.append(event)
    return done


@contextmanager
def forged(path: Path) -> Iterator[Forger]:
    with raw(path) as database:
        yield Forger(database)


def verified(path: Path, **given_: Any) -> Verified:
    with Memory.open(path, project="acme/api", user="kim") as memory:
        return memory.verify(**given_)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ledgers")


def written(folder: Path, history: list[Op]) -> tuple[Path, tuple[str, ...]]:
    """Return a store after a history, and its heads."""
    path = folder / f"{next(_NUMBERS)}.sqlite"
    world = World(store=str(path))
    world.memory.remember_many([{"body": f"Fact number {n}", "key": "k", "value": str(n)} for n in range(3)])
    world.run(history)
    heads = world.memory.head()
    world.memory.close()
    assert verified(path, since=heads).ok
    return path, heads


def changed(event: Event, column: str, data: st.DataObject) -> Any:
    """Return another value of the column's type."""
    old = event[column]
    if column in ("payload_hash", "prev_hash", "hash"):
        other: Any = data.draw(st.binary(min_size=32, max_size=32))
    elif isinstance(old, int):
        other = old + data.draw(st.sampled_from((-1, 1, 1000)))
    elif old is None:
        other = "forged"
    elif column == "id":
        other = old[:-6] + "f0f0f0"
    elif column in ("meta", "origin"):
        other = old[:-1] + ("," if len(old) > 2 else "") + '"forged":1}'
    else:
        other = old + "x"
    return other if other != old else GENESIS


@budget(40)
@given(data=st.data(), history=histories(least=2, most=8))
def test_a_changed_column_is_found_at_its_event(folder: Path, data: st.DataObject, history: list[Op]) -> None:
    path, heads = written(folder, history)
    with forged(path) as forger:
        event = data.draw(st.sampled_from(forger.events()))
        column = data.draw(st.sampled_from(HASHED))
        try:
            forger.set(event["seq"], **{column: changed(event, column, data)})
        except forger.db.clashes:
            assume(False)  # the place in the chain is taken: the engine itself refuses the forgery
    found = verified(path)
    assert not found.ok
    assert found.fault is not None
    assert found.fault.seq == event["seq"]
    assert not verified(path, since=heads).ok


@budget(20)
@given(data=st.data(), history=histories(least=2, most=8))
def test_a_changed_column_is_found_although_its_hash_was_made_to_fit(
    folder: Path, data: st.DataObject, history: list[Op]
) -> None:
    path, heads = written(folder, history)
    with forged(path) as forger:
        events = forger.events()
        event = data.draw(st.sampled_from(events))
        column = data.draw(st.sampled_from(("type", "origin", "occurred_at", "recorded_at", "meta", "dedupe_key")))
        event = {**event, column: changed(event, column, data)}
        forger.set(event["seq"], **{column: event[column], "hash": hash_of(event, forger.uuid)})
        is_last = event["seq"] == len(events)
    found = verified(path)
    assert found.fault is not None
    assert found.fault.seq == (None if is_last else event["seq"] + 1)
    assert not verified(path, since=heads).ok


@budget(30)
@given(data=st.data(), history=histories(least=2, most=8), how=st.sampled_from(("replaced", "cleared", "moved")))
def test_a_payload_that_was_replaced_or_cleared_is_found(
    folder: Path, data: st.DataObject, history: list[Op], how: str
) -> None:
    path, _ = written(folder, history)
    with forged(path) as forger:
        full = [event for event in forger.events() if event["payload"] is not None]
        event = data.draw(st.sampled_from(full))
        other = data.draw(st.sampled_from(full))["payload"] if how == "moved" else b'{"body":"forged"}'
        forger.set(event["seq"], payload=None if how == "cleared" else other)
        unchanged = how == "moved" and other == event["payload"]
    found = verified(path)
    if unchanged:
        assert found.ok
        return
    assert found.fault is not None
    assert (found.fault.code, found.fault.seq) == (
        "payload_cleared" if how == "cleared" else "payload_replaced",
        event["seq"],
    )


@budget(20)
@given(data=st.data(), history=histories(least=2, most=8))
def test_a_payload_cannot_be_hidden_as_encrypted(folder: Path, data: st.DataObject, history: list[Op]) -> None:
    path, _ = written(folder, history)
    with forged(path) as forger:
        event = data.draw(st.sampled_from([event for event in forger.events() if event["payload"] is not None]))
        forger.set(event["seq"], payload=b"noise", payload_key="a-key-that-is-not-there")
    found = verified(path)
    assert found.fault is not None
    assert found.fault.code == "payload_replaced"


def _swap(events: list[Event], at: int) -> list[Event]:
    one, other = events[at], events[at + 1]
    places = ("seq", "n")
    events[at] = {**other, **{name: one[name] for name in places}}
    events[at + 1] = {**one, **{name: other[name] for name in places}}
    return events


def _swap_whole(events: list[Event], at: int) -> list[Event]:
    one, other = events[at], events[at + 1]
    events[at], events[at + 1] = {**other, "seq": one["seq"]}, {**one, "seq": other["seq"]}
    return events


def _delete(events: list[Event], at: int) -> list[Event]:
    return events[:at] + events[at + 1 :]


def _delete_closing_the_gap(events: list[Event], at: int) -> list[Event]:
    later = [{**event, "seq": event["seq"] - 1, "n": event["n"] - 1} for event in events[at + 1 :]]
    return events[:at] + later


def _insert(events: list[Event], at: int) -> list[Event]:
    later = [{**event, "seq": event["seq"] + 1, "n": event["n"] + 1} for event in events[at:]]
    copy = {**events[at], "id": events[at]["id"][:-4] + "ffff", "dedupe_key": None}
    return [*events[:at], copy, *later]


REORDERINGS: dict[str, Callable[[list[Event], int], list[Event]]] = {
    "swap": _swap,
    "swap whole": _swap_whole,
    "delete": _delete,
    "delete, gap closed": _delete_closing_the_gap,
    "insert": _insert,
}


@budget(50)
@given(data=st.data(), history=histories(least=2, most=8), how=st.sampled_from(sorted(REORDERINGS)))
def test_a_removed_inserted_or_reordered_event_is_found_where_it_begins(
    folder: Path, data: st.DataObject, history: list[Op], how: str
) -> None:
    path, heads = written(folder, history)
    with forged(path) as forger:
        events = forger.events()
        at = data.draw(st.integers(0, len(events) - 2))
        forger.replace(REORDERINGS[how](events, at))
        if data.draw(st.booleans()):
            forger.fix_heads()
    found = verified(path)
    assert found.fault is not None
    assert found.fault.seq in (at + 1, at + 2)
    assert not verified(path, since=heads).ok


@budget(30)
@given(data=st.data(), history=histories(least=2, most=8), fixed=st.booleans())
def test_a_cut_tail_is_found_by_the_heads_inside_or_outside(
    folder: Path, data: st.DataObject, history: list[Op], fixed: bool
) -> None:
    path, heads = written(folder, history)
    with forged(path) as forger:
        events = forger.events()
        kept = data.draw(st.integers(0, len(events) - 1))
        forger.replace(events[:kept])
        if fixed:
            forger.fix_heads()
    assert verified(path).ok == fixed
    found = verified(path, since=heads)
    assert found.fault is not None
    assert found.fault.code == "tail_cut"


@budget(40)
@given(data=st.data(), history=histories(least=2, most=8), grown=st.booleans())
def test_a_consistent_rewrite_is_found_by_a_head_kept_outside(
    folder: Path, data: st.DataObject, history: list[Op], grown: bool
) -> None:
    path, heads = written(folder, history)
    with forged(path) as forger:
        events = forger.events()
        at = data.draw(st.integers(0, len(events) - 1))
        meta = events[at]["meta"]
        events[at] = {**events[at], "meta": meta[:-1] + ("," if len(meta) > 2 else "") + '"zz":1}'}
        if grown:
            events.append({**events[-1], "id": events[-1]["id"][:-8] + "ffffffff", "dedupe_key": None})
        forger.replace(resealed(events, forger.uuid))
        forger.fix_heads()
    assert verified(path).ok
    found = verified(path, since=heads)
    assert found.fault is not None
    assert (found.fault.code, found.fault.seq) == ("history_rewritten", len(events) - grown)


@budget(15)
@given(history=histories(least=2, most=8))
def test_writing_on_does_not_speak_against_an_old_head(folder: Path, history: list[Op]) -> None:
    path, heads = written(folder, history)
    with Memory.open(path, project="acme/api", user="kim") as memory:
        memory.remember("Something entirely new")
        assert memory.verify(since=heads).ok
        assert memory.verify(since=[*heads, *memory.head()]).ok


def test_resealing_an_honest_ledger_changes_nothing(folder: Path) -> None:
    path, _ = written(folder, [])
    with forged(path) as forger:
        events = forger.events()
        assert resealed(events, forger.uuid) == events

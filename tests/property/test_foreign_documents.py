"""A document whose chain is whole, but which Eunoe did not write: it is refused with a typed error, or it is sound."""

from __future__ import annotations

import json
from copy import deepcopy
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe import EunoeError, Memory
from eunoe.domain.canonical import canonical_bytes
from eunoe.domain.document import dump, event_from_json
from eunoe.domain.event import GENESIS
from tests.resealing import hash_of
from tests.strategies import budget

ABSENT = object()
JUNK: tuple[Any, ...] = (
    *(ABSENT, None, True, 0, -1, 2**53 - 1, "", "x", "project", "active", "user:kim", "ltm", "fact", "secret", [], {}),
    *([None], ["x"], [{}], [{"memory": "x", "valid_to": 1}], {"memory": "x"}),
)


def written() -> dict[str, Any]:
    """Return a document with an event of each type, and each kind of entry in them."""
    with Memory.open(":memory:", project="there") as m:
        m.remember("The port is 1", key="db/port", value="1", valid_to="2030-01-01")
        m.remember("The port is 2", key="db/port", value="2", paths=["a.py"], source="s", speaker="Ada")
        m.remember("Hi there", session="s", turn=1, tags=["x"])
        m.remember("Hi friend", supersedes=3)
        m.remember("Hi friend")
        m.update(4, title="z", valid_to="2030-01-01", pinned=True)
        m.archive(4)
        m.restore(4)
        m.link(2, 4, note="n")
        m.unlink(2, 4)
        m.forget(2)
        m.remember("c one", key="a/c", value="1")
        m.remember("c two", key="a/c", value="2", valid_from="2029-01-01")
        m.archive(6)
        m.remember("The port is 2", key="db/port", value="2", links=[4])
        m.remember("q", tier="stm")
        m.dispute(4)
        m.confirm(4)
        document: dict[str, Any] = json.loads("".join(dump(m.export())))
        return document


WRITTEN = written()
PLACES = [
    (at, part, name)
    for at, event in enumerate(WRITTEN["events"])
    for part in ("meta", "payload")
    for name in sorted({*(event[part] or {}), "valid_to", "links", "supersedes", "reopens", "superseded_by", "tags"})
]


def resealed(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with a chain that fits its events again, as anybody can make one."""
    previous = GENESIS
    for row in document["events"]:
        if row["payload"] is not None:
            row["payload_hash"] = sha256(canonical_bytes(row["payload"])).hexdigest()
        row["prev_hash"] = previous.hex()
        previous = hash_of(event_from_json(row)._asdict(), document["project"]["uuid"])
        row["hash"] = previous.hex()
    document["heads"][0]["hash"] = previous.hex()
    return document


def with_junk(at: int, part: str, name: str, junk: Any) -> dict[str, Any]:
    document = deepcopy(WRITTEN)
    fields = document["events"][at][part] or {}
    fields[name] = junk
    if junk is ABSENT:
        del fields[name]
    document["events"][at][part] = fields if part == "meta" else fields or None
    return resealed(document)


def test_resealing_changes_nothing_of_a_document_that_nobody_touched() -> None:
    assert resealed(deepcopy(WRITTEN)) == WRITTEN


@pytest.mark.parametrize("beside", [False, True])
@budget(250)
@given(place=st.sampled_from(PLACES), junk=st.sampled_from(JUNK))
def test_an_event_with_a_strange_field_is_refused_or_sound(
    beside: bool, place: tuple[int, str, str], junk: Any
) -> None:
    document = with_junk(*place, junk)
    with Memory.open(":memory:", project="here") as m:
        if beside:
            m.remember("Something is here already")
        before = m.count()
        try:
            m.import_(document)
        except EunoeError:
            assert m.count() == before
        assert m.verify().ok
        assert m.rebuild(dry_run=True).differences == {}
        m.recall("port hi one")
        for number in range(1, 9):
            try:
                m.history(number)
            except EunoeError as exc:
                assert exc.code in ("no_memory", "no_project")

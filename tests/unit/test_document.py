"""The export document: whole, checkable, and the same bytes for the same ledger."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.domain.canonical import canonical, canonical_bytes
from eunoe.domain.document import FORMAT, Document, dump, event_from_json, event_to_json, stored_row
from eunoe.domain.event import GENESIS, Event
from eunoe.domain.sealing import chain_hash, payload_digest, seal_payload
from eunoe.errors import EunoeError, Invalid, Unavailable

PROJECT = "01976da8-0000-7000-8000-0000000000aa"
STREAM = "ba91bee2-ab5f-43d4-88a5-a23d88294095"
META = {
    "kind": "fact",
    "importance": 500,
    "tier": "ltm",
    "scope": "project",
    "status": "active",
    "trust": "stated",
    "valid_from": 1,
}
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
CONTENT = st.fixed_dictionaries(
    {"body": WORDS}, optional={"title": WORDS, "tags": st.lists(st.text("ab", max_size=3)), "later": WORDS}
)


def made(contents: list[dict[str, Any]]) -> list[Event]:
    """Return a chain of events with these payloads."""
    events: list[Event] = []
    previous = GENESIS
    for at, content in enumerate(contents, 1):
        payload = seal_payload(content, bytes([at]) * 16)
        row: dict[str, Any] = {
            "id": f"01976da8-0000-7000-8000-{at:012d}",
            "stream": STREAM,
            "n": at,
            "type": "memory.recorded",
            "v": 1,
            "origin": canonical({"author_type": "person"}),
            "occurred_at": at,
            "recorded_at": at + 1,
            "dedupe_key": None if at % 2 else f"key {at}",
            "meta": canonical(META | {"memory": f"01976da8-0000-7000-8000-{at:012d}"}),
        }
        raw = [value.encode() if isinstance(value, str) else value for value in row.values()]
        digest = payload_digest(payload)
        previous_hash, previous = previous, chain_hash(*raw[:3], PROJECT.encode(), *raw[3:], digest, previous)
        sealed = {"payload": payload, "payload_key": None, "payload_hash": digest, "prev_hash": previous_hash}
        events.append(Event(seq=at, received_at=at + 2, hash=previous, **row, **sealed))
    return events


def document(events: list[Event]) -> dict[str, Any]:
    heads = [{"stream": STREAM, "n": events[-1].n, "hash": events[-1].hash.hex()}] if events else []
    return {
        "eunoe": {"format": FORMAT},
        "project": {"uuid": PROJECT, "slug": "acme/api", "secret": "00" * 32},
        "heads": heads,
        "events": [event_to_json(event) for event in events],
    }


@pytest.fixture
def whole() -> dict[str, Any]:
    return document(made([{"body": "one"}, {"body": "zwei 🎉"}, {"body": "three"}]))


@settings(max_examples=100, deadline=None)
@given(st.lists(CONTENT, max_size=4))
def test_events_come_back_byte_for_byte(contents: list[dict[str, Any]]) -> None:
    events = made(contents)
    read = Document(json.loads("".join(dump(document(events)))))
    assert read.events == events
    assert [stored_row(event) for event in read.events] == [stored_row(event) for event in events]
    assert (read.uuid, read.slug, read.secret) == (PROJECT, "acme/api", bytes(32))


def test_the_text_is_json_with_one_event_a_line(whole: dict[str, Any]) -> None:
    text = "".join(dump(whole))
    assert json.loads(text) == whole
    assert len(text.splitlines()) == len(whole["events"]) + 2
    assert "".join(dump(json.loads(text))) == text


def test_a_document_without_events_is_json_too() -> None:
    assert json.loads("".join(dump(document([])))) == document([])


@pytest.mark.parametrize(
    ("path", "value", "error", "code"),
    [
        (("eunoe",), None, Invalid, "bad_document"),
        (("eunoe", "format"), "1", Invalid, "bad_document"),
        (("eunoe", "format"), FORMAT + 1, Unavailable, "newer_document"),
        (("project",), [], Invalid, "bad_document"),
        (("project", "uuid"), "x", Invalid, "bad_id"),
        (("project", "slug"), 5, Invalid, "bad_document"),
        (("project", "secret"), "zz", Invalid, "bad_document"),
        (("events",), {}, Invalid, "bad_document"),
        (("events", 0), 5, Invalid, "bad_document"),
        (("events", 0), {}, Invalid, "bad_document"),
        (("events", 0, "id"), 5, Invalid, "bad_document"),
        (("events", 0, "seq"), "1", Invalid, "bad_document"),
        (("events", 0, "meta"), [], Invalid, "bad_document"),
        (("events", 0, "stream"), 5, Invalid, "bad_document"),
        (("events", 0, "type"), None, Invalid, "bad_document"),
        (("events", 0, "dedupe_key"), 5, Invalid, "bad_document"),
        (("events", 0, "payload"), {"salt": 0.5}, Invalid, "not_canonical"),
        (("events", 0, "hash"), "zz", Invalid, "bad_document"),
        (("heads",), None, Invalid, "bad_document"),
        (("heads", 0), {}, Invalid, "bad_document"),
        (("heads", 0, "stream"), 5, Invalid, "bad_document"),
        (("heads", 0, "hash"), "00" * 32, Invalid, "broken_document"),
        (("heads", 0, "n"), 9, Invalid, "broken_document"),
        (("events", 1, "payload"), {"body": "forged"}, Invalid, "broken_document"),
        (("events", 1, "payload"), None, Invalid, "broken_document"),
        (("events", 1, "meta"), {"kind": "note"}, Invalid, "broken_document"),
        (("events", 1, "occurred_at"), 99, Invalid, "broken_document"),
        (("events", 1, "occurred_at"), 10**30, Invalid, "bad_document"),
        (("project", "uuid"), STREAM, Invalid, "broken_document"),
    ],
    ids=str,
)
def test_a_document_that_is_not_whole_is_refused(
    whole: dict[str, Any], path: tuple[Any, ...], value: Any, error: type[EunoeError], code: str
) -> None:
    target: Any = whole
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    with pytest.raises(error) as caught:
        Document(whole)
    assert caught.value.code == code


@pytest.mark.parametrize("given_document", [None, [], "text", {}, {"eunoe": {"format": FORMAT}}], ids=repr)
def test_what_is_no_document_is_refused(given_document: Any) -> None:
    with pytest.raises(Invalid) as caught:
        Document(given_document)
    assert caught.value.code == "bad_document"


@pytest.mark.parametrize("at", range(3))
def test_a_document_with_an_event_less_is_refused(whole: dict[str, Any], at: int) -> None:
    del whole["events"][at]
    with pytest.raises(Invalid) as caught:
        Document(whole)
    assert caught.value.code == "broken_document"


def test_an_erased_payload_stays_erased(whole: dict[str, Any]) -> None:
    row = whole["events"][0] | {"payload": None}
    event = event_from_json(row)
    assert event.payload is None
    assert event.payload_hash is not None
    assert canonical_bytes(event_to_json(event)) == canonical_bytes(row)

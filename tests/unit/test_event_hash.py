"""The hash of an event against a second implementation that shares no code with the first."""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from eunoe.domain.event import GENESIS, Event
from eunoe.domain.sealing import SALT_BYTES, chain_hash, payload_digest, seal_meta, seal_payload
from eunoe.errors import Invalid

KNOWN = "e3aaf1b8ea4f5ccc465dd9b695364d4e2d3e477e73f9c83177cadc51f35eb1f2"

NUMBERS = st.integers(-(2**63), 2**63 - 1)
FIELDS = st.tuples(
    *(st.binary(max_size=4), st.binary(max_size=4), NUMBERS, st.binary(max_size=4), st.binary(max_size=4), NUMBERS),
    *(st.binary(max_size=4), NUMBERS, NUMBERS, st.none() | st.binary(min_size=1, max_size=4), st.binary(max_size=4)),
    *(st.none() | st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32)),
)


def reference(fields: tuple[Any, ...]) -> bytes:
    """Length-prefix every field, as DESIGN §5 has it; integers are eight bytes, absent fields are empty."""
    hashed = hashlib.sha256(b"eunoe.event.1")
    for field in fields:
        raw = struct.pack(">q", field) if isinstance(field, int) else field or b""
        hashed.update(struct.pack(">I", len(raw)))
        hashed.update(raw)
    return hashed.digest()


def sample(**changed: Any) -> dict[str, Any]:
    return {
        "ident": b"01976da8-0000-7000-8000-000000000001",
        "stream": b"ba91bee2-ab5f-43d4-88a5-a23d88294095",
        "n": 7,
        "project": b"01976da8-0000-7000-8000-0000000000aa",
        "kind": b"memory.recorded",
        "v": 1,
        "origin": b'{"author_type":"person"}',
        "occurred_at": 1_767_225_600_000_000,
        "recorded_at": 1_767_225_600_000_001,
        "dedupe_key": b"import:1",
        "meta": b'{"kind":"fact"}',
        "payload_hash": bytes(range(32)),
        "prev_hash": GENESIS,
        **changed,
    }


@settings(max_examples=300, deadline=None)
@given(FIELDS)
def test_two_implementations_agree(fields: tuple[Any, ...]) -> None:
    assert chain_hash(*fields) == reference(fields)


@pytest.mark.parametrize("size", [0, 1, 255, 256, 8191, 8192, 70_000])
def test_they_agree_for_fields_of_any_length(size: int) -> None:
    fields = tuple(sample(meta=b"m" * size).values())
    assert chain_hash(*fields) == reference(fields)


def test_the_hash_of_a_known_event_never_changes() -> None:
    # Stored chains depend on it: a change of this value makes every ledger in the world fail `verify`.
    assert reference(tuple(sample().values())).hex() == KNOWN
    assert chain_hash(*sample().values()).hex() == KNOWN


@settings(max_examples=300, deadline=None)
@given(FIELDS, FIELDS)
def test_different_events_have_different_hashes(one: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    assume(one != other)
    assert chain_hash(*one) != chain_hash(*other)


@pytest.mark.parametrize(
    ("left", "right"), [("ident", "stream"), ("project", "kind"), ("dedupe_key", "meta"), ("meta", "payload_hash")]
)
def test_a_byte_that_moves_from_one_field_to_the_next_changes_the_hash(left: str, right: str) -> None:
    one = sample()
    moved = sample(**{left: one[left][:-1], right: one[left][-1:] + one[right]})
    assert chain_hash(*one.values()) != chain_hash(*moved.values())


@pytest.mark.parametrize("name", list(sample()))
def test_each_field_takes_part(name: str) -> None:
    value = sample()[name]
    changed = value + 1 if isinstance(value, int) else value[:-1] + bytes([value[-1] ^ 1])
    assert chain_hash(*sample(**{name: changed}).values()) != chain_hash(*sample().values())


def test_equal_contents_with_other_salts_have_other_digests() -> None:
    content = {"body": "The same words"}
    one, other = (seal_payload(content, bytes([salt]) * SALT_BYTES) for salt in (1, 2))
    assert payload_digest(one) != payload_digest(other)
    assert payload_digest(one) == hashlib.sha256(one).digest()


def test_a_payload_reads_back_without_its_salt() -> None:
    event = make_event(payload=seal_payload({"body": "héllo", "tags": ["a"]}, bytes(SALT_BYTES)))
    assert event.read_payload() == {"body": "héllo", "tags": ["a"]}
    assert make_event(payload=None).read_payload() == {}


def test_what_is_read_from_an_event_is_the_callers_own() -> None:
    event = make_event(payload=None)
    event.read_meta()["kind"] = "changed"
    event.read_origin()["author_type"] = "changed"
    assert event.read_meta() == {"kind": "fact"}
    assert event.read_origin() == {"author_type": "person"}


def test_a_meta_with_a_float_is_refused() -> None:
    with pytest.raises(Invalid) as caught:
        seal_meta({"importance": 0.5})
    assert caught.value.code == "not_canonical"


def make_event(*, payload: bytes | None) -> Event:
    return Event(
        seq=1,
        id="01976da8-0000-7000-8000-000000000001",
        stream="s",
        n=1,
        type="memory.recorded",
        v=1,
        origin='{"author_type":"person"}',
        occurred_at=0,
        recorded_at=0,
        received_at=0,
        dedupe_key=None,
        meta='{"kind":"fact"}',
        payload=payload,
        payload_key=None,
        payload_hash=None if payload is None else payload_digest(payload),
        prev_hash=GENESIS,
        hash=GENESIS,
    )

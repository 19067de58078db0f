"""Checking the chain: whatever was done to a ledger is found, and the first bad event is named."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.domain.chain import Anchor, ChainChecker, Fault, parse_anchor
from eunoe.domain.event import GENESIS
from eunoe.domain.sealing import chain_hash, payload_digest
from eunoe.errors import Invalid

PROJECT = "01976da8-0000-7000-8000-0000000000aa"
OURS, THEIRS = b"00000000-0000-4000-8000-000000000001", b"00000000-0000-4000-8000-000000000002"
FIELDS = (
    *("seq", "id", "stream", "n", "type", "v", "origin", "occurred_at", "recorded_at", "dedupe_key", "meta"),
    *("payload", "payload_key", "payload_hash", "prev_hash", "hash"),
)
LENGTH = 6

Row = tuple[Any, ...]


def sealed(row: dict[str, Any]) -> Row:
    """Return a row with the hash that belongs to it."""
    hashed = ("id", "stream", "n", "type", "v", "origin", "occurred_at", "recorded_at", "dedupe_key", "meta")
    values = [row[name] for name in hashed]
    digest = chain_hash(*values[:3], PROJECT.encode(), *values[3:], row["payload_hash"], row["prev_hash"])
    return tuple((row | {"hash": digest})[name] for name in FIELDS)


def made(streams: list[bytes]) -> list[Row]:
    """Return a ledger with one event for each of the streams, in that order."""
    ends: dict[bytes, tuple[int, bytes]] = {}
    rows: list[Row] = []
    for at, stream in enumerate(streams, 1):
        n, previous = ends.get(stream, (0, GENESIS))
        payload = b'{"body":"event %d"}' % at
        row = {
            "seq": at,
            "id": b"01976da8-0000-7000-8000-%012d" % at,
            "stream": stream,
            "n": n + 1,
            "type": b"memory.recorded",
            "v": 1,
            "origin": b'{"author_type":"person"}',
            "occurred_at": at,
            "recorded_at": at,
            "dedupe_key": b"key %d" % at,
            "meta": b'{"kind":"fact"}',
            "payload": payload,
            "payload_key": None,
            "payload_hash": payload_digest(payload),
            "prev_hash": previous,
        }
        rows.append(sealed(row))
        ends[stream] = (n + 1, rows[-1][-1])
    return rows


def ends_of(rows: list[Row]) -> list[tuple[str, int, bytes]]:
    found = {row[2].decode(): (row[3], row[-1]) for row in rows}
    return [(stream, n, digest) for stream, (n, digest) in sorted(found.items())]


def check(
    rows: list[Row], heads: list[tuple[str, int, bytes]] | None = None, *anchors: Anchor, erased: str = ""
) -> Fault | None:
    checker = ChainChecker(PROJECT, erased=frozenset({erased}), anchors={each.stream: each for each in anchors})
    return checker.run(rows) or checker.finish(ends_of(rows) if heads is None else heads)


def changed(row: Row, **fields: Any) -> Row:
    return tuple(fields.get(name, value) for name, value in zip(FIELDS, row, strict=True))


def resealed(row: Row, **fields: Any) -> Row:
    return sealed(dict(zip(FIELDS, row, strict=True)) | fields)


@pytest.fixture
def rows() -> list[Row]:
    return made([OURS] * LENGTH)


@pytest.mark.parametrize("streams", [[], [OURS], [OURS] * 5, [OURS, THEIRS, THEIRS, OURS]], ids=len)
def test_an_untouched_ledger_has_no_fault(streams: list[bytes]) -> None:
    assert check(made(streams)) is None


def test_what_was_checked_is_counted(rows: list[Row]) -> None:
    checker = ChainChecker(PROJECT)
    steps: list[int] = []
    assert checker.run(rows, progress=steps.append, every=2) is None
    assert (checker.events, checker.payloads) == (LENGTH, LENGTH)
    assert steps == [2, 4, 6]


@pytest.mark.parametrize("at", range(LENGTH))
@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("type", b"memory.forgotten", "event_changed"),
        ("v", 2, "event_changed"),
        ("origin", b"{}", "event_changed"),
        ("occurred_at", -1, "event_changed"),
        ("recorded_at", -1, "event_changed"),
        ("dedupe_key", None, "event_changed"),
        ("meta", b"{}", "event_changed"),
        ("payload_hash", bytes(32), "event_changed"),
        ("payload_hash", None, "event_changed"),
        ("hash", bytes(32), "event_changed"),
        ("id", b"01976da8-ffff-7000-8000-000000000001", "event_changed"),
        ("prev_hash", b"\1" * 32, "chain_broken"),
        ("n", 99, "event_missing"),
        ("payload", b'{"body":"another"}', "payload_replaced"),
        ("payload", None, "payload_cleared"),
    ],
)
def test_a_changed_field_is_found_and_its_event_is_named(
    rows: list[Row], at: int, name: str, value: Any, code: str
) -> None:
    rows[at] = changed(rows[at], **{name: value})
    fault = check(rows)
    assert fault is not None
    assert (fault.code, fault.seq) == (code, at + 1)
    assert fault.id == rows[at][1].decode()


@pytest.mark.parametrize("at", range(LENGTH - 1))
def test_an_event_that_was_sealed_anew_breaks_the_one_after_it(rows: list[Row], at: int) -> None:
    rows[at] = resealed(rows[at], meta=b'{"kind":"note"}')
    fault = check(rows)
    assert fault is not None
    assert (fault.code, fault.seq) == ("chain_broken", at + 2)


def test_the_last_event_sealed_anew_is_found_by_the_head_table(rows: list[Row]) -> None:
    heads = ends_of(rows)
    rows[-1] = resealed(rows[-1], meta=b'{"kind":"note"}')
    fault = check(rows, heads)
    assert fault is not None
    assert fault.code == "head_changed"


@pytest.mark.parametrize("at", range(LENGTH - 1))
@pytest.mark.parametrize("renumbered", [False, True])
def test_an_event_that_was_taken_out_is_missed(rows: list[Row], at: int, renumbered: bool) -> None:
    heads = ends_of(rows)
    del rows[at]
    if renumbered:
        rows = [changed(row, seq=seq) for seq, row in enumerate(rows, 1)]
    fault = check(rows, heads)
    assert fault is not None
    assert fault.code == "event_missing"
    assert fault.id == rows[at][1].decode()


@pytest.mark.parametrize("at", range(LENGTH - 1))
def test_two_events_that_changed_places_are_found(rows: list[Row], at: int) -> None:
    rows[at], rows[at + 1] = changed(rows[at + 1], seq=at + 1), changed(rows[at], seq=at + 2)
    fault = check(rows)
    assert fault is not None
    assert fault.seq == at + 1


def test_an_event_that_was_put_in_is_found(rows: list[Row]) -> None:
    extra = resealed(rows[2], id=b"01976da8-0000-7000-8000-000000000003", seq=4, n=4, prev_hash=rows[2][-1])
    moved = [changed(row, seq=row[0] + 1) for row in rows[3:]]
    fault = check([*rows[:3], extra, *moved], ends_of(rows))
    assert fault is not None
    assert fault.seq is not None
    assert fault.seq >= 4


@pytest.mark.parametrize("kept", range(LENGTH))
def test_a_cut_tail_is_found_by_the_head_table(rows: list[Row], kept: int) -> None:
    fault = check(rows[:kept], ends_of(rows))
    assert fault is not None
    assert fault.code == "tail_cut"


def test_a_lost_head_is_found(rows: list[Row]) -> None:
    fault = check(rows, [])
    assert fault is not None
    assert fault.code == "head_missing"


def test_an_id_that_is_not_greater_is_found() -> None:
    rows = made([OURS, THEIRS])
    rows[1] = resealed(rows[1], id=rows[0][1])
    fault = check(rows, ends_of(rows))
    assert fault is not None
    assert (fault.code, fault.seq) == ("order_changed", 2)


def test_a_cleared_payload_that_an_erasure_names_is_no_fault(rows: list[Row]) -> None:
    rows[2] = changed(rows[2], payload=None)
    assert check(rows, None, erased=rows[2][1].decode()) is None


def test_the_chains_of_two_stores_are_checked_apart() -> None:
    rows = made([OURS, THEIRS, OURS, THEIRS])
    rows[3] = changed(rows[3], prev_hash=rows[2][-1])
    fault = check(rows)
    assert fault is not None
    assert (fault.code, fault.seq) == ("chain_broken", 4)


def test_a_head_kept_outside_shows_a_history_that_was_rewritten_as_a_whole(rows: list[Row]) -> None:
    kept = Anchor(project=PROJECT, stream=OURS.decode(), n=4, hash=rows[3][-1])
    assert check(rows, None, kept) is None
    rewritten = made([OURS])
    for row in rows[1:]:
        rewritten.append(resealed(row, meta=b'{"kind":"note"}', prev_hash=rewritten[-1][-1]))
    assert check(rewritten) is None
    fault = check(rewritten, None, kept)
    assert fault is not None
    assert (fault.code, fault.seq) == ("history_rewritten", 4)


@pytest.mark.parametrize("left", [0, 3])
def test_a_head_kept_outside_shows_a_tail_that_was_cut_with_its_head(rows: list[Row], left: int) -> None:
    kept = Anchor(project=PROJECT, stream=OURS.decode(), n=4, hash=rows[3][-1])
    fault = check(rows[:left], None, kept)
    assert fault is not None
    assert fault.code == "tail_cut"


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([OURS, THEIRS]), min_size=1, max_size=8), st.data())
def test_any_other_byte_anywhere_is_found(streams: list[bytes], data: st.DataObject) -> None:
    rows = made(streams)
    heads = ends_of(rows)
    at = data.draw(st.integers(0, len(rows) - 1))
    name = data.draw(st.sampled_from([name for name in FIELDS if name != "payload_key"]))
    old = rows[at][FIELDS.index(name)]
    if isinstance(old, int):
        new: Any = data.draw(st.integers(-5, 50).filter(lambda value: value != old))
    else:
        flip = data.draw(st.integers(0, len(old) * 8 - 1))
        new = bytes(byte ^ (1 << flip % 8 if place == flip // 8 else 0) for place, byte in enumerate(old))
    rows[at] = changed(rows[at], **{name: new})
    assert check(rows, heads) is not None


def test_a_head_reads_back_from_its_text() -> None:
    head = Anchor(project=PROJECT, stream=OURS.decode(), n=3, hash=bytes(range(32)))
    assert parse_anchor(f" {head}\n") == head


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        f"eunoe-head-1:{PROJECT}:s:1",
        f"eunoe-head-2:{PROJECT}:s:1:{'00' * 32}",
        f"eunoe-head-1:{PROJECT}:s:0:{'00' * 32}",
        f"eunoe-head-1:{PROJECT}:s:one:{'00' * 32}",
        f"eunoe-head-1:{PROJECT}:s:1:{'00' * 31}",
        f"eunoe-head-1:{PROJECT}:s:1:{'zz' * 32}",
        f"eunoe-head-1:{PROJECT}:s:1:{'00' * 32}:more",
        f"eunoe-head-1:{PROJECT}:s:{'9' * 5000}:{'00' * 32}",
    ],
    ids=lambda text: text[:60],
)
def test_a_text_that_is_no_head_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse_anchor(text)
    assert caught.value.code == "bad_head"

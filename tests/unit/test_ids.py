"""Ids: UUIDv7 that only ever grow, whatever the clock does."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.domain.ids import NIL, check_id, id_time_us, is_id, next_id
from eunoe.errors import Invalid

CLOCKS = st.integers(0, 4_000_000_000_000_000)
CHANCE = st.binary(min_size=10, max_size=10)


def is_uuid7(ident: str) -> bool:
    value = uuid.UUID(ident)
    return value.version == 7 and value.variant == uuid.RFC_4122 and str(value) == ident


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(CLOCKS, CHANCE), min_size=2, max_size=40))
def test_ids_grow_strictly_and_are_uuid7_for_any_sequence_of_clock_readings(steps: list[tuple[int, bytes]]) -> None:
    ids = [NIL]
    for now, chance in steps:
        ids.append(next_id(now, chance, after=ids[-1]))
    assert ids == sorted(set(ids))
    assert all(map(is_uuid7, ids[1:]))


@settings(max_examples=100, deadline=None)
@given(CLOCKS, st.lists(CHANCE, min_size=2, max_size=30))
def test_a_clock_that_stands_still_repeats_no_id(now: int, chances: list[bytes]) -> None:
    last = NIL
    seen = set()
    for chance in chances:
        last = next_id(now, chance, after=last)
        seen.add(last)
    assert len(seen) == len(chances)


@settings(max_examples=100, deadline=None)
@given(CLOCKS, CHANCE)
def test_an_id_tells_its_time_in_whole_milliseconds(now: int, chance: bytes) -> None:
    assert id_time_us(next_id(now, chance)) == now // 1000 * 1000


def test_a_clock_that_was_set_back_gives_the_direct_successor() -> None:
    ahead = next_id(2_000_000_000_000, bytes(10))
    following = next_id(1, b"\xff" * 10, after=ahead)
    assert int(following.replace("-", ""), 16) == int(ahead.replace("-", ""), 16) + 1


def test_the_successor_of_the_last_id_of_a_millisecond_is_in_the_next_one() -> None:
    last = next_id(5_000, b"\xff" * 10)
    following = next_id(5_000, b"\xff" * 10, after=last)
    assert following > last
    assert is_uuid7(following)
    assert id_time_us(following) == 6_000


def test_all_74_bits_of_chance_are_used() -> None:
    plain = next_id(0, bytes(10))
    changed = {next_id(0, (1 << bit).to_bytes(10, "big")) for bit in range(80)}
    assert len(changed - {plain}) == 74


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12",
        NIL[:-1],
        NIL + "0",
        NIL.replace("-", ""),
        NIL.replace("0", "g"),
        "0" * 36,
        "-" * 36,
        "00000000-0000-0000-0000-00000000000A",
        " " + NIL[1:],
        "٠" * 8 + NIL[8:],
    ],
)
def test_what_has_not_the_form_of_an_id_is_refused(text: str) -> None:
    assert not is_id(text)
    with pytest.raises(Invalid) as caught:
        check_id(text)
    assert caught.value.code == "bad_id"


def test_an_id_is_returned_unchanged() -> None:
    ident = next_id(1, bytes(10))
    assert check_id(ident) == ident

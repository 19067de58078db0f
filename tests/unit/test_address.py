"""Addresses: every way to name one memory."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.domain.address import Address, parse_address
from eunoe.errors import Invalid

IDENT = "01976da8-0000-7000-8000-0000000000aa"


@pytest.mark.parametrize(
    ("target", "address"),
    [
        (12, Address(number=12)),
        ("12", Address(number=12)),
        ("#12", Address(number=12)),
        (" #12\n", Address(number=12)),
        ("012", Address(number=12)),
        (IDENT, Address(id=IDENT)),
        (IDENT.upper(), Address(id=IDENT)),
        ("me#12", Address(number=12, project="me")),
        ("acme/api#12", Address(number=12, project="acme/api")),
        ("~Kim#12", Address(number=12, project="~Kim")),
        (2**31 - 1, Address(number=2**31 - 1)),
    ],
    ids=repr,
)
def test_a_memory_can_be_named_in_each_way(target: int | str, address: Address) -> None:
    assert parse_address(target) == address


@pytest.mark.parametrize(
    "target",
    [
        *("", "#", "me#", "##", "x", "1.5", "-1", "+1", "0", "#0", "1 2", "٣", "²", "1_0", "acme/api#x", IDENT[:-1]),
        *(0, -1, 2**31, True, False, 1.0, b"12", [12], "1" * 5000, 10**5000),
    ],
    ids=lambda target: "huge" if isinstance(target, int) and target > 10**9 else repr(target)[:20],
)
def test_what_names_no_memory_is_refused(target: object) -> None:
    with pytest.raises(Invalid) as caught:
        parse_address(target)  # type: ignore[arg-type]
    assert caught.value.code == "bad_address"


def test_a_key_stands_alone() -> None:
    assert parse_address(None, key="deploy/current") == Address(key="deploy/current")


@pytest.mark.parametrize(("target", "key"), [(None, None), (12, "deploy/current")])
def test_naming_nothing_or_two_things_is_refused(target: int | None, key: str | None) -> None:
    with pytest.raises(Invalid) as caught:
        parse_address(target, key=key)
    assert caught.value.code == "bad_address"


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 2**31 - 1), st.sampled_from([None, "me", "acme/api", "~kim"]))
def test_an_address_reads_back_from_its_text(number: int, project: str | None) -> None:
    address = Address(number=number, project=project)
    assert parse_address(str(address)) == address

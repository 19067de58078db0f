"""Errors: one class per question, a stable code, a sentence for people."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eunoe
from eunoe.errors import Conflict, EunoeError, Invalid, NotFound, Refused, Unavailable, shown

CLASSES = {
    "invalid": Invalid,
    "not_found": NotFound,
    "conflict": Conflict,
    "refused": Refused,
    "unavailable": Unavailable,
}


@pytest.mark.parametrize(("kind", "error"), CLASSES.items())
def test_an_error_tells_its_kind_its_code_and_what_to_do(kind: str, error: type[EunoeError]) -> None:
    raised = error("some_code", "limit=-1 must be 0 or more", details={"limit": -1})
    assert isinstance(raised, EunoeError)
    assert raised.to_dict() == {
        "kind": kind,
        "code": "some_code",
        "message": "limit=-1 must be 0 or more",
        "retryable": False,
        "details": {"limit": -1},
    }
    assert str(raised) == raised.message


def test_only_what_may_pass_by_itself_is_worth_another_try() -> None:
    assert Unavailable("locked", "busy", retryable=True).retryable
    assert not any(error("code", "message").retryable for error in CLASSES.values())


def test_details_are_the_errors_own() -> None:
    given_details = {"item": 1}
    error = Invalid("code", "message", details=given_details)
    error.details["item"] = 2
    assert given_details == {"item": 1}
    assert Invalid("code", "message").details == {}


def test_the_public_errors_are_these_classes() -> None:
    for name in ("EunoeError", "Invalid", "NotFound", "Conflict", "Refused", "Unavailable"):
        assert getattr(eunoe, name) is globals()[name]


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(codec=None), max_size=200) | st.integers() | st.lists(st.text(max_size=40)) | st.none())
def test_a_shown_value_is_short_printable_and_quoted(value: object) -> None:
    text = shown(value)
    assert len(text) <= 80
    assert text.isprintable()
    assert json.loads(json.dumps(text)) == text
    assert text.encode("utf-8")


def test_a_short_text_is_shown_as_it_is() -> None:
    assert shown("Привет") == "'Привет'"
    assert shown("a\x1bb") == r"'a\x1bb'"
    assert shown(12) == "12"

"""Cursors: opaque, of one question, and safe to read whatever comes back."""

from __future__ import annotations

import zlib
from base64 import urlsafe_b64encode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.domain.canonical import canonical_bytes
from eunoe.errors import Invalid
from eunoe.service.cursor import new_cursor, read_cursor

QUESTION = "deploy in acme/api"


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**53 - 1), st.lists(st.text("0123456789abcdef-", max_size=36), max_size=20), st.integers(0, 999))
def test_a_cursor_says_what_was_put_into_it(now: int, seen: list[str], count: int) -> None:
    place = {"recorded_from": now, "memory": "m"}
    cursor = read_cursor(
        new_cursor(QUESTION, now, {"acme/api": now}, seen=seen, place=place, returned=count), question=QUESTION
    )
    assert (cursor.now, cursor.seen, cursor.place, cursor.returned) == (now, tuple(seen), place, count)


def test_a_cursor_is_plain_text_without_the_words_of_the_question() -> None:
    text = new_cursor("where is the secret plan", 1, {}, seen=["a"])
    assert text.isascii()
    assert text.replace("-", "").replace("_", "").isalnum()
    assert "secret" not in text


def test_a_cursor_of_another_question_is_refused() -> None:
    with pytest.raises(Invalid) as caught:
        read_cursor(new_cursor(QUESTION, 1, {}), question="another")
    assert caught.value.code == "bad_cursor"


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda raw: urlsafe_b64encode(raw).decode()))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        read_cursor(text, question=QUESTION)
    assert caught.value.code == "bad_cursor"


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_damaged_cursor_is_refused_or_unchanged(data: st.DataObject) -> None:
    text = new_cursor(QUESTION, 5, {}, seen=["m1", "m2"], returned=2)
    at = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:at] + data.draw(st.sampled_from("AZaz09-_")) + text[at + 1 :]
    try:
        assert read_cursor(damaged, question=QUESTION) == read_cursor(text, question=QUESTION)
    except Invalid as exc:
        assert exc.code == "bad_cursor"


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        {},
        {"q": None, "now": 1, "known": {}, "seen": [], "place": None, "returned": 0},
        {"now": "soon", "known": {}, "seen": [], "place": None, "returned": 0},
        {"now": 1, "known": 5, "seen": [], "place": None, "returned": 0},
        {"now": 1, "known": {"a": "soon"}, "seen": [], "place": None, "returned": 0},
        {"now": 1, "known": {}, "seen": 5, "place": None, "returned": 0},
        {"now": 1, "known": {}, "seen": [], "place": 5, "returned": 0},
        {"now": 1, "known": {}, "seen": [], "place": {"pinned": [1]}, "returned": 0},
    ],
    ids=str,
)
def test_a_forged_cursor_of_the_wrong_shape_is_refused(content: object) -> None:
    genuine = read_mark()
    if isinstance(content, dict) and content and "q" not in content:
        content = {"q": genuine, **content}
    text = urlsafe_b64encode(zlib.compress(canonical_bytes(content))).decode().rstrip("=")
    with pytest.raises(Invalid) as caught:
        read_cursor(text, question=QUESTION)
    assert caught.value.code == "bad_cursor"


def test_a_cursor_that_would_unpack_to_more_than_a_megabyte_is_refused() -> None:
    content = {"q": read_mark(), "now": 1, "known": {}, "seen": ["a" * 50_000_000], "place": None, "returned": 0}
    text = urlsafe_b64encode(zlib.compress(canonical_bytes(content))).decode()
    with pytest.raises(Invalid) as caught:
        read_cursor(text, question=QUESTION)
    assert caught.value.code == "bad_cursor"


def read_mark() -> str:
    """Return the mark that a cursor of our question carries."""
    import json
    from base64 import urlsafe_b64decode

    text = new_cursor(QUESTION, 1, {})
    mark: str = json.loads(zlib.decompress(urlsafe_b64decode(text + "=" * (-len(text) % 4))))["q"]
    return mark

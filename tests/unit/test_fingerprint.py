"""Exact identity: what counts as the same statement, and what never does."""

from __future__ import annotations

import hashlib
import hmac
import struct
import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from eunoe.domain.fingerprint import folded, key_fingerprint, text_fingerprint, value_fingerprint, words_fingerprint

SECRET, OTHER_SECRET = b"s" * 32, b"t" * 32
WORDS = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="`"), min_size=1, max_size=8), max_size=8)
BLANKS = st.sampled_from([" ", "  ", "\n", "\t", "\r\n ", "\N{NO-BREAK SPACE}"])


def fp(text: str, scope: str = "project", secret: bytes = SECRET) -> str:
    return text_fingerprint(secret, scope, text)


@settings(max_examples=150, deadline=None)
@given(WORDS, st.data())
def test_white_space_outside_code_does_not_matter(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    assume(text.split())
    spaced = data.draw(BLANKS) + "".join(word + data.draw(BLANKS) for word in text.split())
    assert fp(spaced) == fp(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The deploy runs on Fridays", "the DEPLOY runs on fridays".replace("DEPLOY", "Deploy")),
        ("Straße", "strasse"),
        ("café noir", unicodedata.normalize("NFD", "Café noir")),
        ("run `make  test` first", "Run   `make  test`\nfirst"),
        ("a\n\nb", "a b"),
    ],
)
def test_letter_case_and_spelling_of_the_same_words_do_not_matter(one: str, other: str) -> None:
    assert fp(one) == fp(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("run `make test`", "run `make  test`"),
        ("run `make test`", "run `Make test`"),
        ("run `make test`", "run make test"),
        ("```\na\n  b\n```", "```\na\nb\n```"),
        ("a `b`", "a`b`"),
        ("Likes the lemon tart", "Likes the plum tart"),
        ("Use parser 2.1", "Use parser 2.10"),
        ("the US office", "the us office"),
        ("call getUser", "call getuser"),
        ("it is safe", "it is not safe"),
        ("ab c", "a bc"),
        ("", "`"),
    ],
)
def test_texts_that_say_something_else_have_other_fingerprints(one: str, other: str) -> None:
    assert fp(one) != fp(other)


def test_a_fingerprint_is_the_same_in_every_process_and_version() -> None:
    # Stored fingerprints depend on it; hard tokens are a set, so their order must not be that of a hash table.
    parts = ["text", "project", "use api v2, never -v 2.10", "-V", "2.10", "never", "v2"]
    message = b"".join(struct.pack(">I", len(part)) + part.encode() for part in parts)
    assert fp("Use API v2, never -V 2.10") == hmac.new(SECRET, message, hashlib.sha256).hexdigest()[:32]


def test_scope_and_secret_keep_equal_texts_apart() -> None:
    assert len({fp("x"), fp("x", scope="user:kim"), fp("x", secret=OTHER_SECRET)}) == 3


def test_a_value_belongs_to_its_key_and_is_compared_like_a_text() -> None:
    one = value_fingerprint(SECRET, "project", "deploy/current", "Version 2")
    assert one == value_fingerprint(SECRET, "project", "deploy/current", " version  2 ")
    assert one != value_fingerprint(SECRET, "project", "deploy/next", "Version 2")
    assert one != value_fingerprint(SECRET, "project", "deploy/current", "Version 3")
    assert one != value_fingerprint(SECRET, "user:kim", "deploy/current", "Version 2")


def test_the_uses_of_a_fingerprint_never_meet() -> None:
    found = {
        key_fingerprint(SECRET, "project", "x"),
        text_fingerprint(SECRET, "project", "x"),
        value_fingerprint(SECRET, "project", "x", ""),
        words_fingerprint(SECRET, "project", ["x"], frozenset()),
    }
    assert len(found) == 4


def test_words_count_in_their_order_and_hard_tokens_count_too() -> None:
    one = words_fingerprint(SECRET, "project", ["deploy", "friday"], frozenset({"v2", "API"}))
    assert one == words_fingerprint(SECRET, "project", ["deploy", "friday"], frozenset({"API", "v2"}))
    assert one != words_fingerprint(SECRET, "project", ["friday", "deploy"], frozenset({"v2", "API"}))
    assert one != words_fingerprint(SECRET, "project", ["deploy", "deploy", "friday"], frozenset({"v2", "API"}))
    assert one != words_fingerprint(SECRET, "project", ["deploy", "friday"], frozenset({"v2"}))
    assert one != words_fingerprint(SECRET, "project", ["deploy"], frozenset({"v2", "API"}))
    assert one != words_fingerprint(SECRET, "user:kim", ["deploy", "friday"], frozenset({"v2", "API"}))


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_a_fingerprint_is_32_hexadecimal_characters(text: str) -> None:
    print_ = fp(text)
    assert len(bytes.fromhex(print_)) == 16
    assert print_ == fp(text)

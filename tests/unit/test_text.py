"""Text as it may be stored and shown."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.domain.text import REPLACEMENT, clipped, normalised, one_line, printable, storable
from eunoe.errors import Invalid

ANY = st.text(st.characters(exclude_characters="\0", codec=None), max_size=60)
FOX = "\N{FOX FACE}"


@settings(max_examples=200, deadline=None)
@given(ANY)
def test_what_may_be_stored_is_valid_utf_8(text: str) -> None:
    kept, repaired = storable(text, setting="body")
    kept.encode("utf-8", "strict")
    assert repaired == (kept != text)
    assert len(kept) <= len(text)


def test_half_a_surrogate_pair_becomes_the_replacement_character() -> None:
    assert storable("ok \ud83d end", setting="body") == (f"ok {REPLACEMENT} end", True)
    assert storable("\udd8a\ud83e", setting="body") == (REPLACEMENT * 2, True)


def test_two_halves_that_belong_together_become_their_character() -> None:
    assert storable("\ud83e\udd8a", setting="body")[0] == FOX


def test_a_nul_is_refused_and_its_place_is_named() -> None:
    with pytest.raises(Invalid) as caught:
        storable("ab\0c", setting="title")
    assert caught.value.code == "nul_character"
    assert "title" in caught.value.message


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40), st.integers(0, 50))
def test_a_clipped_text_is_never_longer_and_says_that_something_is_missing(text: str, limit: int) -> None:
    short = clipped(text, limit)
    assert len(short) <= limit
    if len(text) <= limit:
        assert short == text
    elif limit:
        assert short.endswith("…")
        assert text.startswith(short[:-1])


@pytest.mark.parametrize("limit", range(1, 13))
def test_no_cut_falls_inside_a_character(limit: int) -> None:
    short = clipped("a" * 9 + FOX + "b" * 100, limit)
    assert short.encode("utf-8")
    assert not any(0xD800 <= ord(char) <= 0xDFFF for char in short)


def test_no_cut_separates_a_mark_from_its_letter_or_ends_in_a_joiner() -> None:
    assert clipped("cafe\N{COMBINING ACUTE ACCENT} noir", 5) == "caf…"
    family = "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"
    for limit in range(1, 7):  # at 7 nothing is cut
        assert clipped("ab" + family, limit)[-2:-1] != "\N{ZERO WIDTH JOINER}"


@settings(max_examples=100, deadline=None)
@given(ANY)
def test_one_line_is_one_line_and_stays_so(text: str) -> None:
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert one_line(line) == line
    assert line.split() == text.split()


@settings(max_examples=200, deadline=None)
@given(ANY)
def test_nothing_that_is_printed_can_act_on_a_terminal(text: str) -> None:
    shown = printable(text)
    for char in shown:
        assert char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cs"), ascii(char)
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in shown


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\rb", r"a\x0db"),
        ("\x9b2J", r"\x9b2J"),
        ("\N{RIGHT-TO-LEFT OVERRIDE}gpj.exe", r"\u202egpj.exe"),
        ("\U000e0041", r"\U000e0041"),
        ("line\n\tnext", "line\n\tnext"),
        ("Привет → 🎉 été", "Привет → 🎉 été"),
        ("a\N{NO-BREAK SPACE}b", "a\N{NO-BREAK SPACE}b"),
    ],
    ids=ascii,
)
def test_control_characters_are_shown_and_words_are_left_alone(raw: str, seen: str) -> None:
    assert printable(raw) == seen


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=700), st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_a_long_text_is_normalised_like_a_short_one(text: str, form: str) -> None:
    assert normalised(form, text) == unicodedata.normalize(form, text)  # type: ignore[arg-type]


def test_a_hostile_run_of_marks_takes_linear_time() -> None:
    text = "a" + "\u0301\u0316" * 100_000
    begin = time.process_time()
    normalised("NFC", text)
    assert time.process_time() - begin < 2.0

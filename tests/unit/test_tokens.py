"""The light token counter against its oracle."""

from __future__ import annotations

import base64
import gzip
import threading
from heapq import heappop
from importlib.resources import files
from random import Random
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import oracle_tokens

from eunoe.models import tokens
from eunoe.models.tokens import count_tokens

# What the cutter decides by: cases, contractions, digits, every kind of white space, marks, emoji, unspaced scripts.
AWKWARD = st.text(
    alphabet=st.one_of(
        st.sampled_from("aAbBsStT'’019 \t\n\r\x0b\x0c\x1c\x85\xa0\u2028\u3000./#-_·…↔⚠⚠\ufe0f\u200d\u0301ſİßdžDžʰᵃ"),
        st.characters(codec="utf-8"),
    ),
    max_size=80,
)
PLAIN = st.text(alphabet=st.sampled_from("aAzZ'sStT09 \t\n\r\x0b\x0c\x1c./#-_·…↔⚠→"), max_size=80)


@settings(max_examples=500)
@given(AWKWARD | PLAIN)
def test_counts_are_those_of_the_oracle(text: str) -> None:
    assert count_tokens(text) == oracle_tokens(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Stripe webhooks need the raw body",
        "parseHTTPResponse2xx(snake_case, CONST_NAME) // don't",
        "値段は四千円です。" * 40,
        "Ежедневные заметки о развёртывании",
        "a" * 5000,
        "qzxj" * 1000,
        " " * 5000 + "x",
        "\n" * 3000,
        "🧑‍🚀👩🏽‍💻" * 30,
        "x\n\n\n  y\r\n\tz",
        "I'LL I'll i'Ll 'S 'ſ",
    ],
)
def test_counts_of_awkward_texts_are_those_of_the_oracle(text: str) -> None:
    assert count_tokens(text) == oracle_tokens(text)


@given(PLAIN)
def test_plain_text_is_cut_by_the_standard_library_as_by_the_whole_pattern(text: str) -> None:
    assert tokens._is_plain(text)
    assert tokens._cut_plain(text) == tokens._cut_everything()(text)


def test_half_a_surrogate_counts_as_a_question_mark() -> None:
    assert count_tokens("a\ud800b") == count_tokens("a?b")


def test_one_run_of_letters_is_no_quadratic_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted look-ups, not time: four times the letters need about four times the merges."""
    pops: list[object] = []

    def counting(heap: list[Any]) -> object:
        pops.append(None)
        return heappop(heap)

    monkeypatch.setattr(tokens, "heappop", counting)

    def merges(size: int) -> int:
        pops.clear()
        tokens._merged(Random(1).randbytes(size).hex().encode())  # no digit is next to its like for long
        return len(pops)

    small, large = merges(500), merges(2000)
    assert small > 300
    assert large <= small * 5


def test_the_file_of_ranks_holds_the_whole_vocabulary() -> None:
    packed = (files("bpe_openai.data") / "o200k_base.tiktoken.gz").read_bytes()
    lines = (line.split() for line in gzip.decompress(packed).splitlines())
    expected = {base64.b64decode(token): int(rank) for token, rank in lines}
    connection = apsw.Connection(tokens._RANKS, flags=apsw.SQLITE_OPEN_READONLY)
    assert dict(connection.execute("select token, rank from ranks")) == expected
    connection.close()


def test_threads_count_alike() -> None:
    text = "Многие языки, 値段, and English " * 20
    expected, found = count_tokens(text), []
    tokens._known.cache_clear()
    threads = [threading.Thread(target=lambda: found.append(count_tokens(text))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8

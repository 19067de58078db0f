"""Which tokens say nothing by themselves: punctuation and function words. Decided by a token's text alone."""

from __future__ import annotations

_WORDS = "the a an of to in on at for with and or is are was were be it that this as by ##s"
FUNCTION_WORDS = frozenset(_WORDS.split())

# What tokenizers put before a piece that begins a word.
_WORD_MARKS = "▁Ġ"


def says_nothing(token: str) -> bool:
    """Return whether a token is left out of comparisons token by token."""
    plain = token.lstrip(_WORD_MARKS)
    return plain.casefold() in FUNCTION_WORDS or not any(map(str.isalnum, plain))

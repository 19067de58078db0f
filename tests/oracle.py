"""The oracle of token counts: 150 MB and half a second, for tests only."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it reads its files in a way that importlib gave up
    import bpe_openai

_O200K = bpe_openai.get_encoding("o200k_base")


def oracle_tokens(text: str) -> int:
    """Return how many o200k tokens a text has."""
    return len(_O200K.encode(text))

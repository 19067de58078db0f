"""Light stemming by Snowball. Lean: the recall path of hooks loads it (0.7 ms)."""

from __future__ import annotations

import Stemmer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def english_stemmer() -> Callable[[list[str]], list[str]]:
    """Return a function from words to stems, in order. 1.5 µs for 14 words; the pure-Python one takes 233."""
    stem_words: Callable[[list[str]], list[str]] = Stemmer.Stemmer("english").stemWords
    return stem_words

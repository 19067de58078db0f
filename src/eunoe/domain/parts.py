"""A long text in parts that a model can read, cut where paragraphs and sentences end. Lean."""

from __future__ import annotations

PART = 1_200  # units of a part; a character of a script that packs words into few characters counts several
OVERLAP = 160  # units that a part repeats of the one before it, so that no sentence loses its surroundings
WIDE = 4
_WIDE_FROM = 0x2E80
_ENDS = ("\n\n", "\n", ". ", "! ", "? ", "。", "！", "？", "; ", ", ", " ")


def parts(text: str, *, most: int, size: int = PART, overlap: int = OVERLAP) -> list[tuple[int, int]]:
    """Return the [first, last) characters of each part; none for a text that is one part by itself.

    Together they cover the text. Past `most` parts the last one takes what is left. Linear in the length of the text.
    """
    if length(text) <= size:
        return []
    found: list[tuple[int, int]] = []
    first = 0
    while first < len(text):
        last = len(text) if len(found) == most - 1 else _end(text, first, size)
        found.append((first, last))
        if last >= len(text):
            break
        first = max(_beginning(text, last, overlap), first + 1)
    return found


def length(text: str) -> int:
    """Return the length of a text in units."""
    if text.isascii():
        return len(text)
    return sum(WIDE if ord(char) >= _WIDE_FROM else 1 for char in text)


def _end(text: str, first: int, size: int) -> int:
    """Return where a part ends: behind the last sentence that fits, or where the size is reached."""
    at, units = first, 0
    while at < len(text) and units < size:
        units += WIDE if ord(text[at]) >= _WIDE_FROM else 1
        at += 1
    if at >= len(text):
        return at
    least = first + (at - first) // 2
    for mark in _ENDS:
        place = text.rfind(mark, least, at)
        if place >= 0:
            return place + len(mark)
    return at


def _beginning(text: str, last: int, overlap: int) -> int:
    """Return where the part after one that ends at `last` begins: at the beginning of a sentence or word before it."""
    units, at = 0, last
    while at > 0 and units < overlap:
        at -= 1
        units += WIDE if ord(text[at]) >= _WIDE_FROM else 1
    for mark in _ENDS:
        place = text.find(mark, at, last - 1)
        if place >= 0:
            return place + len(mark)
    return last

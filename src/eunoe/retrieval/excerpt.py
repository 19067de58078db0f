"""The part of a long text that bears on a query, cut at words. Lean."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_BEFORE = 4  # a quarter of the window stands before the place that was found
_PLACES = 200  # occurrences of each term that are looked at
_BREAK = 40  # characters within which a cut looks for the end of a word


def excerpt(text: str, terms: Sequence[str], *, size: int) -> str:
    """Return about `size` characters of a text: where most of the terms stand close together, else its beginning.

    Args:
        text: Any length; searched for terms as they are spelled, so a stem finds the words that begin with it.
        terms: Analysed terms; none gives the beginning.
        size: Characters; what is left out on a side is marked by an ellipsis.
    """
    if len(text) <= size:
        return text
    start = max(_densest(text, terms, size) - size // _BEFORE, 0)
    start = _after_break(text, start) if start else 0
    end = min(start + size, len(text))
    end = _before_break(text, end, start) if end < len(text) else end
    shown = text[start:end].strip()
    return f"{'…' if start else ''}{shown}{'…' if end < len(text) else ''}"


def _densest(text: str, terms: Sequence[str], size: int) -> int:
    """Return where the window begins whose terms weigh most, a rare one more than a frequent one; the first of several.

    Each term counts once in a window, so that one word said over and over does not outweigh three that stand together.
    """
    lowered = text.lower()
    places = {term: ats for term in set(terms) if (ats := _occurrences(lowered, term))}
    inside = dict.fromkeys(places, 0)
    best, place, first = 0.0, 0, 0
    found = sorted((at, term) for term, each in places.items() for at in each)
    for at, term in found:
        inside[term] += 1
        while found[first][0] < at - size // 2:
            inside[found[first][1]] -= 1
            first += 1
        weight = sum(1 / len(places[each]) for each, times in inside.items() if times)
        if weight > best:
            best, place = weight, found[first][0]
    return place


def _occurrences(text: str, term: str) -> list[int]:
    places: list[int] = []
    at = text.find(term)
    while at >= 0 and len(places) < _PLACES:
        places.append(at)
        at = text.find(term, at + 1)
    return places


def _after_break(text: str, start: int) -> int:
    at = text.find(" ", start, start + _BREAK)
    return at + 1 if at >= 0 else start


def _before_break(text: str, end: int, start: int) -> int:
    at = text.rfind(" ", max(end - _BREAK, start), end)
    return at if at > start else end

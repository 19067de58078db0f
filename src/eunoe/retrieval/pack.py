"""Packing what was found into a budget of tokens: as much in full as fits, the rest as lines, the rest of that counted.

Pure: pieces come with what they cost, and costs add up exactly (`eunoe.domain.rendering`), so packing only adds. Lean.
"""

from __future__ import annotations

from typing import NamedTuple

from eunoe.domain.rendering import Piece

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Count = Callable[[str], int]

MORE = "More:\n"
BODIES_SHARE = 0.85  # of the budget, where not everything fits: an index of the rest is worth more than one more body


class Entry(NamedTuple):
    """Something to show.

    Attributes:
        id: The memory's.
        line: As one line.
        full: In full or as an excerpt; None for what is only ever a line.
        heading: Under which its line stands.
    """

    id: str
    line: Piece
    full: Piece | None = None
    heading: str = MORE


class Section(NamedTuple):
    """Entries in order, the most important first, and where their full text may stop.

    Attributes:
        heading: A line above their full text; empty for none.
        share: Of the budget, up to which bodies of this section and of those before it may go.
    """

    heading: str
    entries: Sequence[Entry]
    share: float = BODIES_SHARE


class Packed(NamedTuple):
    """What fits.

    Attributes:
        text: Whole lines, or empty when not even one fits.
        tokens: What it costs, by the pieces' own counts.
        full, lines: The ids of what is shown in full and as a line.
        omitted: How many entries are not shown at all.
    """

    text: str
    tokens: int
    full: tuple[str, ...]
    lines: tuple[str, ...]
    omitted: int


def pack(
    sections: Sequence[Section],
    *,
    budget: int,
    count: Count,
    order: Sequence[str] = (MORE,),
    beyond: int = 0,
    frame: int = 0,
) -> Packed:
    """Fill a budget: full text in order, then lines in order, then lines become full text while there is room.

    What is too long for the room left does not stop what comes after it. An entry is shown whole or not at all.

    Args:
        sections: In the order in which they stand; an id in several of them is shown where it comes first.
        budget: Tokens that the text may cost, with the frame around it. Shares are shares of it.
        count: Counts headings.
        order: Headings of lines in the order in which they are chosen and stand; below each in the order of sections.
        beyond: How many there are besides the entries; they are omitted in any case.
        frame: What stands around the text costs so much already.
    """
    return _Packing(sections, budget, count, order, beyond, frame).packed()


class _Packing:
    def __init__(
        self, sections: Sequence[Section], budget: int, count: Count, order: Sequence[str], beyond: int, frame: int
    ) -> None:
        self._sections = _without_repeats(sections)
        self._budget = budget
        self._count = count
        self._order = order
        self._beyond = beyond
        self._frame = frame
        self._full: set[str] = set()
        self._lines: set[str] = set()
        self._headings: set[str] = set()
        self._spent = frame

    def packed(self) -> Packed:
        total = sum(len(section.entries) for section in self._sections) + self._beyond
        if not self._all_fit():
            self._spent += self._count(_omitted(total))  # kept free, so that what is missing can be told
            self._fill_bodies()
            self._fill_lines()
            self._upgrade()
        omitted = total - len(self._full) - len(self._lines)
        if self._spent > self._budget:
            return Packed("", 0, (), (), total)
        text = "".join(self._written()) + (_omitted(omitted) if omitted else "")
        full = tuple(entry.id for _, entry in self._entries() if entry.id in self._full)
        lines = tuple(entry.id for _, entry in self._entries() if entry.id in self._lines)
        return Packed(text, self._spent - self._frame, full, lines, omitted)

    def _entries(self) -> Iterator[tuple[Section, Entry]]:
        return ((section, entry) for section in self._sections for entry in section.entries)

    def _all_fit(self) -> bool:
        """Take everything in full if that fits; what has no full text takes its line."""
        full = {entry.id for _, entry in self._entries() if entry.full is not None}
        lines = {entry.id for _, entry in self._entries() if entry.full is None}
        headings = {section.heading for section, entry in self._entries() if entry.full is not None}
        headings |= {entry.heading for _, entry in self._entries() if entry.full is None}
        spent = self._frame + sum((entry.full or entry.line).tokens for _, entry in self._entries())
        spent += sum(self._count(heading) for heading in headings if heading)
        spent += self._count(_omitted(self._beyond)) if self._beyond else 0
        if spent > self._budget:
            return False
        self._full, self._lines, self._headings, self._spent = full, lines, headings, spent
        return True

    def _take(self, tokens: int, heading: str, limit: float) -> bool:
        """Spend tokens, and what their heading costs if it is new, where the limit allows it."""
        price = tokens + (self._count(heading) if heading and heading not in self._headings else 0)
        if self._spent + price > limit:
            return False
        self._spent += price
        self._headings.add(heading)
        return True

    def _fill_bodies(self) -> None:
        for section, entry in self._entries():
            limit = section.share * self._budget
            if entry.full is not None and self._take(entry.full.tokens, section.heading, limit):
                self._full.add(entry.id)

    def _fill_lines(self) -> None:
        for heading in self._order:
            for _, entry in self._entries():
                if entry.heading != heading or entry.id in self._full:
                    continue
                if self._take(entry.line.tokens, heading, self._budget):
                    self._lines.add(entry.id)

    def _upgrade(self) -> None:
        for section, entry in self._entries():
            if entry.id not in self._lines or entry.full is None:
                continue
            if self._take(entry.full.tokens - entry.line.tokens, section.heading, self._budget):
                self._lines.discard(entry.id)
                self._full.add(entry.id)

    def _written(self) -> Iterator[str]:
        for section in self._sections:
            shown = [entry.full.text for entry in section.entries if entry.full is not None and entry.id in self._full]
            if shown and section.heading:
                yield section.heading
            yield from shown
        for heading in self._order:
            lines = [
                entry.line.text for _, entry in self._entries() if entry.id in self._lines and entry.heading == heading
            ]
            if lines:
                yield heading
                yield from lines


def _without_repeats(sections: Sequence[Section]) -> list[Section]:
    seen: set[str] = set()
    kept = []
    for section in sections:
        entries = []
        for entry in section.entries:
            if entry.id not in seen:
                seen.add(entry.id)
                entries.append(entry)
        kept.append(section._replace(entries=entries))
    return kept


def _omitted(number: int) -> str:
    return f"… {number:,} more, not shown\n"

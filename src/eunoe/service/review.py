"""Review: what needs tending. It reads, and proposes; the fixes are ordinary calls.

Its price is bounded: comparisons for duplicates have a fixed number, and every other question stops when it has found a
thousand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from eunoe.domain.instants import DAY_US, to_us
from eunoe.domain.memory import Memory
from eunoe.domain.text import one_line
from eunoe.ports.projects import Project
from eunoe.ports.store import View
from eunoe.ports.text_index import Filter
from eunoe.service.cap import Cap, standing
from eunoe.service.context import Context
from eunoe.service.duplicates import Likely, likely_duplicates

SHOWN = 20  # of each section
COUNTED = 1000  # and this many are counted
OVERSIZED_TOKENS = 600
STALE_DAYS = 30
UNREAD_DAYS = 90


class Entry(NamedTuple):
    """A memory to tend.

    Attributes:
        days: How long it has been so: disputed, waiting, unchanged, unread, or there.
        tokens: Of its full text, where that is known.
    """

    number: int
    kind: str
    title: str
    days: int
    tokens: int | None = None

    @property
    def name(self) -> str:
        """Return `#12 gotcha · Title`."""
        return f"#{self.number} {self.kind} · {one_line(self.title)}"


class Pair(NamedTuple):
    """Two memories that say nearly the same.

    Attributes:
        similarity: By their words, 0 to 1.
        linked: Whether they are linked already.
    """

    one: Entry
    other: Entry
    similarity: float
    linked: bool


class Section(NamedTuple):
    """One thing that needs tending.

    Attributes:
        name: `disputed`, `duplicates`, `pending`, `stale`, `oversized`, `unread` or `orphans`.
        advice: What to do, a sentence.
        total: How many there are; 1,000 stands for as many or more. Pairs are counted among those that were compared.
        items: The first 20.
    """

    name: str
    advice: str
    total: int
    items: tuple[Entry | Pair, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return the numbers of the memories that the items name, each once."""
        named = ((each.one, each.other) if isinstance(each, Pair) else (each,) for each in self.items)
        return tuple(dict.fromkeys(entry.number for entries in named for entry in entries))

    def lines(self) -> Iterator[str]:
        """Yield the section line by line: its head, then one line an item."""
        more = "+" if self.total >= COUNTED else ""
        yield f"{self.name.capitalize()} ({self.total:,}{more}): {self.advice}"
        for item in self.items:
            yield f"  {_pair_line(item)}" if isinstance(item, Pair) else f"  {item.name} · {_SAID[self.name](item)}"
        if self.total > len(self.items):
            yield f"  … and {self.total - len(self.items):,}{more} more"


class Review(NamedTuple):
    """What needs tending in a project, the most important first.

    Attributes:
        cap: How close it is to its cap; None without one.
        sections: Those that hold something.
    """

    project: str
    cap: Cap | None
    sections: tuple[Section, ...]

    def lines(self) -> Iterator[str]:
        """Yield the review in whole lines, so that a reader with little room can stop after any of them."""
        if self.cap is not None:
            yield f"{'⚠ ' if self.cap.is_near else ''}{self.project}: {self.cap.text}"
        for section in self.sections:
            yield from section.lines()
        if not self.sections:
            yield f"Nothing to tidy in {self.project}."

    @property
    def text(self) -> str:
        """Return all lines."""
        return "\n".join(self.lines())


_ADVICE = {
    "disputed": "confirm each, correct it with update, replace it (remember with supersedes), or archive it.",
    "duplicates": "say it once: remember the better text, superseding both, or link what belongs together.",
    "pending": "a person decides about these; until then no recall returns them.",
    "stale": f"states that nobody changed or confirmed in {STALE_DAYS} days: confirm, update or archive.",
    "oversized": f"over {OVERSIZED_TOKENS} tokens: split what holds several facts, and link the parts.",
    "unread": f"nobody read these in {UNREAD_DAYS} days: archive what nobody needs.",
    "orphans": "without a link to anything believed: link what belongs together, archive what is of no use.",
}

_SAID = {
    "disputed": lambda item: f"disputed {item.days}d",
    "pending": lambda item: f"waiting {item.days}d",
    "stale": lambda item: f"unchanged {item.days}d",
    "oversized": lambda item: f"{item.tokens or 0:,}t",
    "unread": lambda item: f"unread {item.days}d",
    "orphans": lambda item: f"{item.days}d",
}


def review(context: Context) -> Review:
    """Return what needs tending within what the caller may read; writes nothing and counts as no read.

    Sections, in this order: disputed; likely duplicates among the first 500 memories; pending; states that are stale;
    oversized texts; what nobody read in 90 days, if reads were noted that long; orphans. The cap counts all scopes.
    """
    with context.store.reading() as view:
        project = context.project(view)
        if project is None:
            return Review(project=context.slug, cap=None, sections=())
        found = _Tended(context, view, project)
        sections = tuple(section for section in found.sections() if section.total)
        return Review(project=project.slug, cap=standing(context, view, project.p), sections=sections)


class _Tended:
    """One review inside one consistent state."""

    def __init__(self, context: Context, view: View, project: Project) -> None:
        self._context = context
        self._view = view
        self._p = project.p
        self._now = context.moment(view, project)
        self._accept = Filter(scopes=context.scopes(), now=self._now)
        self._upkeep = view.upkeep(project.p)

    def sections(self) -> Iterator[Section]:
        """Yield all sections, empty ones too."""
        find, accept = self._upkeep.find, self._accept
        stale = self._now - STALE_DAYS * DAY_US
        yield self._section("disputed", find("disputed", accept, limit=COUNTED))
        yield self._duplicates()
        yield self._section("pending", find("pending", accept, limit=COUNTED))
        yield self._section("stale", find("stale", accept, before=stale, limit=COUNTED))
        yield self._section("oversized", find("oversized", accept, above=OVERSIZED_TOKENS, limit=COUNTED))
        yield self._section("unread", self._unread())
        yield self._section("orphans", find("orphans", accept, limit=COUNTED))

    def _section(self, name: str, idents: list[str]) -> Section:
        shown = idents[:SHOWN]
        memories = self._view.memories(self._p).read(shown, now=self._now)
        reads = self._context.signals.last_reads(self._p, shown) if name == "unread" else {}
        items = (self._entry(memory, _since(name, memory, reads)) for memory in memories.values())
        return Section(name=name, advice=_ADVICE[name], total=len(idents), items=tuple(items))

    def _unread(self) -> list[str]:
        """Return what nobody read; nothing as long as reads were not noted for all that time."""
        signals, since = self._context.signals, self._now - UNREAD_DAYS * DAY_US
        if signals.since(self._p) > since:
            return []
        before = since - since % DAY_US
        found = self._upkeep.find("unread", self._accept, before=before, limit=COUNTED)
        reads = signals.last_reads(self._p, found)  # what this process noted may not be written yet
        return [ident for ident in found if reads.get(ident, 0) < before]

    def _duplicates(self) -> Section:
        pairs = likely_duplicates(self._view, self._p, self._accept)
        items = tuple(self._pair(each) for each in pairs[:SHOWN])
        return Section(name="duplicates", advice=_ADVICE["duplicates"], total=len(pairs), items=items)

    def _pair(self, likely: Likely) -> Pair:
        one, other = likely.one, likely.other
        linked = self._view.memories(self._p).links(one.id, self._accept.scopes)
        return Pair(
            one=self._entry(one, to_us(one.created_at, setting="time")),
            other=self._entry(other, to_us(other.created_at, setting="time")),
            similarity=likely.likeness,
            linked=any(each.id == other.id for each in linked),
        )

    def _entry(self, memory: Memory, since: int) -> Entry:
        return Entry(
            number=memory.number,
            kind=memory.kind,
            title=memory.title,
            days=max(self._now - since, 0) // DAY_US,
            tokens=memory.tokens_full,
        )


def _since(name: str, memory: Memory, reads: dict[str, int]) -> int:
    """Return since when it has been so."""
    if name == "disputed" and memory.disputed_at is not None:
        return to_us(memory.disputed_at, setting="time")
    if name == "stale":
        return to_us(max(memory.recorded_from, memory.confirmed_at), setting="time")
    return max(to_us(memory.created_at, setting="time"), reads.get(memory.id, 0))


def _pair_line(pair: Pair) -> str:
    linked = " (linked)" if pair.linked else ""
    return f"{pair.one.name} ≈ {pair.other.name} · {pair.similarity:.2f}{linked}"

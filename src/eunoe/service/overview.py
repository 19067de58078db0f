"""The head of a briefing: how much a project holds of what, and what in it needs care."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from eunoe.domain.instants import from_us
from eunoe.domain.memory import Memory
from eunoe.domain.rendering import inline
from eunoe.domain.text import clipped
from eunoe.service.cap import FIX, Cap
from eunoe.service.context import Context
from eunoe.service.contradictions import contradictions

_LABELS = 8
_PAIRS = 3
_LABEL = 32  # characters of a tag


def overview(
    context: Context,
    *,
    labels: dict[str, int],
    last_at: int,
    room: Cap | None,
    disputed: Sequence[int],
    read: Iterable[Memory],
) -> str:
    """Return whole lines. Names that people gave are indented, as everything from a memory is."""
    believed = believed_in(labels)
    head = f"{context.slug} · {believed:,} {'memory' if believed == 1 else 'memories'}"
    lines = [f"{head} · last write {from_us(last_at):%Y-%m-%d}"]
    lines += [f"  {name}s: {counts}" for name in ("kind", "tag") if (counts := _top(labels, f"{name}:"))]
    if room is not None and room.is_near:
        lines.append(f"⚠ {room.text}: {FIX}")
    if disputed:
        lines.append(_disputed(disputed))
    return "".join(f"{line}\n" for line in (*lines, *_contradicting(context, read)))


def believed_in(labels: dict[str, int]) -> int:
    """Return how many memories the counts of kinds add up to."""
    return sum(n for label, n in labels.items() if label.startswith("kind:"))


def _disputed(numbers: Sequence[int]) -> str:
    names = ", ".join(f"#{number}" for number in numbers[:_LABELS])
    more = f", +{len(numbers) - _LABELS}" if len(numbers) > _LABELS else ""
    what = "memory" if len(numbers) == 1 else "memories"
    return f"⚠ {len(numbers)} disputed {what} ({names}{more}): confirm, correct or archive"


def _contradicting(context: Context, read: Iterable[Memory]) -> Iterator[str]:
    found = contradictions(read, context.analyser.terms)
    for later, earlier in found[:_PAIRS]:
        yield f"⚠ {_dated(later)} and {_dated(earlier)} differ only in a number, name or negation: which one holds?"
    if len(found) > _PAIRS:
        yield f"⚠ and {len(found) - _PAIRS} more such pairs"


def _dated(memory: Memory) -> str:
    return f"{memory.address} ({memory.confirmed_at:%Y-%m-%d})"


def _top(labels: dict[str, int], prefix: str) -> str:
    """Return the most frequent labels of one sort with their counts, and how many more there are."""
    found = sorted(((-n, label.removeprefix(prefix)) for label, n in labels.items() if label.startswith(prefix)))
    shown = ", ".join(f"{clipped(inline(name), _LABEL)} {-n:,}" for n, name in found[:_LABELS])
    return shown + (f", +{len(found) - _LABELS}" if len(found) > _LABELS else "")

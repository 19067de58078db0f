"""Reading memories in full, as an agent does: several at once, within a budget, a long one part by part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from eunoe.domain.address import Target
from eunoe.domain.instants import optional_us
from eunoe.domain.memory import Linked, Memory
from eunoe.domain.rendering import harmless
from eunoe.errors import Invalid, shown
from eunoe.ports.store import View
from eunoe.retrieval.pack import Entry, Section
from eunoe.service.context import Context
from eunoe.service.filters import check_budget
from eunoe.service.presenting import Presenter
from eunoe.service.read import get

READ_TOKENS = 6000
MOST = 50
_SAMPLE = 4000


class Read(NamedTuple):
    """Memories as they are, and as an agent reads them.

    Attributes:
        memories: In the order in which they were asked for, each once.
        text: Fenced, within the budget.
        tokens: What the text costs.
        shown: Ids of those that the text shows, in full or as a line.
        omitted: How many it does not show.
        next_offset: Where a long body goes on, when only one memory was asked for and not all of it was shown.
    """

    memories: tuple[Memory, ...]
    text: str
    tokens: int
    shown: tuple[str, ...]
    omitted: int
    next_offset: int | None


def show(
    context: Context,
    targets: Sequence[Target] = (),
    *,
    key: str | None = None,
    offset: int = 0,
    as_of: Any = None,
    known_at: Any = None,
    budget_tokens: int = READ_TOKENS,
) -> Read:
    """Return memories by address or key, whatever their status.

    Args:
        context: The session.
        targets: Up to 50 addresses.
        key: A key instead of, or besides, addresses.
        offset: Characters of the body to skip, for one memory.
        as_of, known_at: See `read.get`.
        budget_tokens: What the text may cost. A memory that does not fit is shown in part.

    Raises:
        NotFound: `no_memory`. Invalid: `bad_address`, `bad_offset`, `bad_budget`, `too_many`.
    """
    budget = check_budget(budget_tokens)
    wanted: list[dict[str, Any]] = [{"target": target} for target in dict.fromkeys(targets)]
    wanted += [] if key is None else [{"key": key}]
    if not wanted or len(wanted) > MOST:
        raise Invalid("bad_address", f"name 1 to {MOST} memories by number, id, me#12 or key")
    if isinstance(offset, bool) or not isinstance(offset, int) or offset < 0 or (offset and len(wanted) > 1):
        raise Invalid("bad_offset", f"offset={shown(offset)} must be a whole number of characters, for one memory")
    found = {memory.id: memory for each in wanted for memory in [get(context, **each, as_of=as_of, known_at=known_at)]}
    memories = tuple(found.values())
    with context.store.reading() as view:
        linked = {memory.id: _links(context, view, memory) for memory in memories}
        times = (optional_us(value, setting=name) for value, name in ((as_of, "as_of"), (known_at, "known_at")))
        now = next((time for time in times if time is not None), context.moment(view))
        presenter = Presenter(context, view, now=now, budget=budget)
        if len(memories) == 1:
            return _one(presenter, memories[0], linked[memories[0].id], offset, budget)
        entries = [_entry(presenter, memory, linked[memory.id]) for memory in memories]
        packed = presenter.fenced([Section("", entries, 1.0)], budget=budget)
    return Read(memories, packed.text, packed.tokens, (*packed.full, *packed.lines), packed.omitted, None)


def _links(context: Context, view: View, memory: Memory) -> list[Linked]:
    """Return what a memory, of whichever project, is linked to now."""
    there = context.named(memory.project)
    project = there.existing(view)
    return view.memories(project.p).links(memory.id, there.scopes(), now=there.moment(view, project))


def _entry(presenter: Presenter, memory: Memory, linked: Sequence[Linked]) -> Entry:
    return Entry(memory.id, presenter.line(memory, links=len(linked)), presenter.full(memory, linked))


def _one(presenter: Presenter, memory: Memory, linked: Sequence[Linked], offset: int, budget: int) -> Read:
    """Show as much of one memory as the budget holds, from `offset` on."""
    left = len(memory.body) - offset
    if left <= 0 and offset:
        raise Invalid(
            "bad_offset", f"offset={offset:,} lies behind the end; the body has {len(memory.body):,} characters"
        )
    line = presenter.line(memory, links=len(linked))
    size = min(left, _guess(presenter, memory.body[offset : offset + _SAMPLE], budget))
    while True:
        piece = presenter.slice(memory, linked, offset, size)
        packed = presenter.fenced([Section("", [Entry(memory.id, line, piece)], 1.0)], budget=budget)
        if packed.full or size < 2:
            break
        size = min(size * 3 // 4, max(size * budget // max(piece.tokens, 1), 1))
    end = offset + size
    more = end if packed.full and end < len(memory.body) else None
    return Read((memory,), packed.text, packed.tokens, (*packed.full, *packed.lines), packed.omitted, more)


def _guess(presenter: Presenter, sample: str, budget: int) -> int:
    """Return about how many characters a budget holds, by what the beginning costs: counting all would take seconds."""
    tokens = presenter.count(harmless(sample)) if sample else 1
    return max(len(sample) * budget // max(tokens, 1), 1)

"""Related: what a memory is linked to, and what that is linked to, up to three steps away."""

from __future__ import annotations

from typing import NamedTuple

from eunoe.domain.address import Target, parse_address
from eunoe.domain.memory import Memory
from eunoe.errors import Invalid, shown
from eunoe.ports.projects import Project
from eunoe.ports.store import View
from eunoe.retrieval.pack import Section
from eunoe.service.context import Context
from eunoe.service.filters import check_budget
from eunoe.service.find import find_id
from eunoe.service.presenting import Presenter, whole

HOPS = 3
DEFAULT_TOKENS = 800
_MOST = 100  # memories that a walk returns: more than any budget shows


class Step(NamedTuple):
    """A memory that was reached, and over how many links."""

    memory: Memory
    hops: int


class Related(NamedTuple):
    """What was reached, the nearest first, by number within a hop; and as an agent reads it.

    Attributes:
        shown: Ids of those that the text shows, in full or as a line.
        omitted: How many it does not show.
    """

    memories: tuple[Step, ...]
    text: str
    tokens: int
    shown: tuple[str, ...]
    omitted: int


def related(context: Context, target: Target, *, hops: int = 1, budget_tokens: int = DEFAULT_TOKENS) -> Related:
    """Walk the links of a memory. Each memory is returned once, at its shortest distance; retired ones are passed by.

    Args:
        context: The session.
        target: Where the walk begins; not part of the answer.
        hops: 1 to 3.
        budget_tokens: What the text may cost.

    Raises:
        NotFound: `no_memory`. Invalid: `bad_hops`, `bad_budget`.
    """
    if isinstance(hops, bool) or not isinstance(hops, int) or not 1 <= hops <= HOPS:
        raise Invalid("bad_hops", f"hops={shown(hops)} must be 1 to {HOPS}")
    budget = check_budget(budget_tokens)
    address = parse_address(target)
    context = context.named(address.project)
    with context.store.reading() as view:
        project = context.existing(view)
        now = context.moment(view, project)
        ident = find_id(context, view, project, address, at=now)
        steps = _walk(context, view, project, ident, hops, now)
        presenter = Presenter(context, view, now=now, budget=budget)
        if not steps:
            text = f"{address} is linked to nothing that is believed now."
            return Related((), *whole(text, budget=budget, count=presenter.count), (), 0)
        sections = [
            Section(_heading(hop), [presenter.entry(step.memory, project) for step in steps if step.hops == hop])
            for hop in range(1, hops + 1)
        ]
        packed = presenter.fenced(sections, budget=budget)
    context.signals.note_reads(project.p, packed.full, context.clock.now_us())
    return Related(tuple(steps), packed.text, packed.tokens, (*packed.full, *packed.lines), packed.omitted)


def _heading(hop: int) -> str:
    return "Linked:\n" if hop == 1 else f"{hop} links away:\n"


def _walk(context: Context, view: View, project: Project, ident: str, hops: int, now: int) -> list[Step]:
    memories, scopes = view.memories(project.p), context.scopes()
    seen, edge, steps = {ident}, [ident], list[Step]()
    for hop in range(1, hops + 1):
        near = {each.id: each.number for start in edge for each in memories.links(start, scopes, now=now)}
        edge = sorted(near.keys() - seen, key=near.__getitem__)[: _MOST - len(steps)]
        seen.update(edge)
        found = memories.read(edge, now=now)
        steps += [Step(found[each], hop) for each in edge]
    return steps

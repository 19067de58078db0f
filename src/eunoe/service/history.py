"""The history of a memory or a key as an agent reads it: one line for each thing that happened, the newest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from eunoe.domain.address import Target
from eunoe.domain.rendering import Piece, author, inline
from eunoe.ports.store import View
from eunoe.retrieval.pack import Entry, Section
from eunoe.service.context import Context
from eunoe.service.filters import check_budget
from eunoe.service.presenting import Presenter
from eunoe.service.read import Step, history

DEFAULT_TOKENS = 1500

_WORDS = {
    "memory.recorded": "recorded",
    "memory.revised": "updated",
    "memory.confirmed": "confirmed",
    "memory.disputed": "disputed",
    "memory.archived": "archived",
    "memory.forgotten": "forgotten",
    "memory.restored": "restored",
    "link.made": "linked",
    "link.cut": "unlinked",
}


class Told(NamedTuple):
    """What happened, the newest first, as far as the text shows it; and the text, within its budget."""

    steps: tuple[dict[str, Any], ...]
    text: str
    tokens: int
    omitted: int


def history_text(
    context: Context, target: Target | None = None, *, key: str | None = None, budget_tokens: int = DEFAULT_TOKENS
) -> Told:
    """Return everything that happened to a memory, or to all that ever held a key.

    Raises:
        NotFound: `no_memory`, `no_project`. Invalid: `bad_address`, `bad_budget`.
    """
    budget = check_budget(budget_tokens)
    steps = history(context, target, key=key)[::-1]
    with context.store.reading() as view:
        presenter = Presenter(context, view, now=context.moment(view), budget=budget)
        numbers = _numbers(context, view, steps)
        entries = [_entry(presenter, step, numbers) for step in steps]
        packed = presenter.fenced([Section("", entries, 1.0)], budget=budget)
    shown = {*packed.full, *packed.lines}
    facts = tuple(_facts(step) for step in steps if step.event in shown)
    return Told(facts, packed.text, packed.tokens, packed.omitted)


def _numbers(context: Context, view: View, steps: Sequence[Step]) -> dict[str, int]:
    """Return the numbers of the memories that links lead to."""
    project = context.project(view)
    idents = list(dict.fromkeys(step.meta[end] for step in steps for end in ("a", "b") if end in step.meta))
    if project is None or not idents:
        return {}
    found = view.memories(project.p).read(idents, now=context.moment(view, project))
    return {ident: memory.number for ident, memory in found.items()}


def _entry(presenter: Presenter, step: Step, numbers: dict[str, int]) -> Entry:
    word = f"{step.recorded_at:%Y-%m-%d %H:%M} {_word(step, numbers)} by {author(step.origin)}"
    if step.version is None:
        text = f"- {inline(word)}\n"
        piece = Piece(text, presenter.count(text))
        return Entry(step.event, piece, piece)
    return Entry(
        step.event,
        presenter.line(step.version, mark=f"v{step.version.version} {word}"),
        presenter.dated(step.version, word),
    )


def _word(step: Step, numbers: dict[str, int]) -> str:
    ends = [f"#{numbers[step.meta[end]]}" for end in ("a", "b") if step.meta.get(end) in numbers]
    if ends:
        return f"{_WORDS[step.type]} {' and '.join(ends)}"
    fields = ", ".join(step.meta.get("fields", ()))
    return _WORDS.get(step.type, step.type) + (f" ({fields})" if fields else "")


def _facts(step: Step) -> dict[str, Any]:
    number = {} if step.version is None else {"number": step.version.number, "version": step.version.version}
    return {"type": step.type, "recorded_at": step.recorded_at.isoformat(), **number}

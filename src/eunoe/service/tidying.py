"""A review as an agent reads it: whole lines within a budget, the most important first."""

from __future__ import annotations

from typing import NamedTuple

from eunoe.domain.rendering import Piece, harmless
from eunoe.retrieval.pack import Entry, Section
from eunoe.service.context import Context
from eunoe.service.filters import check_budget
from eunoe.service.presenting import Presenter, whole
from eunoe.service.review import Review, review

DEFAULT_TOKENS = 1500


class Tidying(NamedTuple):
    """What needs tending, the text within its budget, and how many of its lines are not shown."""

    review: Review
    text: str
    tokens: int
    omitted: int


def review_text(context: Context, *, budget_tokens: int = DEFAULT_TOKENS) -> Tidying:
    """Return a review as text.

    Raises:
        Invalid: `bad_budget`.
    """
    budget = check_budget(budget_tokens)
    found = review(context)
    lines = [harmless(line) + "\n" for line in found.lines()]
    with context.store.reading() as view:
        presenter = Presenter(context, view, now=context.moment(view), budget=budget)
        if not found.sections:
            told, tokens = whole("".join(lines).rstrip("\n"), budget=budget, count=presenter.count)
            return Tidying(found, told, tokens, 0 if told else len(lines))
        pieces = (Piece(line, presenter.count(line)) for line in lines)
        entries = [Entry(str(at), piece, piece) for at, piece in enumerate(pieces)]
        packed = presenter.fenced([Section("", entries, 1.0)], budget=budget)
    return Tidying(found, packed.text, packed.tokens, packed.omitted)

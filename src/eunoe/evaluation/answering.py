"""A project of memories, written through the front door and asked through it: the names of the data come back.

`remember_many` writes, `recall` asks; nothing here reaches around them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from eunoe.errors import Invalid, Unavailable
from eunoe.retrieval.recipes import MULTIPLIERS
from eunoe.service.context import Context
from eunoe.service.flush import flush
from eunoe.service.lifecycle import archive, restore
from eunoe.service.recall import recall
from eunoe.service.remember import remember_many

DEPTH = 50


class Answer(NamedTuple):
    """What a question found: names and their evidence, best first."""

    names: tuple[str, ...]
    evidence: tuple[float, ...]

    @property
    def top(self) -> float:
        """Return the largest evidence; 0 for nothing found."""
        return max(self.evidence, default=0.0)

    def evidence_of(self, gold: Collection[str]) -> float:
        """Return the largest evidence of any of these; 0 where none was found."""
        found = (number for name, number in zip(self.names, self.evidence, strict=True) if name in gold)
        return max(found, default=0.0)


class Shelf(NamedTuple):
    """A project whose memories have names."""

    context: Context
    names: Mapping[str, str]

    def ask(self, question: str, *, limit: int = DEPTH) -> Answer:
        """Ask, and return the answer in the names of the data.

        Raises:
            Unavailable: `degraded`: something failed, so that the answer says nothing about how well memory answers.
        """
        answer = recall(self.context, question, limit=limit)
        if answer.degraded:
            raise Unavailable("degraded", f"a search was not whole: {', '.join(answer.degraded)}; mend that first")
        hits = answer.hits
        return Answer(tuple(self.names[hit.memory.id] for hit in hits), tuple(hit.evidence for hit in hits))

    def ask_without(self, gold: Collection[str], question: str) -> Answer:
        """Ask while these memories are put away, and bring them back."""
        idents = [ident for ident, name in self.names.items() if name in gold]
        for ident in idents:
            archive(self.context, ident)
        answer = self.ask(question)
        for ident in idents:
            restore(self.context, ident)
        settled(self.context)
        return answer


def write(context: Context, slug: str, items: Iterable[tuple[str, Mapping[str, Any]]]) -> Shelf:
    """Write memories into a project of their own, in one transaction; each is a memory of its own afterwards.

    Args:
        context: A session in the store.
        slug: The project, which holds nothing yet.
        items: Names, and the fields of `remember`.

    Raises:
        Invalid: `bad_evaluation_data`: a memory was taken for one that is there, or took another's place.
    """
    there = context._replace(slug=slug, identity=None)
    names, fields = zip(*items, strict=True)
    receipts = remember_many(there, fields)
    if any(each.outcome != "recorded" for each in receipts):
        lost = ", ".join(name for name, each in zip(names, receipts, strict=True) if each.outcome != "recorded")
        raise Invalid("bad_evaluation_data", f"not every memory of the data stands for itself: {lost}")
    return Shelf(there, {receipt.id: name for name, receipt in zip(names, receipts, strict=True)})


def settled(context: Context) -> None:
    """Wait until everything that was written is searchable by meaning, too; at once without a model.

    Raises:
        Unavailable: `degraded`: some texts could not be embedded; or the model cannot be loaded.
    """
    done = flush(context)
    if done.waiting or done.dead:
        missing = done.waiting + done.dead
        raise Unavailable("degraded", f"{missing} texts were not embedded ({done.error or 'no reason given'})")


def embedder_of(context: Context) -> Any:
    """Return the session's model, see `eunoe.ports.embedder`; None without one.

    Raises:
        Unavailable: it cannot be loaded.
    """
    return context.semantics.embedder() if context.semantics.wanted else None


def facts(context: Context) -> dict[str, Any]:
    """Return what answers in a session: its model, `none` without one, and its recipe."""
    embedder, recipe = embedder_of(context), context.recipe
    return {
        "model": "none" if embedder is None else embedder.name,
        "fingerprint": None if embedder is None else embedder.fingerprint,
        "token_states": embedder is not None and context.semantics.keeps_states,
        "recipe": recipe.name,
        "switched_off": [name for name in MULTIPLIERS if getattr(recipe, name) in ({}, 1.0)],
    }

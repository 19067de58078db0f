"""Putting a question to projects: embedded once, before any transaction is open, and read against each of them."""

from __future__ import annotations

from typing import NamedTuple

from eunoe.errors import EunoeError, Invalid
from eunoe.ports.embedder import Meaning
from eunoe.ports.projects import Project
from eunoe.ports.store import View
from eunoe.ports.text_index import Filter
from eunoe.retrieval.pipeline import Searched, search
from eunoe.retrieval.question import Question
from eunoe.retrieval.reach import Reach
from eunoe.service.context import Context

VECTOR = "vector"


class Asked(NamedTuple):
    """A query and its meaning, or why it has none."""

    text: str
    meaning: Meaning | None = None
    failure: EunoeError | None = None

    def put(
        self,
        context: Context,
        view: View,
        project: Project,
        accept: Filter,
        *,
        min_evidence: float = 0.0,
        min_score: float = 0.0,
        explain: bool = False,
    ) -> Searched:
        """Return what a project has for the query; a model that fails is one of the failures, and words answer."""
        sight, failure = None, self.failure
        if self.meaning is not None:
            try:
                sight = context.semantics.sight(view, project.p)
            except EunoeError as exc:
                failure = exc
        question = Question(self.text, context.analyser, now=accept.now, meaning=self.meaning if sight else None)
        reach = Reach(question, view.index(project.p), accept, context.recipe, sight)
        found = search(
            reach,
            lanes=context.lanes,
            embedder=context.semantics.name if sight else "",
            min_evidence=min_evidence,
            min_score=min_score,
            explain=explain,
        )
        if failure is not None:
            found.failures.setdefault(VECTOR, failure)
        if context.reranking is not None:
            memories = view.memories(project.p)
            found.is_reranked = context.reranking.look(
                self.text, found, memories, now=accept.now, known_at=accept.known_at
            )
        return found


def ask(context: Context, text: str) -> Asked:
    """Return a query, embedded where there is a model. Call it before a transaction: a model may take long."""
    try:
        return Asked(text, context.semantics.ask(text))
    except Invalid:
        raise
    except EunoeError as exc:
        return Asked(text, failure=exc)

"""What the lanes of one query reach of one project. Lean."""

from __future__ import annotations

from eunoe.ports.text_index import Statistics
from eunoe.retrieval.score import Frequencies, Weights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eunoe.ports.text_index import Filter, TextIndex
    from eunoe.retrieval.question import Question
    from eunoe.retrieval.recipes import Recipe
    from eunoe.retrieval.semantics import Sight


class Reach:
    """A question, the state of the project that it is put to, and what is counted on the way, once for all lanes.

    Attributes:
        question: What is asked.
        index: The project's text index.
        accept: What may be returned.
        recipe: Lanes, weights, limits.
        sight: What meaning can be searched for; None without a model, or while nothing is embedded.
        statistics: Of the question's terms.
        weights: What each term is worth.
        counted: How often the terms stand in the passages looked at so far.
    """

    def __init__(
        self, question: Question, index: TextIndex, accept: Filter, recipe: Recipe, sight: Sight | None = None
    ) -> None:
        self.question = question
        self.index = index
        self.accept = accept
        self.recipe = recipe
        self.sight = sight
        self.statistics = _statistics(question, index, accept)
        self.weights = Weights(question.terms, self.statistics, recipe)
        self.counted = Frequencies(self.weights.idf, recipe)


def _statistics(question: Question, index: TextIndex, accept: Filter) -> Statistics:
    """Statistics count what is believed now; a word that only an earlier version held must still be looked for."""
    found = index.statistics(question.terms, accept.scopes)
    if accept.known_at is None:
        return found
    df = {term: found.df.get(term, 1) for term in question.terms}
    return Statistics(max(found.documents, 1), found.length, df)

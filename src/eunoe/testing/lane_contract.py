"""The contract suite of `eunoe.ports.lane`; see `eunoe.testing.contracts`.

A suite asks for `store`, and for `case`: a lane with a question that it answers out of what `remember_fruit` wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from eunoe.domain.analyse import Analyser
from eunoe.ports.lane import Found, Lane
from eunoe.ports.store import Store, View
from eunoe.ports.text_index import Filter
from eunoe.retrieval.question import Question
from eunoe.retrieval.reach import Reach
from eunoe.retrieval.recipes import DEFAULT
from eunoe.retrieval.semantics import Semantics
from eunoe.testing.clock import START_US
from eunoe.testing.contracts import LATER_US, now_filter
from eunoe.testing.records import Recorder

ANALYSER = Analyser(lambda words: words)
_YEAR_US = 366 * 86_400_000_000

# Each answers every question of a case, two of them equally well; the last one answers none.
_FRUIT = (
    "apple pie abc-417",
    "apple apple abc-417",
    "a long list with an apple and abc-417 in it",
    "apple pie abc-417",
)
_OTHER = "zucchini"


def _nothing(store: Store) -> None:
    del store


class LaneCase(NamedTuple):
    """A lane, and how to ask it.

    Attributes:
        lane: What is tested.
        question: It finds by it what was said of apples, of abc-417, on the first days of 2026.
        semantics: The model, for a lane that needs one.
        settle: Called after writing: lets the model read what was written.
    """

    lane: Lane
    question: str
    semantics: Semantics = Semantics()  # has no model, and never changes
    settle: Callable[[Store], None] = _nothing

    def reach(self, view: View, p: int, accept: Filter, question: str | None = None) -> Reach:
        """Return what the lane is given."""
        text = self.question if question is None else question
        sight = self.semantics.sight(view, p) if self.semantics.wanted else None
        meaning = self.semantics.ask(text) if sight is not None else None
        asked = Question(text, ANALYSER, now=LATER_US, meaning=meaning)
        return Reach(asked, view.index(p), accept, DEFAULT, sight)

    def find(
        self, recorder: Recorder, question: str | None = None, *, explain: bool = False, **how: Any
    ) -> list[Found]:
        """Return what the lane finds for the question, in a transaction of its own."""
        with recorder.store.reading() as view:
            reach = self.reach(view, recorder.p, now_filter(**how), question)
            return list(self.lane.find(reach, explain=explain))


def remember_fruit(recorder: Recorder, case: LaneCase) -> list[str]:
    """Write what a case's question is answered by, and something else long before; return the ids of the former."""
    recorder.remember(_OTHER, valid_from=START_US - _YEAR_US)
    idents = [recorder.remember(body, tags=["fruit"] * (at == 1)) for at, body in enumerate(_FRUIT)]
    case.settle(recorder.store)
    return idents


def told(found: Sequence[Found]) -> list[tuple[str, float]]:
    """Return what was found, as values."""
    return [(each.passage.memory, each.raw) for each in found]


class LaneContract:
    """`eunoe.ports.lane.Lane`, by whatever a lane finds."""

    def test_it_finds_what_answers_its_question_once_each(self, store: Store, case: LaneCase) -> None:
        recorder = Recorder(store)
        idents = remember_fruit(recorder, case)
        found = [each.passage.memory for each in case.find(recorder)]
        assert len(set(found)) == len(found)
        assert set(idents) <= set(found)

    def test_it_finds_the_best_first_and_breaks_ties_by_id(self, store: Store, case: LaneCase) -> None:
        recorder = Recorder(store)
        idents = remember_fruit(recorder, case)
        found = case.find(recorder)
        assert found == sorted(found, key=lambda each: (-each.raw, each.passage.memory))
        raw = {each.passage.memory: each.raw for each in found}
        assert raw[idents[0]] == raw[idents[3]]

    def test_equal_inputs_give_equal_output_whether_it_explains_or_not(self, store: Store, case: LaneCase) -> None:
        recorder = Recorder(store)
        remember_fruit(recorder, case)
        first = case.find(recorder)
        assert told(first) == told(case.find(recorder)) == told(case.find(recorder, explain=True))
        assert all(each.detail == {} for each in first)

    def test_another_project_moves_no_answer(self, store: Store, case: LaneCase) -> None:
        recorder = Recorder(store)
        remember_fruit(recorder, case)
        before = told(case.find(recorder))
        remember_fruit(Recorder(store, slug="acme/other"), case)
        assert told(case.find(recorder)) == before

    def test_it_finds_nothing_that_the_reader_may_not_see(self, store: Store, case: LaneCase) -> None:
        recorder = Recorder(store)
        idents = remember_fruit(recorder, case)
        hidden = [
            recorder.remember(_FRUIT[0], scope="user:kim"),
            recorder.remember(_FRUIT[0], status="pending"),
            recorder.remember(_FRUIT[0], valid_to=LATER_US - 1),
            recorder.remember(_FRUIT[0]),
        ]
        case.settle(store)
        recorder.record("memory.archived", {"memory": hidden[-1], "by": "application"})
        found = case.find(recorder)
        assert all(each.passage.visible for each in found)
        assert set(hidden).isdisjoint(each.passage.memory for each in found)
        assert set(idents) <= {each.passage.memory for each in found}
        assert hidden[0] in {each.passage.memory for each in case.find(recorder, scopes=("project", "user:kim"))}

    def test_what_does_not_pass_takes_no_place_of_what_does(self, store: Store, case: LaneCase) -> None:
        recorder = Recorder(store)
        idents = remember_fruit(recorder, case)
        for at in range(DEFAULT.nearest + 5):
            recorder.remember(f"{_FRUIT[0]} {at}", scope="user:kim")
        case.settle(store)
        assert [each.passage.memory for each in case.find(recorder, tags=("fruit",))] == [idents[1]]
        assert set(idents) <= {each.passage.memory for each in case.find(recorder)}

    def test_what_was_known_then_is_found_in_the_words_of_then(self, store: Store, case: LaneCase) -> None:
        recorder = Recorder(store)
        idents = remember_fruit(recorder, case)
        known = recorder.now
        recorder.record("memory.revised", {"memory": idents[1], "version": 2}, {"body": _OTHER})
        case.settle(store)
        then = {each.passage.memory: each.passage.version for each in case.find(recorder, known_at=known)}
        assert then[idents[1]] == 1
        assert case.find(recorder, known_at=START_US) == []

    def test_it_finds_nothing_where_nothing_is(self, store: Store, case: LaneCase) -> None:
        recorder = Recorder(store)
        case.settle(store)
        assert case.find(recorder) == []
        ident = recorder.remember(_OTHER, valid_from=START_US - _YEAR_US)
        case.settle(store)
        recorder.record("memory.archived", {"memory": ident, "by": "application"})
        assert case.find(recorder) == []

    def test_it_is_asked_nothing_by_a_question_without_content(self, store: Store, case: LaneCase) -> None:
        recorder = Recorder(store)
        remember_fruit(recorder, case)
        if not case.semantics.wanted:
            assert case.find(recorder, "?") == []


class WordLaneContract:
    """`eunoe.ports.lane.Lane`, of lanes that look for what the question spells out."""

    def test_it_finds_only_what_holds_a_word_of_the_question(self, store: Store, case: LaneCase) -> None:
        recorder = Recorder(store)
        idents = remember_fruit(recorder, case)
        assert {each.passage.memory for each in case.find(recorder)} == set(idents)
        assert case.find(recorder, "plum-9") == []

    def test_a_title_is_looked_into_and_what_was_found_is_told(self, store: Store, case: LaneCase) -> None:
        recorder = Recorder(store)
        titled = recorder.remember("something", title="apple abc-417")
        [found] = case.find(recorder, explain=True)
        assert found.passage.memory == titled
        assert set(found.detail["terms"]) & {"apple", "abc-417"}

"""The keyword lane over an index that answers from plain lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.domain.postings import pack, term_names
from eunoe.ports.text_index import Filter, Passage, Statistics
from eunoe.retrieval.lanes.keyword import KeywordLane, selective
from eunoe.retrieval.recipes import WORDS
from eunoe.retrieval.score import Weights

ACCEPT = Filter(scopes=("project",), now=0)
WORD = st.sampled_from(["deploy", "webhook", "stripe", "body", "raw"])


class ListIndex:
    """A `TextIndex` over passages in a list; ranks candidates by their row number. Counts what was asked."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = list(passages)
        self.selected_by: list[tuple[str, ...]] = []

    def statistics(self, terms: Sequence[str], scopes: Sequence[str]) -> Statistics:
        df = {term: sum(term in term_names(each.terms) for each in self.passages) for term in terms}
        held = {term: count for term, count in df.items() if count}
        return Statistics(len(self.passages), sum(each.length for each in self.passages), held)

    def candidates(self, terms: Sequence[str], accept: Filter, *, limit: int) -> list[Passage]:
        self.selected_by.append(tuple(terms))
        found = [each for each in self.passages if each.visible and set(terms) & set(term_names(each.terms))]
        return found[:limit]

    def neighbours(self, ranges: Sequence[tuple[str, int, int]], accept: Filter) -> list[Passage]:
        return [
            each
            for each in self.passages
            if any(each.session == session and first <= (each.turn or 0) <= last for session, first, last in ranges)
        ]

    def browse(
        self, accept: Filter, *, order: str, after: Mapping[str, Any] | None, limit: int
    ) -> list[tuple[Passage, dict[str, Any]]]:
        raise NotImplementedError("the keyword lane never browses")

    def count(self, accept: Filter) -> int:
        raise NotImplementedError("the keyword lane never counts")


def passage(
    rid: int, words: str, *, session: str | None = None, turn: int | None = None, visible: int = 1, memory: str = ""
) -> Passage:
    terms = words.split()
    return Passage(
        rid, memory or f"m{rid:03}", 1, session, turn, len(terms), pack((terms, [], [], [])), "stated", visible
    )


def find(index: ListIndex, *terms: str) -> list[tuple[str, float]]:
    found = KeywordLane().find(terms, index, ACCEPT, recipe=WORDS)
    return [(each.passage.memory, each.evidence) for each in found]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(WORD, max_size=6), min_size=1, max_size=8),
    st.lists(st.sampled_from(["deploy", "webhook", "raw", "unknown"]), min_size=1, unique=True),
)
def test_evidence_is_a_share_of_one_in_the_order_of_bm25(bodies: list[list[str]], query: list[str]) -> None:
    index = ListIndex([passage(at, " ".join(words)) for at, words in enumerate(bodies)])
    found = KeywordLane().find(query, index, ACCEPT, recipe=WORDS)
    assert [each.raw for each in found] == sorted((each.raw for each in found), reverse=True)
    assert [each.evidence for each in found] == sorted((each.evidence for each in found), reverse=True)
    assert all(0 < each.evidence <= 1 for each in found)
    reach = Weights(query, index.statistics(query, ()), WORDS).reach
    assert all(abs(each.evidence - each.raw / reach) < 1e-8 for each in found)


def test_ties_are_broken_by_the_memorys_id() -> None:
    index = ListIndex([passage(1, "deploy", memory="z"), passage(2, "deploy", memory="a"), passage(3, "raw")])
    assert [memory for memory, _ in find(index, "deploy")] == ["a", "z"]


def test_a_memory_is_found_once_by_its_best_passage() -> None:
    index = ListIndex([passage(1, "deploy raw raw raw", memory="a"), passage(2, "deploy", memory="a"), passage(3, "x")])
    found = KeywordLane().find(["deploy"], index, ACCEPT, recipe=WORDS)
    assert [each.passage.rid for each in found] == [2]


def test_a_neighbour_in_the_session_is_found_by_what_was_said_next_to_it() -> None:
    index = ListIndex([passage(1, "deploy failed", session="s", turn=1), passage(2, "yes again", session="s", turn=2)])
    assert [memory for memory, _ in find(index, "deploy")] == ["m001", "m002"]


def test_a_neighbour_that_does_not_pass_the_filter_lends_but_is_not_returned() -> None:
    index = ListIndex(
        [
            passage(1, "deploy failed", session="s", turn=1),
            passage(2, "deploy deploy", session="s", turn=2, visible=0),
            passage(3, "raw body", session="s", turn=3),
        ]
    )
    found = dict(find(index, "deploy"))
    assert set(found) == {"m001", "m003"}


def test_words_that_nothing_holds_select_nothing_and_ask_nothing() -> None:
    index = ListIndex([passage(1, "deploy")])
    assert find(index, "unknown") == []
    assert index.selected_by == []


def test_common_terms_select_nothing_unless_fewer_than_two_would_be_left() -> None:
    statistics = Statistics(100_000, 1_000_000, {"the": 60_000, "deploy": 50, "webhook": 7, "is": 50_000})
    assert selective(["the", "deploy", "webhook"], statistics, WORDS) == ["webhook", "deploy"]
    assert selective(["the", "deploy"], statistics, WORDS) == ["deploy", "the"]
    assert selective(["the", "is"], statistics, WORDS) == ["is", "the"]
    assert selective(["unknown"], statistics, WORDS) == []


def test_a_long_query_selects_by_its_rarest_terms() -> None:
    statistics = Statistics(1000, 9000, {f"t{df:02}": df for df in range(1, 30)})
    chosen = selective([f"t{df:02}" for df in range(29, 0, -1)], statistics, WORDS)
    assert chosen == [f"t{df:02}" for df in range(1, WORDS.match_terms + 1)]


def test_every_hit_explains_itself_only_when_asked() -> None:
    index = ListIndex([passage(1, "deploy raw"), passage(2, "raw")])
    silent = KeywordLane().find(["deploy", "raw"], index, ACCEPT, recipe=WORDS)
    told = KeywordLane().find(["deploy", "raw"], index, ACCEPT, recipe=WORDS, explain=True)
    assert [each.detail for each in silent] == [{}, {}]
    assert set(told[0].detail["terms"]) == {"deploy", "raw"}
    assert [(each.raw, each.evidence) for each in told] == [(each.raw, each.evidence) for each in silent]

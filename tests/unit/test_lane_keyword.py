"""The lanes that need no model, over an index that answers from plain lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.domain.analyse import Analyser
from eunoe.domain.postings import pack, term_names
from eunoe.ports.lane import Found, Lane
from eunoe.ports.text_index import Filter, Passage, Statistics
from eunoe.retrieval.lanes.key import KeyLane
from eunoe.retrieval.lanes.keyword import KeywordLane, selective
from eunoe.retrieval.lanes.time import TimeLane
from eunoe.retrieval.question import Question
from eunoe.retrieval.reach import Reach
from eunoe.retrieval.recipes import DEFAULT
from eunoe.retrieval.score import Weights, idf
from eunoe.testing.clock import START_US

ANALYSER = Analyser(lambda words: words)
DAY_US = 86_400_000_000
ACCEPT = Filter(scopes=("project",), now=START_US)
WORD = st.sampled_from(["deploy", "webhook", "stripe", "body", "raw"])


class ListIndex:
    """The part of `TextIndex` that lanes use, over passages in a list; ranks candidates by their row number."""

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

    def said_between(self, first: int, last: int, accept: Filter, *, limit: int) -> list[Passage]:
        found = [each for each in self.passages if each.visible and first <= each.said_at < last]
        return sorted(found, key=lambda each: (-each.said_at, -each.rid))[:limit]


def passage(
    rid: int,
    words: str,
    *,
    title: str = "",
    session: str | None = None,
    turn: int | None = None,
    visible: int = 1,
    memory: str = "",
    said_at: int = START_US,
) -> Passage:
    terms = words.split()
    packed = pack((terms, title.split(), [], []))
    named = memory or f"m{rid:03}"
    return Passage(rid, named, 1, session, turn, len(terms), packed, "stated", said_at, None, None, visible)


def reach(index: Any, text: str) -> Reach:
    return Reach(Question(text, ANALYSER, now=ACCEPT.now), index, ACCEPT, DEFAULT)


def find(index: ListIndex, text: str, lane: Lane | None = None, *, explain: bool = False) -> list[Found]:
    return list((lane or KeywordLane()).find(reach(index, text), explain=explain))


def ids(found: Sequence[Found]) -> list[str]:
    return [each.passage.memory for each in found]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(WORD, max_size=6), min_size=1, max_size=8),
    st.lists(st.sampled_from(["deploy", "webhook", "raw", "unknown"]), min_size=1, unique=True),
)
def test_what_is_found_holds_a_word_best_first_and_within_reach(bodies: list[list[str]], query: list[str]) -> None:
    index = ListIndex([passage(at, " ".join(words)) for at, words in enumerate(bodies)])
    found = find(index, " ".join(query))
    assert [each.raw for each in found] == sorted((each.raw for each in found), reverse=True)
    assert {each.passage.rid for each in found} == {at for at, words in enumerate(bodies) if set(words) & set(query)}
    most = Weights(query, index.statistics(query, ()), DEFAULT).reach
    assert all(0 < each.raw <= most for each in found)


def test_ties_are_broken_by_the_memorys_id() -> None:
    index = ListIndex([passage(1, "deploy", memory="z"), passage(2, "deploy", memory="a"), passage(3, "raw")])
    assert ids(find(index, "deploy")) == ["a", "z"]


def test_a_memory_is_found_once_by_its_best_passage() -> None:
    index = ListIndex([passage(1, "deploy raw raw raw", memory="a"), passage(2, "deploy", memory="a"), passage(3, "x")])
    assert [each.passage.rid for each in find(index, "deploy")] == [2]


def test_a_neighbour_in_the_session_is_left_to_the_pool() -> None:
    index = ListIndex([passage(1, "deploy failed", session="s", turn=1), passage(2, "yes again", session="s", turn=2)])
    assert ids(find(index, "deploy")) == ["m001"]


def test_words_that_nothing_holds_select_nothing_and_ask_nothing() -> None:
    index = ListIndex([passage(1, "deploy")])
    assert find(index, "unknown") == []
    assert index.selected_by == []


def test_common_terms_select_nothing_unless_fewer_than_two_would_be_left() -> None:
    statistics = Statistics(100_000, 1_000_000, {"the": 60_000, "deploy": 50, "webhook": 7, "is": 50_000})
    assert selective(["the", "deploy", "webhook"], statistics, DEFAULT) == ["webhook", "deploy"]
    assert selective(["the", "deploy"], statistics, DEFAULT) == ["deploy", "the"]
    assert selective(["the", "is"], statistics, DEFAULT) == ["is", "the"]
    assert selective(["unknown"], statistics, DEFAULT) == []


def test_a_long_query_selects_by_its_rarest_terms() -> None:
    statistics = Statistics(1000, 9000, {f"t{df:02}": df for df in range(1, 30)})
    chosen = selective([f"t{df:02}" for df in range(29, 0, -1)], statistics, DEFAULT)
    assert chosen == [f"t{df:02}" for df in range(1, DEFAULT.match_terms + 1)]


def test_every_hit_explains_itself_only_when_asked() -> None:
    index = ListIndex([passage(1, "deploy raw"), passage(2, "raw")])
    silent, told = find(index, "deploy raw"), find(index, "deploy raw", explain=True)
    assert [each.detail for each in silent] == [{}, {}]
    assert set(told[0].detail["terms"]) == {"deploy", "raw"}
    assert [(each.passage.rid, each.raw) for each in told] == [(each.passage.rid, each.raw) for each in silent]


# ── keys and identifiers ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_key_in_a_title_comes_before_one_in_a_text() -> None:
    index = ListIndex(
        [passage(1, "see deploy/current"), passage(2, "v2", title="deploy/current"), passage(3, "deploy")]
    )
    assert [(each.passage.rid, each.raw) for each in find(index, "what is deploy/current", KeyLane())] == [
        (2, 2),
        (1, 1),
    ]


def test_the_more_identifiers_the_better_and_ties_by_id() -> None:
    index = ListIndex([passage(1, "abc-417"), passage(2, "abc-417 v2.1"), passage(3, "v2.1", memory="a")])
    assert ids(find(index, "ABC-417 in v2.1", KeyLane())) == ["m002", "a", "m001"]


def test_plain_words_ask_the_key_lane_nothing() -> None:
    index = ListIndex([passage(1, "deploy"), passage(2, "abc-417")])
    assert find(index, "what about the deploy", KeyLane()) == find(index, "abc-999", KeyLane()) == []
    assert index.selected_by == []


def test_the_key_lane_tells_what_it_found() -> None:
    index = ListIndex([passage(1, "abc-417")])
    [found] = find(index, "ABC-417 or abc-418", KeyLane(), explain=True)
    assert found.detail["terms"] == ["abc-417"]
    assert find(index, "ABC-417", KeyLane())[0].detail == {}


# ── dates ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def said(*days: int) -> ListIndex:
    """Passages that were said so many days after 2026-01-01."""
    return ListIndex([passage(at, "something", said_at=START_US + day * DAY_US) for at, day in enumerate(days, 1)])


def test_what_was_said_on_the_day_comes_before_what_was_said_after_it() -> None:
    found = find(said(-30, 0, 2, 1, 9), "what happened on 1 January 2026?", TimeLane())
    assert ids(found) == ["m002", "m004", "m003"]
    assert found[0].raw == 1.0
    assert all(0 < each.raw < 1 for each in found[1:])


def test_a_month_finds_all_that_was_said_in_it() -> None:
    assert ids(find(said(-32, -31, -1, 0), "What happened in December 2025?", TimeLane())) == ["m002", "m003", "m004"]


def test_no_date_no_answer() -> None:
    assert find(said(0), "what happened?", TimeLane()) == []


def test_the_time_lane_gives_no_more_than_the_recipe_allows() -> None:
    found = find(said(*[0] * (DEFAULT.dated + 20)), "2026-01-01", TimeLane())
    assert len(found) == DEFAULT.dated
    assert ids(found) == sorted(ids(found))


# ── what all lanes share ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_reach_counts_terms_once_and_knows_what_they_are_worth() -> None:
    index = ListIndex([passage(1, "deploy raw"), passage(2, "raw")])
    reached = reach(index, "deploy raw unknown")
    assert list(reached.weights.idf) == ["deploy", "raw"]
    assert reached.weights.total == sum(reached.weights.idf.values()) + idf(0, 2)


def test_a_question_about_the_past_looks_for_words_that_only_the_past_held() -> None:
    index = ListIndex([passage(1, "deploy")])
    past = Filter(scopes=("project",), now=START_US, known_at=START_US)
    reached = Reach(Question("deploy unknown", ANALYSER, now=START_US), index, past, DEFAULT)  # type: ignore[arg-type]
    assert reached.statistics.df == {"deploy": 1, "unknown": 1}

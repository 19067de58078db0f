"""The scorer against a second, tiny BM25 that reads plain lists of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isclose, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.domain.postings import pack
from eunoe.ports.text_index import Passage, Statistics
from eunoe.retrieval.recipes import DEFAULT, Mix, Recipe
from eunoe.retrieval.score import Frequencies, Weights, followers, idf, score

VOCABULARY = ("deploy", "webhook", "stripe", "body", "raw", "friday")
TERMS = st.lists(st.sampled_from(VOCABULARY), max_size=6)


@dataclass
class Text:
    """A passage as the reference sees it."""

    fields: tuple[list[str], list[str], list[str], list[str]]
    session: str | None = None
    turn: int | None = None


def reference(texts: Sequence[Text], query: Sequence[str], recipe: Recipe) -> list[float]:
    """BM25 as the textbooks have it; fields and neighbours are mixed into the counts and into the length alike."""
    lent = {-1: recipe.before, 1: recipe.after, -2: recipe.before2, 2: recipe.after2}
    by_turn = {(text.session, text.turn): text for text in texts if text.session is not None and text.turn is not None}
    average = sum(len(text.fields[0]) for text in texts) / len(texts)
    totals = []
    for text in texts:
        parts = [(1.0, text)]
        for offset, weight in lent.items():
            between = [offset] if abs(offset) == 1 else [offset // 2, offset]
            found = [by_turn.get((text.session, (text.turn or 0) + step)) for step in between]
            if text.session is not None and text.turn is not None and all(found):
                parts.append((weight, found[-1]))  # type: ignore[arg-type]
        length = sum(share * len(part.fields[0]) for share, part in parts) / sum(share for share, _ in parts)
        total = 0.0
        for term in query:
            df = sum(any(term in each for each in other.fields) for other in texts)
            if not df:
                continue
            tf = sum(
                share * sum(each.count(term) * weight for each, weight in zip(part.fields, recipe.fields, strict=True))
                for share, part in parts
            )
            rarity = log(1 + (len(texts) - df + 0.5) / (df + 0.5))
            norm = recipe.k1 * (1 - recipe.b + recipe.b * length / max(average, 1.0))
            total += rarity * tf * (recipe.k1 + 1) / (tf + norm) if tf else 0.0
        totals.append(total)
    return totals


def passages(texts: Sequence[Text]) -> list[Passage]:
    return [
        Passage(
            at, f"m{at}", 1, text.session, text.turn, len(text.fields[0]), pack(text.fields), "stated", 0, None, None, 1
        )
        for at, text in enumerate(texts)
    ]


def statistics(texts: Sequence[Text]) -> Statistics:
    df = {term: sum(any(term in each for each in text.fields) for text in texts) for term in VOCABULARY}
    length = sum(len(text.fields[0]) for text in texts)
    return Statistics(len(texts), length, {term: count for term, count in df.items() if count})


def scored(texts: Sequence[Text], query: Sequence[str], recipe: Recipe = DEFAULT) -> list[float]:
    known = statistics(texts)
    found = score(passages(texts), Weights(query, known, recipe), known, recipe)
    return [found.totals.get(at, 0.0) for at in range(len(texts))]


@st.composite
def collections(draw: st.DrawFn) -> list[Text]:
    texts = [
        Text((draw(TERMS), draw(TERMS), draw(TERMS), draw(TERMS)))
        for _ in range(draw(st.integers(min_value=1, max_value=4)))
    ]
    for session in draw(st.lists(st.sampled_from(["a", "b"]), unique=True, max_size=2)):
        turns = draw(st.lists(st.integers(0, 7), unique=True, max_size=7).map(sorted))
        texts += [Text((draw(TERMS), draw(TERMS), [], draw(TERMS)), session, turn) for turn in turns]
    return texts


QUERIES = st.lists(st.sampled_from([*VOCABULARY, "unknown", "missing"]), min_size=1, max_size=6, unique=True)


@settings(max_examples=250, deadline=None)
@given(collections(), QUERIES)
def test_it_is_bm25_with_field_and_context_weights(texts: list[Text], query: list[str]) -> None:
    for ours, theirs in zip(scored(texts, query), reference(texts, query, DEFAULT), strict=True):
        assert isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12)


@settings(max_examples=100, deadline=None)
@given(collections(), QUERIES, st.floats(0.1, 2), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_it_follows_the_numbers_of_the_recipe(
    texts: list[Text], query: list[str], k1: float, b: float, near: float, far: float
) -> None:
    recipe = Recipe(
        "test",
        lanes=("keyword",),
        plain=Mix(words=1.0, meaning=0.0, late=0.0),
        chat=Mix(words=1.0, meaning=0.0, late=0.0),
        fields=(1.0, 3.0, 0.5, 2.0),
        before=near,
        after=near / 2,
        before2=far,
        after2=far / 3,
        trust=DEFAULT.trust,
        k1=k1,
        b=b,
    )
    for ours, theirs in zip(scored(texts, query, recipe), reference(texts, query, recipe), strict=True):
        assert isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12)


@settings(max_examples=100, deadline=None)
@given(collections(), QUERIES, st.randoms(use_true_random=False))
def test_the_order_of_passages_outside_a_session_changes_nothing(
    texts: list[Text], query: list[str], random: object
) -> None:
    alone = [text for text in texts if text.session is None]
    spoken = [text for text in texts if text.session is not None]
    shuffled = list(alone)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = [*alone, *spoken], [*spoken, *shuffled]
    before = {id(text): total for text, total in zip(one, scored(one, query), strict=True)}
    after = {id(text): total for text, total in zip(other, scored(other, query), strict=True)}
    assert before == after


@settings(max_examples=200, deadline=None)
@given(collections(), QUERIES)
def test_no_total_exceeds_what_the_query_could_reach(texts: list[Text], query: list[str]) -> None:
    reach = Weights(query, statistics(texts), DEFAULT).reach
    assert all(0 <= total <= reach for total in scored(texts, query))


def test_what_no_neighbour_lent_does_not_reach_over_a_gap() -> None:
    texts = [
        Text((["deploy"], [], [], []), "a", 1),
        Text((["raw"], [], [], []), "a", 3),
        Text((["raw"], [], [], []), "b", 2),
    ]
    assert scored(texts, ["deploy"])[1:] == [0.0, 0.0]


def test_a_neighbour_lends_more_the_nearer_it_is_and_what_came_before_lends_more_than_what_follows() -> None:
    texts = [Text((["deploy"] if turn == 3 else ["raw"], [], [], []), "a", turn) for turn in range(1, 6)]
    far_after, after, own, before, far_before = scored(texts, ["deploy"])
    assert own > before > after > far_before > far_after > 0


def test_rarer_terms_tell_more_and_every_term_tells_something() -> None:
    values = [idf(df, 100) for df in range(101)]
    assert values == sorted(values, reverse=True)
    assert all(value > 0 for value in values)
    assert idf(5, 3) > 0


def test_words_that_no_passage_holds_lower_the_evidence_of_the_rest() -> None:
    texts = [Text((["deploy"], [], [], [])), Text((["raw"], [], [], []))]
    known = statistics(texts)
    assert Weights(["deploy", "unknown"], known, DEFAULT).reach > Weights(["deploy"], known, DEFAULT).reach


def test_only_the_rarest_terms_are_scored() -> None:
    known = Statistics(50, 100, {f"t{df:02}": df for df in range(1, 41)})
    weights = Weights([f"t{df:02}" for df in range(40, 0, -1)], known, DEFAULT)
    assert list(weights.idf) == [f"t{df:02}" for df in range(1, DEFAULT.score_terms + 1)]


@settings(max_examples=100, deadline=None)
@given(collections(), QUERIES)
def test_the_shares_that_explain_shows_add_up_to_the_total(texts: list[Text], query: list[str]) -> None:
    known = statistics(texts)
    found = score(passages(texts), Weights(query, known, DEFAULT), known, DEFAULT, explain=True)
    for at, total in found.totals.items():
        assert sum(found.parts[at].values()) == pytest.approx(total, abs=1e-8)


@settings(max_examples=100, deadline=None)
@given(collections(), QUERIES)
def test_alone_no_neighbour_lends(texts: list[Text], query: list[str]) -> None:
    known = statistics(texts)
    found = score(passages(texts), Weights(query, known, DEFAULT), known, DEFAULT, alone=True)
    apart = [Text(text.fields) for text in texts]
    for at, theirs in enumerate(reference(apart, query, DEFAULT)):
        assert isclose(found.totals.get(at, 0.0), theirs, rel_tol=1e-9, abs_tol=1e-12)


@settings(max_examples=100, deadline=None)
@given(collections(), QUERIES, st.data())
def test_what_was_counted_before_changes_no_score(texts: list[Text], query: list[str], data: st.DataObject) -> None:
    known, given_ = statistics(texts), passages(texts)
    weights = Weights(query, known, DEFAULT)
    counted = Frequencies(weights.idf, DEFAULT)
    for each in data.draw(st.lists(st.sampled_from(given_), max_size=4)):
        counted.add([each])
    before = score(given_, weights, known, DEFAULT, counted=counted)
    assert before.totals == score(given_, weights, known, DEFAULT).totals
    assert score(given_, weights, known, DEFAULT, counted=counted).totals == before.totals


@settings(max_examples=100, deadline=None)
@given(collections())
def test_a_follower_is_the_turn_after_the_one_before_it(texts: list[Text]) -> None:
    follows = followers(passages(texts))
    assert follows[len(texts) :] == [False, False]
    pairs = zip([None, *texts], texts, strict=False)
    for follows_it, (one, other) in zip(follows, pairs, strict=False):
        same = one is not None and other.session is not None and one.session == other.session
        assert follows_it == (same and one.turn is not None and other.turn == one.turn + 1)  # type: ignore[union-attr]


def test_an_empty_project_gives_no_score_and_no_error() -> None:
    nothing = Statistics(0, 0, {})
    assert score([], Weights(["deploy"], nothing, DEFAULT), nothing, DEFAULT).totals == {}

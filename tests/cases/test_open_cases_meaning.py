"""Inputs that broke other products' search, without a model, with the one for tests, and with the default one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tests.cases.conftest import OpenMeaning
from tests.scripts import SCRIPTS

from eunoe import Invalid, Memory
from eunoe.domain import limits

# What needs to know synonyms, or evidence that was fitted; and what would take the default model long.
words_and_real = pytest.mark.parametrize("meaning", ["words", "real"], indirect=True)
words_and_fake = pytest.mark.parametrize("meaning", ["words", "fake"], indirect=True)


def told(memory: Memory, *bodies: str) -> Memory:
    for body in bodies:
        memory.remember(body)
    memory.flush()
    return memory


def bodies(m: Memory, query: str, **how: object) -> list[str]:
    return [hit.body for hit in m.recall(query, **how).hits]  # type: ignore[arg-type]


# ── OPEN-03: a whole sentence as the query ───────────────────────────────────────────────────────────────────────────

HOUSEHOLD = (
    "The staging database is hosted in Frankfurt",
    "Remember to call the plumber",
    "The gym is open to members",
    "Deploys go out on Tuesdays with the release train",
)


def test_open_03_a_natural_question_finds_its_answer_first(meaning: OpenMeaning) -> None:
    m = told(meaning(), *HOUSEHOLD)
    assert bodies(m, "why do we keep the staging database where it is hosted", limit=3)[0] == HOUSEHOLD[0]


@words_and_real
def test_open_03_function_words_bring_no_noise(meaning: OpenMeaning) -> None:
    found = bodies(told(meaning(), *HOUSEHOLD), "push to live calmly", limit=3)
    assert found == [] or found[0] == HOUSEHOLD[3]


# ── OPEN-04: scripts without spaces, and words glued to them ─────────────────────────────────────────────────────────


def test_open_04_a_word_in_any_script_finds_its_memory_first(meaning: OpenMeaning) -> None:
    m = told(meaning(), *SCRIPTS)
    for query in ("新加坡", "部署", "公園", "예산", "nginx", "gateway", "רונית", "сейфа", "ลิ้นชัก", "café"):
        assert query in bodies(m, query)[0], query


def test_open_04_cafe_is_not_the_cafeteria(meaning: OpenMeaning) -> None:
    found = bodies(told(meaning(), *SCRIPTS), "café")
    assert found[0] == "Le café ferme à midi"
    assert "The cafeteria is on floor 2" not in found[:1]


# ── OPEN-12: facts that differ in one token ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("one", "other", "query"),
    [
        ("The visa appointment is on 4 March", "The visa appointment is on 5 March", "visa appointment"),
        ("Rent is 1,150 euros", "Rent is 1,510 euros", "rent euros"),
        ("Use parser 2.1", "Use parser 2.10", "parser"),
        ("Likes the lemon tart at Odile", "Likes the plum tart at Odile", "tart at Odile"),
    ],
)
def test_open_12_facts_that_differ_in_one_token_stay_two(
    meaning: OpenMeaning, one: str, other: str, query: str
) -> None:
    m = meaning()
    assert [m.remember(body).outcome for body in (one, other)] == ["recorded", "recorded"]
    m.flush()
    assert m.count() == 2
    assert sorted(bodies(m, query)) == sorted((one, other))


def test_open_12_only_the_same_text_is_collapsed_and_the_call_says_so(meaning: OpenMeaning) -> None:
    m = meaning()
    first = m.remember("Use parser 2.1")
    again = m.remember("  use parser  2.1\n")
    assert (again.outcome, again.id, again.number) == ("confirmed", first.id, 1)
    assert m.get(1).occurrences == 2
    assert m.count() == 1


def test_open_12_maintenance_keeps_every_distinct_number(meaning: OpenMeaning) -> None:
    m = meaning()
    for at in (17, 18, 19):
        m.remember(f"The old gate is painted green, code {at}, near the well", force=True)
    m.flush()
    m.rebuild()
    m.review()
    assert m.count() == 3
    for at in (17, 18, 19):
        assert str(at) in bodies(m, f"gate code {at}")[0]


# ── OPEN-16: which way scores point, and what a floor does ───────────────────────────────────────────────────────────

CAT, TAX = "Our cat is called Biscuit", "Quarterly tax is due in April"
QUERIES = ("what is the cat called", "cat name", CAT, TAX, "when is tax due")


def test_open_16_scores_are_similarities_that_do_not_grow_down_the_list(meaning: OpenMeaning) -> None:
    m = told(meaning(), CAT, TAX, *HOUSEHOLD)
    for query in QUERIES:
        hits = m.recall(query).hits
        assert all(0 <= hit.score <= hit.evidence <= 1 for hit in hits)
        assert all(one.score >= other.score for one, other in pairwise(hits))


def test_open_16_an_exact_copy_is_the_best(meaning: OpenMeaning) -> None:
    m = told(meaning(), CAT, TAX)
    for query in (CAT, TAX):
        best, *others = m.recall(query).hits
        assert best.body == query
        assert all(best.score > other.score for other in others)


@words_and_real
@pytest.mark.parametrize("query", [CAT, TAX])
def test_open_16_the_evidence_of_an_exact_copy_is_near_one(meaning: OpenMeaning, query: str) -> None:
    assert told(meaning(), CAT, TAX).recall(query).hits[0].evidence > 0.75


@pytest.mark.parametrize("floor", [0.0, 0.001, 0.01, 0.1, 0.3, 0.9, 1.0])
def test_open_16_a_floor_keeps_exactly_what_reaches_it_and_says_how_many_it_hid(
    meaning: OpenMeaning, floor: float
) -> None:
    m = told(meaning(), CAT, TAX, *HOUSEHOLD)
    for query in QUERIES:
        whole = m.recall(query)
        for name, number in (("min_score", "score"), ("min_evidence", "evidence")):
            kept = m.recall(query, **{name: floor})  # type: ignore[arg-type]
            assert kept.hits == tuple(hit for hit in whole.hits if getattr(hit, number) >= floor)
            assert kept.hidden == len(whole.hits) - len(kept.hits)
            assert kept.total == len(kept.hits)


@words_and_real
def test_open_16_a_threshold_keeps_the_cat_and_not_the_tax(meaning: OpenMeaning) -> None:
    m = told(meaning(), CAT, TAX)
    assert bodies(m, "what is the cat called", min_score=0.3) == [CAT]


def test_open_16_two_words_find_the_cat_under_defaults(meaning: OpenMeaning) -> None:
    assert bodies(told(meaning(), CAT, TAX), "cat name")[0] == CAT


# ── OPEN-21: what is said at the end of a long text ──────────────────────────────────────────────────────────────────

ANSWER = "The spare fuse box is behind the blue cabinet"
FILLER = "The committee went through the minutes of the previous meeting and found nothing to add to them."
LONG = " ".join([f"Item {at}. {FILLER}" for at in range(330)]) + f" {ANSWER}"
SHORT = [f"The window on floor {at} was cleaned" for at in range(10)] + [f"Shelf {at} holds paper" for at in range(10)]
QUESTION = "where is the spare fuse box"


def test_open_21_the_last_sentence_of_six_thousand_words_is_found(meaning: OpenMeaning) -> None:
    assert len(LONG.split()) > 6000
    m = meaning()
    m.remember_many([{"body": body} for body in SHORT])
    long = m.remember(LONG)
    m.flush()
    hits = m.recall(QUESTION, limit=3).hits
    assert long.number in [hit.number for hit in hits]
    hit = next(hit for hit in hits if hit.number == long.number)
    if m._context.semantics.name == "fake":
        assert hit.excerpt  # which part is nearest only a model can tell that knows what words mean
    elif m._context.semantics.wanted:
        assert ANSWER in (hit.excerpt or "")
        assert len(hit.excerpt or "") < 2000
    else:
        assert hit.excerpt is None
    if m._context.semantics.name != "fake":
        assert ANSWER in (m.recall(QUESTION, limit=3, budget_tokens=2000).text or "")


@words_and_fake
def test_open_21_no_maintenance_changes_a_byte(meaning: OpenMeaning) -> None:
    m = meaning()
    long = m.remember(LONG)
    m.flush()
    m.rebuild()
    m.review()
    if m._context.semantics.wanted:
        m.reembed(everything=True)
    assert m.get(long.number).body == LONG


@words_and_fake
def test_open_21_a_hundred_thousand_characters_are_kept_or_refused_with_a_code(meaning: OpenMeaning) -> None:
    m = meaning()
    body = (LONG * 10)[: 100_000 - len(ANSWER) - 1] + " " + ANSWER
    with pytest.raises(Invalid) as caught:
        m.remember(body, kind="fact")
    assert caught.value.code == "too_long"
    assert m.count() == 0
    m.remember(body, kind="note")
    m.flush()
    assert m.get(1).body == body
    assert m.recall(QUESTION).hits[0].number == 1
    with pytest.raises(Invalid):
        m.remember("x" * (limits.LONG_BODY + 1), kind="note")


# ── OPEN-22: runs without a space ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("run", "query"),
    [("汉字" * 7_500, "汉字"), ("a" * 1_000_000, "aaaa"), ("한" * 15_000, "한한"), ("a." * 400_000, "a.a")],
    ids=["15,000 CJK", "1,000,000 a", "15,000 Hangul", "joined"],
)
@words_and_fake
def test_open_22_a_long_run_is_taken_embedded_and_asked_for(meaning: OpenMeaning, run: str, query: str) -> None:
    m = meaning()
    m.remember(run, kind="note")
    m.flush()
    assert m.get(1).body == run
    m.recall(query)
    m.recall(run[: limits.QUERY])
    assert m.recall(query).waiting == 0

"""The evaluation: its measures against values worked out by hand, and its checks able to fail."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.bootstrap import Opened, open_session
from eunoe.errors import Invalid, Unavailable
from eunoe.evaluation import answering, baselines, compare, correctness, golden, locomo, metrics, plots, report, run
from eunoe.evaluation.answerability import FLOORS, Answerable, at_floor, judge, judge_halves
from eunoe.evaluation.answering import Answer
from eunoe.evaluation.calibration import calibration
from eunoe.evaluation.scoring import line, scored, tabled
from eunoe.ports.clock import Clock
from eunoe.service.context import Context
from eunoe.service.flush import Flushed
from eunoe.service.recall import Recalled
from eunoe.testing.clock import ManualClock, SeededEntropy

NAMES = st.lists(st.sampled_from("abcdefghij"), unique=True)
SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def opened(clock: Clock, model: str = "none") -> Opened:
    return open_session(
        store=":memory:",
        project="evaluation",
        environ={"EUNOE_HOME": "/nowhere", "EUNOE_MODEL": model},
        clock=clock,
        entropy=SeededEntropy("test"),
    )


# ── measures ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_measures_of_one_answer_are_those_worked_out_by_hand() -> None:
    row = metrics.measure(["x", "a", "y", "z", "w", "b"], ["a", "b", "c"])
    assert row == {
        "R@1": 0.0,
        "R@5": 1 / 3,
        "R@10": 2 / 3,
        "hit@1": 0.0,
        "hit@5": 1.0,
        "hit@10": 1.0,
        "MRR": 0.5,
        # (1/log2(3) + 1/log2(7)) / (1 + 1/log2(3) + 1/2)
        "nDCG@10": pytest.approx((0.6309298 + 0.3562072) / 2.1309298, abs=1e-6),
    }


def test_what_is_not_found_counts_as_nothing() -> None:
    assert set(metrics.measure([], ["a"]).values()) == {0.0}
    assert metrics.first_rank(["x"], ["a"]) is None


@given(NAMES, st.sets(st.sampled_from("abcdefghij"), min_size=1))
def test_every_measure_stays_in_range_and_a_longer_look_never_finds_less(ranked: list[str], gold: set[str]) -> None:
    row = metrics.measure(ranked, gold)
    assert all(0 <= number <= 1 for number in row.values())
    assert row["R@1"] <= row["R@5"] <= row["R@10"] <= row["hit@10"]
    assert row["hit@1"] <= row["MRR"]
    best = metrics.measure([*gold, *(each for each in ranked if each not in gold)], gold)
    assert best["nDCG@10"] == pytest.approx(1)
    assert best["MRR"] == best["R@10"] == 1


def test_averages_weigh_every_question_the_same() -> None:
    rows = [metrics.measure(["a"], ["a"]), metrics.measure(["x", "a"], ["a"]), metrics.measure(["x"], ["a"])]
    told = metrics.averaged(rows)
    assert (told["R@1"], told["MRR"], told["questions"]) == (pytest.approx(1 / 3), 0.5, 3)


@given(SHARES, SHARES)
def test_auc_is_the_share_of_pairs_in_the_right_order(positive: list[float], negative: list[float]) -> None:
    pairs = [1.0 if a > b else 0.5 if a == b else 0.0 for a in positive for b in negative]
    assert metrics.auc(positive, negative) == pytest.approx(sum(pairs) / len(pairs))


def test_auc_of_nothing_is_unknown() -> None:
    assert metrics.auc([], [0.5]) is None
    assert metrics.auc([0.5], []) is None


def test_calibration_is_that_worked_out_by_hand() -> None:
    told = calibration([(0.95, True), (0.95, True), (1.0, False), (0.2, False), (0.25, True)])
    last, third = told.bins[9], told.bins[2]
    assert (last.hits, last.evidence, last.right) == (3, pytest.approx(2.9 / 3), pytest.approx(2 / 3))
    assert (third.hits, third.evidence, third.right) == (2, pytest.approx(0.225), 0.5)
    assert told.ece == pytest.approx((3 * 0.3 + 2 * 0.275) / 5)
    assert told.brier == pytest.approx((0.05**2 * 2 + 1 + 0.2**2 + 0.75**2) / 5)


def test_calibration_of_no_hits_is_unknown() -> None:
    told = calibration([])
    assert (told.hits, told.ece, told.brier, len(told.bins)) == (0, None, None, 10)


def test_the_shares_at_a_floor_are_those_worked_out_by_hand() -> None:
    answerable = [Answerable(0.9, 0.9), Answerable(0.6, 0.2), Answerable(0.3, 0.3), Answerable(0.0, 0.0)]
    told = judge(answerable, [0.5, 0.1, 0.1, 0.1])
    half = next(each for each in told.floors if each.floor == 0.5)
    assert half == (0.5, 0.25, 0.75, 0.5)  # a hit whose evidence is the floor is shown
    assert told.auc == pytest.approx((4 + 4 + 3 + 0) / 16)
    assert told.smallest == (0.55, 0.0, 0.75, 0.5)
    assert list(FLOORS) == pytest.approx([0.05 * step for step in range(1, 20)])


def test_there_may_be_no_floor_that_keeps_what_is_wrong_out() -> None:
    assert judge([Answerable(1.0, 1.0)], [1.0]).smallest is None


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1))), SHARES)
def test_a_higher_floor_injects_no_more_and_misses_no_less(pairs: list[tuple[float, float]], tops: list[float]) -> None:
    answerable = [Answerable(max(pair), min(pair)) for pair in pairs]
    floors = judge(answerable, tops).floors
    for lower, higher in pairwise(floors):
        assert higher.false_injection <= lower.false_injection
        assert higher.miss >= lower.miss
        assert lower.refused <= lower.miss


def test_the_floor_of_one_half_is_applied_to_the_other() -> None:
    answerable = [("tune", Answerable(0.9, 0.9)), ("test", Answerable(0.3, 0.3))]
    kinds = {"one": [("tune", 0.32), ("test", 0.6)], "two": [("tune", 0.1), ("test", 0.1)], "other": [("tune", 1.0)]}
    told = judge_halves(answerable, kinds, ["both", "tune", "test"], apart=["other"])
    assert told["halves"]["tune"]["one"]["smallest"]["floor"] == 0.35
    assert told["transferred"]["one"] == at_floor(0.35, [Answerable(0.3, 0.3)], [0.6])._asdict()
    assert told["transferred"]["other"] is None
    assert told["halves"]["both"]["together"]["unanswerable"] == 4
    assert "transferred" not in judge_halves(answerable, kinds, ["tune"])


def test_an_answer_tells_the_evidence_of_all_and_of_some() -> None:
    answer = Answer(("a", "b", "c"), (0.4, 0.9, 0.2))
    assert (answer.top, answer.evidence_of(["a", "c"]), answer.evidence_of(["x"])) == (0.9, 0.4, 0.0)
    assert Answer((), ()).top == 0.0


def test_tables_hold_each_half_and_a_question_of_no_half_in_both() -> None:
    asked = [
        scored("1", "code", "tune", ["a"], ["a"]),
        scored("2", "prose", "test", ["a"], ["x"]),
        scored("3", "prose", "", ["a"], ["x", "a"]),
    ]
    table = tabled(asked, ["both", "tune", "test"])
    assert {half: groups["all"]["questions"] for half, groups in table.items()} == {"both": 3, "tune": 2, "test": 2}
    assert table["tune"]["prose"]["MRR"] == 0.5
    assert list(table["both"]) == ["all", "code", "prose"]
    assert line("golden", asked[2], top=0.5, gold=0.25)["rank"] == 2


# ── baselines ───────────────────────────────────────────────────────────────────────────────────────────────────────

TEXTS = {"a": "The queue is Redis", "b": "Backups run nightly", "c": "The nightly queue is drained by cron"}


def test_grep_counts_words_anywhere_in_a_text_and_keeps_the_order_of_ties() -> None:
    ranked = baselines.grep(TEXTS)
    assert ranked("Nightly QUEUE?") == ["c", "a", "b"]
    assert ranked("is by") == []
    assert ranked("night") == ["b", "c"]


def test_plain_fts5_takes_any_word_and_no_grammar() -> None:
    ranked = baselines.plain_fts5(TEXTS)
    assert ranked("nightly backups")[0] == "b"
    assert set(ranked('queue AND "NEAR(')) == {"a", "c"}
    assert ranked("?!") == []


class Vector(list[float]):
    def tolist(self) -> list[float]:
        return list(self)


class Matrix(list[list[float]]):
    def __matmul__(self, other: Sequence[float]) -> Vector:
        return Vector(sum(a * b for a, b in zip(row, other, strict=True)) for row in self)


class Letters:
    """An embedder of two numbers: whether a text speaks of queues, and of backups."""

    def passages(self, texts: Sequence[str]) -> Matrix:
        return Matrix([float("queue" in text), float("Backups" in text)] for text in texts)

    def query(self, text: str) -> Any:
        meaning = type("Meaning", (), {})()
        meaning.vector = [float("queue" in text), float("Backups" in text)]
        return meaning


def test_dense_only_ranks_by_cosine_and_is_left_out_without_a_model() -> None:
    made, skipped = baselines.rankers(TEXTS, TEXTS, Letters())
    assert made["dense only"]("Backups") == ["b", "a", "c"]
    assert skipped == {}
    made, skipped = baselines.rankers(TEXTS, TEXTS, None, absent="not installed")
    assert (sorted(made), skipped) == (["grep", "no memory", "plain FTS5", "random"], {"dense only": "not installed"})


def test_luck_is_the_same_every_time_and_nothing_is_nothing() -> None:
    made, _ = baselines.rankers(TEXTS, TEXTS, None)
    assert sorted(made["random"]("any")) == ["a", "b", "c"]
    assert made["random"]("any") == baselines.shuffled(TEXTS)("any")
    assert {tuple(baselines.shuffled(TEXTS)(str(at))) for at in range(50)} != {tuple(made["random"]("any"))}
    assert made["no memory"]("any") == []


# ── data ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_set_that_comes_with_eunoe_is_whole_and_its_halves_part_it() -> None:
    data = golden.load()
    assert min(map(len, (data.memories, data.queries, data.unanswerable, data.crosslingual))) > 80
    halves = [data.of_half(half) for half in golden.HALVES]
    assert sum(len(half.queries) for half in halves) == len(data.queries)
    assert sum(len(half.unanswerable) for half in halves) == len(data.unanswerable)
    assert data.of_half("both") is data
    keys = [(item.project, item.fields["key"]) for item in data.memories if item.fields["key"]]
    assert len(set(keys)) == len(keys)


def test_the_page_about_the_set_counts_it_right() -> None:
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "evaluation.md").read_text(encoding="utf-8")
    data = golden.load()
    for said in (f"hold {len(data.memories)} memories", f"{len(data.queries)} questions ask for them"):
        assert said in page
    for said in (f"{len(data.unanswerable)} more questions", f"{len(data.crosslingual)} questions are in"):
        assert said in page
    assert [each for each in {one.category for one in data.queries} if f"\n| {each} | " not in page] == []


MEMORY = {"id": "m1", "project": "p", "kind": "fact", "body": "The queue is Redis", "said": "2026-01-02", "key": "q"}
QUERY = {"id": "q1", "project": "p", "text": "which queue", "gold": ["m1"]}


def write_set(folder: Path, **files: list[dict[str, Any]]) -> Path:
    for name, lines in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return folder


def test_a_set_of_ones_own_needs_memories_and_queries_alone(tmp_path: Path) -> None:
    data = golden.load(write_set(tmp_path, memories=[MEMORY], queries=[QUERY]))
    assert data.memories[0].text == "The queue is Redis\nq"
    assert data.queries[0] == ("q1", "p", "which queue", "", "", ("m1",))
    assert data.now_us - 1_767_312_000_000_000 == 86_400_000_000


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"memories": [MEMORY]}, "queries.jsonl"),
        ({"memories": [], "queries": [QUERY]}, "no memory"),
        ({"memories": [MEMORY, MEMORY], "queries": [QUERY]}, "twice"),
        ({"memories": [{**MEMORY, "said": "yesterday"}], "queries": [QUERY]}, "line 1"),
        ({"memories": [{**MEMORY, "body": " "}], "queries": [QUERY]}, "body"),
        ({"memories": [MEMORY], "queries": [QUERY, {**QUERY, "id": "q2", "half": "third"}]}, "line 2"),
        ({"memories": [MEMORY], "queries": [{**QUERY, "gold": ["m2"]}]}, "gold"),
        ({"memories": [MEMORY], "queries": [{**QUERY, "gold": []}]}, "gold"),
        ({"memories": [MEMORY], "queries": [{**QUERY, "project": "other"}]}, "gold"),
        ({"memories": [MEMORY], "queries": [QUERY, QUERY]}, "same id"),
        ({"memories": [MEMORY], "queries": [QUERY], "unanswerable": [{**QUERY, "id": "u"}]}, "left out"),
        (
            {"memories": [MEMORY], "queries": [QUERY], "unanswerable": [{"id": "u", "project": "x", "text": "why"}]},
            "no memories",
        ),
    ],
)
def test_a_set_that_breaks_the_form_is_refused_with_the_place(
    tmp_path: Path, files: dict[str, list[dict[str, Any]]], told: str
) -> None:
    with pytest.raises(Invalid) as refused:
        golden.load(write_set(tmp_path, **files))
    assert refused.value.code == "bad_evaluation_data"
    assert told in refused.value.message


@pytest.mark.parametrize("text", ["no json", "[1]"])
def test_a_line_that_is_no_object_is_refused(tmp_path: Path, text: str) -> None:
    write_set(tmp_path, memories=[MEMORY])
    (tmp_path / "queries.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(Invalid, match="line 1"):
        golden.load(tmp_path)


def test_memories_that_are_one_to_the_gate_are_refused() -> None:
    with opened_context() as context, pytest.raises(Invalid, match="stands for itself: b"):
        answering.write(context, "p", [("a", {"body": "The queue is Redis"}), ("b", {"body": "The queue is Redis"})])


class opened_context:  # noqa: N801 - used as a function
    def __enter__(self) -> Context:
        self.session = opened(ManualClock())
        return self.session.context

    def __exit__(self, *_: object) -> None:
        self.session.close()


def test_what_is_left_out_is_in_no_answer_and_comes_back() -> None:
    with opened_context() as context:
        items = [("a", {"body": "The queue is Redis", "key": "queue"}), ("b", {"body": "The queue is drained nightly"})]
        shelf = answering.write(context, "p", items)
        before = shelf.ask("which queue")
        assert set(before.names) == {"a", "b"}
        assert shelf.ask_without(["a"], "which queue").names == ("b",)
        assert shelf.ask("which queue") == before


def talk(*said: str) -> dict[str, Any]:
    turns = [{"speaker": "Ann", "dia_id": f"D2:{at}", "text": text} for at, text in enumerate(said, 1)]
    return {
        "session_10": [{"speaker": "Bo", "dia_id": "D10:1", "text": "", "blip_caption": "a red kite"}],
        "session_10_date_time": "9:05 am on 2 March, 2023",
        "session_2": turns,
        "session_2_date_time": "1:56 pm on 8 May, 2022",
    }


def samples() -> list[dict[str, Any]]:
    qa = [
        {"question": "What flies?", "category": 4, "evidence": ["D10:1; D2:2"]},
        {"question": "Who sleeps?", "category": 5, "evidence": []},
        {"question": "Where is the harbour?", "category": 2, "evidence": ["D2:1"]},
    ]
    here, there = talk("The harbour is in Genoa", "I saw a falcon"), talk("My sister bakes bread", "Rye, mostly")
    return [{"conversation": here, "qa": qa}, {"conversation": there, "qa": qa}]


def test_a_conversation_is_read_in_order_of_its_sessions(tmp_path: Path) -> None:
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps(samples()), encoding="utf-8")
    first, second = locomo.load(file)
    assert list(first.turns) == ["D2:1", "D2:2", "D10:1"]
    assert first.turns["D10:1"]["body"] == "[shares a photo of a red kite]"
    assert first.turns["D2:2"]["turn"] == 1
    assert [(each.at, each.category, sorted(each.gold)) for each in first.questions] == [
        (0, "single-hop", ["D10:1", "D2:2"]),
        (2, "temporal", ["D2:1"]),
    ]
    assert (first.half, second.half) == ("even", "odd")
    assert first.texts["D2:1"] == "Ann: The harbour is in Genoa"


@pytest.mark.parametrize("text", ["{}x", '[{"qa": []}]', '[{"conversation": {}, "qa": [{"category": 9}]}]', "[3]"])
def test_a_file_that_is_not_locomo_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "locomo.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(Invalid) as refused:
        locomo.load(file)
    assert refused.value.code == "bad_evaluation_data"


def test_sessions_are_ranked_by_their_first_turn() -> None:
    ranked = [f"D{session}:1" for session in (1, 1, 2, 3, 4, 5, 6)]
    row = locomo.measured(ranked, ["D6:9"])
    assert (row["session@5"], row["session@10"], row["R@10"]) == (0.0, 1.0, 0.0)


# ── whole runs ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def small(tmp_path: Path) -> Path:
    bodies = ("The queue is Redis", "Backups run nightly", "Ada owns billing", "Deploys go to Frankfurt")
    memories = [{**MEMORY, "id": f"m{at}", "body": body, "key": None} for at, body in enumerate(bodies)]
    queries = [
        {"id": "q0", "project": "p", "text": "which queue", "gold": ["m0"], "half": "tune", "category": "code"},
        {"id": "q1", "project": "p", "text": "nightly backups", "gold": ["m1"], "half": "test", "category": "code"},
        {"id": "q2", "project": "p", "text": "zebra", "gold": ["m2"], "half": "test", "category": "paraphrase"},
    ]
    absent = [{"id": "u0", "project": "p", "text": "unicorn grooming", "half": "test"}]
    foreign = [{"id": "x0", "project": "p", "text": "welche queue", "gold": ["m0"], "language": "de"}]
    return write_set(tmp_path, memories=memories, queries=queries, unanswerable=absent, crosslingual=foreign)


def evaluated(small: Path, *sections: str, **more: Any) -> run.Evaluated:
    return run.run(opened, run.Wanted(sections=frozenset(sections), data=small, **more))


def test_a_run_over_a_small_set_gives_the_numbers_worked_out_by_hand(small: Path) -> None:
    told = evaluated(small, *run.GOLDEN, strict=True)
    table = told.report["golden"]["systems"]["eunoe"]
    assert (table["both"]["all"]["R@1"], table["tune"]["all"]["R@1"]) == (pytest.approx(2 / 3, abs=1e-5), 1.0)
    assert table["test"]["paraphrase"]["MRR"] == 0.0
    assert told.report["crosslingual"]["systems"]["eunoe"]["both"]["de"]["R@1"] == 1.0
    assert told.report["golden"]["systems"]["no memory"]["both"]["all"]["hit@10"] == 0.0
    kinds = told.report["answerability"]["halves"]["both"]
    assert list(kinds) == ["unanswerable", "gold left out", "gold left out, strictly", "together"]
    assert [kinds[kind]["unanswerable"] for kind in kinds] == [1, 3, 3, 4]
    assert kinds["unanswerable"]["auc"] == pytest.approx((1 + 1 + 0.5) / 3, abs=1e-5)
    assert told.report["calibration"]["both"]["hits"] == 2
    ranks = {each["id"]: each["rank"] for each in told.questions if each["set"] == "golden"}
    assert ranks == {"q0": 1, "q1": 1, "q2": None}
    assert told.report["model"] == "none"


def test_two_runs_give_the_same_report(small: Path) -> None:
    assert evaluated(small, *run.GOLDEN) == evaluated(small, *run.GOLDEN)


def test_one_half_is_asked_alone_and_baselines_may_be_left_out(small: Path) -> None:
    told = evaluated(small, "golden", half="test", baselines=False)
    assert list(told.report["golden"]["systems"]) == ["eunoe"]
    assert list(told.report["golden"]["systems"]["eunoe"]) == ["test"]
    assert {each["id"] for each in told.questions} == {"q1", "q2"}
    assert "answerability" not in told.report


def test_a_model_that_is_there_answers_and_is_a_baseline(small: Path) -> None:
    pytest.importorskip("numpy")
    told = run.run(lambda clock: opened(clock, "fake"), run.Wanted(frozenset(("golden",)), data=small))
    assert told.report["model"] == "fake"
    assert told.report["golden"]["systems"]["dense only"]["both"]["all"]["questions"] == 3
    assert told.report["golden"]["skipped"] == {}


def test_conversations_are_reported_by_halves_without_a_word_of_them(tmp_path: Path, small: Path) -> None:
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps(samples()), encoding="utf-8")
    told = evaluated(small, "locomo", locomo=file, foreign=True)
    section = told.report["locomo"]
    assert section["counts"] == {"conversations": 2, "turns": 6, "questions": 4, "depth": 50}
    assert section["systems"]["eunoe"]["even"]["temporal"]["R@1"] == 1.0
    assert section["answerability"]["halves"]["both"]["another conversation's"]["unanswerable"] == 4
    assert [each["id"] for each in told.questions] == ["0-0", "0-2", "1-0", "1-2"]
    words = json.dumps([told.report, told.questions])
    assert not any(word in words for word in ("harbour", "falcon", "Genoa", "Ann", "D2:"))


def test_a_search_that_is_not_whole_is_not_measured(monkeypatch: pytest.MonkeyPatch, small: Path) -> None:
    def broken(*_: Any, **__: Any) -> Recalled:
        return Recalled(hits=(), total=0, omitted=0, degraded=("vector: model_failed",))

    monkeypatch.setattr(answering, "recall", broken)
    with pytest.raises(Unavailable, match="vector: model_failed") as refused:
        evaluated(small, "golden")
    assert refused.value.code == "degraded"


def test_texts_that_were_not_embedded_are_not_measured(monkeypatch: pytest.MonkeyPatch, small: Path) -> None:
    monkeypatch.setattr(answering, "flush", lambda _: Flushed(embedded=1, waiting=0, dead=3, error="model_failed"))
    with pytest.raises(Unavailable, match=r"3 texts .*model_failed") as refused:
        evaluated(small, "golden")
    assert refused.value.code == "degraded"


def test_progress_is_told_to_the_end(small: Path) -> None:
    seen: list[tuple[int, int]] = []

    class Watched:
        def __init__(self, label: str) -> None:
            assert label == "golden set"

        def __enter__(self) -> Callable[[int, int], None]:
            return lambda done, total: seen.append((done, total))

        def __exit__(self, *_: object) -> None:
            return

    run.run(opened, run.Wanted(frozenset(run.GOLDEN), data=small, strict=True), watch=Watched)
    assert seen == [(done, 11) for done in range(1, 12)]  # 3 questions thrice, 1 foreign, 1 without an answer


# ── correctness ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", correctness.CHECKS)
def test_memory_passes_every_instance_of_a_check_and_of_its_control(name: str) -> None:
    clock = ManualClock()
    session = opened(clock)
    told = correctness.run_check(name, session.context, clock)
    session.close()
    assert told.instances >= 40
    assert (told.ok, told.passed, told.failures) == (True, told.instances, ())


def as_owner(context: Context, *args: Any, **filters: Any) -> Any:
    return RECALL(context._replace(caller=context.caller._replace(user="ada")), *args, **filters)


def in_north(context: Context, *args: Any, **filters: Any) -> Any:
    return RECALL(context._replace(slug="check/north"), *args, **filters)


def on_the_day_before(context: Context, *args: Any, **filters: Any) -> Any:
    return RECALL(context, *args, **{"as_of": "2026-01-01T12:00", **filters})


def backwards(context: Context, *args: Any, **filters: Any) -> Any:
    answer = RECALL(context, *args, **filters)
    return Recalled(hits=answer.hits[::-1], total=answer.total, omitted=answer.omitted)


def nothing(context: Context, *args: Any, **filters: Any) -> Any:
    return Recalled(hits=(), total=0, omitted=0)


RECALL = correctness.recall
FAULTS: list[tuple[str, Callable[..., Any]]] = [
    ("restatement", nothing),
    ("supersession", on_the_day_before),
    ("supersession", nothing),
    ("scope leak", as_owner),
    ("scope leak", nothing),
    ("project leak", in_north),
    ("project leak", nothing),
    ("stale value", on_the_day_before),
    ("stale value", nothing),
    ("twins", backwards),
]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make sixteen instances of each check."""
    for words in ("_SERVICES", "_PEOPLE", "_PLACES"):
        monkeypatch.setattr(correctness, words, getattr(correctness, words)[:2])


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("name", "fault"), FAULTS)
def test_a_check_tells_what_is_broken(monkeypatch: pytest.MonkeyPatch, name: str, fault: Callable[..., Any]) -> None:
    monkeypatch.setattr(correctness, "recall", fault)
    clock = ManualClock()
    session = opened(clock)
    told = correctness.run_check(name, session.context, clock)
    session.close()
    assert (told.ok, told.passed) == (False, 0)
    assert len(told.failures) == correctness.SHOWN


@pytest.mark.usefixtures("few")
def test_a_value_that_is_taken_for_a_new_one_fails_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    said: Iterator[int] = iter(range(10_000))
    remember = correctness.remember

    def forgetful(context: Context, body: str, **fields: Any) -> Any:
        return remember(context, f"{body} {next(said)}", **{**fields, "value": f"{fields['value']} {next(said)}"})

    monkeypatch.setattr(correctness, "remember", forgetful)
    clock = ManualClock()
    session = opened(clock)
    told = correctness.run_check("restatement", session.context, clock)
    session.close()
    assert told.passed == 0


# ── reports ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def full(small: Path) -> run.Evaluated:
    return evaluated(small, *run.GOLDEN)


def test_a_page_holds_every_table_and_how_to_repeat_it(small: Path) -> None:
    told = full(small)
    told.report["correctness"] = [
        {
            "name": "twins",
            "instances": 2,
            "passed": 1,
            "controls": 2,
            "ok": False,
            "failures": [{"instance": "a | b", "reason": "both are found"}],
        }
    ]
    assert not told.ok
    page = report.markdown(told.report, command="eunoe eval --out FOLDER")
    titles = [each[3:] for each in page.splitlines() if each.startswith("## ")]
    assert titles[:2] == ["Golden set", "Golden set, by category"]
    assert {"Cross-lingual, by language", "Answerability", "Calibration", "Correctness", "To repeat it"} <= set(titles)
    assert "| eunoe | 66.7 | 66.7 |" in page
    assert "a \\| b: both are found" in page
    assert "$ eunoe eval --out FOLDER" in page
    assert len(report.tables(told.report, brief=True)) < len(report.tables(told.report))


def test_comparing_pairs_questions_and_tells_what_is_sure(tmp_path: Path, small: Path) -> None:
    one, other = full(small), full(small)
    for each in other.questions:
        if each["set"] == "golden":
            each |= {"R@1": 1.0, "R@5": 1.0, "MRR": 1.0}
    other.report["golden"]["systems"]["eunoe"]["both"]["all"]["MRR"] = 1.0
    for name, told in (("one", one), ("other", other)):
        (tmp_path / f"{name}.json").write_text(json.dumps(told.report), encoding="utf-8")
        (tmp_path / f"{name}.questions.jsonl").write_text(compare.dump_lines(told.questions), encoding="utf-8")
    mine, theirs = (compare.read(tmp_path / f"{name}.json") for name in ("one", "other"))
    page = compare.to_page(mine, theirs, compare.differences(mine, theirs))
    assert "66.7 → 100.0 (+33.3) [+0.0, +100.0]" in page
    assert "| paraphrase | 0.0 → 0.0 (+0.0) [+100.0, +100.0]* |" in page
    assert "| gold left out: AUC |" in page
    (tmp_path / "one.questions.jsonl").unlink()
    bare = compare.read(tmp_path / "one.json")
    assert "there are no intervals" in compare.to_page(bare, theirs, compare.differences(bare, theirs))


def test_reports_without_a_common_section_say_so(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text('{"schema": 1, "eunoe": "0"}', encoding="utf-8")
    read = compare.read(tmp_path)
    assert "no section in common" in compare.to_page(read, read, compare.differences(read, read))


def test_reports_of_different_halves_are_not_compared(tmp_path: Path, small: Path) -> None:
    reads = []
    for half in ("tune", "test"):
        file = tmp_path / f"{half}.json"
        file.write_text(json.dumps(evaluated(small, *run.GOLDEN, half=half).report), encoding="utf-8")
        reads.append(compare.read(file))
    assert compare.differences(*reads) == []
    assert report.tables(reads[0].report)[0].title == "Golden set"


@pytest.mark.parametrize("text", ["[]", '{"schema": 2}', "{"])
def test_a_file_that_is_no_report_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "report.json").write_text(text, encoding="utf-8")
    with pytest.raises(Invalid) as refused:
        compare.read(tmp_path)
    assert refused.value.code == "bad_evaluation_data"


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=30, max_size=60))
def test_an_interval_holds_the_mean_of_a_fair_sample(differences: list[float]) -> None:
    low, high = compare.interval(differences)
    assert -1 <= low <= sum(differences) / len(differences) <= high <= 1
    assert compare.interval(differences) == (low, high)


def test_an_interval_is_as_wide_as_theory_says() -> None:
    low, high = compare.interval([0.0, 1.0] * 50)
    assert high - low == pytest.approx(2 * 1.96 * 0.05, abs=0.02)


def test_pictures_without_matplotlib_name_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(Unavailable, match=r"eunoe\[plots\]") as refused:
        plots.check_matplotlib()
    assert refused.value.code == "no_plots"


def test_pictures_are_drawn_of_what_a_report_has(small: Path) -> None:
    pytest.importorskip("matplotlib")
    told = full(small).report
    drawn = dict(plots.pictures(told | {"locomo": {"calibration": told["calibration"]}}))
    assert list(drawn) == ["reliability.png", "floors.png", "locomo-reliability.png"]
    assert all(image.startswith(b"\x89PNG") for image in drawn.values())

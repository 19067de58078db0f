"""LoCoMo, asked: each conversation a project, each question one recall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from eunoe.evaluation.answerability import Answerable, judge_halves
from eunoe.evaluation.answering import DEPTH, Answer, embedder_of, settled, write
from eunoe.evaluation.baselines import rankers
from eunoe.evaluation.calibration import calibration
from eunoe.evaluation.locomo import HALVES, Asked, Conversation, measured
from eunoe.evaluation.progress import Progress, Steps
from eunoe.evaluation.scoring import BOTH, Scored, halves_of, line, scored, tabled
from eunoe.service.context import Context

FOREIGN = "another conversation's"
CALIBRATED = 10


class Talk(NamedTuple):
    """The section of the report, and a line for each question: numbers and categories, never text."""

    sections: dict[str, Any]
    questions: list[dict[str, Any]]


class _Told(NamedTuple):
    conversation: Conversation
    question: Asked
    answer: Answer

    @property
    def ident(self) -> str:
        return f"{self.conversation.at}-{self.question.at}"

    def scored(self, names: Sequence[str]) -> Scored:
        asked = self.question
        return scored(self.ident, asked.category, self.conversation.half, asked.gold, names, by=measured)


def run_locomo(
    context: Context,
    conversations: Sequence[Conversation],
    *,
    baselines: bool,
    foreign: bool,
    progress: Progress | None,
) -> Talk:
    """Write the conversations, ask their questions, and return the section `locomo`.

    Args:
        context: A session in an empty store.
        conversations: Of one file.
        baselines: Whether to rank with the baselines as well.
        foreign: Whether to put the questions of each conversation to the next one, which cannot answer them, as well.
        progress: Shows how far it is.
    """
    shelves = [write(context, f"locomo/{each.at}", list(each.turns.items())) for each in conversations]
    settled(context)
    pairs = [(each, question) for each in conversations for question in each.questions]
    steps = Steps(len(pairs) * (2 if foreign else 1), progress)

    def ask(at: int, question: Asked) -> Answer:
        answer = shelves[at % len(shelves)].ask(question.text)
        steps.step()
        return answer

    told = [
        _Told(each, question, ask(at, question)) for at, each in enumerate(conversations) for question in each.questions
    ]
    section = _tables(context, conversations, told, baselines=baselines)
    section["calibration"] = _calibration(told)
    if foreign and len(conversations) > 1:
        tops = [(each.half, ask(at + 1, one).top) for at, each in enumerate(conversations) for one in each.questions]
        own = [(each.conversation.half, _answerable(each)) for each in told]
        section["answerability"] = judge_halves(own, {FOREIGN: tops}, halves_of(BOTH, HALVES))
    return Talk({"locomo": section}, [_line(each) for each in told])


def _tables(
    context: Context, conversations: Sequence[Conversation], told: Sequence[_Told], *, baselines: bool
) -> dict[str, Any]:
    halves = halves_of(BOTH, HALVES)
    systems = {"eunoe": tabled((each.scored(each.answer.names) for each in told), halves)}
    skipped: dict[str, str] = {}
    if baselines:
        ranked: dict[str, list[Scored]] = {}
        for conversation in conversations:
            bodies = {name: str(turn["body"]) for name, turn in conversation.turns.items()}
            made, skipped = rankers(conversation.texts, bodies, embedder_of(context), absent=context.semantics.absent)
            mine = [each for each in told if each.conversation is conversation]
            for name, ranker in made.items():
                ranked.setdefault(name, []).extend(each.scored(ranker(each.question.text)) for each in mine)
        systems |= {name: tabled(each, halves) for name, each in ranked.items()}
    turns = sum(len(each.turns) for each in conversations)
    counts = {"conversations": len(conversations), "turns": turns, "questions": len(told), "depth": DEPTH}
    return {"counts": counts, "systems": systems, "skipped": skipped}


def _answerable(told: _Told) -> Answerable:
    return Answerable(told.answer.top, told.answer.evidence_of(told.question.gold))


def _calibration(told: Sequence[_Told]) -> dict[str, Any]:
    found = {}
    for half in halves_of(BOTH, HALVES):
        pairs = (
            (evidence, name in each.question.gold)
            for each in told
            if half in (BOTH, each.conversation.half)
            for name, evidence in list(zip(each.answer.names, each.answer.evidence, strict=True))[:CALIBRATED]
        )
        result = calibration(pairs)
        found[half] = result._asdict() | {"bins": [each._asdict() for each in result.bins]}
    return found


def _line(told: _Told) -> dict[str, Any]:
    answer = _answerable(told)
    return line("locomo", told.scored(told.answer.names), top=answer.top, gold=answer.gold, named=False)

"""The golden set, asked: what was found, in all and by category and language, and what evidence was worth.

Each project of the set is written once. To leave gold out, the gold memories are archived, the question is asked, and
they are restored. The strict form writes the project again without them, for every set of gold memories that occurs.
Taking gold hits out of a usual answer would not do: what is left would still be judged beside them, and look weaker
than it does in a project that never held them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from eunoe.evaluation import golden
from eunoe.evaluation.answerability import Answerable, judge_halves
from eunoe.evaluation.answering import DEPTH, Answer, Shelf, embedder_of, settled, write
from eunoe.evaluation.baselines import rankers
from eunoe.evaluation.calibration import calibration
from eunoe.evaluation.golden import Golden, Item, Question
from eunoe.evaluation.progress import Progress, Steps
from eunoe.evaluation.scoring import APART, Scored, halves_of, line, scored, tabled, within
from eunoe.service.context import Context

LEFT_OUT, STRICTLY, UNANSWERABLE, NEAR = "gold left out", "gold left out, strictly", "unanswerable", "near misses"
CALIBRATED = 10  # hits of a question whose evidence is compared with what they are


class Sections(NamedTuple):
    """Sections of the report, by name, and a line for each question."""

    sections: dict[str, Any]
    questions: list[dict[str, Any]]


class _Asked(NamedTuple):
    question: Question
    answer: Answer


def run_golden(
    context: Context,
    data: Golden,
    sections: frozenset[str],
    *,
    half: str,
    baselines: bool,
    strict: bool,
    progress: Progress | None,
) -> Sections:
    """Write the set, ask it, and return the sections that are wanted of `golden crosslingual answerability`."""
    shelves = {project: _written(context, project, items) for project, items in _by_project(data.memories).items()}
    settled(context)
    halves = halves_of(half, golden.HALVES)
    foreign = data.crosslingual if "crosslingual" in sections else ()
    absent = data.unanswerable if "answerability" in sections else ()
    gaps = _gaps(data) if strict and "answerability" in sections else []
    twice = 2 if "answerability" in sections else 1
    steps = Steps(len(data.queries) * twice + len(foreign) + len(absent) + len(gaps), progress)
    asked = [_ask(shelves, question, steps) for question in data.queries]
    found = Sections({}, [])
    if "golden" in sections:
        found.sections["golden"] = _section(context, data, asked, halves, baselines=baselines)
        found.questions.extend(_line("golden", each) for each in asked)
    if foreign:
        told = [_ask(shelves, question, steps) for question in foreign]
        found.sections["crosslingual"] = _section(context, data, told, halves, baselines=baselines)
        found.questions.extend(_line("crosslingual", each) for each in told)
    if "answerability" in sections:
        told = [_ask(shelves, question, steps) for question in absent]
        kinds = {UNANSWERABLE: [each for each in told if each.question.category != "near"]}
        kinds[NEAR] = [each for each in told if each.question.category == "near"]
        kinds[LEFT_OUT] = [_ask_without(shelves, question, steps) for question in data.queries]
        kinds[STRICTLY] = _strictly(context, data, gaps, steps)
        kinds = {kind: several for kind, several in kinds.items() if several}
        found.sections["answerability"] = _answerability(asked, kinds, halves)
        every = [*asked, *(each for kind in (UNANSWERABLE, LEFT_OUT) for each in kinds.get(kind, ()))]
        found.sections["calibration"] = {each: _calibration(every, each) for each in halves}
        found.questions.extend(_absent_line(kind, each) for kind, several in kinds.items() for each in several)
    return found


def _by_project(memories: Iterable[Item]) -> dict[str, list[Item]]:
    projects: dict[str, list[Item]] = {}
    for item in memories:
        projects.setdefault(item.project, []).append(item)
    return projects


def _written(context: Context, slug: str, items: Iterable[Item]) -> Shelf:
    return write(context, f"golden/{slug}", [(item.ident, item.fields) for item in items])


def _ask(shelves: Mapping[str, Shelf], question: Question, steps: Steps) -> _Asked:
    asked = _Asked(question, shelves[question.project].ask(question.text))
    steps.step()
    return asked


def _ask_without(shelves: Mapping[str, Shelf], question: Question, steps: Steps) -> _Asked:
    asked = _Asked(question, shelves[question.project].ask_without(question.gold, question.text))
    steps.step()
    return asked


def _section(
    context: Context, data: Golden, asked: Sequence[_Asked], halves: Sequence[str], *, baselines: bool
) -> dict[str, Any]:
    """Return the tables of every system over the same questions."""
    systems = {"eunoe": tabled((_scored(one, answer.names) for one, answer in asked), halves)}
    skipped: dict[str, str] = {}
    if baselines:
        ranked: dict[str, list[Scored]] = {}
        for project, items in _by_project(data.memories).items():
            texts = {item.ident: item.text for item in items}
            bodies = {item.ident: item.body for item in items}
            made, skipped = rankers(texts, bodies, embedder_of(context), absent=context.semantics.absent)
            mine = [one for one, _ in asked if one.project == project]
            for name, ranker in made.items():
                ranked.setdefault(name, []).extend(_scored(one, ranker(one.text)) for one in mine)
        systems |= {name: tabled(each, halves) for name, each in ranked.items()}
    counts = {"memories": len(data.memories), "questions": len(asked), "depth": DEPTH}
    return {"counts": counts, "systems": systems, "skipped": skipped}


def _scored(question: Question, names: Sequence[str]) -> Scored:
    return scored(question.ident, question.category, question.half, question.gold, names)


def _answerability(
    asked: Sequence[_Asked], kinds: Mapping[str, Sequence[_Asked]], halves: Sequence[str]
) -> dict[str, Any]:
    """Judge evidence; near misses are apart, because what is found there does bear on the question's topic."""
    answerable = [(one.half, Answerable(answer.top, answer.evidence_of(one.gold))) for one, answer in _counted(asked)]
    tops = {kind: [(one.half, answer.top) for one, answer in _counted(several)] for kind, several in kinds.items()}
    return judge_halves(answerable, tops, halves, apart=(STRICTLY, NEAR))


def _counted(asked: Sequence[_Asked]) -> list[_Asked]:
    return [each for each in asked if each.question.category not in APART]


def _calibration(asked: Sequence[_Asked], half: str) -> dict[str, Any]:
    """Return what the evidence of the first hits was worth, over questions that have an answer and that have none."""
    pairs = (
        (evidence, name in one.gold)
        for one, answer in _counted(asked)
        if within(half, one.half)
        for name, evidence in list(zip(answer.names, answer.evidence, strict=True))[:CALIBRATED]
    )
    told = calibration(pairs)
    return told._asdict() | {"bins": [each._asdict() for each in told.bins]}


def _gaps(data: Golden) -> list[tuple[str, frozenset[str]]]:
    """Return each project with each set of memories to write it without, in a fixed order."""
    wanted = {(one.project, frozenset(one.gold)) for one in data.queries}
    return sorted(wanted, key=lambda pair: (pair[0], sorted(pair[1])))


def _strictly(context: Context, data: Golden, gaps: Sequence[tuple[str, frozenset[str]]], steps: Steps) -> list[_Asked]:
    """Return the answers of projects that never held what answers the question."""
    projects, found = _by_project(data.memories), []
    for at, (project, gold) in enumerate(gaps):
        rest = [item for item in projects[project] if item.ident not in gold]
        shelf = _written(context, f"without-{at}/{project}", rest)
        settled(context)
        mine = (one for one in data.queries if (one.project, frozenset(one.gold)) == (project, gold))
        found += [_Asked(one, shelf.ask(one.text)) for one in mine]
        steps.step()
    return found


def _line(set_: str, asked: _Asked) -> dict[str, Any]:
    one, answer = asked
    return line(set_, _scored(one, answer.names), top=answer.top, gold=answer.evidence_of(one.gold))


def _absent_line(kind: str, asked: _Asked) -> dict[str, Any]:
    one, answer = asked
    kept = {"set": kind, "id": one.ident, "category": one.category, "half": one.half, "evidence": answer.top}
    return kept | {"top": list(answer.names[:5])}

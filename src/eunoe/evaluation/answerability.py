"""Whether evidence tells a question that memory can answer from one that it cannot.

Terms, at a floor below which a hit is not shown:

- *false injection*: the share of unanswerable questions for which something has evidence of at least the floor.
- *miss*: the share of answerable questions whose best gold hit is below the floor, or was not found.
- *refused*: the share of answerable questions for which nothing at all reaches the floor.
- *AUC*: the probability that the top evidence of an answerable question exceeds that of an unanswerable one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from eunoe.evaluation.metrics import auc
from eunoe.evaluation.scoring import within

FLOORS = tuple(step / 20 for step in range(1, 20))
FALSE_INJECTION = 0.05  # what may be injected wrongly, as a share of unanswerable questions
TOGETHER = "together"


class Answerable(NamedTuple):
    """What a question that has an answer got: the largest evidence of any hit, and of any gold hit; 0 for none."""

    top: float
    gold: float


class AtFloor(NamedTuple):
    """The shares at one floor; those of a kind of question that was not asked are 0."""

    floor: float
    false_injection: float
    miss: float
    refused: float


class Judgement(NamedTuple):
    """How well evidence tells two kinds of questions apart.

    Attributes:
        answerable, unanswerable: How many questions there were.
        floors: The shares at 0.05, 0.10, …, 0.95.
        smallest: At the smallest of these floors whose false injection is at most 5 %; None where there is none.
    """

    answerable: int
    unanswerable: int
    auc: float | None
    floors: tuple[AtFloor, ...]
    smallest: AtFloor | None


def judge(answerable: Sequence[Answerable], unanswerable: Sequence[float]) -> Judgement:
    """Judge evidence by questions with an answer, and by the top evidence of questions without one.

    >>> told = judge([Answerable(0.9, 0.9), Answerable(0.5, 0.2)], [0.1, 0.3])
    >>> told.auc, told.smallest
    (1.0, AtFloor(floor=0.35, false_injection=0.0, miss=0.5, refused=0.0))
    """
    floors = tuple(at_floor(floor, answerable, unanswerable) for floor in FLOORS)
    return Judgement(
        answerable=len(answerable),
        unanswerable=len(unanswerable),
        auc=auc([each.top for each in answerable], unanswerable),
        floors=floors,
        smallest=next((each for each in floors if each.false_injection <= FALSE_INJECTION), None),
    )


def at_floor(floor: float, answerable: Sequence[Answerable], unanswerable: Sequence[float]) -> AtFloor:
    """Return the shares at a floor.

    >>> at_floor(0.4, [Answerable(0.9, 0.3), Answerable(0.2, 0.2)], [0.4, 0.1, 0.0, 0.0])
    AtFloor(floor=0.4, false_injection=0.25, miss=1.0, refused=0.5)
    """
    return AtFloor(
        floor=floor,
        false_injection=_share(sum(top >= floor for top in unanswerable), len(unanswerable)),
        miss=_share(sum(each.gold < floor for each in answerable), len(answerable)),
        refused=_share(sum(each.top < floor for each in answerable), len(answerable)),
    )


def judge_halves(
    answerable: Sequence[tuple[str, Answerable]],
    kinds: Mapping[str, Sequence[tuple[str, float]]],
    halves: Sequence[str],
    *,
    apart: Sequence[str] = (),
) -> dict[str, Any]:
    """Judge evidence by each kind of unanswerable question and by all `together`, in each half, as plain values.

    Args:
        answerable: The half of each question, and what it got.
        kinds: Kind → the half of each question, and its top evidence.
        halves: What to report, see `scoring.halves_of`. With three of them, the smallest floor of the second is also
            applied to the third, which had no say in it: `transferred`.
        apart: Kinds that are not counted in `together`.
    """
    told = dict(kinds)
    joined = [name for name in kinds if name not in apart]
    if len(joined) > 1:
        told[TOGETHER] = [each for name in joined for each in kinds[name]]

    def parts(half: str, kind: str) -> tuple[list[Answerable], list[float]]:
        return [got for own, got in answerable if within(half, own)], [
            top for own, top in told[kind] if within(half, own)
        ]

    judged = {half: {kind: judge(*parts(half, kind)) for kind in told} for half in halves}
    found: dict[str, Any] = {"halves": {half: _plain(kinds_) for half, kinds_ in judged.items()}}
    if len(halves) > 2:
        chosen = {kind: judgement.smallest for kind, judgement in judged[halves[1]].items()}
        found["transferred"] = {
            kind: None if floor is None else at_floor(floor.floor, *parts(halves[2], kind))._asdict()
            for kind, floor in chosen.items()
        }
    return found


def _plain(judgements: Mapping[str, Judgement]) -> dict[str, Any]:
    return {
        kind: each._asdict()
        | {
            "floors": [floor._asdict() for floor in each.floors],
            "smallest": None if each.smallest is None else each.smallest._asdict(),
        }
        for kind, each in judgements.items()
    }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0

"""Questions with what their answers are worth, and tables of averages over them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from eunoe.evaluation.metrics import averaged, first_rank, measure

Row = dict[str, float]
Table = dict[str, dict[str, Row]]

ALL = "all"
BOTH = "both"
APART = frozenset(("oblique",))
"""Groups that are reported apart, and are not in `all`: questions that avoid every word of what answers them."""
SHOWN = 5  # names that a line about a question keeps


class Scored(NamedTuple):
    """One question that has an answer, and what was made of it.

    Attributes:
        group: Its category or language.
        half: Its half; empty where it belongs to each.
        gold: What answers it.
        names: What was found, best first.
        row: The measures, by name.
    """

    ident: str
    group: str
    half: str
    gold: Collection[str]
    names: Sequence[str]
    row: Mapping[str, float]

    @property
    def rank(self) -> int | None:
        """Return the rank of the first that answers it."""
        return first_rank(self.names, self.gold)


def scored(
    ident: str, group: str, half: str, gold: Collection[str], names: Sequence[str], *, by: Measure = measure
) -> Scored:
    """Return a question with its measures."""
    return Scored(ident, group, half, gold, names, by(names, gold))


Measure = Callable[[Sequence[str], Collection[str]], Mapping[str, float]]


def halves_of(half: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return what to report: one half, or `both` and then each.

    >>> halves_of("both", ("tune", "test")), halves_of("test", ("tune", "test"))
    (('both', 'tune', 'test'), ('test',))
    """
    return (BOTH, *names) if half == BOTH else (half,)


def within(half: str, own: str) -> bool:
    """Tell whether a question whose half is `own` belongs to what is reported as `half`."""
    return half == BOTH or own in ("", half)


def tabled(questions: Iterable[Scored], halves: Sequence[str]) -> Table:
    """Return half → `all` (but for what is reported apart) and each group, by name → averages and `questions`.

    >>> one = scored("q1", "code", "tune", ["a"], ["a"])
    >>> tabled([one], ["both", "test"])["both"]["code"]["MRR"], tabled([one], ["test"])["test"]["all"]
    (1.0, {'questions': 0})
    """
    kept = list(questions)
    table: Table = {}
    for half in halves:
        here = [each for each in kept if within(half, each.half)]
        groups = sorted({each.group for each in here if each.group})
        table[half] = {ALL: averaged([each.row for each in here if each.group not in APART])}
        table[half] |= {group: averaged([each.row for each in here if each.group == group]) for group in groups}
    return table


def line(set_: str, question: Scored, *, top: float, gold: float, named: bool = True) -> dict[str, Any]:
    """Return what is kept of one question, as a line of JSON: never its text.

    Args:
        set_: Which set it is of.
        question: The question.
        top, gold: The largest evidence of any hit, and of any that answers it.
        named: Whether to keep the names of the first five.
    """
    kept = {"set": set_, "id": question.ident, "category": question.group, "half": question.half}
    numbers = {"rank": question.rank, "evidence": top, "gold_evidence": gold}
    numbers |= {name: question.row[name] for name in ("R@1", "R@5", "MRR")}
    return kept | numbers | ({"top": list(question.names[:SHOWN])} if named else {})

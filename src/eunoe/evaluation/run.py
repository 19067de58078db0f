"""Runs an evaluation: sections one after the other, each in a store of its own, and returns what goes into reports.

Numbers depend on the data, the model and the code alone: the clock stands where the data ends, and neither this
machine's name, its time nor its speed is part of a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from eunoe._version import __version__
from eunoe.evaluation import golden, locomo
from eunoe.evaluation.answering import facts as facts_of
from eunoe.evaluation.correctness import run_checks
from eunoe.evaluation.golden_run import run_golden
from eunoe.evaluation.locomo_run import run_locomo
from eunoe.evaluation.progress import Progress
from eunoe.evaluation.scoring import BOTH
from eunoe.ports.clock import Clock
from eunoe.service.context import Context
from eunoe.testing.clock import ManualClock

SCHEMA = 1
GOLDEN = ("golden", "crosslingual", "answerability")
SECTIONS = (*GOLDEN, "correctness", "locomo")

Watch = Callable[[str], AbstractContextManager[Progress | None]]


class Session(Protocol):
    """A running session, as `bootstrap.open_session` returns it."""

    @property
    def context(self) -> Context:
        """Return what use cases work with."""

    def close(self) -> None:
        """Close the store."""


Open = Callable[[Clock], Session]


class Wanted(NamedTuple):
    """What to evaluate.

    Attributes:
        sections: Of `SECTIONS`; `locomo` needs the file.
        half: `tune`, `test` or `both`, of the golden set; LoCoMo is always reported in all and by halves.
        baselines: Whether to rank with the baselines as well.
        strict: Whether to leave gold out by writing the project again without it, too.
        data: The folder of the golden set.
        locomo: The file of conversations.
        foreign: Whether to put the questions of each conversation to the next one.
    """

    sections: frozenset[str] = frozenset(SECTIONS)
    half: str = BOTH
    baselines: bool = True
    strict: bool = False
    data: Path = golden.DATA
    locomo: Path | None = None
    foreign: bool = False


class Evaluated(NamedTuple):
    """The report, in the types of JSON, and one line for each question that was asked."""

    report: dict[str, Any]
    questions: list[dict[str, Any]]

    @property
    def ok(self) -> bool:
        """Tell whether nothing that must never fail failed."""
        return all(each["ok"] for each in self.report.get("correctness", ()))


def _unwatched(_: str) -> AbstractContextManager[Progress | None]:
    return nullcontext()


def run(open_: Open, wanted: Wanted, *, watch: Watch = _unwatched) -> Evaluated:
    """Evaluate.

    Args:
        open_: Opens a session in an empty store of its own, with the clock that it is given.
        wanted: What to evaluate.
        watch: Shows how far a section is.

    Raises:
        Invalid: `bad_evaluation_data`. Unavailable: the model cannot be loaded.
    """
    sections: dict[str, Any] = {}
    questions: list[dict[str, Any]] = []
    facts: dict[str, Any] = {}
    if wanted.sections.intersection(GOLDEN):
        data = golden.load(wanted.data).of_half(wanted.half)
        with _opened(open_, ManualClock(data.now_us), facts) as context, watch("golden set") as progress:
            found = run_golden(
                context,
                data,
                wanted.sections,
                half=wanted.half,
                baselines=wanted.baselines,
                strict=wanted.strict,
                progress=progress,
            )
        sections |= found.sections
        questions += found.questions
    if "correctness" in wanted.sections:
        clock = ManualClock()
        with _opened(open_, clock, facts) as context, watch("correctness") as progress:
            checks = run_checks(context, clock, progress=progress)
        sections["correctness"] = [
            each._asdict() | {"ok": each.ok, "failures": [failure._asdict() for failure in each.failures]}
            for each in checks
        ]
    if "locomo" in wanted.sections and wanted.locomo is not None:
        conversations = locomo.load(wanted.locomo)
        clock = ManualClock(locomo.end_us(conversations))
        with _opened(open_, clock, facts) as context, watch("LoCoMo") as progress:
            talk = run_locomo(
                context, conversations, baselines=wanted.baselines, foreign=wanted.foreign, progress=progress
            )
        sections |= talk.sections
        questions += talk.questions
    head = {"schema": SCHEMA, "eunoe": __version__, **facts, "half": wanted.half, "data": _named(wanted)}
    return Evaluated(_rounded(head | sections), _rounded(questions))


@contextmanager
def _opened(open_: Open, clock: Clock, facts: dict[str, Any]) -> Iterator[Context]:
    """Open a session, close it afterwards, and note what answers in it."""
    session = open_(clock)
    try:
        facts |= facts_of(session.context)
        yield session.context
    finally:
        session.close()


def _named(wanted: Wanted) -> str:
    """Return the name of the golden set, never where it lies."""
    return "golden" if wanted.data == golden.DATA else wanted.data.name


def _rounded(value: Any) -> Any:
    """Return a value with its numbers rounded to six digits, so that reports do not differ by a last bit."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, Mapping):
        return {name: _rounded(each) for name, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, Sequence) and not isinstance(value, str) else value

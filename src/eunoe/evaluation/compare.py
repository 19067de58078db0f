"""Two reports side by side. Where both have their questions beside them, each difference comes with an interval.

The interval is that of a paired bootstrap: the questions both reports have are drawn with replacement 2,000 times, the
mean difference is taken each time, and the middle 95 % of these means are kept. An interval without 0 is marked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from eunoe.errors import Invalid
from eunoe.evaluation.golden import parse_json, read_text
from eunoe.evaluation.report import Table, percent, to_markdown
from eunoe.evaluation.scoring import ALL, within

MEASURES = ("R@1", "R@5", "MRR")
SETS = {"golden": "Golden set", "crosslingual": "Cross-lingual", "locomo": "LoCoMo"}
RESAMPLES = 2000
SEED = 20260101
REPORT, QUESTIONS = ".json", ".questions.jsonl"

_BRACKETS = "Brackets: 95 % of a paired bootstrap over the questions that both answered; * where it leaves out 0."
_NO_BRACKETS = "Without the files of the questions beside both reports there are no intervals."

Lines = dict[tuple[str, str], dict[str, Any]]


class Read(NamedTuple):
    """A report, and its lines by set and id; none where the file of them is not there."""

    report: dict[str, Any]
    lines: Lines


def questions_file(report: Path) -> Path:
    """Return where the lines of a report lie: beside it.

    >>> questions_file(Path("a/report.json")).name
    'report.questions.jsonl'
    """
    return report.with_name(report.name.removesuffix(REPORT) + QUESTIONS)


def read(file: Path) -> Read:
    """Read a report, or the folder that `--out` wrote. Raises `Invalid` (`bad_evaluation_data`)."""
    file = file / "report.json" if file.is_dir() else file
    report = parse_json(read_text(file), file.name)
    if not isinstance(report, dict) or report.get("schema") != 1:
        raise Invalid("bad_evaluation_data", f"{file.name} is no report of `eunoe eval` that this version reads")
    beside = questions_file(file)
    lines: Lines = {}
    if beside.is_file():
        for at, text in enumerate(read_text(beside).splitlines(), 1):
            line = parse_json(text, f"{beside.name}, line {at}")
            lines[line["set"], line["id"]] = line
    return Read(report, lines)


def differences(one: Read, other: Read) -> list[Table]:
    """Return what the two have in common, side by side; differences are the other minus the one, in points."""
    return [*_rankings(one, other), *_judgements(one.report, other.report), *_checks(one.report, other.report)]


def to_page(one: Read, other: Read, found: Sequence[Table]) -> str:
    """Return the differences as Markdown."""
    heads = (
        f"{told['eunoe']}, model {told.get('model', 'none')}, recipe {told.get('recipe', '–')}"
        for told, _ in (one, other)
    )
    head = "A: {}. B: {}. Differences are B minus A, in percentage points.".format(*heads)
    note = _BRACKETS if one.lines and other.lines else _NO_BRACKETS
    return f"# Comparison\n\n{head}\n\n{note if found else 'They have no section in common.'}\n{to_markdown(found)}"


def interval(differences: Sequence[float], *, seed: int = SEED) -> tuple[float, float]:
    """Return the middle 95 % of the means of resampled differences; the same for the same numbers and seed.

    >>> interval([0.5, 0.5, 0.5])
    (0.5, 0.5)
    """
    draw, size = Random(seed), len(differences)  # noqa: S311 - resampling, not a secret
    means = sorted(sum(draw.choices(differences, k=size)) / size for _ in range(RESAMPLES))
    cut = RESAMPLES // 40
    return means[cut], means[-cut - 1]


def _rankings(one: Read, other: Read) -> Iterator[Table]:
    for name, title in SETS.items():
        if name not in one.report or name not in other.report:
            continue
        mine, theirs = (read_.report[name]["systems"]["eunoe"] for read_ in (one, other))
        half = _common(mine, theirs)
        if half is None:
            continue
        paired = [pair for pair in _paired(name, one.lines, other.lines) if within(half, pair[0]["half"])]
        rows = [
            (group, *(_change(each, row, theirs[half][group], _of(paired, group)) for each in MEASURES))
            for group, row in mine[half].items()
            if group in theirs[half]
        ]
        yield Table(title, f"Eunoe alone, {half}.", ("questions", *MEASURES), tuple(rows))


def _common(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> str | None:
    """Return the first half that both report; None where they report different ones."""
    return next((half for half in mine if half in theirs), None)


def _paired(set_: str, mine: Lines, theirs: Lines) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [(line, theirs[key]) for key, line in mine.items() if key[0] == set_ and key in theirs]


def _of(
    paired: Sequence[tuple[dict[str, Any], dict[str, Any]]], group: str
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [pair for pair in paired if group in (ALL, pair[0]["category"])]


def _change(
    measure: str,
    mine: Mapping[str, float],
    theirs: Mapping[str, float],
    paired: Sequence[tuple[Mapping[str, float], Mapping[str, float]]],
) -> str:
    if measure not in mine or measure not in theirs:
        return "–"
    told = f"{percent(mine[measure])} → {percent(theirs[measure])} ({100 * (theirs[measure] - mine[measure]):+.1f})"
    if not paired:
        return told
    low, high = interval([b[measure] - a[measure] for a, b in paired])
    return f"{told} [{100 * low:+.1f}, {100 * high:+.1f}]{'*' if low > 0 or high < 0 else ''}"


def _judgements(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Table]:
    rows: list[tuple[str, ...]] = []
    for title, mine, theirs in _places(one, other):
        told, against = (each.get("answerability", {}).get("halves", {}) for each in (mine, theirs))
        half = _common(told, against)
        for kind in told.get(half, ()):
            if kind in against[half]:
                rows += _evidence(f"{title}{kind}", told[half][kind], against[half][kind])
        told, against = (each.get("calibration", {}) for each in (mine, theirs))
        if (half := _common(told, against)) is not None:
            rows.append((f"{title}ECE", *_numbers(told[half]["ece"], against[half]["ece"])))
    if rows:
        about = "In percent; less is better of what is missed and of the ECE."
        yield Table("Evidence", about, ("what", "A", "B", "B − A"), tuple(rows))


def _evidence(title: str, mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[tuple[str, ...]]:
    misses = ((each["smallest"] or {}).get("miss") for each in (mine, theirs))
    return [
        (f"{title}: AUC", *_numbers(mine["auc"], theirs["auc"])),
        (f"{title}: missed at the smallest floor", *_numbers(*misses)),
    ]


def _places(
    one: Mapping[str, Any], other: Mapping[str, Any]
) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    yield "", one, other
    yield "LoCoMo: ", one.get("locomo", {}), other.get("locomo", {})


def _numbers(mine: float | None, theirs: float | None) -> tuple[str, str, str]:
    change = "–" if mine is None or theirs is None else f"{100 * (theirs - mine):+.1f}"
    return percent(mine), percent(theirs), change


def _checks(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Table]:
    mine, theirs = ({each["name"]: each for each in told.get("correctness", ())} for told in (one, other))
    rows = tuple(
        (name, *(f"{each['passed']} / {each['instances']}" for each in (mine[name], theirs[name])))
        for name in mine
        if name in theirs
    )
    if rows:
        yield Table("Correctness", "Instances that passed.", ("check", "A", "B"), rows)


def dump_lines(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return lines of JSON, as `read` takes them."""
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)

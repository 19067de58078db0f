"""A report as people read it: tables, in Markdown or for a terminal. The numbers are those of the JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from eunoe.evaluation.scoring import ALL

_MEASURES = ("R@1", "R@5", "R@10", "hit@10", "MRR", "nDCG@10")
_OF_TURNS = ("R@1", "R@5", "R@10", "hit@10", "MRR", "session@5", "session@10")
_NAMES = {"golden": "Golden set", "crosslingual": "Cross-lingual", "locomo": "LoCoMo"}
_ABOUT = {
    "golden": "Questions to projects of made-up memories. R@k: share of what answers it among the first k.",
    "crosslingual": "Questions in other languages to the same memories, which are in English.",
    "locomo": "Turns of conversations. session@k: whether a right session is among the first k sessions.",
}

_AGAIN = """
## To repeat it

```console
$ {command}
```

The numbers depend on the data, the model and the version alone: the clock stands where the data ends, what is random is
seeded, and nothing is read from the network or from a store of yours.
"""


class Table(NamedTuple):
    """A table with a title and a sentence on what it shows; cells are ready to be shown."""

    title: str
    about: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(report: Mapping[str, Any], *, brief: bool = False) -> list[Table]:
    """Return the tables of a report.

    Args:
        report: As `run` returns it, or read from its JSON.
        brief: Leave out what belongs on paper: each half, every floor, the bins.
    """
    found: list[Table] = []
    for name in _NAMES:
        if name in report:
            found += _rankings(name, report[name], brief=brief)
    for about, judged in _judged(report):
        found += _judgements(about, judged, brief=brief)
    for about, calibrated in _calibrated(report):
        found += _calibrations(about, calibrated, brief=brief)
    if "correctness" in report:
        found.append(_correctness(report["correctness"]))
    return found


def markdown(report: Mapping[str, Any], *, command: str) -> str:
    """Return the whole report as a page; `command` is what repeats it."""
    parts = ["# How well memory answers\n", _head(report), *map(_section, tables(report))]
    for name, title in _NAMES.items():
        skipped = report.get(name, {}).get("skipped", {})
        parts += [f"\n{title}: the baseline `{each}` was left out: {why}.\n" for each, why in skipped.items()]
    return "".join(parts) + _AGAIN.format(command=command)


def to_markdown(found: Sequence[Table]) -> str:
    """Return tables one after the other, each under its title."""
    return "".join(map(_section, found))


def percent(share: float | None) -> str:
    """Return a share as a percentage with one decimal; a dash for None.

    >>> percent(0.1234), percent(None)
    ('12.3', '–')
    """
    return "–" if share is None else f"{100 * share:.1f}"


def _head(report: Mapping[str, Any]) -> str:
    facts = {
        "Eunoe": report["eunoe"],
        "model": report.get("model", "none"),
        "recipe": report.get("recipe", "–"),
        "data": report["data"],
        "half of the golden set": report["half"],
    }
    counts = [f"{each}: {number:,}" for name in _NAMES for each, number in _counts(report, name)]
    told = ", ".join(f"{name} {value}" for name, value in facts.items())
    return f"\n{told}.{' ' if counts else ''}{'; '.join(counts)}{'.' if counts else ''} Shares are in percent.\n"


def _counts(report: Mapping[str, Any], name: str) -> Iterator[tuple[str, int]]:
    for what, number in report.get(name, {}).get("counts", {}).items():
        if what != "depth":
            yield f"{_NAMES[name]} {what}", number


def _rankings(name: str, section: Mapping[str, Any], *, brief: bool) -> Iterator[Table]:
    measures = _OF_TURNS if name == "locomo" else _MEASURES
    systems = section["systems"]
    halves = list(systems["eunoe"])
    for half in halves[:1] if brief else halves:
        title = _NAMES[name] if len(halves) == 1 or half == "both" else f"{_NAMES[name]}, {half}"
        rows = [_row(system, table[half][ALL], measures) for system, table in systems.items()]
        yield Table(title, _ABOUT[name], ("system", *measures, "questions"), tuple(rows))
        groups = {group: row for group, row in systems["eunoe"][half].items() if group != ALL}
        if groups:
            by = "language" if name == "crosslingual" else "category"
            inner = tuple(_row(group, row, measures) for group, row in groups.items())
            yield Table(f"{title}, by {by}", "Eunoe alone.", (by, *measures, "questions"), inner)


def _row(name: str, row: Mapping[str, float], measures: Sequence[str]) -> tuple[str, ...]:
    return (name, *(percent(row.get(measure)) for measure in measures), str(row["questions"]))


def _judged(report: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for title, section in (("Answerability", report), ("LoCoMo, answerability", report.get("locomo", {}))):
        if "answerability" in section:
            yield title, section["answerability"]


def _judgements(title: str, judged: Mapping[str, Any], *, brief: bool) -> Iterator[Table]:
    headings = ("half", "unanswerable are", "AUC", "smallest floor", "false injection", "miss", "refused", "questions")
    about = (
        "Evidence tells what can be answered from what cannot. The smallest floor at which at most 5 % of the "
        "unanswerable questions find something; how many of the others then miss what answers them, or get nothing."
    )
    rows = [
        (half, kind, percent(told["auc"]), *_floor(told["smallest"]), f"{told['answerable']} / {told['unanswerable']}")
        for half, kinds in judged["halves"].items()
        for kind, told in kinds.items()
    ]
    if judged.get("transferred"):
        _, chosen, other = judged["halves"]
        rows += [(f"{chosen} → {other}", kind, "", *_floor(told), "") for kind, told in judged["transferred"].items()]
    yield Table(title, about, headings, tuple(rows))
    if brief:
        return
    half, kinds = next(iter(judged["halves"].items()))
    for kind, told in kinds.items():
        floors = tuple(_floor(each) for each in told["floors"])
        yield Table(
            f"{title}: floors, {half}, {kind}",
            "What a floor lets through wrongly, and what it costs.",
            ("floor", "false injection", "miss", "refused"),
            floors,
        )


def _floor(at: Mapping[str, float] | None) -> tuple[str, ...]:
    if at is None:
        return ("none", "–", "–", "–")
    return (f"{at['floor']:.2f}", percent(at["false_injection"]), percent(at["miss"]), percent(at["refused"]))


def _calibrated(report: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for title, section in (("Calibration", report), ("LoCoMo, calibration", report.get("locomo", {}))):
        if "calibration" in section:
            yield title, section["calibration"]


def _calibrations(title: str, calibrated: Mapping[str, Any], *, brief: bool) -> Iterator[Table]:
    about = "Whether evidence is the share of hits that are right, over the first ten hits of all questions."
    rows = tuple(
        (half, _number(told["ece"]), _number(told["brier"]), str(told["hits"])) for half, told in calibrated.items()
    )
    yield Table(title, about, ("half", "ECE", "Brier", "hits"), rows)
    if brief:
        return
    half, told = next(iter(calibrated.items()))
    bins = tuple(
        (f"{each['least']:.1f} to {each['below']:.1f}", *_bin(each), str(each["hits"])) for each in told["bins"]
    )
    yield Table(f"{title}: reliability, {half}", about, ("evidence", "mean evidence", "right", "hits"), bins)


def _bin(told: Mapping[str, Any]) -> tuple[str, str]:
    return (f"{told['evidence']:.3f}", percent(told["right"])) if told["hits"] else ("–", "–")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _correctness(checks: Sequence[Mapping[str, Any]]) -> Table:
    rows = tuple(
        (
            each["name"],
            f"{each['passed']} / {each['instances']}",
            f"{each['controls']} / {each['instances']}",
            "; ".join(f"{failure['instance']}: {failure['reason']}" for failure in each["failures"]) or "–",
        )
        for each in checks
    )
    about = "What must never be wrong; each instance counts only together with its positive control."
    return Table("Correctness", about, ("check", "passed", "controls", "failures"), rows)


def _section(table: Table) -> str:
    return f"\n## {table.title}\n\n{table.about}\n\n{_markdown(table)}"


def _markdown(table: Table) -> str:
    rule = ("---", *(["--:"] * (len(table.headings) - 1)))
    lines = (table.headings, rule, *table.rows)
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n" for cells in lines)

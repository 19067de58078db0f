"""`eunoe eval`: how well memory answers, measured here, without the network and without a store of the user's."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import click

from eunoe.surfaces.cli.options import define, given, shared_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from eunoe.evaluation.report import Table
    from eunoe.evaluation.run import Evaluated, Wanted
    from eunoe.ports.clock import Clock

_SUMMARY = "Measure how well memory answers, with the set that comes with Eunoe or your own"
_SECTIONS = ("golden", "crosslingual", "answerability", "correctness", "locomo")
_HALVES = ("both", "tune", "test")
# What belongs to the user's own memory; the model and the recipe stay.
_OWN = ("EUNOE_STORE", "EUNOE_PROJECT", "EUNOE_USER", "EUNOE_MAX_MEMORIES", "EUNOE_MAX_LINKS")
_NAME = "report"


def _eval(only: frozenset[str], out: str | None, plots: bool, **options: Any) -> int | None:
    context = click.get_current_context()
    if context.invoked_subcommand is not None:
        return None
    wanted = _wanted(only, options)
    if plots and out is None:
        raise click.UsageError("--plots needs --out, where the pictures go", context)
    if plots:
        from eunoe.evaluation.plots import check_matplotlib

        check_matplotlib()
    found = _run(wanted)
    if out is not None:
        _write(Path(out), found, wanted, plots=plots)
    _show(found)
    return 0 if found.ok else 1


def _wanted(only: frozenset[str], options: Mapping[str, Any]) -> Wanted:
    from eunoe.evaluation import golden, run

    file, folder = options["locomo"], options["data"]
    if "locomo" in only and file is None:
        raise click.UsageError("LoCoMo is no part of Eunoe: name its file with --locomo", click.get_current_context())
    return run.Wanted(
        sections=only or frozenset(run.SECTIONS),
        half=options["half"],
        baselines=options["baselines"],
        strict=options["strict"],
        data=golden.DATA if folder is None else Path(folder),
        locomo=None if file is None else Path(file),
        foreign=options["foreign"],
    )


def _run(wanted: Wanted) -> Evaluated:
    from eunoe import bootstrap
    from eunoe.errors import Unavailable
    from eunoe.evaluation import run
    from eunoe.surfaces.cli import terminal
    from eunoe.testing.clock import SeededEntropy

    gc.enable()  # `__main__` stopped it for start-up
    environ = {name: value for name, value in os.environ.items() if name not in _OWN}

    def opened(clock: Clock) -> bootstrap.Opened:
        session = bootstrap.open_session(
            store=":memory:",
            project="evaluation",
            surface="evaluation",
            environ=environ,
            clock=clock,
            entropy=SeededEntropy("evaluation"),
        )
        semantics = session.context.semantics
        if environ.get("EUNOE_MODEL") and not semantics.wanted and semantics.absent:
            # Somebody who named a model must not be given the numbers of words alone.
            session.close()
            raise Unavailable("no_model", semantics.absent)
        return session

    return run.run(opened, wanted, watch=terminal.progress)


def _write(folder: Path, found: Evaluated, wanted: Wanted, *, plots: bool) -> None:
    from eunoe.errors import Unavailable, shown
    from eunoe.evaluation.compare import dump_lines, questions_file
    from eunoe.evaluation.report import markdown
    from eunoe.surfaces.cli.encode import dumps
    from eunoe.surfaces.cli.outfile import write_whole
    from eunoe.surfaces.cli.terminal import note

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise Unavailable("file_unwritable", f"{shown(str(folder))} cannot be made ({exc.strerror})") from exc
    report = folder / f"{_NAME}.json"
    files = {
        report: dumps(found.report).encode() + b"\n",
        questions_file(report): dump_lines(found.questions).encode(),
        folder / f"{_NAME}.md": markdown(found.report, command=_command(found, wanted, plots=plots)).encode(),
    }
    if plots:
        from eunoe.evaluation.plots import pictures

        files |= {folder / name: image for name, image in pictures(found.report)}
    for file, content in files.items():
        write_whole(str(file), (content,))
    note(f"wrote {', '.join(file.name for file in files)} in {folder}")


def _command(found: Evaluated, wanted: Wanted, *, plots: bool) -> str:
    """Return the command that repeats an evaluation; files and folders stand as placeholders."""
    from eunoe.evaluation import golden, run

    sections = [name for name in _SECTIONS if name in wanted.sections]
    words = {
        f"EUNOE_MODEL={found.report['model']}": "model" in found.report,
        "eunoe eval": True,
        f"--only {','.join(sections)}": len(sections) < len(run.SECTIONS),
        f"--half {wanted.half}": wanted.half != "both",
        "--no-baselines": not wanted.baselines,
        "--strict-leave-out": wanted.strict,
        "--data FOLDER": wanted.data != golden.DATA,
        "--locomo FILE": wanted.locomo is not None,
        "--locomo-answerability": wanted.foreign,
        "--out FOLDER": True,
        "--plots": plots,
    }
    return " ".join(word for word, is_there in words.items() if is_there)


def _show(found: Evaluated) -> None:
    from eunoe.evaluation.report import tables
    from eunoe.surfaces.cli import terminal
    from eunoe.surfaces.cli.encode import dumps

    if given().as_json:
        terminal.say(dumps(found.report))
        return
    for at, each in enumerate(tables(found.report, brief=True)):
        _print(each, is_first=at == 0)
    skipped = {
        why: name
        for section in found.report.values()
        if isinstance(section, dict)
        for name, why in section.get("skipped", {}).items()
    }
    for why, name in skipped.items():
        terminal.note(f"the baseline {name!r} was left out: {why}")


def _print(table: Table, *, is_first: bool) -> None:
    from eunoe.surfaces.cli import terminal

    terminal.say(("" if is_first else "\n") + terminal.paint(terminal.line(table.title), bold=True))
    terminal.table(table.headings, table.rows)


def _compare(one: str, other: str) -> int:
    from eunoe.evaluation import compare
    from eunoe.surfaces.cli import terminal
    from eunoe.surfaces.cli.encode import dumps

    mine, theirs = (compare.read(Path(each)) for each in (one, other))
    found = compare.differences(mine, theirs)
    if given().as_json:
        rows = (
            {"title": each.title, "headings": list(each.headings), "rows": list(map(list, each.rows))} for each in found
        )
        terminal.say(dumps({"tables": list(rows)}))
    else:
        terminal.say(compare.to_page(mine, theirs, found))
    return 0


def _sections(context: click.Context, option: click.Parameter, value: str) -> frozenset[str]:
    """Return the names of sections, which commas separate."""
    named = frozenset(filter(None, (part.strip() for part in value.split(","))))
    if unknown := named.difference(_SECTIONS):
        raise click.BadParameter(f"{min(unknown)!r} is none of {', '.join(_SECTIONS)}", context, option)
    return named


_OPTIONS: tuple[click.Parameter, ...] = (
    click.Option(["--only"], callback=_sections, default="", metavar="NAMES", help=f"sections: {','.join(_SECTIONS)}"),
    click.Option(["--half"], type=click.Choice(_HALVES), default="both", help="which half of the golden set to ask"),
    click.Option(["--baselines/--no-baselines"], default=True, help="ask simpler searches as well"),
    click.Option(
        ["--strict-leave-out", "strict"],
        is_flag=True,
        help="leave answers out by writing the project again without them, too",
    ),
    click.Option(["--data"], metavar="FOLDER", help="a golden set of your own"),
    click.Option(["--locomo"], metavar="FILE", help="the file of LoCoMo, which is no part of Eunoe"),
    click.Option(
        ["--locomo-answerability", "foreign"],
        is_flag=True,
        help="put each conversation's questions to another one, too",
    ),
    click.Option(["--out"], metavar="FOLDER", help="where the report goes; without it only a summary is printed"),
    click.Option(["--plots"], is_flag=True, help="draw pictures as well; needs matplotlib"),
)

_COMMAND = click.Group(
    "eval",
    params=[*_OPTIONS, *shared_options()],
    callback=_eval,
    invoke_without_command=True,
    help=f"{_SUMMARY}.\n\nEverything is written into temporary stores; yours are not opened, and nothing is read from "
    "the network. The model is the one that EUNOE_MODEL names. Exit code 1 when something failed that must never fail. "
    "`eunoe eval compare A B` sets two reports side by side.",
    short_help=_SUMMARY,
    commands=[
        define(
            "compare",
            "Set two reports side by side",
            _compare,
            click.Argument(["one"], metavar="A"),
            click.Argument(["other"], metavar="B"),
            more="A and B are reports, or folders that --out wrote. Where the files of the questions lie beside both, "
            "each difference comes with the interval of a paired bootstrap.",
        )
    ],
)

COMMANDS = {"eval": _COMMAND}

"""`export` and `import`: a project as a document, and memories as JSON lines."""

from __future__ import annotations

import sys

import click

from eunoe.service.catalog import BY_NAME
from eunoe.surfaces.cli.build import parameter
from eunoe.surfaces.cli.options import define, given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from eunoe.service.context import Context
    from eunoe.service.import_lines import LinesImported
    from eunoe.service.importing import Imported

_EXPORT, _IMPORT = BY_NAME["export"], BY_NAME["import"]
_PIPE = "-"
_PIPE_NAME = "eunoe-import"
_PEEK_BYTES = 65_536


def _export(file: str | None, output: str | None, **inputs: Any) -> int:
    from eunoe.domain.document import dump
    from eunoe.errors import Invalid
    from eunoe.surfaces.cli import terminal
    from eunoe.surfaces.cli.outfile import write_whole
    from eunoe.surfaces.cli.session import opened

    if file and output and file != output:
        raise Invalid("two_files", f"the export goes to one file: {file} or --output {output}")
    target = output or file or _PIPE
    asked, call = given(), _EXPORT.load()
    with opened(asked) as session:
        with terminal.progress("exporting") as progress:
            document = call(session.context, progress=progress, **_set_only(inputs))
        if target == _PIPE:
            for piece in dump(document):
                sys.stdout.buffer.write(piece.encode())
            sys.stdout.buffer.flush()
        else:
            write_whole(target, (piece.encode() for piece in dump(document)))
    if target != _PIPE and asked.as_json:
        _answer({"file": target, "counts": document["counts"], "left_out": document["left_out"]})
    _tell_exported(target, document)
    return 0


def _tell_exported(target: str, document: Mapping[str, Any]) -> None:
    counts = document["counts"]
    parts = [f"{kind} {sum(by_status.values()):,}" for kind, by_status in sorted(counts["memories"].items())]
    where = "" if target == _PIPE else f" to {target}"
    memories = f"; memories: {', '.join(parts)}" if parts else "; no memories"
    _tell(f"exported {counts['events']:,} events{where}{memories}")
    for left_out in document["left_out"]:
        _tell(f"left out: {left_out}")


def _import(file: str, strict: bool) -> int:
    from eunoe.surfaces.cli.session import opened

    raw = _read(file)
    document = _document(raw)
    asked = given()
    with opened(asked) as session:
        if document is not None:
            return _import_document(session.context, document, as_json=asked.as_json)
        return _import_lines(session.context, raw, file, strict=strict, as_json=asked.as_json)


def _import_document(context: Context, document: Mapping[str, Any], *, as_json: bool) -> int:
    from eunoe.surfaces.cli import terminal

    with terminal.progress("importing") as progress:
        result: Imported = _IMPORT.load()(context, document, progress=progress)
    if as_json:
        _answer(result)
    else:
        how = "The project took the document as it is" if result.adopted else "The project took in"
        terminal.say(f"{how}: {result.memories:,} memories, {result.events:,} events.")
        for old, new in result.numbers.items():
            if old != new:
                terminal.say(f"  #{old} is #{new} here")
    for reason in result.set_aside:
        terminal.note(f"set aside: {reason}")
    return 0


def _import_lines(context: Context, raw: bytes, file: str, *, strict: bool, as_json: bool) -> int:
    from eunoe.errors import EunoeError
    from eunoe.service.import_lines import import_lines
    from eunoe.surfaces.cli import terminal

    lines = _lines(raw)
    try:
        with terminal.progress("importing") as progress:
            report = None if progress is None else lambda done: progress(done, len(lines))
            result = import_lines(context, lines, strict=strict, progress=report)
    except EunoeError as exc:
        if "line" in exc.details:
            terminal.note(f"line {exc.details['line']} is the first bad one; --strict, so nothing was stored")
        raise
    kept = _keep_bad(result, file)
    if as_json:
        bad = [{"line": each.number, "code": each.code, "message": each.message} for each in result.bad]
        _answer({"outcomes": result.outcomes, "receipts": result.receipts, "bad": bad, "rejected_file": kept})
    else:
        counts = ", ".join(f"{count:,} {outcome}" for outcome, count in result.outcomes.items()) or "nothing"
        terminal.say(f"Imported {len(result.receipts):,} lines: {counts}.")
    for each in result.bad:
        click.echo(f"line {each.number}: {terminal.line(each.message)} ({each.code})", err=True)
    if kept is not None:
        terminal.note(f"{len(result.bad):,} bad lines were set aside, byte for byte, in {kept}")
    return 1 if result.bad else 0


def _keep_bad(result: LinesImported, file: str) -> str | None:
    from eunoe.surfaces.cli.outfile import write_aside

    if not result.bad:
        return None
    name = _PIPE_NAME if file == _PIPE else file
    return write_aside(f"{name}.rejected", ".jsonl", b"".join(each.raw for each in result.bad))


def _lines(raw: bytes) -> list[bytes]:
    """Return the lines with their ends; only LF ends one, so that every byte stays in its line."""
    lines = raw.split(b"\n")
    ended = [line + b"\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended


def _read(file: str) -> bytes:
    from eunoe.errors import NotFound, Unavailable, shown

    if file == _PIPE:
        return sys.stdin.buffer.read()
    try:
        with open(file, "rb") as stream:  # noqa: PTH123 - pathlib would cost more than the rest of this module
            return stream.read()
    except FileNotFoundError as exc:
        raise NotFound("no_file", f"there is no file {shown(file)}; - reads standard input") from exc
    except OSError as exc:
        raise Unavailable("file_unreadable", f"{shown(file)} cannot be read ({exc.strerror})") from exc


def _document(raw: bytes) -> Mapping[str, Any] | None:
    """Return an exported document, or None for lines.

    Raises:
        Invalid: `bad_document`: it begins as an export of ours and does not go on as one.
    """
    from eunoe.domain.canonical import parse
    from eunoe.errors import Invalid

    try:
        whole = parse(raw)
    except Invalid as exc:
        head = raw[:_PEEK_BYTES]
        if b'"eunoe":{"format"' in head and b'"events":[' in head:
            raise Invalid("bad_document", f"the file is a damaged export of Eunoe: {exc.message}") from exc
        return None
    return whole if isinstance(whole, dict) and "eunoe" in whole else None


def _set_only(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in inputs.items() if value is not None}


def _answer(result: object) -> None:
    from eunoe.surfaces.cli.encode import dumps, to_json
    from eunoe.surfaces.cli.terminal import say

    say(dumps(to_json(result)))


def _tell(text: str) -> None:
    from eunoe.surfaces.cli.terminal import line

    click.echo(line(text), err=True)


COMMANDS = {
    "export": define(
        "export",
        _EXPORT.summary,
        _export,
        click.Argument(["file"], required=False, metavar="[FILE]"),
        click.Option(["-o", "--output"], metavar="FILE", help="the same as FILE; default standard output"),
        *(parameter(_EXPORT, field) for field in _EXPORT.fields),
        more="The file is made 0600 and appears only when it is whole. It holds the project's secret: keep it as you "
        "keep the store.",
    ),
    "import": define(
        "import",
        _IMPORT.summary,
        _import,
        click.Argument(["file"], metavar="FILE"),
        click.Option(["--strict"], is_flag=True, help="lines: all or nothing"),
        more="FILE is what `eunoe export` wrote, or JSON lines with the fields of `remember`; - reads standard input. "
        "Bad lines are set aside in FILE.rejected.jsonl and named; the exit code is then 1.",
    ),
}

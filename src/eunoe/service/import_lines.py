"""Import of JSON lines: one memory a line. Good lines come in; bad ones are set aside, with their number and reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from eunoe.admission.draft import draft
from eunoe.domain.canonical import parse
from eunoe.domain.memory import Receipt
from eunoe.errors import EunoeError, Invalid, Unavailable, shown
from eunoe.service.commit import Session, open_session
from eunoe.service.context import Context
from eunoe.service.remember import state, targets
from eunoe.service.retrying import retried

Progress = Callable[[int], None]

BATCH = 200


class BadLine(NamedTuple):
    """A line that was not taken: its number from 1, its bytes as they were, and why."""

    number: int
    raw: bytes
    code: str
    message: str


class LinesImported(NamedTuple):
    """What an import of lines did.

    Attributes:
        outcomes: Outcome → how many lines; blank lines count nowhere.
        receipts: Of the good lines, in order.
        bad: Lines that were set aside.
    """

    outcomes: dict[str, int]
    receipts: tuple[Receipt, ...]
    bad: tuple[BadLine, ...]


def import_lines(
    context: Context, lines: Iterable[bytes], *, strict: bool = False, progress: Progress | None = None
) -> LinesImported:
    """Take in memories, one JSON object a line with the fields of `remember` (at least `body`).

    Near-duplicates are recorded and flagged. Trust is `imported` unless a line says less.

    Args:
        context: The session; the import is done in the name of its user.
        lines: Lines as bytes; a damaged one costs only itself.
        strict: All or nothing: the first bad line is raised, and nothing is written.
        progress: Called with the number of lines done.

    Raises:
        Invalid: with `strict`: the first bad line's error; `details["line"]` is its number.
    """
    context = context._replace(caller=context.caller._replace(author="import"))
    numbered = ((at, line) for at, line in enumerate(lines, 1) if line.strip())
    receipts: list[Receipt] = []
    bad: list[BadLine] = []
    for batch in _batches(numbered, None if strict else BATCH):
        stated, refused = _state_all(context, batch, strict=strict)
        receipts += stated
        bad += refused
        if progress is not None:
            progress(batch[-1][0])
    outcomes: dict[str, int] = {}
    for receipt in receipts:
        outcomes[receipt.outcome] = outcomes.get(receipt.outcome, 0) + 1
    return LinesImported(outcomes=outcomes, receipts=tuple(receipts), bad=tuple(bad))


@retried
def _state_all(
    context: Context, batch: Sequence[tuple[int, bytes]], *, strict: bool
) -> tuple[list[Receipt], list[BadLine]]:
    receipts: list[Receipt] = []
    bad: list[BadLine] = []
    with context.store.writing() as tx:
        session = open_session(context, tx)
        for number, line in batch:
            try:
                receipts.append(_state(session, line))
            except Unavailable:
                raise  # the store failed, not the line
            except EunoeError as exc:
                if strict:
                    exc.details["line"] = number
                    raise
                bad.append(BadLine(number=number, raw=line, code=exc.code, message=exc.message))
    return receipts, bad


def _state(session: Session, line: bytes) -> Receipt:
    fields = parse(line)
    if not isinstance(fields, dict):
        raise Invalid("bad_line", f"the line is {shown(fields)}; give an object with at least a body")
    links, supersedes = targets(fields.pop("links", ())), targets(fields.pop("supersedes", None))
    statement = draft(session.context.caller, fields.pop("body", None), **fields)
    return state(session, statement, links=links, supersedes=supersedes, single=False)


def _batches(numbered: Iterator[tuple[int, bytes]], size: int | None) -> Iterator[list[tuple[int, Any]]]:
    batch: list[tuple[int, bytes]] = []
    for entry in numbered:
        batch.append(entry)
        if size is not None and len(batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch

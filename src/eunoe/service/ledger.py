"""The ledger's own use cases: verify, head, log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from eunoe.domain.address import Target, parse_address
from eunoe.domain.chain import Anchor, ChainChecker, Fault, parse_anchor
from eunoe.domain.event import Event
from eunoe.domain.instants import iso
from eunoe.errors import Invalid
from eunoe.ports.ledger import Ledger
from eunoe.projections.project import check_known
from eunoe.service.context import Context
from eunoe.service.find import find_id
from eunoe.service.visibility import Visibility

Progress = Callable[[int, int], None]


class Verified(NamedTuple):
    """The result of checking a project's ledger.

    Attributes:
        ok: True when every event is as it was written.
        fault: The first bad event and what is wrong, or None.
        events: Events checked.
        payloads: Payloads checked against their hash.
        heads: Where the chains end: keep one elsewhere, and `verify` proves continuity against it.
    """

    ok: bool
    project: str
    events: int
    payloads: int
    fault: Fault | None
    heads: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.ok


class LogEntry(NamedTuple):
    """One event as `eunoe log` shows it; texts of memories are not part of it."""

    seq: int
    id: str
    type: str
    recorded_at: str
    occurred_at: str
    origin: dict[str, object]
    meta: dict[str, object]
    has_payload: bool
    hash: str


def verify(context: Context, *, since: str | Sequence[str] = (), progress: Progress | None = None) -> Verified:
    """Check every event of the project: its content, its place, its chain, and the heads.

    Finds any change, removal, insertion or reordering, and against a head kept outside any rewrite at all.

    Args:
        context: The session.
        since: Heads that `head` printed earlier.
        progress: Called with (events checked, events in all).

    Raises:
        Invalid: `bad_head`, `other_head`: of another project. Unavailable: `newer_event`.
    """
    anchors = [parse_anchor(text) for text in ([since] if isinstance(since, str) else since)]
    with context.store.reading() as view:
        project = context.project(view)
        if project is None:
            gone = Fault(code="tail_cut", message="the project of this head is not in the store")
            return _verified(context.slug, None, gone if anchors else None)
        for anchor in anchors:
            if anchor.project != project.uuid:
                raise Invalid("other_head", f"this head is of another project than {project.slug}")
        ledger = view.ledger(project.p)
        total = ledger.count()
        checker = ChainChecker(project.uuid, anchors={each.stream: each for each in anchors})
        fault = checker.run(ledger.stored(), progress=None if progress is None else lambda done: progress(done, total))
        fault = fault or checker.finish((head.stream, head.n, head.hash) for head in ledger.heads())
        return _verified(project.slug, checker, fault, _heads(project.uuid, ledger))


def head(context: Context) -> tuple[str, ...]:
    """Return the heads of the project's chains as lines to keep elsewhere; none while it is empty."""
    with context.store.reading() as view:
        project = context.project(view)
        return () if project is None else _heads(project.uuid, view.ledger(project.p))


def log(context: Context, *, limit: int = 20, target: Target | None = None) -> list[LogEntry]:
    """Return the newest events that the caller may see, or those of one memory, newest first.

    Raises:
        Invalid: `bad_limit`. NotFound: `no_memory`.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise Invalid("bad_limit", f"limit={limit!r} must be a whole number from 0")
    with context.store.reading() as view:
        project = context.project(view)
        if project is None:
            return []
        ident = None
        if target is not None:
            ident = find_id(context, view, project, parse_address(target), at=context.moment(view, project))
        entries: list[LogEntry] = []
        visibility = Visibility(view, project.p, context.scopes())
        for event in view.ledger(project.p).events(memory=ident, newest_first=True):
            if len(entries) >= limit:
                break
            meta = visibility.shown(event.read_meta())
            if meta is not None:
                entries.append(_entry(event, meta))
        return entries


def _heads(project: str, ledger: Ledger) -> tuple[str, ...]:
    return tuple(str(Anchor(project=project, stream=each.stream, n=each.n, hash=each.hash)) for each in ledger.heads())


def _verified(slug: str, checker: ChainChecker | None, fault: Fault | None, heads: tuple[str, ...] = ()) -> Verified:
    return Verified(
        ok=fault is None,
        project=slug,
        events=checker.events if checker else 0,
        payloads=checker.payloads if checker else 0,
        fault=fault,
        heads=heads,
    )


def _entry(event: Event, meta: dict[str, object]) -> LogEntry:
    check_known(event.type, event.v)
    return LogEntry(
        seq=event.seq,
        id=event.id,
        type=event.type,
        recorded_at=iso(event.recorded_at),
        occurred_at=iso(event.occurred_at),
        origin=event.read_origin(),
        meta=meta,
        has_payload=event.payload is not None,
        hash=event.hash.hex(),
    )

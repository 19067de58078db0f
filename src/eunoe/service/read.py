"""Reading one memory: get, history, and why a query finds it or not."""

from __future__ import annotations

from typing import Any, NamedTuple

from eunoe.domain.address import Address, Target, parse_address
from eunoe.domain.event import Event
from eunoe.domain.fingerprint import key_fingerprint
from eunoe.domain.instants import from_us, optional_us
from eunoe.domain.memory import Linked, Memory
from eunoe.domain.postings import term_names
from eunoe.errors import NotFound
from eunoe.ports.projects import Project
from eunoe.ports.store import View
from eunoe.ports.text_index import Filter
from eunoe.service.asking import ask
from eunoe.service.context import Context
from eunoe.service.filters import check_query
from eunoe.service.find import find_id
from eunoe.service.visibility import Visibility


class Step(NamedTuple):
    """One thing that happened to a memory: when, what, by whom, and the version it made, if it made one."""

    event: str
    type: str
    recorded_at: Any
    occurred_at: Any
    origin: dict[str, Any]
    meta: dict[str, Any]
    version: Memory | None


class Why(NamedTuple):
    """Why a memory is where it is.

    Attributes:
        found: Whether a search for the query returns it.
        rank: Its place in all that was found, from 1.
        reasons: Sentences, the decisive one first.
        explanation: That of the hit, when it is found.
    """

    memory: Memory
    found: bool
    rank: int | None
    reasons: tuple[str, ...]
    explanation: dict[str, Any]
    history: tuple[Step, ...]


def get(
    context: Context, target: Target | None = None, *, key: str | None = None, as_of: Any = None, known_at: Any = None
) -> Memory:
    """Return one memory, whatever its status, by number, id, `me#12` or key.

    Args:
        context: The session.
        target: Its address, or None with `key`.
        key: The key it holds: now, or at `as_of`.
        as_of: The instant in the world to answer for; decides who holds a key, and the status.
        known_at: Answer from what was recorded by then.

    Raises:
        NotFound: `no_memory`, `no_project`. Invalid: `bad_address`, `bad_time`.
    """
    address = parse_address(target, key=key)
    at, known = (optional_us(value, setting=name) for value, name in ((as_of, "as_of"), (known_at, "known_at")))
    context = context.named(address.project)
    with context.store.reading() as view:
        project = context.existing(view)
        now = at if at is not None else known if known is not None else context.moment(view, project)
        ident = find_id(context, view, project, address, at=now, known_at=known)
        memory = _read(view, project, ident, address, now=now, known_at=known)
    context.signals.note_reads(project.p, [ident], context.clock.now_us())
    return memory


def links(context: Context, target: Target) -> list[Linked]:
    """Return the believed memories that a memory is linked to, by number."""
    address = parse_address(target)
    context = context.named(address.project)
    with context.store.reading() as view:
        project = context.existing(view)
        now = context.moment(view, project)
        ident = find_id(context, view, project, address, at=now)
        return view.memories(project.p).links(ident, context.scopes(), now=now)


def history(context: Context, target: Target | None = None, *, key: str | None = None) -> list[Step]:
    """Return everything that happened to a memory, oldest first; for a key, to all that ever held it.

    Raises:
        NotFound: `no_memory`, `no_project`. Invalid: `bad_address`.
    """
    address = parse_address(target, key=key)
    context = context.named(address.project)
    with context.store.reading() as view:
        project = context.existing(view)
        now = context.moment(view, project)
        if address.key is None:
            ident = find_id(context, view, project, address, at=now)
            return _steps(context, view, project, ident, now)
        scopes = context.scopes()
        prints = {scope: key_fingerprint(project.secret, scope, address.key) for scope in scopes}
        holders = view.memories(project.p).holders(scopes, prints)
        if not holders:
            raise NotFound("no_memory", f"nothing ever held the key {address.key!r} in {project.slug}")
        # An event that replaced a value speaks of both memories; the one whose version it made is told last, and stays.
        found = [step for each in holders for step in _steps(context, view, project, each, now)]
        steps = {step.event: step for step in sorted(found, key=lambda step: step.version is not None)}
        return sorted(steps.values(), key=lambda step: step.event)


def why(context: Context, target: Target, query: str | None = None) -> Why:
    """Explain one memory: where it comes from, and whether and why a query finds it.

    Raises:
        NotFound: `no_memory`, `no_project`.
    """
    address = parse_address(target)
    context = context.named(address.project)
    asked = None if query is None else ask(context, check_query(query))
    with context.store.reading() as view:
        project = context.existing(view)
        now = context.moment(view, project)
        ident = find_id(context, view, project, address, at=now)
        memory = _read(view, project, ident, address, now=now, known_at=None)
        steps = tuple(_steps(context, view, project, ident, now))
        if asked is None:
            return Why(
                memory=memory, found=False, rank=None, reasons=_standing(memory, now), explanation={}, history=steps
            )
        accept = Filter(scopes=context.scopes(), now=now)
        found = asked.put(context, view, project, accept, explain=True).hits
        for rank, hit in enumerate(found, 1):
            if hit.passage.memory == ident:
                place = f"It is number {rank} of {len(found)} for this query."
                return Why(
                    memory=memory,
                    found=True,
                    rank=rank,
                    reasons=(place,),
                    explanation=hit.explanation,
                    history=steps,
                )
        reasons = _standing(memory, now) or _words(view, project, memory, context.analyser.query(asked.text))
        return Why(memory=memory, found=False, rank=None, reasons=reasons, explanation={}, history=steps)


def _read(view: View, project: Project, ident: str, address: Address, *, now: int, known_at: int | None) -> Memory:
    found = view.memories(project.p).read([ident], now=now, known_at=known_at)
    if ident not in found:
        raise NotFound("no_memory", f"{address} was not known at that time in {project.slug}")
    return found[ident]


def _steps(context: Context, view: View, project: Project, ident: str, now: int) -> list[Step]:
    versions = {memory.event: memory for memory in view.memories(project.p).versions(ident, now=now)}
    visibility = Visibility(view, project.p, context.scopes())
    events = ((event, visibility.shown(event.read_meta())) for event in view.ledger(project.p).events(memory=ident))
    return [_step(event, meta, versions.get(event.id)) for event, meta in events if meta is not None]


def _step(event: Event, meta: dict[str, Any], version: Memory | None) -> Step:
    return Step(
        event=event.id,
        type=event.type,
        recorded_at=from_us(event.recorded_at),
        occurred_at=from_us(event.occurred_at),
        origin=event.read_origin(),
        meta=meta,
        version=version,
    )


def _standing(memory: Memory, now: int) -> tuple[str, ...]:
    """Return why a memory is part of no recall of now, if it is not."""
    moment = from_us(now)
    reasons = []
    if memory.status != "active":
        reasons.append(f"It is {memory.status}; recall returns only what is believed now.")
    if memory.expires_at is not None and memory.expires_at <= moment:
        reasons.append(f"It expired at {memory.expires_at:%Y-%m-%d %H:%M} UTC.")
    if memory.valid_from > moment:
        reasons.append(f"It becomes true only on {memory.valid_from:%Y-%m-%d %H:%M} UTC.")
    if memory.valid_to is not None and memory.valid_to <= moment and memory.status == "active":
        reasons.append(f"It was true only until {memory.valid_to:%Y-%m-%d %H:%M} UTC.")
    return tuple(reasons)


def _words(view: View, project: Project, memory: Memory, terms: list[str]) -> tuple[str, ...]:
    snapshot = view.snapshots(project.p, [memory.id])[memory.id]
    held = set(term_names(snapshot.passage["terms"])) if snapshot.passage else set()
    shared = [term for term in terms if term in held]
    if not terms:
        return ("The query has no word to look for.",)
    if not shared:
        return ("It shares no word with the query.",)
    return (f"It shares {', '.join(shared)} with the query, but others matched better and were enough.",)

"""Archive, forget and restore: how a memory stands. Nothing is deleted; each of them can be taken back."""

from __future__ import annotations

from typing import Any

from eunoe.admission.keys import is_free, is_within
from eunoe.domain import limits
from eunoe.domain.address import Target
from eunoe.domain.memory import Change, Memory
from eunoe.errors import Conflict, Invalid, Refused, shown
from eunoe.ports.memories import Stand
from eunoe.service.cap import check_room
from eunoe.service.commit import Session, open_session
from eunoe.service.context import Context
from eunoe.service.filters import to_filter
from eunoe.service.find import addressed, written
from eunoe.service.retrying import retried

_FILTERS = ("kinds", "tags", "any_tags", "paths", "since", "until", "scope", "session")
_DONE = {"memory.archived": "archived", "memory.forgotten": "forgotten"}


@retried
def archive(context: Context, target: Target) -> Change:
    """Put a memory away: out of recall and briefing, its key free again. `restore` brings it back.

    Raises:
        NotFound: `no_memory`. Conflict: `not_active`: it is superseded or forgotten.
    """
    return _withdraw_one(context, target, "memory.archived")


@retried
def forget(
    context: Context,
    target: Target | None = None,
    *,
    dry_run: bool = False,
    **filters: Any,
) -> Change:
    """Take memories back: they leave recall, and what they said does not return by itself. `restore` reverses it.

    Args:
        context: The session.
        target: One memory; or none, and filters as `count` takes them.
        dry_run: Tell what would go, and write nothing.
        **filters: kinds, tags, any_tags, paths, since, until, scope, session.

    Raises:
        Refused: `empty_filter`: neither a memory nor a filter is named. NotFound: `no_memory`.
    """
    if unknown := filters.keys() - set(_FILTERS):
        raise Invalid("unknown_filter", f"unknown filter {shown(min(unknown))}; forget takes {' '.join(_FILTERS)}")
    given = {name: value for name, value in filters.items() if value not in (None, (), [])}
    if target is not None and not given:
        return _withdraw_one(context, target, "memory.forgotten", dry_run=dry_run)
    if target is not None or not given:
        raise Refused("empty_filter", "name one memory, or at least one filter such as tags or kinds; not everything")
    with context.store.reading() if dry_run else context.store.writing() as view:
        project = context.existing(view)
        if not dry_run:
            view.lock(project.p)  # type: ignore[attr-defined]  # a write transaction when not a dry run
        accept = to_filter(context, now=context.moment(view, project), **given)
        idents = view.memories(project.p).select(accept, limit=limits.LONG_BODY)
        found = list(view.memories(project.p).read(idents, now=accept.now).values())
        if not dry_run and found:
            session = open_session(context, view)  # type: ignore[arg-type]  # a write transaction when not a dry run
            for memory in found:
                withdraw(session, memory, "memory.forgotten")
    numbers = tuple(memory.number for memory in found)
    return Change(action="forgotten", memories=numbers, ids=tuple(memory.id for memory in found), dry_run=dry_run)


@retried
def restore(context: Context, target: Target) -> Change:
    """Believe an archived or forgotten memory again, from now on, in a new version.

    Raises:
        NotFound: `no_memory`. Conflict: `superseded`: it has a successor, which is to be updated instead;
        `held_key`: its key was taken; release that one, or update this one's key first; `duplicate_text`.
        Refused: `needs_person`: a person took it back, and an agent asks; `cap`.
    """
    context, address = written(context, target)
    with context.store.writing() as tx:
        session = open_session(context, tx)
        memory = addressed(session, address)
        changed = bring_back(session, memory)
        if changed:
            check_room(context, tx, session.p)
    return Change(action="restored" if changed else "unchanged", memories=(memory.number,), ids=(memory.id,))


def bring_back(session: Session, memory: Memory) -> bool:
    """Record that a memory is believed again; tell whether it was not. Raises as `restore` does."""
    if memory.status in ("active", "pending"):
        return False
    beliefs, now = session.tx.beliefs(session.p), session.now
    stand = beliefs.stand(memory.id)
    assert stand is not None  # noqa: S101 - it was just read in this transaction
    if stand.superseded_by and (stand.valid_to is None or stand.valid_to <= now):
        raise Conflict("superseded", f"{memory.address} was superseded and is not revived; update its successor")
    _check_may_restore(session, memory, stand.fp or stand.value_fp)
    if stand.fp is not None:
        for other in beliefs.same_text(memory.scope, stand.fp):
            if other.status in ("active", "pending") and is_within(other, now):
                raise Conflict("duplicate_text", f"#{other.number} says exactly this; {memory.address} stays away")
    status = "pending" if memory.trust == "external" else "active"
    meta: dict[str, Any] = {"memory": memory.id, "status": status, "valid_from": _free_from(session, memory, stand)}
    if stand.valid_to is not None:
        meta["valid_to"] = stand.valid_to
    session.record("memory.restored", meta, now=now)
    return True


def _free_from(session: Session, memory: Memory, stand: Stand) -> int:
    """Return from when a memory can be believed again. Raises `Conflict` (`held_key`) when its key is taken."""
    if stand.key_fp is None:
        return stand.valid_from
    intervals = session.tx.beliefs(session.p).intervals(memory.scope, stand.key_fp)
    ended = (each.valid_to for each in intervals if each.valid_to is not None and each.valid_to <= session.now)
    valid_from = max(stand.valid_from, *ended, stand.valid_from)
    if not is_free(intervals, valid_from, stand.valid_to):
        raise Conflict("held_key", f"the key {memory.key!r} of {memory.address} is another's now; release it first")
    return valid_from


def _check_may_restore(session: Session, memory: Memory, fp: str | None) -> None:
    if fp is None or not session.context.caller.is_agent:
        return
    rejections = session.tx.beliefs(session.p).rejections(memory.scope, [fp])
    if any(each.by_person for each in rejections):
        raise Refused("needs_person", f"a person took {memory.address} back; only a person restores it")


def _withdraw_one(context: Context, target: Target, kind: str, *, dry_run: bool = False) -> Change:
    context, address = written(context, target)
    if dry_run:
        with context.store.reading() as view:
            session = Session(context, view, context.existing(view))  # type: ignore[arg-type]  # reads only
            memory = addressed(session, address)
        return Change(action=_DONE[kind], memories=(memory.number,), ids=(memory.id,), dry_run=True)
    with context.store.writing() as tx:
        session = open_session(context, tx)
        memory = addressed(session, address)
        changed = withdraw(session, memory, kind)
    action = _DONE[kind] if changed else "unchanged"
    return Change(action=action, memories=(memory.number,), ids=(memory.id,))


def withdraw(session: Session, memory: Memory, kind: str) -> bool:
    """Record that a memory is put away or taken back; tell whether that changed anything."""
    if memory.status == _DONE[kind]:
        return False
    if kind == "memory.archived" and memory.status not in ("active", "pending"):
        raise Conflict("not_active", f"{memory.address} is {memory.status}; only what is believed can be archived")
    meta: dict[str, Any] = {"memory": memory.id, "by": session.context.caller.author}
    reopened = _scheduled_over(session, memory)
    if reopened:
        meta["reopens"] = reopened
    session.record(kind, meta)
    return True


def _scheduled_over(session: Session, memory: Memory) -> list[dict[str, Any]]:
    """Return what a memory that never came true would have ended: it goes on until what comes after that one."""
    beliefs = session.tx.beliefs(session.p)
    stand = beliefs.stand(memory.id)
    if stand is None or stand.valid_from <= session.now or stand.status != "active":
        return []
    followed = [each for each in beliefs.followed_by(memory.id) if each.status == "active"]
    ends = {each.id: stand.valid_to for each in followed} if stand.superseded_by else _own_ends(session, memory.id)
    return [
        {"memory": each.id, "valid_to": ends.get(each.id), "superseded_by": stand.superseded_by} for each in followed
    ]


def _own_ends(session: Session, ident: str) -> dict[str, int | None]:
    """Return the ends of their own that those had which a memory superseded when it was recorded."""
    for event in session.tx.ledger(session.p).events(memory=ident):
        meta = event.read_meta()
        if event.type == "memory.recorded" and meta["memory"] == ident:
            return {entry["memory"]: entry.get("own_end") for entry in meta.get("supersedes", ())}
    return {}

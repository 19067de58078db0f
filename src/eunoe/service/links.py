"""Links: two memories of one project that belong together."""

from __future__ import annotations

from collections.abc import Iterable

from eunoe.admission.draft import Cleaner
from eunoe.domain import limits
from eunoe.domain.address import Address, Target
from eunoe.domain.memory import Change
from eunoe.errors import Conflict, Invalid, Refused
from eunoe.service.commit import Session, open_session
from eunoe.service.context import Context
from eunoe.service.find import address_id, addressed, written
from eunoe.service.retrying import retried


@retried
def link(context: Context, a: Target, b: Target, *, note: str | None = None) -> Change:
    """Link two memories; undirected. A pair that is linked stays as it is.

    Raises:
        NotFound: `no_memory`. Invalid: `links_itself`. Conflict: `not_active`. Refused: `other_project`,
            `link_cap`.
    """
    cleaner = Cleaner()
    text = cleaner.optional(note, "note", limit=limits.NOTE, line=True)
    context, _ = written(context, a)
    with context.store.writing() as tx:
        session = open_session(context, tx)
        one, other = _pair(session, a, b)
        numbers, idents = _named(session, one, other)
        if _is_linked(session, one, other):
            return Change(action="unchanged", memories=numbers, ids=idents, notes=("They are linked already.",))
        check_links(session, (one, other))
        meta = {"a": min(one, other), "b": max(one, other)}
        session.record("link.made", meta, None if text is None else {"note": text})
    notes = ("A secret was masked in: note.",) if cleaner.masked else ()
    return Change(action="linked", memories=numbers, ids=idents, notes=notes)


@retried
def unlink(context: Context, a: Target, b: Target) -> Change:
    """Cut the link between two memories. Without one, nothing changes.

    Raises:
        NotFound: `no_memory`. Invalid: `links_itself`.
    """
    context, _ = written(context, a)
    with context.store.writing() as tx:
        session = open_session(context, tx)
        one, other = _pair(session, a, b, retired=True)
        numbers, idents = _named(session, one, other)
        if not _is_linked(session, one, other):
            return Change(action="unchanged", memories=numbers, ids=idents, notes=("They are not linked.",))
        session.record("link.cut", {"a": min(one, other), "b": max(one, other)})
    return Change(action="unlinked", memories=numbers, ids=idents)


def check_links(session: Session, idents: Iterable[str]) -> None:
    """Raise `Refused` (`link_cap`) when a memory has as many links as it may have."""
    memories, most = session.tx.memories(session.p), session.context.max_links
    for ident in idents:
        if len(memories.links(ident, session.context.scopes())) >= most:
            number = memories.read([ident], now=session.now)[ident].number
            raise Refused(
                "link_cap",
                f"#{number} has {most} links, the most there may be (EUNOE_MAX_LINKS): unlink what matters least first",
                details={"number": number, "cap": most},
            )


def _pair(session: Session, a: Target, b: Target, *, retired: bool = False) -> tuple[str, str]:
    one, other = address_id(session, a), address_id(session, b)
    if one == other:
        raise Invalid("links_itself", "a memory cannot be linked to itself; name two")
    for ident in () if retired else (one, other):
        memory = addressed(session, Address(id=ident))
        if memory.status not in ("active", "pending"):
            raise Conflict("not_active", f"{memory.address} is {memory.status}; link what is believed")
    return one, other


def _is_linked(session: Session, one: str, other: str) -> bool:
    links = session.tx.memories(session.p).links(one, session.context.scopes())
    return any(each.id == other for each in links)


def _named(session: Session, one: str, other: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    found = session.tx.memories(session.p).read([one, other], now=session.now)
    ordered = sorted(found.values(), key=lambda memory: memory.number)
    return tuple(memory.number for memory in ordered), tuple(memory.id for memory in ordered)

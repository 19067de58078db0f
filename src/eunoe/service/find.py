"""Finding one memory by its address, within what the caller may read."""

from __future__ import annotations

from eunoe.domain.address import Address, Target, parse_address
from eunoe.domain.fingerprint import key_fingerprint
from eunoe.domain.memory import Memory
from eunoe.errors import NotFound, Refused
from eunoe.ports.projects import Project
from eunoe.ports.store import View
from eunoe.service.commit import Session
from eunoe.service.context import Context


def find_id(
    context: Context, view: View, project: Project, address: Address, *, at: int, known_at: int | None = None
) -> str:
    """Return the id of the addressed memory.

    Raises:
        NotFound: `no_memory`, in the same words for what is not there and for what the caller may not read.
    """
    memories, scopes = view.memories(project.p), context.scopes()
    if address.key is not None:
        prints = {scope: key_fingerprint(project.secret, scope, address.key) for scope in scopes}
        holders = memories.holders(scopes, prints, at=at, known_at=known_at)
        if not holders:
            raise NotFound("no_memory", f"nothing holds the key {address.key!r} in {project.slug}")
        return holders[0]
    found = memories.find_id(number=address.number, ident=address.id, scopes=scopes)
    if found is None:
        raise NotFound("no_memory", f"there is no memory {address} in {project.slug}")
    return found


def written(context: Context, target: Target | None, key: str | None = None) -> tuple[Context, Address]:
    """Return the session in the project of an address that is to be written to, and the address.

    Raises:
        Invalid: `bad_address`. Refused: `other_project`: an agent writes to the session's own project only.
    """
    address = parse_address(target, key=key)
    there = context.named(address.project)
    if there is not context and context.caller.is_agent:
        raise Refused("other_project", f"{address} is in another project; writing there needs a grant")
    return there, address


def address_id(session: Session, target: Target) -> str:
    """Return the id of a memory of the session's own project, inside its write transaction.

    Raises:
        Invalid: `bad_address`. NotFound: `no_memory`. Refused: `other_project`: links and successions stay in one.
    """
    address = parse_address(target)
    if session.context.named(address.project) is not session.context:
        raise Refused("other_project", f"{address} is in another project; links and successions stay in one")
    return find_id(session.context, session.tx, session.project, address, at=session.now)


def addressed(session: Session, address: Address) -> Memory:
    """Return the addressed memory of the session's project, inside its write transaction."""
    ident = find_id(session.context, session.tx, session.project, address, at=session.now)
    return session.tx.memories(session.p).read([ident], now=session.now)[ident]

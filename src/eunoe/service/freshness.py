"""Confirm and dispute: is it still true? Neither changes what a memory says, nor its place in a search."""

from __future__ import annotations

from typing import Literal

from eunoe.domain.address import Target
from eunoe.domain.memory import Change, Memory
from eunoe.errors import Conflict
from eunoe.service.commit import Session, open_session
from eunoe.service.context import Context
from eunoe.service.find import addressed, written
from eunoe.service.retrying import retried

Judgement = Literal["confirmed", "disputed"]


def confirm(context: Context, target: Target) -> Change:
    """Say that a memory is true today: its age begins anew, and a dispute is over. It counts as no occurrence.

    Raises:
        NotFound: `no_memory`. Conflict: `superseded`; `not_active`: it is archived, forgotten or waits for a person.
    """
    return _judged(context, target, "confirmed")


def dispute(context: Context, target: Target) -> Change:
    """Say that a memory is probably wrong. It is marked until it is confirmed, or its title or body edited.

    Searches find it as before; whoever reads it sees the mark.

    Raises:
        NotFound: `no_memory`. Conflict: `superseded`; `not_active`: it is archived, forgotten or waits for a person.
    """
    return _judged(context, target, "disputed")


def judge(session: Session, memory: Memory, judgement: Judgement) -> bool:
    """Record what was found of a memory; tell whether that changed anything. Raises as `confirm` does."""
    return find_true(session, memory) if judgement == "confirmed" else find_doubtful(session, memory)


def find_true(session: Session, memory: Memory) -> bool:
    """Record that a memory was found true. Raises as `confirm` does."""
    check_judged(memory)
    session.record("memory.confirmed", {"memory": memory.id, "how": "explicit", "counts_as_confirmation": True})
    return True


def find_doubtful(session: Session, memory: Memory) -> bool:
    """Record that a memory was found doubtful, unless it is disputed already. Raises as `dispute` does."""
    check_judged(memory)
    if memory.disputed_at is not None:
        return False
    session.record("memory.disputed", {"memory": memory.id})
    return True


def check_judged(memory: Memory) -> None:
    """Raise `Conflict` for a memory that is not believed, and so is neither confirmed nor disputed."""
    if memory.status == "superseded":
        raise Conflict("superseded", f"{memory.address} was superseded; confirm or dispute its successor")
    if memory.status != "active":
        raise Conflict(
            "not_active", f"{memory.address} is {memory.status}; only what is believed can be confirmed or disputed"
        )


def resolutions(memory: Memory) -> tuple[str, ...]:
    """Return how a dispute ends, for the receipt."""
    right = f"remember what is right, superseding #{memory.number}"
    return (f"To resolve it: update its text, {right}, archive it, or confirm it after all.",)


@retried
def _judged(context: Context, target: Target, judgement: Judgement) -> Change:
    context, address = written(context, target)
    with context.store.writing() as tx:
        session = open_session(context, tx)
        memory = addressed(session, address)
        changed = judge(session, memory, judgement)
    return Change(
        action=judgement if changed else "unchanged",
        memories=(memory.number,),
        ids=(memory.id,),
        notes=resolutions(memory) if judgement == "disputed" else (),
    )

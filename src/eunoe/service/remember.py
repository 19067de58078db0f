"""Remember: state something. The gate decides what the statement means; the receipt says it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eunoe.admission.admit import Circumstances, admit
from eunoe.admission.decision import Confirm, Record
from eunoe.admission.draft import Draft, draft
from eunoe.domain import limits
from eunoe.domain.address import Target
from eunoe.domain.memory import Receipt, Replaced, Twin
from eunoe.errors import EunoeError, Invalid, shown
from eunoe.ports.memories import Stand
from eunoe.service.cap import check_room, room_note
from eunoe.service.commit import Session, open_session
from eunoe.service.context import Context
from eunoe.service.find import address_id
from eunoe.service.links import check_links
from eunoe.service.retrying import retried


@retried
def remember(context: Context, body: str, **fields: Any) -> Receipt:
    """State something worth keeping; durable and findable when this returns.

    Args:
        context: The session.
        body: The text, up to 16,000 characters (note, resource, summary, skill: 1,000,000).
        **fields: Those of `Memory.remember`.

    Raises:
        Invalid, Conflict, Refused: see `eunoe.admission`. Refused: `cap`. Nothing was written.
    """
    links, supersedes = targets(fields.pop("links", ())), targets(fields.pop("supersedes", None))
    statement = draft(context.caller, body, **fields)
    with context.store.writing() as tx:
        session = open_session(context, tx)
        return state(session, statement, links=links, supersedes=supersedes)


def remember_many(context: Context, items: Iterable[Mapping[str, Any]]) -> list[Receipt]:
    """State several things in one transaction; receipts in order. One that is invalid rolls all back.

    Near-duplicates are recorded and flagged, not refused. The error names the place of the item: `details["item"]`.
    """
    drafts = _drafts(context, items)
    if not drafts:
        return []
    return _remember_all(context, drafts)


@retried
def _remember_all(
    context: Context, drafts: Sequence[tuple[Draft, Sequence[Target], Sequence[Target]]]
) -> list[Receipt]:
    receipts = []
    with context.store.writing() as tx:
        session = open_session(context, tx)
        for at, (statement, links, supersedes) in enumerate(drafts):
            try:
                receipts.append(state(session, statement, links=links, supersedes=supersedes, single=False))
            except EunoeError as exc:
                exc.details["item"] = at
                raise
    return receipts


def state(
    session: Session,
    statement: Draft,
    *,
    links: Sequence[Target] = (),
    supersedes: Sequence[Target] = (),
    single: bool = True,
) -> Receipt:
    """Take one clean statement through the gate, record what it decides, and return the receipt."""
    if statement.dedupe_key is not None and (known := _taken(session, statement.dedupe_key)):
        return known
    statement = statement._replace(
        links=tuple(address_id(session, target) for target in links),
        supersedes=tuple(address_id(session, target) for target in supersedes),
    )
    now = session.now
    by = Circumstances(
        beliefs=session.tx.beliefs(session.p),
        secret=session.project.secret,
        analyse=session.context.analyser.terms,
        caller=session.context.caller,
        now=now,
        single=single,
    )
    decision = admit(statement, by)
    occurred_at = statement.occurred_at
    if isinstance(decision, Confirm):
        return _confirmed(session, decision, statement, now)
    if _takes_room(decision, now):
        check_room(session.context, session.tx, session.p, for_more=1)
    check_links(session, decision.meta.get("links", ()))
    moved = _links_to_move(session, decision)
    event = session.record(
        "memory.recorded",
        decision.meta,
        decision.payload,
        now=now,
        occurred_at=occurred_at,
        dedupe_key=statement.dedupe_key,
        memory=statement.ident,
    )
    replaced = tuple(
        Replaced(id=stand.id, number=stand.number, key=stand.key, links_moved=moved.get(stand.id, 0))
        for stand in decision.replaced
    )
    return Receipt(
        id=statement.ident or event.id,
        number=session.position.number,
        outcome=decision.outcome,
        event=event.id,
        replaced=replaced,
        twins=_shown_twins(session, decision.twins),
        masked=statement.masked,
        notes=(
            *_masked_note(statement),
            *(_replaced_note(each, session.position.number, decision.outcome) for each in replaced),
            *decision.notes,
            *room_note(session.context, session.tx, session.p),
        ),
    )


def _takes_room(decision: Record, now: int) -> bool:
    """Tell whether one more will be believed: not what waits, nor takes another's place, nor is history already."""
    end = decision.meta.get("valid_to")
    return decision.meta["status"] == "active" and not decision.replaced and (end is None or end > now)


def _confirmed(session: Session, decision: Confirm, statement: Draft, now: int) -> Receipt:
    event = session.record(
        "memory.confirmed",
        {
            "memory": decision.memory.id,
            "how": "restated",
            "counts_as_confirmation": statement.trust != "external",
        },
        now=now,
        occurred_at=statement.occurred_at,
        dedupe_key=statement.dedupe_key,
    )
    return Receipt(
        id=decision.memory.id,
        number=decision.memory.number,
        outcome=decision.outcome,
        event=event.id,
        masked=statement.masked,
        notes=(*_masked_note(statement), *decision.notes, *room_note(session.context, session.tx, session.p)),
    )


def _taken(session: Session, dedupe_key: str) -> Receipt | None:
    """Return the receipt of a statement that came before under the same key: it is not taken twice."""
    event = session.tx.ledger(session.p).find(dedupe_key=dedupe_key)
    if event is None:
        return None
    ident = event.read_meta()["memory"]
    stand = session.tx.beliefs(session.p).stand(ident)
    return Receipt(id=ident, number=stand.number if stand else 0, outcome="duplicate", event=event.id)


def _links_to_move(session: Session, decision: Record) -> dict[str, int]:
    if not decision.meta.get("move_links"):
        return {}
    memories, scopes = session.tx.memories(session.p), session.context.scopes()
    return {stand.id: len(memories.links(stand.id, scopes)) for stand in decision.replaced}


def _shown_twins(session: Session, twins: Sequence[Stand]) -> tuple[Twin, ...]:
    if not twins:
        return ()
    found = session.tx.memories(session.p).read([stand.id for stand in twins], now=session.now)
    return tuple(Twin(id=each.id, number=each.number, title=each.title, status=each.status) for each in found.values())


def _replaced_note(replaced: Replaced, number: int, outcome: str) -> str:
    key = f" (key {replaced.key})" if replaced.key else ""
    if outcome == "scheduled":
        return f"It will replace #{replaced.number}{key}."
    links = f"; its links moved to #{number}" if replaced.links_moved else ""
    return f"Replaced #{replaced.number}{key}{links}."


def _masked_note(statement: Draft) -> tuple[str, ...]:
    return (f"A secret was masked in: {', '.join(statement.masked)}.",) if statement.masked else ()


def targets(value: Any) -> tuple[Target, ...]:
    """Return a list of addresses; one alone need not be in a list."""
    if value is None:
        return ()
    if isinstance(value, int | str):
        return (value,)
    if not isinstance(value, Iterable):
        raise Invalid("bad_address", f"{shown(value)} addresses no memory; give numbers or ids")
    named = tuple(value)
    if len(named) > limits.LINKS_PER_CALL:
        raise Invalid("too_many", f"{len(named)} memories are named; the limit is {limits.LINKS_PER_CALL}")
    return named


def _drafts(
    context: Context, items: Iterable[Mapping[str, Any]]
) -> list[tuple[Draft, tuple[Target, ...], tuple[Target, ...]]]:
    if isinstance(items, Mapping | str) or not isinstance(items, Iterable):
        raise Invalid("bad_type", f"items={shown(items)} must be a list of mappings with at least a body")
    drafts = []
    for at, item in enumerate(items):
        try:
            if not isinstance(item, Mapping) or not all(isinstance(name, str) for name in item):
                raise Invalid("bad_type", f"item {at} is {shown(item)}; give a mapping of names with at least a body")
            fields = dict(item)
            links, supersedes = targets(fields.pop("links", ())), targets(fields.pop("supersedes", None))
            drafts.append((draft(context.caller, fields.pop("body", None), **fields), links, supersedes))
        except EunoeError as exc:
            exc.details["item"] = at
            raise
    return drafts

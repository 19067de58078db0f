"""Import: a document of ours, or memories line by line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from eunoe.domain.document import Document
from eunoe.errors import Conflict, shown
from eunoe.ports.projects import Project
from eunoe.ports.store import REGISTRATION, Writing
from eunoe.projections.project import check_known
from eunoe.service.cap import check_room, standing
from eunoe.service.commit import open_session
from eunoe.service.context import Context
from eunoe.service.merging import Merge
from eunoe.service.replay import Replay
from eunoe.service.retrying import retried

Progress = Callable[[int, int], None]


class Imported(NamedTuple):
    """What an import did.

    Attributes:
        adopted: True when the project took the document's whole ledger as it is; then every id and number is kept.
        memories: Memories that came in.
        numbers: Old number → new number, when they were given anew.
        set_aside: What was not taken, and why.
    """

    adopted: bool
    memories: int
    events: int
    numbers: Mapping[int, int] = MappingProxyType({})
    set_aside: tuple[str, ...] = ()


@retried
def import_document(context: Context, document: Mapping[str, Any], *, progress: Progress | None = None) -> Imported:
    """Take in an exported project.

    An empty project adopts the document's events as they are: ids, numbers, times, chains and the project's uuid;
    exporting it again gives the same bytes. A project that holds something takes the memories in through the gate, with
    their ids, versions and history; they get numbers of their own, and importing again changes nothing.

    Raises:
        Invalid: `bad_document`, `broken_document`. Unavailable: `newer_document`, `newer_event`.
        Conflict: `project_exists`: the store holds the document's project already; `held_key`: a key of a document's
        memory is held here by another value. Refused: `cap`: the project would hold too many. Nothing was written.
    """
    read = Document(document)
    for event in read.events:
        check_known(event.type, event.v)
    with context.store.writing() as tx:
        tx.lock(REGISTRATION)
        project = context.project(tx)
        held = tx.projects.find_uuid(read.uuid)
        if held is not None:
            raise Conflict(
                "project_exists",
                f"the store holds this project already, as {shown(held.slug)}; nothing was imported",
                details={"project": held.slug},
            )
        if project is None or tx.ledger(project.p).position(context.store.uuid).seq == 0:
            return _adopt(context, tx, project, read, progress)
        session = open_session(context, tx)
        before = standing(context, tx, session.p)
        merge = Merge(session, read)
        merge.run(progress)
        if before != standing(context, tx, session.p):
            check_room(context, tx, session.p)
        return Imported(
            adopted=False,
            memories=len(merge.numbers),
            events=merge.events,
            numbers=merge.numbers,
            set_aside=tuple(merge.set_aside),
        )


def _adopt(
    context: Context, tx: Writing, project: Project | None, document: Document, progress: Progress | None
) -> Imported:
    if project is None:
        project = tx.projects.register(
            uuid=document.uuid,
            slug=context.slug,
            identity=context.identity,
            secret=document.secret,
            now=context.clock.now_us(),
        )
    else:
        project = tx.projects.adopt(project, uuid=document.uuid, secret=document.secret)
    tx.lock(project.p)
    ledger, replay = tx.ledger(project.p), Replay(project.p, context.analyser.terms)
    for done, event in enumerate(document.events, 1):
        number = replay.number + (event.type == "memory.recorded")
        ledger.append(event, number=number)
        replay.one(event, tx)
        if progress is not None and done % 500 == 0:
            progress(done, len(document.events))
    check_room(context, tx, project.p)
    return Imported(adopted=True, memories=replay.number, events=len(document.events))

"""What each tool answers: the text that a model reads, and the facts behind it as an object.

The object holds addresses, numbers and outcomes, never what the text holds already: some clients show a model both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eunoe.domain.memory import Change, Memory, Receipt
from eunoe.domain.text import one_line
from eunoe.errors import Invalid, shown
from eunoe.service import lifecycle, links
from eunoe.service.briefing import briefing
from eunoe.service.context import Context
from eunoe.service.history import history_text
from eunoe.service.projects import list_projects
from eunoe.service.recall import recall
from eunoe.service.related import related
from eunoe.service.remember import remember
from eunoe.service.show import show
from eunoe.service.tidying import review_text
from eunoe.service.update import FIELDS, update

Answer = tuple[str, Mapping[str, Any]]

RECALL_HITS = 20
_PROJECTS = 50


def _briefing(context: Context, *, project: str | None = None, **asked: Any) -> Answer:
    told = briefing(_there(context, project), **asked)
    return told.text, {"project": told.project, "tokens": told.tokens, "omitted": told.omitted}


def _recall(context: Context, query: str, *, project: str | None = None, **asked: Any) -> Answer:
    there = _there(context, project)
    found = recall(there, query, include_me=there.caller.user is not None, **{"limit": RECALL_HITS} | asked)
    hits = [
        _found(there, hit.memory) | {"evidence": round(hit.evidence, 3)}
        for hit in found.hits
        if hit.memory.id in found.shown
    ]
    facts = {"project": there.slug, "hits": hits, "total": found.total, "omitted": found.omitted, "weak": found.weak}
    return found.text or "", facts | ({"degraded": list(found.degraded)} if found.degraded else {})


def _get(context: Context, *, targets: Sequence[str] = (), budget_tokens: int, **asked: Any) -> Answer:
    read = show(context, targets, budget_tokens=budget_tokens, **asked)
    memories = [_facts(context, memory) for memory in read.memories if memory.id in read.shown]
    is_whole = len(memories) == 1 and not read.omitted and read.next_offset is None and not asked.get("offset")
    if is_whole and read.tokens + context.tokens(read.memories[0].body) <= budget_tokens:
        memories[0]["body"] = read.memories[0].body  # as it was stated: the text shows it escaped
    more = {"next_offset": read.next_offset} if read.next_offset is not None else {}
    return read.text, {"memories": memories, **more, **({"omitted": read.omitted} if read.omitted else {})}


def _remember(context: Context, body: str, **asked: Any) -> Answer:
    receipt = remember(context, body, **asked)
    return receipt.text, _receipt(receipt)


def _update(
    context: Context, target: str, *, clear: Sequence[str] = (), archive: bool = False, **changes: Any
) -> Answer:
    changes = {name: value for name, value in changes.items() if value is not False or name == "pinned"}
    if unknown := set(clear) - set(FIELDS):
        raise Invalid("unknown_field", f"{shown(min(unknown))} cannot be cleared; fields are {' '.join(FIELDS)}")
    cleared = {name: () if name in ("tags", "paths") else None for name in clear}
    if twice := cleared.keys() & changes.keys():
        raise Invalid("clear_and_set", f"{min(twice)} is given and in clear; choose one")
    if archive:
        if changes or cleared:
            raise Invalid("archive_alone", "archive puts the memory away; other changes need a call of their own")
        return _changed(lifecycle.archive(context, target))
    changes |= cleared
    return _changed(update(context, target, **changes))


def _link(context: Context, a: str, b: str, *, note: str | None = None, cut: bool = False) -> Answer:
    return _changed(links.unlink(context, a, b) if cut else links.link(context, a, b, note=note))


def _related(context: Context, target: str, **asked: Any) -> Answer:
    found = related(context, target, **asked)
    reached = (each for each in found.memories if each.memory.id in found.shown)
    steps = [{**_found(context, each.memory), "hops": each.hops} for each in reached]
    return found.text, {"related": steps, "omitted": found.omitted}


def _history(context: Context, **asked: Any) -> Answer:
    told = history_text(context, **asked)
    return told.text, {"steps": list(told.steps), "omitted": told.omitted}


def _review(context: Context, **asked: Any) -> Answer:
    told = review_text(context, **asked)
    totals = {each.name: each.total for each in told.review.sections}
    return told.text, {"project": told.review.project, "sections": totals, "omitted": told.omitted}


def _forget(context: Context, **asked: Any) -> Answer:
    return _changed(lifecycle.forget(context, **asked))


def _list_projects(context: Context) -> Answer:
    rows = sorted(list_projects(context), key=lambda row: not row.current)
    shown_ = rows[:_PROJECTS]
    lines = [
        f"{'* ' if row.current else ''}{row.slug} · memories: {row.active:,} · links: {row.links:,}" for row in shown_
    ]
    if len(rows) > _PROJECTS:
        lines.append(f"… {len(rows) - _PROJECTS:,} more")
    facts = [{"slug": row.slug, "memories": row.active, "links": row.links, "current": row.current} for row in shown_]
    told = "\n".join(lines) or "There is no project yet; remember something first."
    return told, {"projects": facts, "omitted": len(rows) - len(shown_)}


def _there(context: Context, project: str | None) -> Context:
    """Return the session in a project that was named. Raises `NotFound` (`no_project`): a name may be mistyped."""
    there = context.named(project)
    if there is not context:
        with there.store.reading() as view:
            there.existing(view)
    return there


def _changed(change: Change) -> Answer:
    facts: dict[str, Any] = {"action": change.action, "numbers": list(change.memories)}
    return change.text, facts | ({"dry_run": True} if change.dry_run else {}) | dict(change.details)


def _receipt(receipt: Receipt) -> dict[str, Any]:
    facts: dict[str, Any] = {"outcome": receipt.outcome, "number": receipt.number, "id": receipt.id}
    if receipt.replaced:
        facts["replaced"] = [each.number for each in receipt.replaced]
    if receipt.twins:
        facts["twins"] = [each.number for each in receipt.twins]
    return facts | ({"masked": list(receipt.masked)} if receipt.masked else {})


def _found(context: Context, memory: Memory) -> dict[str, Any]:
    """Return a memory in as few words as it can be addressed and told by."""
    if memory.project == context.slug:
        return {"number": memory.number, "kind": memory.kind}
    return {"project": memory.project, "number": memory.number, "kind": memory.kind}


def _facts(context: Context, memory: Memory) -> dict[str, Any]:
    facts = _found(context, memory) | {"id": memory.id, "version": memory.version, "status": memory.status}
    facts |= {"title": one_line(memory.title), "tags": list(memory.tags), "paths": list(memory.paths)}
    named = {"key": memory.key, "value": memory.value, "source": memory.source, "superseded_by": memory.superseded_by}
    return facts | {name: value for name, value in named.items() if value is not None}


ANSWERS: Mapping[str, Callable[..., Answer]] = {
    "briefing": _briefing,
    "recall": _recall,
    "get": _get,
    "remember": _remember,
    "update": _update,
    "link": _link,
    "related": _related,
    "history": _history,
    "review": _review,
    "forget": _forget,
    "list_projects": _list_projects,
}

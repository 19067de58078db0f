"""Results for people: one function a use case. Whatever comes from a store passes `terminal.line` or `printable`."""

from __future__ import annotations

from eunoe.domain.instants import DAY_US, SECOND_US, from_us, to_us
from eunoe.domain.text import printable
from eunoe.surfaces.cli import terminal
from eunoe.surfaces.cli.terminal import line, paint, say

# A result is of a module that its use case has loaded; here they would all be loaded for each command (20 ms).
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from eunoe.domain.memory import Linked, Memory
    from eunoe.service.context import Context
    from eunoe.service.ledger import LogEntry, Verified
    from eunoe.service.projects import ProjectRow
    from eunoe.service.read import Step, Why
    from eunoe.service.rebuild import Rebuilt
    from eunoe.service.recall import Hit, Recalled
    from eunoe.service.review import Review

_INDENT = "     "
_LABEL_COLUMNS = 11
_STYLES = {"active": "green", "pending": "yellow", "archived": "yellow", "superseded": "yellow", "forgotten": "red"}


def render(name: str, result: Any, context: Context) -> None:
    """Print the result of a use case."""
    _RENDERERS.get(name, _receipt)(result, context)


def _receipt(result: Any, context: Context) -> None:
    first, *notes = printable(str(result.text)).split("\n")
    say("\n".join((paint(first, bold=True), *notes)))


def _told(result: Any, context: Context) -> None:
    """Print what an agent reads, as it reads it: it is harmless already."""
    if result.text:
        say(result.text)
    else:
        terminal.note("the budget holds not even one line; raise --budget-tokens")


def _recalled(result: Recalled, context: Context) -> None:
    if result.text is not None:
        _told(result, context)
        return
    now = context.clock.now_us()
    for hit in result.hits:
        _hit(hit, context, now)
    for sentence in result.notes:
        terminal.note(sentence)
    if result.weak:
        terminal.note("nothing fits well; these are the nearest by words")
    for failure in result.degraded:
        terminal.note(f"not everything was searched: {failure}")
    if result.waiting:
        terminal.note(f"{result.waiting:,} not embedded yet, found by words and keys alone; `eunoe reembed` does it")
    if result.hidden and not result.hits:
        terminal.note(f"nothing reaches the floor; {result.hidden:,} lie below it")
    elif not result.hits:
        terminal.note("nothing found")
    elif result.omitted:
        # For copying: a cursor may be long, so that it stands last and whole.
        cursor = f"; go on with --after {result.next}" if result.next else ""
        terminal.note(f"{len(result.hits)} of {result.total:,}{cursor}")


def _hit(hit: Hit, context: Context, now: int) -> None:
    memory, columns = hit.memory, terminal.width()
    address = f"{_short(memory.project, context)}#{memory.number}"
    score = f"{hit.score:.2f}" if hit.score else ""
    head = f"{address:>4} {memory.kind:<10} "
    title = line(memory.title)
    room = columns - len(head) - 5
    painted = paint(f"{address:>4}", bold=True) + " " + paint(f"{memory.kind:<10}", fg="cyan") + " "
    say((painted + paint(terminal.pad(title, room), bold=True) + " " + paint(score, dim=True)).rstrip())
    body = line((hit.excerpt or memory.body)[:4000])
    if body != title:
        say(_INDENT + terminal.fit(body, columns - len(_INDENT)))
    say(_INDENT + paint(terminal.fit(" · ".join(_marks(memory, now)), columns - len(_INDENT)), dim=True))
    if hit.explanation:
        for sentence in _explained(hit.explanation):
            say(_INDENT + paint(terminal.fit(sentence, columns - len(_INDENT)), dim=True))


def _short(project: str, context: Context) -> str:
    """Return what stands before the `#` of an address: nothing in the session's own project."""
    if project == context.slug:
        return ""
    user = context.caller.user
    return "me" if user is not None and project == f"~{user}" else project


def _marks(memory: Memory, now: int) -> list[str]:
    marks: list[str] = [] if memory.status == "active" else [memory.status]
    marks += _disputed(memory)
    marks += ["pinned"] if memory.pinned else []
    marks += [f"key {line(memory.key)}"] if memory.key else []
    marks += [f"[{line(tag)}]" for tag in memory.tags]
    marks += [line(memory.speaker)] if memory.speaker else []
    return [*marks, age(to_us(memory.last_seen, setting="time"), now)]


def _disputed(memory: Memory) -> list[str]:
    """Return the mark of what is probably wrong, with the day since when."""
    return [f"⚠ disputed {memory.disputed_at:%Y-%m-%d}"] if memory.disputed_at else []


def age(then: int, now: int) -> str:
    """Return how long ago an instant was, for people: `now`, `5m`, `3h`, `12d`, or the date from 30 days on."""
    seconds, days = (now - then) // SECOND_US, (now - then) // DAY_US
    if seconds < 0 or days >= 30:
        return f"{from_us(then):%Y-%m-%d}"
    if seconds < 60:
        return "now"
    return f"{days}d" if days else f"{seconds // 3600}h" if seconds >= 3600 else f"{seconds // 60}m"


def _explained(explanation: Mapping[str, Any]) -> list[str]:
    sentences = []
    for name, lane in explanation.get("lanes", {}).items():
        terms = ", ".join(map(line, lane.get("terms", ())))
        sentences.append(f"{line(name)}: rank {lane['rank']}, {lane['raw']:.2f}{f' ({terms})' if terms else ''}")
    moved = ", ".join(f"{line(name)} {value:+.1f}" for name, value in explanation.get("because", {}).items())
    sentences += [f"judged by {line(explanation['judge'])}: {moved}"] if moved else []
    multipliers = explanation.get("multipliers", {})
    return [*sentences, *(f"{line(name)} × {value:g}" for name, value in multipliers.items() if value != 1)]


def _counted(result: int, context: Context) -> None:
    say(str(result))


def _card(result: Mapping[str, Any], context: Context) -> None:
    memory: Memory = result["memory"]
    links: Sequence[Linked] = result["links"]
    status = " ".join((paint(memory.status, fg=_STYLES[memory.status]), *_disputed(memory)))
    say(f"{paint(memory.address, bold=True)} {paint(memory.kind, fg='cyan')} {paint(line(memory.title), bold=True)}")
    say(f"\n{printable(memory.body)}\n")
    say(_field("status", f"{status}, version {memory.version}, {memory.trust}"))
    for label, value in _card_fields(memory):
        if value:
            say(_field(label, line(value)))
    for each in links:
        say(_field("link", line(f"#{each.number} {each.title}" + (f" ({each.note})" if each.note else ""))))


def _card_fields(memory: Memory) -> list[tuple[str, str | None]]:
    where = memory.project if memory.scope == "project" else f"{memory.project}, {memory.scope}"
    value = f" = {memory.value}" if memory.value else ""
    said = f"{_time(memory.first_seen)}"
    again = f", {memory.occurrences} times, last {_time(memory.last_seen)}" if memory.occurrences > 1 else ""
    place = [part for part in (memory.session, memory.turn, memory.speaker) if part is not None]
    return [
        ("key", f"{memory.key}{value}" if memory.key else None),
        ("tags", ", ".join(memory.tags)),
        ("paths", ", ".join(memory.paths)),
        ("weight", f"importance {memory.importance:g}" + (", pinned" if memory.pinned else "")),
        ("true", f"{_time(memory.valid_from)} – {_time(memory.valid_to) if memory.valid_to else 'open'}"),
        ("said", said + again),
        ("expires", _time(memory.expires_at) if memory.expires_at else None),
        ("session", " / ".join(str(part) for part in place)),
        ("source", memory.source),
        ("by", _origin(memory.origin)),
        ("project", where),
        ("next", memory.superseded_by),
        ("id", memory.id),
    ]


def _field(label: str, value: str) -> str:
    return paint(f"{label:<{_LABEL_COLUMNS}}", dim=True) + value


def _origin(origin: Mapping[str, Any]) -> str:
    named = [str(origin[name]) for name in ("user", "agent") if origin.get(name)]
    return f"{', '.join((origin.get('author_type', 'unknown'), *named))} via {origin.get('surface', 'unknown')}"


def _time(moment: Any) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


def _timeline(result: Sequence[Step], context: Context) -> None:
    columns = terminal.width()
    for step in result:
        what = step.type.rpartition(".")[2]
        version = step.version
        which = f"#{version.number} v{version.version} " if version is not None else ""
        say(f"{_time(step.recorded_at)}  {paint(f'{what:<10}', fg='cyan')} {which}{line(_origin(step.origin))}")
        if version is not None:
            say("  │  " + terminal.fit(line(version.body[:4000]), columns - 5))


def _why(result: Why, context: Context) -> None:
    say(paint(f"{result.memory.address} {line(result.memory.title)}", bold=True))
    for reason in result.reasons:
        say(line(reason))
    lanes = result.explanation.get("lanes", {})
    rows = [(name, f"rank {lane['rank']}", f"{lane['raw']:.3f}") for name, lane in lanes.items()]
    terms = lanes.get("keyword", {}).get("terms", {})
    rows += [("word", line(term), f"{value:.3f}") for term, value in terms.items()]
    rows += [("judge", name, f"{value:+.2f}") for name, value in result.explanation.get("because", {}).items()]
    multipliers = result.explanation.get("multipliers", {})
    rows += [("multiplier", name, f"× {value:g}") for name, value in multipliers.items()]
    if rows:
        terminal.table(("from", "what", "worth"), rows)
    say("")
    _timeline(result.history, context)


def _projects(result: Sequence[ProjectRow], context: Context) -> None:
    if not result:
        terminal.note("the store has no project yet; it gets one with the first thing remembered")
        return
    rows = [
        ("*" if row.current else "", row.slug, row.active, row.memories, row.links, row.events, row.identity or "")
        for row in result
    ]
    terminal.table(("", "project", "active", "memories", "links", "events", "found by"), rows)


def _reviewed(result: Review, context: Context) -> None:
    for text in result.lines():
        say("  " + line(text) if text.startswith(" ") else paint(line(text), bold=True))


def _verified(result: Verified | dict[str, Any], context: Context) -> None:
    for each in result["projects"] if isinstance(result, dict) else (result,):
        _verified_one(each)


def _verified_one(result: Verified) -> None:
    project = line(result.project)
    if result.fault is None:
        whole = f"{project}: {result.events:,} events and {result.payloads:,} payloads are as they were written"
        say(f"{paint('ok', fg='green', bold=True)} {whole}")
    else:
        fault = result.fault
        where = f"event {fault.seq}: " if fault.seq is not None else ""
        head = paint("BROKEN", fg="red", bold=True)
        say(f"{head} {project}: {where}{line(fault.message)} ({fault.code}); {result.events:,} events before it are ok")
    for head in result.heads:
        say(line(head))


def _heads(result: Sequence[str], context: Context) -> None:
    for head in result:
        say(line(head))
    if not result:
        terminal.note("the ledger is empty")


def _log(result: Sequence[LogEntry], context: Context) -> None:
    rows = [
        (each.seq, each.recorded_at[:19].replace("T", " "), each.type, _origin(each.origin), each.hash[:12])
        for each in result
    ]
    if rows:
        terminal.table(("seq", "recorded", "event", "by", "hash"), rows)
    else:
        terminal.note("the ledger is empty")


def _rebuilt(result: Rebuilt, context: Context) -> None:
    say(f"{line(result.project)}: {result.events:,} events replayed")
    for name, count in result.differences.items():
        say(f"  {line(name)}: {count:,} rows differed")
    if not result.differences:
        say("Every projection agrees with the ledger.")
    else:
        say(
            "The new projections took their place." if result.swapped else "Nothing was changed; run without --dry-run."
        )


_RENDERERS: dict[str, Callable[[Any, Context], None]] = {
    "recall": _recalled,
    "briefing": _told,
    "related": _told,
    "count": _counted,
    "get": _card,
    "history": _timeline,
    "why": _why,
    "projects": _projects,
    "review": _reviewed,
    "verify": _verified,
    "head": _heads,
    "log": _log,
    "rebuild": _rebuilt,
}

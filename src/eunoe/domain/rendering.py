"""How a memory reads to an agent: in full, as an excerpt, or as one line of an index. Lean.

Text that comes from a memory is data. It is indented, so that it cannot look like one of our lines; escaped, so that
nothing in it acts on a screen or hides from one; and it cannot spell the fence that surrounds it.

Every piece is a block of whole lines that begins with an address and ends in a newline. o200k never joins across such a
border, so counts add up exactly: `tokens(a + b) == tokens(a) + tokens(b)`, and what a memory costs can be stored when
it is written. What changes later (a dispute, a link, an age) stands in parts of its own, which add up as well.
"""

from __future__ import annotations

from typing import NamedTuple

from eunoe.domain.memory import display_title
from eunoe.domain.text import clipped, one_line, printable, unhidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date, datetime
    from typing import Any

    from eunoe.domain.memory import Linked, Memory

    Count = Callable[[str], int]

FENCE = "eunoe-"

_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_INDENT = "  "
_ANY_DATE = "2000-01-01"  # every date of four, two and two digits costs the same
_PATHS_SHOWN = 3
_LINKS_SHOWN = 4
_LINK_TITLE = 48
_AUTHOR = 40
_COUNTED = 16_000  # characters that are counted one by one; what is longer is only ever shown as an excerpt
_UNCONFIRMED_DAYS = {"state": 60, "gotcha": 180}


class Piece(NamedTuple):
    """Text that may be put after another piece, and what it costs exactly."""

    text: str
    tokens: int


class Statement(NamedTuple):
    """What a memory says, as it is written and as it is read: all that its rendering needs and that never changes."""

    kind: str
    title: str | None
    body: str
    key: str | None
    value: str | None
    tags: Sequence[str]
    paths: Sequence[str]
    source: str | None
    speaker: str | None
    trust: str
    scope: str
    origin: Mapping[str, Any]


def statement_of(memory: Memory) -> Statement:
    """Return what a memory says."""
    values = memory._asdict()
    return Statement(**{name: values[name] for name in Statement._fields})


def harmless(text: str) -> str:
    """Return text that can neither act on a screen, nor hide in what is shown, nor spell a fence.

    Newlines and tabs stay; letters of all scripts stay as they are. Linear.
    """
    text = unhidden(printable(text))
    folded = text.translate(_LOWER)  # as long as the text, so that places agree
    if FENCE not in folded:
        return text
    parts: list[str] = []
    start, at = 0, folded.find(FENCE)
    while at >= 0:
        opening = at - 2 if folded[max(at - 2, 0) : at] == "</" else at - 1
        if opening >= start and text[opening] == "<":
            parts += (text[start:opening], "‹")
            start = opening + 1
        at = folded.find(FENCE, at + len(FENCE))
    return "".join((*parts, text[start:]))


def inline(text: str) -> str:
    """Return text that is harmless on one line."""
    return one_line(harmless(text))


def author(origin: Mapping[str, Any]) -> str:
    """Return who speaks in an origin, for a line: the agent's name, else what sort of author it is."""
    return clipped(inline(str(origin.get("agent") or origin.get("author_type") or "unknown")), _AUTHOR)


def static_tokens(count: Count, said: Statement) -> tuple[int, int]:
    """Return what a memory costs in full and as an index line, without its address and whatever changes later.

    A body longer than 16,000 characters is counted to there and extrapolated: it is never shown in full.
    """
    body = said.body
    if len(body) > _COUNTED:
        full = count(_full(said._replace(body=body[:_COUNTED]), _ANY_DATE)) * len(body) // _COUNTED
    else:
        full = count(_full(said, _ANY_DATE))
    return full, count(_headline(said) + _cost(full) + "\n")


def full(
    memory: Memory,
    address: str,
    count: Count,
    *,
    links: Sequence[Linked] = (),
    body: str | None = None,
    now: datetime | None = None,
) -> Piece:
    """Return a memory in full.

    Args:
        memory: The memory.
        address: `#12` or `me#12`.
        count: Counts tokens.
        links: Its neighbours, the strongest first.
        body: An excerpt to show instead of the body; then the piece is counted, not looked up.
        now: The instant it was read at; tells whether a validity is worth a word.
    """
    said = statement_of(memory)
    head, meta, text = _parts(said if body is None else said._replace(body=body), f"{memory.first_seen:%Y-%m-%d}", body)
    states, footer = _states(memory, now), _footer(links)
    tokens = memory.tokens_full
    if body is not None or tokens is None:
        tokens = count(head + meta + text)
    tokens += count(address) + (count(states) if states else 0) + (count(footer) if footer else 0)
    return Piece(address + head + meta + states + text + footer, tokens)


def line(memory: Memory, address: str, count: Count, *, links: int = 0, day: date, mark: str = "") -> Piece:
    """Return a memory as one line: `#12 gotcha · Title [key] · 48t ↔2`.

    Args:
        memory: The memory.
        address: `#12` or `me#12`.
        count: Counts tokens.
        links: How many links it has.
        day: The first day of the session: ages are as of it, so that the line stays the same in a session.
        mark: A word on what happened to it, such as `updated`.
    """
    said = statement_of(memory)
    whole, tokens = memory.tokens_full, memory.tokens_line
    if whole is None or tokens is None:
        whole, tokens = static_tokens(count, said)
    extra = " ⚠ disputed" if memory.disputed_at is not None else ""
    after = _age(memory, day) + (f" · {mark}" if mark else "") + (f" ↔{links}" if links else "")
    text = f"{address}{_headline(said)}{extra}{_cost(whole)}{after}\n"
    return Piece(text, tokens + sum(count(part) for part in (address, extra, after) if part))


def _parts(said: Statement, date: str, excerpt: str | None = None) -> tuple[str, str, str]:
    """Return the headline, the line about where it comes from, and the body, each with its newline."""
    body = harmless(said.body).strip("\n").rstrip()
    untitled = excerpt is None and display_title(said.title, said.body) == display_title(None, said.body)
    kind = f" {said.kind}"
    if untitled and "\n" not in body:
        return f"{kind} · {body.strip()}\n", _meta(said, date), ""
    head = f"{kind}\n" if untitled else f"{_headline(said, keyed=False)}\n"
    lines = (f"{_INDENT}{text}".rstrip() for text in body.split("\n"))
    return head, _meta(said, date), "\n".join(lines) + "\n"


def _full(said: Statement, date: str) -> str:
    return "".join(_parts(said, date))


def _headline(said: Statement, *, keyed: bool = True) -> str:
    title = inline(display_title(said.title, said.body))
    key = f" [{inline(said.key)}]" if said.key and keyed else ""
    return f" {said.kind} · {title}{key}"


def _cost(tokens: int) -> str:
    return f" · {tokens}t"


def _meta(said: Statement, date: str) -> str:
    """Return the line that says what kind of statement this is: of whom, when, under which key, about what."""
    parts = [f"{said.trust} by {author(said.origin)} {date}"]
    if said.scope != "project":
        parts.append("private")
    if said.key:
        value = said.value and inline(said.value)
        parts.insert(0, f"key {inline(said.key)}" + (f" = {clipped(value, 120)}" if value else ""))
    if said.tags:
        parts.append("tags: " + ", ".join(map(inline, said.tags)))
    if said.paths:
        more = len(said.paths) - _PATHS_SHOWN
        parts.append(", ".join(map(inline, said.paths[:_PATHS_SHOWN])) + (f" (+{more})" if more > 0 else ""))
    if said.speaker:
        parts.append(f"said by {inline(said.speaker)}")
    if said.source:
        parts.append(f"from {inline(clipped(said.source, 120))}")
    return f"{_INDENT}{' · '.join(parts)}\n"


def _states(memory: Memory, now: datetime | None) -> str:
    """Return the line on what happened to a memory since it was first said; empty for nothing."""
    parts: list[str] = [] if memory.status == "active" else [memory.status]
    if memory.confirmed_at.date() > memory.first_seen.date() and memory.confirmed_at.date() > memory.created_at.date():
        parts.append(f"confirmed {memory.confirmed_at:%Y-%m-%d}")
    if memory.disputed_at is not None:
        parts.append(f"⚠ disputed {memory.disputed_at:%Y-%m-%d}")
    if now is not None and memory.valid_from > now:
        parts.append(f"true from {memory.valid_from:%Y-%m-%d} on")
    if memory.valid_to is not None:
        parts.append(f"true until {memory.valid_to:%Y-%m-%d}")
    if memory.expires_at is not None:
        parts.append(f"expires {memory.expires_at:%Y-%m-%d %H:%M} UTC")
    return f"{_INDENT}{' · '.join(parts)}\n" if parts else ""


def _footer(links: Sequence[Linked]) -> str:
    if not links:
        return ""
    shown = (f"#{each.number} {clipped(inline(each.title), _LINK_TITLE)}" for each in links[:_LINKS_SHOWN])
    more = len(links) - _LINKS_SHOWN
    return f"{_INDENT}↔ {' · '.join(shown)}" + (f" (+{more})" if more > 0 else "") + "\n"


def _age(memory: Memory, day: date) -> str:
    limit = _UNCONFIRMED_DAYS.get(memory.kind)
    days = (day - memory.confirmed_at.date()).days
    return f" · unconfirmed {days}d" if limit is not None and days > limit else ""

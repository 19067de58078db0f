"""A memory as its readers see it, and what a write gives back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from eunoe.domain.text import clipped, one_line

Outcome = Literal["recorded", "confirmed", "replaced", "scheduled", "duplicate", "pending"]
Status = Literal["pending", "active", "archived", "superseded", "forgotten"]
Trust = Literal["stated", "observed", "inferred", "imported", "external"]
Tier = Literal["stm", "ltm"]

# Best first. A caller may lower the trust of what it writes, never raise it.
TRUSTS: tuple[Trust, ...] = ("stated", "observed", "inferred", "imported", "external")

TITLE_SHOWN = 80


def display_title(title: str | None, body: str) -> str:
    """Return the title, or for a memory without one the beginning of its first line."""
    if title:
        return title
    first = next((line for line in body.splitlines() if line.strip()), body)
    return clipped(one_line(first), TITLE_SHOWN)


class Memory(NamedTuple):
    """One belief in one version, as of the moment it was read.

    Attributes:
        id: Stable everywhere; `number` is its short alias in this store and project.
        title: As given, else the beginning of the body; never empty.
        importance: 0 to 1.
        status: As of the moment it was read: a value whose successor has become true is `superseded`.
        valid_from, valid_to: When it is true in the world; `valid_to` excluded, None while it is open.
        recorded_from, recorded_to: When this version was what we believed; None while it is.
        superseded_by: The id of its successor.
        tokens_full, tokens_line: What it costs to show it, in o200k tokens, without its address and what changes later
            (`eunoe.domain.rendering`); None when it was recorded by a version that did not count.
    """

    id: str
    number: int
    project: str
    version: int
    kind: str
    type: str
    tier: Tier
    title: str
    body: str
    tags: tuple[str, ...]
    paths: tuple[str, ...]
    key: str | None
    value: str | None
    importance: float
    pinned: bool
    source: str | None
    status: Status
    trust: Trust
    origin: dict[str, Any]
    scope: str
    speaker: str | None
    session: str | None
    turn: int | None
    valid_from: datetime
    valid_to: datetime | None
    recorded_from: datetime
    recorded_to: datetime | None
    created_at: datetime
    confirmed_at: datetime
    disputed_at: datetime | None
    expires_at: datetime | None
    occurrences: int
    first_seen: datetime
    last_seen: datetime
    superseded_by: str | None
    event: str
    tokens_full: int | None
    tokens_line: int | None

    def holds_at(self, moment: datetime) -> bool:
        """Tell whether it is believed and true at an instant: what recall would find then."""
        ends = [end for end in (self.valid_to, self.expires_at) if end is not None]
        return self.status == "active" and self.valid_from <= moment and all(moment < end for end in ends)

    @property
    def address(self) -> str:
        """Return `#12`."""
        return f"#{self.number}"


class Linked(NamedTuple):
    """One neighbour of a memory: its id, number, title, and the note on the link."""

    id: str
    number: int
    title: str
    note: str | None


class Twin(NamedTuple):
    """A memory that says nearly the same. It suggests; it never merges."""

    id: str
    number: int
    title: str
    status: Status


class Replaced(NamedTuple):
    """A memory that a write put into history, and how many of its links moved to the successor."""

    id: str
    number: int
    key: str | None
    links_moved: int


class Receipt(NamedTuple):
    """What a write did. It is given only after the write is durable and findable.

    Attributes:
        outcome: `recorded` new · `confirmed` known, counted once more · `replaced` a new value of a key · `scheduled`
            true from a later day on · `duplicate` taken before, under the same idempotency key · `pending` waits for
            a person.
        masked: Fields in which a secret was masked before anything was stored.
        notes: Sentences for the reader: what was replaced, ignored or flagged.
    """

    id: str
    number: int
    outcome: Outcome
    event: str
    replaced: tuple[Replaced, ...] = ()
    twins: tuple[Twin, ...] = ()
    masked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return the receipt in a line or a few, for people and agents."""
        # "Replaced #15" would read as if #15 were gone: the new one is recorded, the notes say what it replaced.
        done = "recorded" if self.outcome == "replaced" else self.outcome
        return "\n".join((f"{done.capitalize()} #{self.number}.", *self.notes))


class Change(NamedTuple):
    """A receipt of something done to one memory or several, other than remembering.

    Attributes:
        action: What was done, in the past tense; `unchanged` where nothing had to be.
        memories: The numbers it was done to, ascending.
        dry_run: True when nothing was written.
    """

    action: str
    memories: tuple[int, ...]
    ids: tuple[str, ...]
    dry_run: bool = False
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = MappingProxyType({})

    @property
    def text(self) -> str:
        """Return the receipt in a line or a few, for people and agents."""
        names = " ".join(f"#{number}" for number in self.memories) or "nothing"
        would = "Would have " if self.dry_run else ""
        action = self.action if self.dry_run else self.action.capitalize()
        return "\n".join((f"{would}{action} {names}.", *self.notes))

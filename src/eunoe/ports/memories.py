"""What is believed: reads of one project's memories."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol

    from eunoe.domain.memory import Linked, Memory
    from eunoe.ports.text_index import Filter
else:
    Protocol = object  # Protocols are for the type checker; making them costs every command several milliseconds


class Stand(NamedTuple):
    """How a memory stands: what the gate needs to decide about it, without its text."""

    id: str
    number: int
    version: int
    status: str
    tier: str
    scope: str
    trust: str
    expires_at: int | None
    valid_from: int
    valid_to: int | None
    superseded_by: str | None
    key: str | None
    key_fp: str | None
    value_fp: str | None
    fp: str | None
    words_fp: str | None
    pinned: bool
    by_person: bool


class Interval(NamedTuple):
    """From when to when a memory holds a key, in what is recorded now; `valid_to` excluded, None while open."""

    memory: str
    value_fp: str
    valid_from: int
    valid_to: int | None


class Rejection(NamedTuple):
    """A value that was taken back: how it is recognised, and by whom it was taken back."""

    seq: int
    match: str
    memory: str | None
    by_person: bool


class Beliefs(Protocol):
    """What the gate asks before it decides. All reads are within the given scope."""

    def stand(self, ident: str) -> Stand | None:
        """Return how a memory stands."""

    def same_text(self, scope: str, fp: str) -> list[Stand]:
        """Return memories with that exact fingerprint, newest first."""

    def alike(self, scope: str, fp: str, words_fp: str | None) -> tuple[list[Stand], list[Stand]]:
        """Return `same_text`, and the active memories of the same content words in the same order, and hard tokens.

        Both newest first. One question, because on a server each costs a round trip.
        """

    def pending_value(self, scope: str, value_fp: str) -> Stand | None:
        """Return a memory with that value of a key that waits for a person."""

    def followed_by(self, ident: str) -> list[Stand]:
        """Return the memories whose successor a memory is, by number."""

    def intervals(self, scope: str, key_fp: str) -> list[Interval]:
        """Return the intervals of a key as recorded now, by `valid_from`."""

    def rejections(self, scope: str, fps: Sequence[str]) -> list[Rejection]:
        """Return rejections of any of the fingerprints that nobody lifted, oldest first."""


class Memories(Protocol):
    """Reads for people and agents. Only memories in the given scopes are seen."""

    def find_id(self, *, number: int | None = None, ident: str | None = None, scopes: Sequence[str]) -> str | None:
        """Return the id of a memory by its number or id."""

    def holders(
        self, scopes: Sequence[str], key_fps: Mapping[str, str], *, at: int | None = None, known_at: int | None = None
    ) -> list[str]:
        """Return the ids of the memories that ever held a key; with `at` only who holds it at that instant.

        Args:
            scopes: Looked into in this order.
            key_fps: Scope → fingerprint of the key in it.
            at: An instant in the world.
            known_at: Answer from what was recorded by then; with `at`.
        """

    def read(self, idents: Sequence[str], *, now: int, known_at: int | None = None) -> dict[str, Memory]:
        """Return memories by id; with `known_at` in the version that was recorded then."""

    def versions(self, ident: str, *, now: int) -> list[Memory]:
        """Return all versions of a memory, oldest first."""

    def links(self, ident: str, scopes: Sequence[str], *, now: int | None = None) -> list[Linked]:
        """Return the neighbours of a memory, by number; with `now` only those that are believed at that instant."""

    def select(self, accept: Filter, *, limit: int) -> list[str]:
        """Return the ids of memories that pass a `Filter`, by number."""

    def tally(self, scopes: Sequence[str]) -> dict[str, dict[str, int]]:
        """Return how many memories there are by kind and status, every status counted."""

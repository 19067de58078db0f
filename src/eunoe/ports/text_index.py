"""The text index as retrieval sees it. Lean: Protocols are for the type checker, and are not made at run time."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Protocol
else:
    Protocol = object


class Filter:
    """What a read may return. Everything given must hold.

    Attributes:
        scopes: The scopes that the caller may read and asked for; never empty.
        now: Microseconds; what is true, valid and not expired is judged at this instant.
        known_at: Microseconds: answer from what was recorded by then; None means from what is believed now.
        kinds, any_tags, paths: Any of them; empty means all. A path also stands for everything below it.
        tags: All of them.
        since, until: The first time it was said lies in [since, until).
        session: Only of this session.
    """

    __slots__ = ("any_tags", "kinds", "known_at", "now", "paths", "scopes", "session", "since", "tags", "until")

    def __init__(
        self,
        *,
        scopes: Sequence[str],
        now: int,
        known_at: int | None = None,
        kinds: Sequence[str] = (),
        tags: Sequence[str] = (),
        any_tags: Sequence[str] = (),
        paths: Sequence[str] = (),
        since: int | None = None,
        until: int | None = None,
        session: str | None = None,
    ) -> None:
        self.scopes = tuple(scopes)
        self.now = now
        self.known_at = known_at
        self.kinds = tuple(kinds)
        self.tags = tuple(tags)
        self.any_tags = tuple(any_tags)
        self.paths = tuple(paths)
        self.since = since
        self.until = until
        self.session = session

    @property
    def is_open(self) -> bool:
        """Tell whether nothing was asked for beyond what is believed now."""
        bounds = (self.since, self.until, self.session, self.known_at)
        return not (self.kinds or self.tags or self.any_tags or self.paths) and all(each is None for each in bounds)


class Passage:
    """An indexed passage: where it stands and its term counts, never its text.

    Attributes:
        terms: Packed counts, see `eunoe.domain.postings`.
        visible: Whether it passes the filter of the call that read it; others only lend context.
    """

    __slots__ = ("length", "memory", "rid", "session", "terms", "trust", "turn", "version", "visible")

    def __init__(
        self,
        rid: int,
        memory: str,
        version: int,
        session: str | None,
        turn: int | None,
        length: int,
        terms: str,
        trust: str,
        visible: int,
    ) -> None:
        self.rid = rid
        self.memory = memory
        self.version = version
        self.session = session
        self.turn = turn
        self.length = length
        self.terms = terms
        self.trust = trust
        self.visible = bool(visible)


class Statistics:
    """What BM25 knows of a project, within the scopes of the reader.

    Attributes:
        documents: Live passages.
        length: Their lengths added up, in terms.
        df: Term → passages that hold it; terms that none holds are missing.
    """

    __slots__ = ("df", "documents", "length")

    def __init__(self, documents: int, length: int, df: Mapping[str, int]) -> None:
        self.documents = documents
        self.length = length
        self.df = df


class TextIndex(Protocol):
    """Reads of one project's index inside one consistent state. No text of another project moves an answer."""

    def statistics(self, terms: Sequence[str], scopes: Sequence[str]) -> Statistics:
        """Return the statistics of the given terms."""

    def candidates(self, terms: Sequence[str], accept: Filter, *, limit: int) -> list[Passage]:
        """Return passages that hold any of the terms and pass the filter, best first by the engine's own ranking.

        All of them when there are at most `limit`; otherwise those that the engine ranks highest.
        """

    def neighbours(self, ranges: Sequence[tuple[str, int, int]], accept: Filter) -> list[Passage]:
        """Return passages whose turn lies in one of the ranges (session, first turn, last turn).

        All are in the scopes and believed at the filter's instant; `visible` tells which pass the whole filter.
        """

    def browse(
        self, accept: Filter, *, order: str, after: Mapping[str, Any] | None, limit: int
    ) -> list[tuple[Passage, dict[str, Any]]]:
        """Return what passes the filter, each with its place in the order, beginning after a place.

        Orders: `relevance` (pinned, then importance, then newest), `newest`, `oldest`; ties by id.
        """

    def count(self, accept: Filter) -> int:
        """Return how many memories pass the filter."""

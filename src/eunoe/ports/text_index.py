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
        said_at: When it became true, microseconds; for a turn when it was said.
        speaker, shape: Of a turn: who said it, and what kind of sentence it is (`eunoe.domain.turns`).
        visible: Whether it passes the filter of the call that read it; others only lend context.
    """

    __slots__ = (
        *("length", "memory", "rid", "said_at", "session", "shape", "speaker", "terms", "trust", "turn", "version"),
        "visible",
    )

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
        said_at: int,
        speaker: str | None,
        shape: int | None,
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
        self.said_at = said_at
        self.speaker = speaker
        self.shape = shape or 0
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

    def passages(self, rids: Sequence[int], accept: Filter) -> list[Passage]:
        """Return the passages with these row numbers that are in the scopes and believed at the filter's instant.

        `visible` tells which of them pass the whole filter. In the order of their numbers.
        """

    def rows(self, accept: Filter) -> list[int]:
        """Return the row numbers of all passages that pass the filter, ascending."""

    def said_between(self, first: int, last: int, accept: Filter, *, limit: int) -> list[Passage]:
        """Return the latest passages that pass the filter and were said in [first, last), microseconds."""

    def standing(self, rids: Sequence[int]) -> list[tuple[int, str, int, int, int | None, int]]:
        """Return what is known of passages today, by number.

        Each as (row number, kind, importance in thousandths, confirmed at, disputed at or None, version recorded at).
        """

    def browse(
        self, accept: Filter, *, order: str, after: Mapping[str, Any] | None, limit: int
    ) -> list[tuple[Passage, dict[str, Any]]]:
        """Return what passes the filter, each with its place in the order, beginning after a place.

        Orders: `relevance` (pinned, then importance, then newest), `newest`, `oldest`; ties by id.
        """

    def count(self, accept: Filter) -> int:
        """Return how many memories pass the filter."""

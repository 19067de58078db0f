"""The port `TextIndex` over one connection. Lean: the recall path of hooks reads through it."""

from __future__ import annotations

from eunoe.ports.text_index import Filter, Passage, Statistics
from eunoe.stores.sql.filters import Where, among, condition, names, values
from eunoe.stores.sql.statements import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Protocol

    class Searcher(Protocol):
        """The part of a connection that searching needs; `ranked` is each engine's own."""

        def run(self, sql: str, params: Mapping[str, Any] = ...) -> list[tuple[Any, ...]]:
            """Run one statement."""

        def listed(self, stem: str, values: Sequence[object]) -> tuple[str, dict[str, Any]]:
            """Return what stands in `in (…)` for values, and its parameters."""

        def ranges(self, ranges: Sequence[tuple[str, int, int]]) -> tuple[str, dict[str, Any]]:
            """Return a relation of (session, first, last), and its parameters."""

        def ranked(self, p: int, terms: Sequence[str], where: Where | None) -> tuple[str, dict[str, Any]]:
            """Return the statement that ranks passages by any of the terms, and its parameters."""


_SQL = load("search")

_RANGES = 500  # ranges a statement: far below the engines' limits of parameters

# Descending ids last: among equals the younger comes first, and the id makes the order total.
_ORDERS = {
    "relevance": (("pinned", "desc"), ("importance", "desc"), ("recorded_from", "desc"), ("memory", "desc")),
    "newest": (("recorded_from", "desc"), ("memory", "desc")),
    "oldest": (("recorded_from", "asc"), ("memory", "asc")),
}


class SqlTextIndex:
    """Implements `eunoe.ports.text_index.TextIndex` for the project `p`."""

    def __init__(self, connection: Searcher, p: int) -> None:
        self._connection = connection
        self._p = p

    def statistics(self, terms: Sequence[str], scopes: Sequence[str]) -> Statistics:
        """See `TextIndex.statistics`."""
        params = {"p": self._p, **values("scope", scopes)}
        totals = self._connection.run(_SQL["scope_totals"].format(scopes=names("scope", scopes)), params)
        found: list[tuple[str, int]] = []
        if terms:
            listed, given = self._connection.listed("term", terms)
            sql = _SQL["document_frequencies"].format(scopes=names("scope", scopes), terms=listed)
            found = self._connection.run(sql, params | given)
        return Statistics(totals[0][0], totals[0][1], dict(found))

    def candidates(self, terms: Sequence[str], accept: Filter, *, limit: int) -> list[Passage]:
        """See `TextIndex.candidates`.

        The cheap question comes first. Its answer is final when the engine had no more than `limit` matches, or when
        all of them passed; otherwise rows that did not pass have taken places, and the exact question follows.
        """
        if not terms or limit < 1:
            return []
        where = condition(accept)
        rows = self._ranked(terms, where, limit, filter_first=False)
        passed = [Passage(*row) for row in rows if row[-1]]
        if len(rows) < limit or len(passed) == len(rows):
            return passed
        return [Passage(*row) for row in self._ranked(terms, where, limit, filter_first=True)]

    def _ranked(self, terms: Sequence[str], where: Where, limit: int, *, filter_first: bool) -> list[tuple[Any, ...]]:
        """Return rows of `Passage`, best first, whose last column tells whether a row passes.

        With `filter_first` the filter counts before the limit, at the price of a look-up for every match.
        """
        ranked, params = self._connection.ranked(self._p, terms, where if filter_first else None)
        sql = _SQL["candidates"].format(ranked=ranked, visible=where.sql, joins=where.joins)
        return self._connection.run(sql, where.params | params | {"p": self._p, "limit": limit})

    def neighbours(self, ranges: Sequence[tuple[str, int, int]], accept: Filter) -> list[Passage]:
        """See `TextIndex.neighbours`."""
        where = condition(accept)
        readable = _readable(accept)
        found: list[Passage] = []
        for start in range(0, len(ranges), _RANGES):
            batch = ranges[start : start + _RANGES]
            wanted, given = self._connection.ranges(batch)
            sql = _SQL["neighbours"].format(
                visible="1" if accept.is_open else where.sql, joins=where.joins, wanted=wanted, readable=readable.sql
            )
            found += [Passage(*row) for row in self._connection.run(sql, where.params | given | {"p": self._p})]
        return found

    def passages(self, rids: Sequence[int], accept: Filter) -> list[Passage]:
        """See `TextIndex.passages`."""
        where, readable = condition(accept), _readable(accept)
        sql = _SQL["passages"].format(
            visible="1" if accept.is_open else where.sql, joins=where.joins, rids="{rids}", readable=readable.sql
        )
        return [Passage(*row) for row in among(self._connection, sql, where.params | {"p": self._p}, rids)]

    def rows(self, accept: Filter) -> list[int]:
        """See `TextIndex.rows`."""
        where = condition(accept)
        sql = _SQL["rows"].format(visible=where.sql, joins=where.joins)
        return [rid for (rid,) in self._connection.run(sql, where.params | {"p": self._p})]

    def said_between(self, first: int, last: int, accept: Filter, *, limit: int) -> list[Passage]:
        """See `TextIndex.said_between`."""
        where = condition(accept)
        sql = _SQL["said_between"].format(visible=where.sql, joins=where.joins)
        params = where.params | {"p": self._p, "first": first, "last": last, "limit": limit}
        return [Passage(*row) for row in self._connection.run(sql, params)]

    def standing(self, rids: Sequence[int]) -> list[tuple[int, str, int, int, int | None, int]]:
        """See `TextIndex.standing`."""
        found: list[Any] = among(self._connection, _SQL["standing"], {"p": self._p}, rids)
        return found

    def browse(
        self, accept: Filter, *, order: str, after: Mapping[str, Any] | None, limit: int
    ) -> list[tuple[Passage, dict[str, Any]]]:
        """See `TextIndex.browse`."""
        columns = _ORDERS[order]
        where = condition(accept)
        listed = ", ".join(f"v.{name}" for name, _ in columns)
        sql = _SQL["browse"].replace(", 1\nfrom", f", 1, {listed}\nfrom")
        sql = sql.format(
            # Said again, although it follows from `live`: the index `versions_browse` holds no other versions.
            visible=where.sql if accept.known_at is not None else f"v.recorded_to is null and {where.sql}",
            order=", ".join(f"v.{name} {way}" for name, way in columns),
            after=""
            if after is None
            else f"and ({listed}) {'>' if order == 'oldest' else '<'} "
            f"({', '.join(f':after_{name}' for name, _ in columns)})",
        )
        params = (
            where.params
            | {"p": self._p, "limit": limit}
            | {f"after_{name}": value for name, value in (after or {}).items()}
        )
        rows = self._connection.run(sql, params)
        width = len(columns)
        return [
            (Passage(*row[:-width]), dict(zip((name for name, _ in columns), row[-width:], strict=True)))
            for row in rows
        ]

    def count(self, accept: Filter) -> int:
        """See `TextIndex.count`."""
        where = condition(accept)
        sql = _SQL["count_visible"].format(visible=where.sql, joins=where.joins)
        rows = self._connection.run(sql, where.params | {"p": self._p})
        total: int = rows[0][0]
        return total


def _readable(accept: Filter) -> Where:
    """Return what may be read at the filter's instant, whatever else it asks."""
    return condition(Filter(scopes=accept.scopes, now=accept.now, known_at=accept.known_at))

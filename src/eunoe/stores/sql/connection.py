"""The narrow waist: all that an SQL engine gives to the shared stores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from eunoe.stores.sql.filters import Where

Row = tuple[Any, ...]
Params = Mapping[str, Any]


class Connection(Protocol):
    """One connection inside a transaction. Driver errors leave as `Unavailable` with a code."""

    def run(self, sql: str, params: Params = ...) -> list[Row]:
        """Run one statement with `:named` parameters and return its rows."""
        ...

    def many(self, sql: str, rows: Iterable[Params]) -> None:
        """Run one statement once for each row of parameters."""
        ...

    def stream(self, sql: str, params: Params = ...) -> Iterator[Row]:
        """Yield rows one by one, in memory that does not grow with their number."""
        ...

    def listed(self, stem: str, values: Sequence[object]) -> tuple[str, dict[str, Any]]:
        """Return what stands in `in (…)` for many values of one type, at least one, and its parameters."""
        ...

    def ranges(self, ranges: Sequence[tuple[str, int, int]]) -> tuple[str, dict[str, Any]]:
        """Return a statement that gives (session, first turn, last turn) as rows, and its parameters."""
        ...

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        """Insert many new rows of a table as fast as the engine can."""
        ...

    def settle(self, table: str) -> None:
        """Let the engine learn what a table holds now, after many rows were loaded."""
        ...

    def lock(self, p: int) -> None:
        """Hold off other writers of a project until the transaction ends; 0: whoever registers projects.

        What is read afterwards is the newest. Needs a write transaction. Projects never wait for one another.
        """
        ...

    def index(self, rows: Sequence[Params]) -> None:
        """Put passages into the full-text index; rows are those of the change `fulltext_insert`."""
        ...

    def ranked(self, p: int, terms: Sequence[str], where: Where | None) -> tuple[str, dict[str, Any]]:
        """Return the statement that ranks a project's passages by any of the terms, and its parameters.

        It gives (rid, place) for the `:limit` of the least place, the highest rid first among equals, and with a filter
        only of those that pass it. The filter's own parameters are not among those returned.
        """
        ...

    @property
    def searches_vectors(self) -> bool:
        """Tell whether the engine compares vectors itself; otherwise each process does."""
        ...

    def index_vectors(self, p: int, model: int, rows: Sequence[tuple[int, bytes]]) -> None:
        """Let (rid, f16 numbers) be found by `nearest`. They leave it with their rows of `vectors`."""
        ...

    def nearest(self, p: int, model: int, vector: bytes, where: Where, limit: int) -> list[tuple[int, float]]:
        """Return (rid of a text or a part, cosine) of the vectors nearest to one whose passages pass, nearest first.

        Only where `searches_vectors`.
        """
        ...


class Engine(Protocol):
    """One database, reached by SQL."""

    dialect: str
    tends_vectors: bool  # whether `tend_vectors` does anything
    occurrences: int  # of a term in one field that the full-text index tells apart at most

    def scratch(self) -> AbstractContextManager[Engine]:
        """Yield an empty database of the same schema, gone at the end."""
        ...

    def unindex(self, connection: Connection, p: int) -> None:
        """Take all passages of a project out of the full-text index."""
        ...

    def indexed(self, connection: Connection, p: int) -> Iterator[Row]:
        """Yield what a project's full-text index holds: (term, row, field) of each occurrence, in any order."""
        ...

    def reading(self) -> AbstractContextManager[Connection]:
        """Yield a connection that sees one consistent state. Several may be open at once."""
        ...

    def writing(self, *, patient: bool = True) -> AbstractContextManager[Connection]:
        """Yield the connection of a write transaction: commit at the end, roll back on any error.

        One at a time; where the engine has several writers, one a project, behind `Connection.lock`. Whoever is not
        `patient` gets `locked` within a few milliseconds where another one is writing.
        """
        ...

    def watch(self, wake: Callable[[], None]) -> None:
        """Call `wake` when another process has written, if the engine tells; it may also be called in vain."""
        ...

    def tend_vectors(self, p: int, model: int, dim: int) -> None:
        """Make what searching a project's many vectors needs, outside of any transaction; cheap when it is there."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return what `doctor` shows: engine, version, place, size, settings."""
        ...

    def close(self) -> None:
        """Release everything. Closing twice is allowed."""
        ...

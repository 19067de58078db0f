"""The narrow waist: all that an SQL engine gives to the shared stores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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

    def index(self, rows: Sequence[Params]) -> None:
        """Put passages into the full-text index; rows are those of the change `fulltext_insert`."""
        ...

    def match(self, p: int, terms: Sequence[str], where: Where, limit: int) -> list[Row]:
        """Return candidates for any of the terms that pass a condition, best first, as rows of `Passage`."""
        ...


class Engine(Protocol):
    """One database, reached by SQL."""

    dialect: str

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
        """Yield the connection of a write transaction: commit at the end, roll back on any error; one at a time.

        Whoever is not `patient` gets `locked` within a few milliseconds where another one is writing.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """Return what `doctor` shows: engine, version, place, size, settings."""
        ...

    def close(self) -> None:
        """Release everything. Closing twice is allowed."""
        ...

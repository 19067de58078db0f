"""The port `Upkeep` over one connection."""

from __future__ import annotations

from eunoe.ports.text_index import Filter, Passage
from eunoe.stores.sql.connection import Connection
from eunoe.stores.sql.filters import condition, names
from eunoe.stores.sql.statements import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from eunoe.ports.upkeep import Question


class SqlUpkeep:
    """Implements `eunoe.ports.upkeep.Upkeep` for the project `p`."""

    def __init__(self, connection: Connection, p: int) -> None:
        self._connection = connection
        self._p = p
        self._sql = load("upkeep")

    def believed(self, now: int) -> int:
        """See `Upkeep.believed`. Passages are counted where they are weighed; only those that may end are looked at."""
        ((live,),) = self._connection.run(self._sql["live"], {"p": self._p})
        ((ended,),) = self._connection.run(self._sql["ended"], {"p": self._p, "now": now})
        believed: int = live - ended
        return believed

    def first(self, accept: Filter, *, limit: int) -> list[Passage]:
        """See `Upkeep.first`."""
        where = condition(accept)
        sql = self._sql["first"].format(visible=where.sql)
        return [Passage(*row) for row in self._connection.run(sql, where.params | {"p": self._p, "limit": limit})]

    def find(self, question: Question, accept: Filter, *, before: int = 0, above: int = 0, limit: int) -> list[str]:
        """See `Upkeep.find`."""
        where = condition(accept)
        other = where.sql.replace("pa.", "o.")
        sql = self._sql[question].format(visible=where.sql, other=other, scopes=names("scope", accept.scopes))
        params: dict[str, Any] = where.params | {"p": self._p, "before": before, "above": above, "limit": limit}
        return [ident for (ident,) in self._connection.run(sql, params)]

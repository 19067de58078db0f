"""The port `Survey` over one connection."""

from __future__ import annotations

from collections.abc import Sequence

from eunoe.ports.survey import Standing
from eunoe.ports.text_index import Filter
from eunoe.stores.sql.connection import Connection, Row
from eunoe.stores.sql.filters import condition, names, values
from eunoe.stores.sql.statements import load

_SQL = load("survey")


class SqlSurvey:
    """Implements `eunoe.ports.survey.Survey` for the project `p`."""

    def __init__(self, connection: Connection, p: int) -> None:
        self._connection = connection
        self._p = p

    def foremost(self, accept: Filter, *, limit: int) -> list[Standing]:
        """See `Survey.foremost`."""
        return [_standing(row) for row in self._filtered("foremost", accept, limit)]

    def newest(self, accept: Filter, *, limit: int) -> list[Standing]:
        """See `Survey.newest`."""
        return [_standing(row) for row in self._filtered("newest", accept, limit)]

    def disputed(self, accept: Filter, *, limit: int) -> list[int]:
        """See `Survey.disputed`."""
        return [row[0] for row in self._filtered("disputed", accept, limit)]

    def labels(self, scopes: Sequence[str]) -> dict[str, int]:
        """See `Survey.labels`."""
        sql = _SQL["labels"].format(scopes=names("scope", scopes))
        return dict(self._connection.run(sql, {"p": self._p, **values("scope", scopes)}))

    def _filtered(self, name: str, accept: Filter, limit: int) -> list[Row]:
        where = condition(accept)
        sql = _SQL[name].format(visible=where.sql)
        return self._connection.run(sql, where.params | {"p": self._p, "limit": limit})


def _standing(row: Row) -> Standing:
    ident, kind, importance, pinned, confirmed_at, disputed, trust, tokens_full, tokens_line = row
    return Standing(
        ident, kind, importance, bool(pinned), confirmed_at, bool(disputed), trust, tokens_full, tokens_line
    )

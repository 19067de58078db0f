"""The port `Survey` over one connection."""

from __future__ import annotations

from collections.abc import Sequence

from eunoe.domain.canonical import parse
from eunoe.ports.survey import Standing
from eunoe.ports.text_index import Filter
from eunoe.stores.sql.connection import Connection, Row
from eunoe.stores.sql.filters import condition, names, values
from eunoe.stores.sql.statements import load

_SQL = load("survey")

_LAPSED = 1000


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

    def labels(self, scopes: Sequence[str], *, now: int) -> dict[str, int]:
        """See `Survey.labels`."""
        listed, params = names("scope", scopes), {"p": self._p, **values("scope", scopes)}
        found: dict[str, int] = dict(self._connection.run(_SQL["labels"].format(scopes=listed), params))
        for name in ("scheduled", "ended"):
            bounds = {"now": now, "limit": _LAPSED}
            for kind, tags in self._connection.run(_SQL[name].format(scopes=listed), params | bounds):
                for label in (f"kind:{kind}", *(f"tag:{tag}" for tag in parse(tags))):
                    found[label] -= 1
        return {label: n for label, n in found.items() if n > 0}

    def _filtered(self, name: str, accept: Filter, limit: int) -> list[Row]:
        where = condition(accept)
        sql = _SQL[name].format(visible=where.sql)
        return self._connection.run(sql, where.params | {"p": self._p, "limit": limit})


def _standing(row: Row) -> Standing:
    ident, kind, importance, pinned, confirmed_at, disputed, trust, tokens_full, tokens_line = row
    return Standing(
        ident, kind, importance, bool(pinned), confirmed_at, bool(disputed), trust, tokens_full, tokens_line
    )

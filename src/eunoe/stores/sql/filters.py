"""A filter as SQL: fixed fragments and named parameters; no caller's value is ever part of a statement. Lean."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from eunoe.ports.text_index import Filter

# A passage is live only while its version is believed and its memory active; what else the common recall asks stands
# in the passage as well, so that it needs no join.
NOW = (
    "pa.live = 1 and pa.valid_from <= :now and (pa.valid_to is null or pa.valid_to > :now) "
    "and (pa.expires_at is null or pa.expires_at > :now)"
)
# A `valid_to` that became known only after `known_at` was not known then. What was taken back stays back.
_THEN = (
    "m.status not in ('pending', 'forgotten') and (m.expires_at is null or m.expires_at > :now) "
    "and v.recorded_from <= :known_at and (v.recorded_to is null or v.recorded_to > :known_at) "
    "and v.valid_from <= :now and (v.valid_to is null or v.valid_to > :now or v.valid_to_at > :known_at)"
)
_JOINS = """
cross join memory_versions v on v.p = pa.p and v.memory = pa.memory and v.version = pa.version
cross join memories m on m.p = pa.p and m.id = pa.memory"""

_AT_ONCE = 500  # row numbers a statement: far below the engines' limits of parameters

_TAGGED = "exists (select 1 from tags t where t.p = m.p and t.tag in ({wanted}) and t.memory = m.id)"
_PATHED = "exists (select 1 from paths f where f.p = m.p and f.memory = m.id and ({wanted}))"


def names(stem: str, values: Sequence[object]) -> str:
    """Return `:stem0, :stem1, …`, one a value; for no value a list that nothing is in."""
    return ", ".join(f":{stem}{at}" for at in range(len(values))) or "null"


def values(stem: str, given: Sequence[object]) -> dict[str, Any]:
    """Return the parameters that `names(stem, given)` names."""
    return {f"{stem}{at}": value for at, value in enumerate(given)}


def among(connection: Any, sql: str, named: Mapping[str, Any], rids: Sequence[int]) -> list[tuple[Any, ...]]:
    """Run a statement with a list `{rids}` for many row numbers, some hundreds at a time."""
    found: list[tuple[Any, ...]] = []
    for start in range(0, len(rids), _AT_ONCE):
        batch = rids[start : start + _AT_ONCE]
        listed, given = connection.listed("rid", batch)
        found += connection.run(sql.format(rids=listed), {**named, **given})
    return found


class Where:
    """A filter in SQL.

    Attributes:
        sql: The condition, over pa (passages) and, behind `joins`, v (memory_versions) and m (memories).
        params: Its parameters.
        joins: Empty when the passage alone tells.
    """

    __slots__ = ("joins", "params", "sql")

    def __init__(self, sql: str, params: dict[str, Any], joins: str) -> None:
        self.sql = sql
        self.params = params
        self.joins = joins


def condition(accept: Filter) -> Where:
    """Return the condition that a filter means."""
    past = accept.known_at is not None
    parts = [_THEN if past else NOW, f"pa.scope in ({names('scope', accept.scopes)})"]
    params: dict[str, Any] = {"now": accept.now, **values("scope", accept.scopes)}
    if accept.is_open:
        return Where(" and ".join(parts), params, "")
    if past:
        params["known_at"] = accept.known_at
    if accept.kinds:
        parts.append(f"v.kind in ({names('kind', accept.kinds)})")
        params |= values("kind", accept.kinds)
    parts += [_TAGGED.format(wanted=f":tag{at}") for at in range(len(accept.tags))]
    params |= values("tag", accept.tags)
    if accept.any_tags:
        parts.append(_TAGGED.format(wanted=names("any_tag", accept.any_tags)))
        params |= values("any_tag", accept.any_tags)
    if accept.paths:
        parts.append(_below(accept.paths, params))
    for name, column in (("since", "m.first_seen >="), ("until", "m.first_seen <"), ("session", "m.session =")):
        value = getattr(accept, name)
        if value is not None:
            parts.append(f"{column} :{name}")
            params[name] = value
    return Where(" and ".join(parts), params, _JOINS)


def _below(paths: Sequence[str], params: dict[str, Any]) -> str:
    """A path, or anything below it: a range, because a pattern would give `_` and `%` a meaning."""
    wanted = []
    for at, path in enumerate(paths):
        wanted.append(f"f.path = :path{at} or (f.path >= :path{at}_first and f.path < :path{at}_end)")
        params |= {f"path{at}": path, f"path{at}_first": f"{path}/", f"path{at}_end": f"{path}0"}  # "0" follows "/"
    return _PATHED.format(wanted=" or ".join(wanted))

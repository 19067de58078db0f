"""Filters as callers write them, checked and turned into what the index takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from eunoe.domain import limits
from eunoe.domain.instants import optional_us
from eunoe.domain.kinds import kind_named
from eunoe.domain.text import one_line, storable
from eunoe.errors import Invalid, shown
from eunoe.ports.text_index import Filter
from eunoe.service.context import Context

FILTERS = ("kinds", "tags", "any_tags", "paths", "since", "until", "scope", "session", "as_of", "known_at")

_MOST = 50


def to_filter(context: Context, *, now: int, **given: Any) -> Filter:
    """Return a checked filter.

    Args:
        context: The session; its caller bounds the scopes.
        now: The instant to judge by where `as_of` is not given.
        **given: Any of `FILTERS`; None and empty lists mean "all".

    Raises:
        Invalid: `unknown_filter`, `bad_type`, `bad_kind`, `bad_time`, `bad_period`, `bad_scope`. Refused: `scope`.
    """
    if unknown := given.keys() - set(FILTERS):
        raise Invalid("unknown_filter", f"unknown filter {shown(min(unknown))}; filters are {' '.join(FILTERS)}")
    as_of, known_at = (optional_us(given.get(name), setting=name) for name in ("as_of", "known_at"))
    since, until = (optional_us(given.get(name), setting=name) for name in ("since", "until"))
    if since is not None and until is not None and until <= since:
        raise Invalid("bad_period", "until must lie after since")
    if as_of is not None and known_at is None:
        known_at = now
    return Filter(
        scopes=context.scopes(given.get("scope")),
        now=as_of if as_of is not None else known_at if known_at is not None else now,
        known_at=known_at,
        kinds=[kind_named(kind).name for kind in _listed(given, "kinds")],
        tags=_listed(given, "tags"),
        any_tags=_listed(given, "any_tags"),
        paths=[path.rstrip("/") or path for path in _listed(given, "paths")],
        since=since,
        until=until,
        session=_text(given, "session"),
    )


def check_query(query: object) -> str:
    """Return a query's text. Raises `Invalid`: `bad_type`, `blank_query`, `too_long`, `nul_character`."""
    if not isinstance(query, str):
        raise Invalid("bad_type", f"query={shown(query)} must be text, or None to browse")
    if not query.strip():
        raise Invalid("blank_query", "the query is blank; give words to look for, or None to browse")
    if len(query) > limits.QUERY:
        raise Invalid("too_long", f"the query has {len(query):,} characters; the limit is {limits.QUERY:,}")
    return storable(query, setting="query")[0]


def _text(given: dict[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise Invalid("bad_type", f"{name}={shown(value)} must be text")
    return value


def _listed(given: dict[str, Any], name: str) -> tuple[str, ...]:
    value = given.get(name)
    if value is None:
        return ()
    if isinstance(value, str):
        value = (value,)
    if not isinstance(value, Iterable):
        raise Invalid("bad_type", f"{name}={shown(value)} must be a list of texts")
    entries = tuple(value)
    for each in entries:
        if not isinstance(each, str) or not each.strip():
            raise Invalid("bad_type", f"{name} holds {shown(each)}; give texts that are not blank")
    if len(entries) > _MOST:
        raise Invalid("too_many", f"{name} has {len(entries)} entries; the limit is {_MOST}")
    return tuple(dict.fromkeys(one_line(storable(each, setting=name)[0]) for each in entries))


def check_budget(budget: object, *, setting: str = "budget_tokens") -> int:
    """Return a budget in tokens. Raises `Invalid` (`bad_budget`)."""
    if isinstance(budget, bool) or not isinstance(budget, int) or not 0 <= budget <= limits.BUDGET:
        raise Invalid("bad_budget", f"{setting}={shown(budget)} must be a whole number from 0 to {limits.BUDGET:,}")
    return budget

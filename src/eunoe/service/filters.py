"""Filters as callers write them, checked and turned into what the index takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

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
        session=given.get("session"),
    )


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

"""Which events a caller may see: those that speak only of memories in the caller's scopes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eunoe.ports.store import View


class Visibility:
    """Tells whether an event may be shown; asks for each memory once."""

    def __init__(self, view: View, p: int, scopes: tuple[str, ...]) -> None:
        self._memories = view.memories(p)
        self._scopes = scopes
        self._known: dict[str, bool] = {}

    def shown(self, meta: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return a meta as the caller may see it, or None when it speaks of a memory outside the scopes.

        Links to such memories are left out; the event itself stays.
        """
        named = [meta[name] for name in ("memory", "a", "b", "superseded_by") if meta.get(name)]
        for name in ("supersedes", "reopens"):
            named += [entry["memory"] for entry in meta.get(name, ())]
        if not all(map(self._is_readable, named)):
            return None
        if "links" not in meta:
            return dict(meta)
        return {**meta, "links": [ident for ident in meta["links"] if self._is_readable(ident)]}

    def _is_readable(self, ident: str) -> bool:
        known = self._known.get(ident)
        if known is None:
            found = self._memories.find_id(ident=ident, scopes=self._scopes)
            known = self._known[ident] = found is not None
        return known

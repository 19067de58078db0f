"""What a project holds as a whole, for whoever is about to work in it. Lean."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from eunoe.ports.text_index import Filter
else:
    Protocol = object  # Protocols are for the type checker; making them costs every command several milliseconds


class Standing(NamedTuple):
    """What decides how much a memory matters, without its text.

    Attributes:
        importance: Thousandths.
        confirmed_at: Microseconds.
        tokens_full, tokens_line: What it costs to show it, or None when that was not counted.
    """

    id: str
    kind: str
    importance: int
    pinned: bool
    confirmed_at: int
    disputed: bool
    trust: str
    tokens_full: int | None
    tokens_line: int | None


class Survey(Protocol):
    """Reads of one project inside one consistent state; each costs the same however much the project holds."""

    def foremost(self, accept: Filter, *, limit: int) -> list[Standing]:
        """Return what passes the filter: pinned first, then by importance, then the newest; ties by id."""

    def newest(self, accept: Filter, *, limit: int) -> list[Standing]:
        """Return what passes the filter, what was recorded last first."""

    def disputed(self, accept: Filter, *, limit: int) -> list[int]:
        """Return the numbers of disputed memories that pass the filter, ascending."""

    def labels(self, scopes: Sequence[str], *, now: int) -> dict[str, int]:
        """Return `kind:…` and `tag:…` → how many memories that are believed and true at an instant have it, by name.

        Of what is scheduled, and of what has ended, a thousand are told apart; more than that would count as true.
        """

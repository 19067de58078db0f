"""The table of kinds: what a memory is about decides its type, default importance and how it ages.

Lean: the recall path of hooks reads it.
"""

from __future__ import annotations

from eunoe.errors import Invalid, shown


class Kind:
    """One row of the table.

    Attributes:
        name: The word users write.
        type: `episodic semantic procedural core resource vault`.
        importance: Default importance in thousandths, 0 to 1000.
        half_life_days: Freshness halves in this many days since the memory was last confirmed; 0 means never.
        decay_floor: The least that ageing leaves, in thousandths.
        long: True when the body may be as long as `LONG_BODY`.
    """

    __slots__ = ("decay_floor", "half_life_days", "importance", "long", "name", "type")

    def __init__(
        self, name: str, type_: str, *, importance: int, half_life_days: int, floor: int, long: bool = False
    ) -> None:
        self.name = name
        self.type = type_
        self.importance = importance
        self.half_life_days = half_life_days
        self.decay_floor = floor
        self.long = long


# Half-lives: 30 days for what describes the present, 180 for recipes and traps, 365 for the rest (inventory row 113);
# rules that were learned never fall below 0.6 (row 180), everything else not below 0.4.
_ROWS = (
    Kind("overview", "semantic", importance=700, half_life_days=365, floor=400),
    Kind("architecture", "semantic", importance=700, half_life_days=365, floor=400),
    Kind("decision", "semantic", importance=700, half_life_days=365, floor=600),
    Kind("convention", "procedural", importance=650, half_life_days=365, floor=600),
    Kind("gotcha", "semantic", importance=650, half_life_days=180, floor=400),
    Kind("howto", "procedural", importance=600, half_life_days=180, floor=400),
    Kind("reference", "semantic", importance=500, half_life_days=180, floor=400),
    Kind("state", "semantic", importance=600, half_life_days=30, floor=400),
    Kind("preference", "core", importance=700, half_life_days=365, floor=600),
    Kind("identity", "core", importance=800, half_life_days=0, floor=1000),
    Kind("fact", "semantic", importance=500, half_life_days=365, floor=400),
    Kind("lesson", "procedural", importance=700, half_life_days=365, floor=600),
    Kind("failure", "episodic", importance=600, half_life_days=180, floor=400),
    Kind("activity", "episodic", importance=300, half_life_days=30, floor=400),
    Kind("message", "episodic", importance=300, half_life_days=365, floor=400),
    Kind("summary", "episodic", importance=500, half_life_days=365, floor=400, long=True),
    Kind("note", "resource", importance=400, half_life_days=365, floor=400, long=True),
    Kind("resource", "resource", importance=400, half_life_days=365, floor=400, long=True),
    Kind("skill", "procedural", importance=700, half_life_days=365, floor=600, long=True),
    Kind("secret", "vault", importance=500, half_life_days=0, floor=1000),
)

KINDS = {row.name: row for row in _ROWS}


def kind_named(name: str) -> Kind:
    """Return the row of a kind. Raises `Invalid` (`bad_kind`) that lists the kinds there are."""
    row = KINDS.get(name) if isinstance(name, str) else None
    if row is None:
        raise Invalid("bad_kind", f"kind={shown(name)} is unknown; the kinds are {' '.join(KINDS)}")
    return row

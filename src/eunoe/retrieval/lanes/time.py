"""The time lane: what was said when the query says. Lean."""

from __future__ import annotations

from datetime import UTC, datetime

from eunoe.domain.instants import from_us, to_us
from eunoe.ports.lane import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date

    from eunoe.retrieval.reach import Reach


class TimeLane:
    """Implements `eunoe.ports.lane.Lane` by the dates that a query names; `raw` is how near, 0 to 1."""

    name = "time"

    def find(self, reach: Reach, *, explain: bool = False) -> list[Found]:
        """See `Lane.find`."""
        today = from_us(reach.accept.now).date()
        found: dict[str, Found] = {}
        for named in reach.question.dates:
            for first, last in named.spans(today):
                said = reach.index.said_between(_start(first), _start(last), reach.accept, limit=reach.recipe.dated)
                for passage in said:
                    near = named.nearness(from_us(passage.said_at).date())
                    found.setdefault(passage.memory, Found(passage, near))
        best = sorted(found.values(), key=lambda each: (-each.raw, each.passage.memory))
        return best[: reach.recipe.dated]


def _start(day: date) -> int:
    return to_us(datetime(day.year, day.month, day.day, tzinfo=UTC), setting="query")

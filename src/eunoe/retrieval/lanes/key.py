"""The key lane: keys and identifiers that the query spells out. Lean."""

from __future__ import annotations

from eunoe.domain.postings import counts
from eunoe.ports.lane import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eunoe.retrieval.reach import Reach

_TITLE = 1


class KeyLane:
    """Implements `eunoe.ports.lane.Lane` by identifiers; `raw` is how many a passage holds, twice where in its title.

    A key is indexed with the title, so a query that spells one out finds its holder here before all others.
    """

    name = "key"

    def find(self, reach: Reach, *, explain: bool = False) -> list[Found]:
        """See `Lane.find`."""
        known = [term for term in reach.question.hard if term in reach.weights.idf]
        if not known:
            return []
        found: dict[str, Found] = {}
        for passage in reach.index.candidates(known, reach.accept, limit=reach.recipe.keyed):
            held = [(term, counts(passage.terms, term)) for term in known]
            raw = sum(1 + (len(each) > _TITLE and each[_TITLE] > 0) for _, each in held if each)
            detail = {"terms": [term for term, each in held if each]} if explain else None
            found.setdefault(passage.memory, Found(passage, float(raw), detail))
        return sorted(found.values(), key=lambda each: (-each.raw, each.passage.memory))

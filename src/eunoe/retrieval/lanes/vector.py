"""The vector lane: what means the same in other words. Lean: NumPy comes with the sight it looks through."""

from __future__ import annotations

from eunoe.ports.lane import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eunoe.retrieval.reach import Reach


class VectorLane:
    """Implements `eunoe.ports.lane.Lane` by meaning; `raw` is about the cosine. Without a model it finds nothing."""

    name = "vector"

    def find(self, reach: Reach, *, explain: bool = False) -> list[Found]:
        """See `Lane.find`."""
        meaning = reach.question.meaning
        if meaning is None or reach.sight is None:
            return []
        near = reach.sight.nearest(
            meaning.vector,
            reach.index,
            reach.accept,
            limit=reach.recipe.nearest,
            narrow=not reach.accept.is_open,
        )
        found: dict[str, Found] = {}
        for passage, cosine in near:
            found.setdefault(passage.memory, Found(passage, cosine))
        return sorted(found.values(), key=lambda each: (-each.raw, each.passage.memory))

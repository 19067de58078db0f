"""The candidates of all lanes, with the turns around them, and what each lane makes of every one of them. Lean."""

from __future__ import annotations

from eunoe.domain.turns import ASKS
from eunoe.retrieval.score import followers, score

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from eunoe.ports.lane import Found
    from eunoe.ports.text_index import Passage
    from eunoe.retrieval.reach import Reach

    Span = tuple[int, int]

# Two turns to either side lend to a candidate, and two more to those, which may become hits themselves.
_REACH = 4


class Pool:
    """Passages that know each other, in the order of sessions and turns, and numbers for each; lists go by place.

    Attributes:
        passages: All of them; some only lend to others.
        places: Those that may be returned, a memory once: found by a lane, near in meaning, or lent a word.
        is_turn: Whether it has a place in a conversation.
        follows: Whether it is the turn after the one before it.
        answers: Whether it is a turn that follows a question.
        words: BM25 with what neighbours lend.
        own: BM25 of its own words.
        cosine: With the query; None where it is not embedded.
        span: The characters of the part that is nearest; None for a text of one part.
        late: Late interaction; None where it was not read.
    """

    __slots__ = (
        *("answers", "cosine", "follows", "is_turn", "late", "own", "passages", "places", "span", "states_at"),
        "words",
    )

    def __init__(self, reach: Reach, found: Mapping[str, Sequence[Found]]) -> None:
        self.passages = _gathered(reach, found)
        count = len(self.passages)
        self.is_turn = [each.turn is not None and each.session is not None for each in self.passages]
        self.follows = followers(self.passages)
        self.answers = [self.follows[at] and bool(self.passages[at - 1].shape & ASKS) for at in range(count)]
        self.words = self._score(reach, alone=False)
        self.own = self._score(reach, alone=True) if any(self.is_turn) else self.words
        self.cosine: list[float | None] = [None] * count
        self.span: list[Span | None] = [None] * count
        self.states_at = [passage.rid for passage in self.passages]
        self.late: list[float | None] = [None] * count
        if reach.sight is not None and reach.question.meaning is not None:
            self._look(reach)
        chosen = {each.passage.rid for lane in found.values() for each in lane}
        self.places = [
            at
            for at in _once(self.passages)
            if self.words[at] > 0 or self.cosine[at] is not None or self.passages[at].rid in chosen
        ]

    def neighbour(self, at: int, offset: int) -> int | None:
        """Return the place of the turn that stands so far from another one in its session, up to two turns away."""
        step = 1 if offset > 0 else -1
        for _ in range(abs(offset)):
            if not self.follows[at + 1 if step > 0 else at]:
                return None
            at += step
        return at

    def read_states(self, reach: Reach, places: Iterable[int]) -> None:
        """Read the token states of some places, and let each look for the query's words."""
        sight, meaning = reach.sight, reach.question.meaning
        if sight is None or meaning is None or not sight.has_states:
            return
        by_row = {self.states_at[at]: at for at in places if self.cosine[at] is not None}
        for rid, value in sight.late(meaning, list(by_row), reach.accept.scopes).items():
            self.late[by_row[rid]] = value

    def _score(self, reach: Reach, *, alone: bool) -> list[float]:
        scored = score(self.passages, reach.weights, reach.statistics, reach.recipe, counted=reach.counted, alone=alone)
        return [scored.totals.get(at, 0.0) for at in range(len(self.passages))]

    def _look(self, reach: Reach) -> None:
        assert reach.sight is not None  # noqa: S101 - asked by the caller
        assert reach.question.meaning is not None  # noqa: S101
        by_row = {passage.rid: at for at, passage in enumerate(self.passages)}
        looked = reach.sight.cosines(reach.question.meaning.vector, list(by_row))
        for rid, (cosine, part, first, last) in looked.items():
            at = by_row[rid]
            self.cosine[at], self.states_at[at] = cosine, part
            self.span[at] = (first, last) if last else None


def _gathered(reach: Reach, found: Mapping[str, Sequence[Found]]) -> list[Passage]:
    """Return what the lanes found and, around the best turns, all that can lend to them or to their neighbours."""
    pool = {each.passage.rid: each.passage for lane in found.values() for each in lane}
    turns: dict[str, set[int]] = {}
    spread = reach.recipe.spread if reach.sight is not None else reach.recipe.spread // 2
    for lane in found.values():
        for each in lane[:spread]:
            if each.passage.session is not None and each.passage.turn is not None:
                turns.setdefault(each.passage.session, set()).add(each.passage.turn)
    ranges = [(session, *span) for session in sorted(turns) for span in merged(sorted(turns[session]))]
    for passage in reach.index.neighbours(ranges, reach.accept) if ranges else ():
        pool.setdefault(passage.rid, passage)
    return sorted(pool.values(), key=lambda passage: (passage.session or "", passage.turn or 0, passage.rid))


def merged(turns: Sequence[int]) -> list[tuple[int, int]]:
    """Return ranges around sorted turns; ranges that touch become one."""
    ranges: list[tuple[int, int]] = []
    for turn in turns:
        first, last = turn - _REACH, turn + _REACH
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], last)
        else:
            ranges.append((first, last))
    return ranges


def _once(passages: Sequence[Passage]) -> list[int]:
    """Return the places that may be returned; of a memory that stands in several versions, the latest."""
    latest: dict[str, int] = {}
    for at, passage in enumerate(passages):
        if passage.visible and (
            passage.memory not in latest or passage.version > passages[latest[passage.memory]].version
        ):
            latest[passage.memory] = at
    return sorted(latest.values())

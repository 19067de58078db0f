"""Recipes: named sets of lanes, weights and limits, plain values. Lean."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Mix:
    """How the lanes' numbers, each stretched to 0–1 over the candidates, become the sum that picks candidates.

    Attributes:
        words, meaning, late: BM25 with what neighbours lend; cosine with what neighbours lend; late interaction.
        key: Identifiers and numbers of the query that a single memory holds.
        speaker, when, session, lists, question, answer, length, date: What is added for a turn: said by the one person
            that the query names; a time word where it asks when; BM25 of its whole session, and this much less of it
            where the query asks for several things; it only asks; it follows a question; it is long; near the date.
    """

    __slots__ = (
        *("answer", "date", "key", "late", "length", "lists", "meaning", "question", "session", "speaker", "when"),
        "words",
    )

    def __init__(
        self,
        *,
        words: float,
        meaning: float,
        late: float,
        key: float = 0.0,
        speaker: float = 0.0,
        when: float = 0.0,
        session: float = 0.0,
        lists: float = 0.0,
        question: float = 0.0,
        answer: float = 0.0,
        length: float = 0.0,
        date: float = 0.0,
    ) -> None:
        self.words = words
        self.meaning = meaning
        self.late = late
        self.key = key
        self.speaker = speaker
        self.when = when
        self.session = session
        self.lists = lists
        self.question = question
        self.answer = answer
        self.length = length
        self.date = date


class Recipe:
    """How to search.

    Attributes:
        name: What `explain` calls it.
        lanes: The lanes, in the order in which `explain` shows them.
        plain, chat: The mix for single memories, and for turns of conversations.
        fields: Weight of one occurrence in the body, title, tags, paths.
        before, after, before2, after2: Weight at which a turn's neighbours in its session lend it their words: the
            turn before, the one after, and those next to them.
        k1, b: BM25's saturation and length normalisation.
        candidates: How many passages an engine selects by words.
        nearest, keyed, dated: How many the vector, key and time lanes select.
        spread: How many turns, the best of each lane, have their neighbours read; half of them by words alone.
        late: How many candidates have their token states read.
        judged: How many candidates are judged by all features; the others keep their order behind them.
        match_terms: Most terms that go into the engine's query, the rarest.
        score_terms: Most terms that are scored, the rarest.
        common_share, common_least: A term that more than this share of the passages hold, and more than this number
            of them, selects nothing (it still scores), unless fewer than two terms would be left.
        trust: Multiplier by trust, at most 1.
        importance, freshness, dispute: The least that each multiplier may come to; 1 switches it off.
        noise: Where the query shares no word with anything and no evidence reaches this, nothing is found.
        weak: Evidence below which an answer says that nothing fits well.
        passive: The floor below which nothing is injected unasked, by `meaning` or by `words` alone: where at most one
            in twenty questions that nothing answers gets something.
    """

    def __init__(
        self,
        name: str,
        *,
        lanes: Sequence[str],
        plain: Mix,
        chat: Mix,
        fields: Sequence[float] = (1.0, 2.0, 1.5, 1.0),
        before: float = 0.5,
        after: float = 0.4,
        before2: float = 0.3,
        after2: float = 0.2,
        k1: float = 1.2,
        b: float = 0.75,
        candidates: int = 100,
        nearest: int = 100,
        keyed: int = 40,
        dated: int = 60,
        spread: int = 60,
        late: int = 150,
        judged: int = 40,
        match_terms: int = 8,
        score_terms: int = 24,
        common_share: float = 0.02,
        common_least: int = 1000,
        trust: Mapping[str, float] = {},
        importance: float = 1.0,
        freshness: float = 1.0,
        dispute: float = 1.0,
        noise: float = 0.0,
        weak: float = 0.0,
        passive: Mapping[str, float] = {},
    ) -> None:
        self.name = name
        self.lanes = tuple(lanes)
        self.plain = plain
        self.chat = chat
        self.fields = tuple(fields)
        self.before, self.after, self.before2, self.after2 = before, after, before2, after2
        self.k1, self.b = k1, b
        self.candidates = candidates
        self.nearest = nearest
        self.keyed = keyed
        self.dated = dated
        self.spread = spread
        self.late = late
        self.judged = judged
        self.match_terms = match_terms
        self.score_terms = score_terms
        self.common_share = common_share
        self.common_least = common_least
        self.trust = dict(trust)
        self.importance = importance
        self.freshness = freshness
        self.dispute = dispute
        self.noise = noise
        self.weak = weak
        self.passive = dict(passive)

    def without(self, *multipliers: str) -> Recipe:
        """Return the same recipe with multipliers switched off: `trust`, `importance`, `freshness`, `dispute`."""
        changed = object.__new__(Recipe)
        changed.__dict__.update(self.__dict__)
        for name in multipliers:
            setattr(changed, name, {} if name == "trust" else 1.0)
        return changed


MULTIPLIERS = ("importance", "freshness", "trust", "dispute")

# Mixes as measured in public conversations (retrieval research: § 3 turns, § 4 single memories); pruning's limits
# physics § 1; floors on the golden set, over both halves; the judge's weights are fitted (benchmarks/fit.py).
_PLAIN = Mix(words=0.1, meaning=0.3, late=0.6, key=0.3, date=0.1)
_CHAT = Mix(
    words=0.4,
    meaning=0.6,
    late=0.4,
    speaker=0.1,
    when=0.08,
    session=0.2,
    lists=0.2,
    question=-0.12,
    answer=0.08,
    length=0.02,
    date=0.4,
)

DEFAULT = Recipe(
    "default",
    lanes=("keyword", "vector", "key", "time"),
    plain=_PLAIN,
    chat=_CHAT,
    trust={"stated": 1.0, "observed": 1.0, "inferred": 0.9, "imported": 0.95, "external": 0.7},
    importance=0.95,
    freshness=0.9,
    dispute=0.6,
    noise=0.015,
    weak=0.15,
    passive={"meaning": 0.4, "words": 0.5},
)

RECIPES = {DEFAULT.name: DEFAULT}

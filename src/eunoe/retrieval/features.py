"""What a candidate looks like to the judge: numbers by name, for turns of conversations and for single memories. Lean.

Numbers called `m_…` are stretched to 0–1 over the candidates of the query, `z_…` are standardised over them, `…_top`
are the distance to the best of them; the others mean the same for every query, and carry the evidence.
"""

from __future__ import annotations

from bisect import bisect_right
from math import log
from operator import mul

from eunoe.domain import turns
from eunoe.domain.instants import from_us

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from eunoe.ports.text_index import Passage
    from eunoe.retrieval.pool import Pool
    from eunoe.retrieval.reach import Reach
    from eunoe.retrieval.recipes import Mix

    Column = list[float]
    Columns = dict[str, list[float]]


def stretched(values: Sequence[float], places: Sequence[int]) -> Column:
    """Return the values stretched so that those of the places span 0 to 1; all 0 where they are equal."""
    if not places:
        return [0.0] * len(values)
    seen = [values[at] for at in places]
    low, high = min(seen), max(seen)
    spread = high - low
    return [(value - low) / spread for value in values] if spread > 1e-9 else [0.0] * len(values)


DIGITS = 9
_USUAL = 24  # how many candidates of the usual kind stand beside those of a query


def standardised(values: Sequence[float], places: Sequence[int], usual: tuple[float, float] | None = None) -> Column:
    """Return the values with those of the places at mean 0 and deviation 1.

    Args:
        values: By place.
        places: Those that count.
        usual: Mean and deviation among the candidates of most queries. A project of a few memories has no crowd from
            which the right one could stand out; beside so many usual ones it does.
    """
    if not places:
        return [0.0] * len(values)
    seen = [values[at] for at in places]
    mean, weight = sum(seen) / len(seen), len(seen)
    around = [value - mean for value in seen]
    variance = sum(map(mul, around, around)) / len(seen)
    if usual is not None:
        total, (middle, spread) = weight + _USUAL, usual
        blended = (weight * mean + _USUAL * middle) / total
        variance = (
            weight * (variance + (mean - blended) ** 2) + _USUAL * (spread**2 + (middle - blended) ** 2)
        ) / total
        mean = blended
    deviation = max(variance**0.5, 1e-9)
    return [(value - mean) / deviation for value in values]


class Sums:
    """The sum that picks candidates, and the stretched numbers that went into it; lists go by place in the pool."""

    __slots__ = (
        *("by_words", "cosine", "date", "is_meant", "key", "late", "m_late", "m_meaning", "m_words", "session"),
        *("speaker", "total", "usual"),
    )

    def __init__(self, reach: Reach, pool: Pool, usual: Mapping[str, tuple[float, float]] = {}) -> None:
        self.usual = usual
        recipe, question, places = reach.recipe, reach.question, pool.places
        self.m_words = stretched(pool.words, places)
        has_turns = any(pool.is_turn[at] for at in places)
        blank = [0.0] * len(pool.passages)
        self.cosine = self.m_meaning = self.late = self.m_late = blank
        self.speaker = _speakers(reach, pool) if has_turns else blank
        self.session = _sessions(reach, pool) if has_turns else blank
        self.key = _identified(reach, pool) if question.hard else blank
        self.date = [_nearness(reach, passage) for passage in pool.passages] if question.dates else blank
        self.by_words = self._singles(reach.recipe.plain)
        if has_turns:
            pairs = zip(self._turns(reach, pool), self.by_words, pool.is_turn, strict=True)
            self.by_words = [turn if is_turn else single for turn, single, is_turn in pairs]
        self.total = self.by_words
        self.is_meant = any(cosine is not None for cosine in pool.cosine)
        if not self.is_meant:
            return
        self.cosine = filled(pool.cosine, places)
        self.m_meaning = stretched(self._meant(pool), places)
        for at, cosine in enumerate(pool.cosine):
            if cosine is None:  # not embedded yet: its words stand for its meaning
                self.m_meaning[at] = self.m_words[at]
        self.total = [
            total + _mix(reach, pool, at).meaning * self.m_meaning[at] for at, total in enumerate(self.by_words)
        ]
        best = sorted(places, key=lambda at: (-self.total[at], pool.passages[at].memory))[: recipe.late]
        pool.read_states(reach, best)
        self._add_late(reach, pool, best)

    def _meant(self, pool: Pool) -> Column:
        """Return cosines about their middle; a turn also has a share of those of its neighbours."""
        known = [cosine for cosine in pool.cosine if cosine is not None]
        middle = sum(known) / len(known)
        around = [cosine - middle for cosine in self.cosine]
        meant = [2 * value for value in around]
        follows = pool.follows
        for at in range(len(meant)):
            if follows[at + 1]:
                meant[at] += 0.4 * around[at + 1]
            if follows[at] and follows[at - 1]:
                meant[at] += 0.3 * around[at - 2]
            if follows[at + 1] and follows[at + 2]:
                meant[at] += 0.1 * around[at + 2]
        return meant

    def _singles(self, mix: Mix) -> Column:
        numbers = zip(self.m_words, self.key, self.date, strict=True)
        return [mix.words * words + mix.key * key + mix.date * date for words, key, date in numbers]

    def _turns(self, reach: Reach, pool: Pool) -> Column:
        mix, question = reach.recipe.chat, reach.question
        of_session = mix.session - mix.lists * question.lists
        when = mix.when if question.when else 0.0
        numbers = zip(self.m_words, self.speaker, self.session, self.date, pool.answers, pool.passages, strict=True)
        return [
            mix.words * words
            + mix.speaker * speaker
            + of_session * session
            + mix.date * date
            + mix.length * log(1 + passage.length)
            + (when if passage.shape & turns.SAYS_WHEN else 0.0)
            + (mix.question if passage.shape & turns.IS_QUESTION else 0.0)
            + (mix.answer if answers else 0.0)
            for words, speaker, session, date, answers, passage in numbers
        ]

    def _add_late(self, reach: Reach, pool: Pool, best: Sequence[int]) -> None:
        """Add late interaction; what was not read has the least of what was; a cosine stands for missing states."""
        known = [at for at in best if pool.late[at] is not None]
        if not known:
            return
        values = [pool.late[at] or 0.0 for at in known]
        low, high = min(values), max(values)
        guesses = set(best).difference(known)
        self.late = [
            low + (high - low) * self.m_meaning[at] if at in guesses else low if value is None else value
            for at, value in enumerate(pool.late)
        ]
        self.m_late = stretched(self.late, pool.places)
        for at, cosine in enumerate(pool.cosine):
            if cosine is None:
                self.m_late[at] = self.m_words[at]
            self.total[at] += _mix(reach, pool, at).late * self.m_late[at]

    def of_words(self) -> Sums:
        """Return the same, as it is without a model: for candidates of which no model knows anything."""
        same = object.__new__(Sums)
        for name in self.__slots__:
            setattr(same, name, getattr(self, name))
        same.total, same.is_meant = self.by_words, False
        return same


def _mix(reach: Reach, pool: Pool, at: int) -> Mix:
    return reach.recipe.chat if pool.is_turn[at] else reach.recipe.plain


def filled(values: Sequence[float | None], places: Sequence[int]) -> Column:
    """Return the values with those that are missing at the least of the others."""
    least = min((values[at] or 0.0 for at in places if values[at] is not None), default=0.0)
    return [least if value is None else value for value in values]


def plain_features(reach: Reach, pool: Pool, sums: Sums, places: Sequence[int]) -> Columns:
    """Return the features of single memories."""
    reads = _Reads(reach, pool)
    return {
        **_shared(pool, sums, standardised(sums.total, pool.places), places),
        "words": [pool.words[at] / max(reach.weights.reach, 1e-9) for at in places],
        **reads.coverage(places),
        "unknown": [reads.unknown] * len(places),
        "terms": [min(len(reach.question.terms), 12) / 12] * len(places),
    }


def chat_features(reach: Reach, pool: Pool, sums: Sums, places: Sequence[int]) -> Columns:
    """Return the features of turns of conversations."""
    reads, question = _Reads(reach, pool), reach.question
    z_sum = standardised(sums.total, pool.places)
    columns = {**_shared(pool, sums, z_sum, places), **reads.coverage(places)}
    columns |= _around(pool, sums, z_sum, places)
    columns |= _of_session(pool, sums, places)
    columns["speaker"] = [sums.speaker[at] for at in places]
    named = max(sums.speaker, default=0.0)
    columns["other_speaker"] = [named - sums.speaker[at] for at in places]
    columns["date"] = [sums.date[at] for at in places]
    columns["session"] = [sums.session[at] for at in places]
    columns["length"] = [log(1 + pool.passages[at].length) for at in places]
    columns["answers"] = [float(pool.answers[at]) for at in places]
    for name, bit in _SHAPES.items():
        columns[name] = [float(bool(pool.passages[at].shape & bit)) for at in places]
    for asked, holds, shape in _CROSSES:
        wanted = float(getattr(question, asked))
        columns[f"{asked}_{holds}"] = [wanted * value for value in columns[shape]]
    return columns


_SHAPES = {
    "is_question": turns.IS_QUESTION,
    "asks": turns.ASKS,
    "says_when": turns.SAYS_WHEN,
    "counts": turns.COUNTS,
    "of_self": turns.SPEAKS_OF_SELF,
    "of_other": turns.SPEAKS_OF_OTHER,
    "names": turns.NAMES,
    "reasons": turns.GIVES_REASON,
    "reacts": turns.REACTS,
    "shares": turns.SHARES,
}
_CROSSES = (
    ("when", "when", "says_when"),
    ("many", "counts", "counts"),
    ("where", "names", "names"),
    ("who", "names", "names"),
    ("why", "reasons", "reasons"),
    ("when", "counts", "counts"),
    ("lists", "self", "of_self"),
    ("guess", "self", "of_self"),
    ("lists", "session", "session"),
)


def _shared(pool: Pool, sums: Sums, z_sum: Column, places: Sequence[int]) -> Columns:
    seen = pool.places
    by_place = {
        "sum": sums.total,
        "sum_top": _from_best(sums.total, seen),
        "z_sum": z_sum,
        "m_words": sums.m_words,
        "z_words": standardised(pool.words, seen),
    }
    if sums.is_meant:
        by_place |= {
            "cosine": sums.cosine,
            "m_meaning": sums.m_meaning,
            "z_cosine": standardised(sums.cosine, seen, sums.usual.get("cosine")),
            "cosine_top": _from_best(sums.cosine, seen),
            "late": sums.late,
            "m_late": sums.m_late,
            "z_late": standardised(sums.late, seen, sums.usual.get("late")),
            "late_top": _from_best(sums.late, seen),
        }
    columns = {name: [values[at] for at in places] for name, values in by_place.items()}
    return {**columns, "rank": [1 / (5 + rank) for rank in _ranks(sums.total, seen, places)]}


def _from_best(values: Column, seen: Sequence[int]) -> Column:
    best = max((values[at] for at in seen), default=0.0)
    return [value - best for value in values]


def _ranks(totals: Sequence[float], seen: Sequence[int], places: Sequence[int]) -> list[int]:
    """Return for each place how many have more; equal ones share a rank, whatever their ids are."""
    ascending = sorted([round(totals[at], DIGITS) for at in seen])
    return [len(ascending) - bisect_right(ascending, round(totals[at], DIGITS)) for at in places]


def _around(pool: Pool, sums: Sums, z_sum: Column, places: Sequence[int]) -> Columns:
    """Return what the turns before and after have of their own."""
    seen = pool.places
    standard = {"own": standardised(pool.own, seen), "sum": z_sum}
    if sums.is_meant:
        standard |= {"cosine": standardised(sums.cosine, seen), "late": standardised(sums.late, seen)}
    columns = {"z_own": [standard["own"][at] for at in places]}
    for name, offset in (("before", -1), ("after", 1), ("before2", -2)):
        others = [pool.neighbour(at, offset) for at in places]
        for stem, values in standard.items():
            columns[f"{stem}_{name}"] = [0.0 if other is None else values[other] for other in others]
    return columns


def _of_session(pool: Pool, sums: Sums, places: Sequence[int]) -> Columns:
    """Return how good the best turn of the session is, and how far behind it a turn stands."""
    best: dict[str | None, float] = {}
    for at in pool.places:
        session = pool.passages[at].session
        best[session] = max(best.get(session, -9.0), sums.total[at])
    low, high = min(best.values(), default=0.0), max(best.values(), default=0.0)
    spread = max(high - low, 1e-9)
    sessions = [best.get(pool.passages[at].session, low) for at in places]
    return {
        "session_best": [(value - low) / spread for value in sessions],
        "session_gap": [sums.total[at] - value for at, value in zip(places, sessions, strict=True)],
    }


class _Reads:
    """Which of the query's terms a passage holds."""

    def __init__(self, reach: Reach, pool: Pool) -> None:
        self._pool = pool
        self._idf = reach.weights.idf
        self._total = max(reach.weights.total, 1e-9)
        self._rows = reach.counted.by_term
        self._hard = reach.question.hard
        self.unknown = 1 - sum(self._idf.values()) / self._total

    def coverage(self, places: Sequence[int]) -> Columns:
        """Return the share of the terms' worth that is held, the rarest one held, and hard terms held and missing."""
        cover, rarest, held, lacking = [], [], [], []
        hard = set(self._hard)
        most = max(self._idf.values(), default=1e-9)
        for at in places:
            passage = self._pool.passages[at]
            terms = [term for term in self._idf if passage.rid in self._rows[term]]
            worth = [self._idf[term] for term in terms]
            cover.append(sum(worth) / self._total)
            rarest.append(max(worth, default=0.0) / most)
            found = len(hard.intersection(terms))
            held.append(found / len(hard) if hard else 0.0)
            lacking.append(float(bool(hard)) - held[-1])
        return {"cover": cover, "rarest": rarest, "hard": held, "hard_lacking": lacking}


def _speakers(reach: Reach, pool: Pool) -> Column:
    """Return 1 for the turns of the one person that the query names, if it names just one who speaks here."""
    speaking = {each.speaker for each in pool.passages if each.speaker}
    words = set(reach.question.words)
    words |= {word.removesuffix("'s") for word in words}
    named = [speaker for speaker in sorted(speaking) if speaker.lower() in words]
    if len(named) != 1:
        return [0.0] * len(pool.passages)
    return [float(each.speaker == named[0]) for each in pool.passages]


def _sessions(reach: Reach, pool: Pool) -> Column:
    """Return BM25 of whole sessions, stretched, by the terms of their turns in the pool."""
    of = {each.rid: each.session for at, each in enumerate(pool.passages) if pool.is_turn[at]}
    tf: dict[str | None, dict[str, float]] = {session: {} for session in of.values()}
    for term, rows in reach.counted.by_term.items():
        for rid, count in rows.items():
            if rid in of:
                counted = tf[of[rid]]
                counted[term] = counted.get(term, 0.0) + count
    df: dict[str, int] = {}
    for counted in tf.values():
        for term in counted:
            df[term] = df.get(term, 0) + 1
    scores = {
        session: sum(log(1 + (len(tf) - df[term] + 0.5) / (df[term] + 0.5)) * n / (n + 1.2) for term, n in each.items())
        for session, each in tf.items()
    }
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    spread = max(high - low, 1e-9)
    return [(scores[each.session] - low) / spread if pool.is_turn[at] else 0.0 for at, each in enumerate(pool.passages)]


def _identified(reach: Reach, pool: Pool) -> Column:
    """Return the share of the query's identifiers and numbers that are held."""
    rows = [reach.counted.by_term.get(term, {}) for term in reach.question.hard]
    return [sum(passage.rid in row for row in rows) / len(rows) for passage in pool.passages]


def _nearness(reach: Reach, passage: Passage) -> float:
    said = from_us(passage.said_at).date()
    return max(named.nearness(said) for named in reach.question.dates)


FEATURES: dict[str, Callable[[Reach, Pool, Sums, Sequence[int]], Columns]] = {
    "plain": plain_features,
    "chat": chat_features,
}

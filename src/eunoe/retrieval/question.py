"""A query, read: its terms, the dates and names in it, what kind of answer it asks for, and its meaning. Lean."""

from __future__ import annotations

from eunoe.domain.dates import named_dates
from eunoe.domain.instants import from_us

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from eunoe.domain.analyse import Analyser
    from eunoe.ports.embedder import Meaning

_EDGES = ".,;:!?…\"'()[]{}<>"
_OPENINGS = "would could might is are was were does do did has have had will should can"
_PLACE_WORDS = "city cities country countries state states place places location town"

_YES_NO, _PLACES = frozenset(_OPENINGS.split()), frozenset(_PLACE_WORDS.split())
_WHY = frozenset(("why", "reason", "reasons"))
_SINGULAR_ENDS = ("ss", "us", "is")
_LISTING = frozenset(("list", "all", "both", "various", "types", "kinds", "hobbies", "activities", "children"))


class Question:
    """What is asked.

    Attributes:
        text: As it was given.
        terms: Analysed, distinct, in their order; may be empty.
        dates: Dates that it names.
        names: Capitalised words that do not open it, without months.
        words: All words, lower case.
        hard: Terms that are identifiers or numbers.
        when, many, where, who, why, guess, lists: What kind of answer it asks for; several may hold.
        meaning: Embedded, or None.
    """

    __slots__ = (
        *("dates", "guess", "hard", "lists", "many", "meaning", "names", "terms", "text", "when", "where", "who"),
        *("why", "words"),
    )

    def __init__(self, text: str, analyser: Analyser, *, now: int, meaning: Meaning | None = None) -> None:
        """Read a query at an instant, microseconds; linear in its length."""
        self.text = text
        self.terms: Sequence[str] = analyser.query(text)
        self.dates = named_dates(text, today=from_us(now).date())
        self.meaning = meaning
        spelled = [word.strip(_EDGES).replace("’", "'").removesuffix("'s") for word in text[:4000].split()]
        spelled = [word for word in spelled if word]
        self.words = [word.lower() for word in spelled]
        self.names = frozenset(word.lower() for word in spelled[1:] if word[:1].isupper() and len(word) > 1)
        self.hard = tuple(term for term in self.terms if _is_hard(term))
        self._read_kind()

    def _read_kind(self) -> None:
        words, opening = self.words, self.words[0] if self.words else ""
        second = words[1] if len(words) > 1 else ""
        how_many = opening == "how" and second in ("many", "much", "old", "often")
        self.when = opening == "when" or (opening == "how" and second in ("long", "often")) or _asks_time(words)
        self.many = how_many or (opening == "how" and second == "long")
        self.where = opening == "where" or bool(_PLACES.intersection(words[:4]) and opening in ("which", "what", "in"))
        self.who = opening in ("who", "whose", "whom") or "name" in words[:6] or "names" in words[:6]
        self.why = bool(_WHY.intersection(words)) or (opening == "how" and second in ("did", "does", "do"))
        self.guess = opening in _YES_NO or "likely" in words
        self.lists = _lists(words, opening)


def _asks_time(words: Sequence[str]) -> bool:
    return words[:1] == ["what"] and bool({"year", "month", "date", "day", "time"}.intersection(words[1:3]))


def _lists(words: Sequence[str], opening: str) -> bool:
    """Tell whether several things are asked for: the best answer may then stand in several places."""
    if opening in ("what", "which"):
        return any(_is_plural(word) for word in words[1:4]) or "both" in words
    return (opening == "how" and words[1:2] == ["many"]) or bool(_LISTING.intersection(words))


def _is_plural(word: str) -> bool:
    return word in _LISTING or (len(word) > 3 and word.endswith("s") and not word.endswith(_SINGULAR_ENDS))


def _is_hard(term: str) -> bool:
    """A term with a digit, or with a joiner inside, is an identifier, a version or a number."""
    return any(char.isdigit() or char in "_-./\\:@+=#~%" for char in term)

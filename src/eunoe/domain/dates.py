"""Dates that a query names: days, months and years, spelled out or in figures. Lean.

Only what is absolute, or needs nothing but today's date (yesterday, today); English month names, those of German,
French, Spanish and Ukrainian, ISO dates, and 2024年5月3日. What is not surely a date is none: `may` counts only
capitalised or beside a number, and a bare year only as four digits from 1970 to 2100.
"""

from __future__ import annotations

from datetime import date, timedelta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_NAMES = (
    "january januar janvier enero січня січень",
    "february februar février fevrier febrero лютого лютий",
    "march märz maerz mars marzo березня березень",
    "april avril abril квітня квітень",
    "may mai mayo травня травень",
    "june juni juin junio червня червень",
    "july juli juillet julio липня липень",
    "august août aout agosto серпня серпень",
    "september septembre septiembre вересня вересень",
    "october oktober octobre octubre жовтня жовтень",
    "november novembre noviembre листопада листопад",
    "december dezember décembre decembre diciembre грудня грудень",
)
_MONTHS = {name: month for month, names in enumerate(_NAMES, 1) for name in names.split()}
_MONTHS |= {name[:3]: month for name, month in _MONTHS.items() if name.isascii() and month != 5 and len(name) > 4}
_MONTHS["sept"] = 9
_UNSURE = ("may", "march", "mar", "jan", "mai", "dec", "mars")  # words and names as well
_EDGES = ".,;:!?()[]\"'’‘“”„«»"
_FIRST_YEAR, _LAST_YEAR = 1970, 2100
_LATE = timedelta(days=10)
_SCALE = 4.0  # days after which a date is e times less near


class Named:
    """A date as far as a query names it; at least a month or a year.

    Attributes:
        year, month, day: None where it does not say.
    """

    __slots__ = ("day", "month", "year")

    def __init__(self, year: int | None, month: int | None, day: int | None = None) -> None:
        self.year = year
        self.month = month
        self.day = day

    def __repr__(self) -> str:
        return f"Named({self.year}, {self.month}, {self.day})"

    def nearness(self, said: date) -> float:
        """Return 0 to 1: 1 inside what is named, less around it: people tell of a day a few days later."""
        if self.month is None:
            return float(said.year == self.year)
        if self.day is not None:
            return self._from_day(said)
        if said.month == self.month and self.year in (None, said.year):
            return 1.0
        before = said - _LATE
        return 0.4 if before.month == self.month and self.year in (None, before.year) else 0.0

    def _from_day(self, said: date) -> float:
        years = (self.year,) if self.year is not None else (said.year - 1, said.year, said.year + 1)
        days = (_day(year, self.month or 1, self.day or 1) for year in years)
        nearest = min((abs((said - day).days) for day in days if day is not None), default=None)
        return 0.0 if nearest is None else float(2.718281828459045 ** (-nearest / _SCALE))

    def spans(self, today: date, *, years: int = 3) -> list[tuple[date, date]]:
        """Return the [first, last) that it may mean, the latest first; without a year, those of the last few years."""
        if self.year is not None:
            return [self._span(self.year)]
        return [self._span(today.year - back) for back in range(years)]

    def _span(self, year: int) -> tuple[date, date]:
        if self.month is None:
            return date(year, 1, 1), date(year + 1, 1, 1)
        day = _day(year, self.month, self.day) if self.day is not None else None
        if day is not None:
            return day, day + timedelta(days=int(_SCALE))
        after = date(year + self.month // 12, self.month % 12 + 1, 1)
        return date(year, self.month, 1), after + _LATE


def named_dates(text: str, *, today: date) -> list[Named]:
    """Return the dates that a text names, in its order; linear in its length."""
    words = [word.strip(_EDGES) for word in _spaced(text[:4000]).split()]
    found: list[Named] = []
    at = 0
    while at < len(words):
        named, used = _at(words, at, today)
        if named is not None:
            found.append(named)
        at += used
    return found


def _at(words: Sequence[str], at: int, today: date) -> tuple[Named | None, int]:
    """Return the date that begins at a word, and how many words it takes."""
    word = words[at].lower()
    if word in ("today", "yesterday"):
        day = today - timedelta(days=word == "yesterday")
        return Named(day.year, day.month, day.day), 1
    if (iso := _iso(word)) is not None:
        return iso, 1
    numbered = _ordinal(word)
    following = words[at + 1].lower() if at + 1 < len(words) else ""
    if numbered is not None and following == "of" and at + 2 < len(words):
        if not _month(words, at + 2, True):
            return None, 1
        return _month_named(words, at + 2, numbered), 3 + (_year_at(words, at + 3) is not None)
    if numbered is not None and _month(words, at + 1, True):
        return _month_named(words, at + 1, numbered), 2 + (_year_at(words, at + 2) is not None)
    if _month(words, at, False):
        after = _ordinal(words[at + 1].lower()) if at + 1 < len(words) else None
        used = 2 if after is not None else 1
        return Named(_year_at(words, at + used), _month(words, at, False), after), used + bool(
            _year_at(words, at + used)
        )
    year = _year_at(words, at)
    return (Named(year, None), 1) if year is not None else (None, 1)


def _month_named(words: Sequence[str], at: int, day: int) -> Named:
    return Named(_year_at(words, at + 1), _month(words, at, True), day)


def _month(words: Sequence[str], at: int, beside_day: bool) -> int | None:
    if at >= len(words):
        return None
    word = words[at]
    month = _MONTHS.get(word.lower())
    if month is None or beside_day or word.lower() not in _UNSURE:
        return month
    beside = words[at + 1] if at + 1 < len(words) else ""
    is_name = word[:1].isupper() and at > 0 and (len(word) > 3 or word == "May")
    return month if is_name or beside[:1].isdigit() else None


def _year_at(words: Sequence[str], at: int) -> int | None:
    word = words[at] if at < len(words) else ""
    is_year = len(word) == 4 and word.isascii() and word.isdigit() and _FIRST_YEAR <= int(word) <= _LAST_YEAR
    return int(word) if is_year else None


def _ordinal(word: str) -> int | None:
    bare = word[:-2] if word[-2:] in ("st", "nd", "rd", "th") else word
    return int(bare) if bare.isascii() and bare.isdigit() and len(bare) <= 2 and 1 <= int(bare) <= 31 else None


def _iso(word: str) -> Named | None:
    parts = word[:10].split("-")
    if not all(part.isascii() and part.isdigit() for part in parts) or len(parts) not in (2, 3) or len(parts[0]) != 4:
        return None
    year, month, *days = map(int, parts)
    if not (_FIRST_YEAR <= year <= _LAST_YEAR and 1 <= month <= 12) or (days and _day(year, month, days[0]) is None):
        return None
    return Named(year, month, days[0] if days else None)


def _spaced(text: str) -> str:
    """Return a text in which 2024年5月3日 reads 2024-5-3."""
    if "年" not in text and "月" not in text:
        return text
    chars: list[str] = []
    for at, char in enumerate(text):
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        if char in "年月" and before.isdigit():
            chars.append("-" if after.isdigit() else " ")
        elif char == "日" and before.isdigit():
            chars.append(" ")
        else:
            chars.append(f" {char}" if char.isdigit() and not before.isdigit() and before not in "年月" else char)
    return "".join(chars)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None

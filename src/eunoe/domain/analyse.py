"""The one text analyser: what a memory is indexed by, and what a query looks for.

Documents and queries, SQLite and PostgreSQL all go through `Analyser`, and the engines receive finished terms, so no
character of a query is ever grammar. It is deliberately not a ranker and knows no engine. Loads `unicodedata` and the
word lists and nothing else, because the recall path of hooks imports it.

Invariants, for every `str`, lone surrogates included: a term is 1 to 64 characters long and holds no white space, no
control character and no double quote; the terms of a query are a subset of the terms of a document with the same text;
time is linear in the length of the text. Letters that a newer Unicode added are separators on an older Python.
"""

from __future__ import annotations

from unicodedata import category, normalize

from eunoe.domain.text import normalised
from eunoe.domain.words import CLITICS, CONTRACTED, CORE_WORDS, IRREGULAR, QUERY_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Entry = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]

ANALYSER_VERSION = 1
"""Raised by every change of the terms that any text gives; such a change comes with a migration that reindexes."""

MAX_TERM_CHARACTERS = 64

_JOINERS = "_-./\\:@+=#~%"
_EDGES = _JOINERS + "'"

_ASCII = "".join(chr(c) if chr(c).isalnum() or chr(c) in _EDGES else " " for c in range(128))
_UNJOINED = "".join(" " if chr(c) in _JOINERS else chr(c) for c in range(128))

# Typographic twins of a joiner, and characters that are invisible inside a word: soft hyphen, joiners, direction
# marks, word joiner, variation selectors, byte order mark.
_TWINS: dict[int, int | None] = {0x2018: 0x27, 0x2019: 0x27, 0x02BC: 0x27, 0x2010: 0x2D, 0x2212: 0x2D}
_INVISIBLE = (0xAD, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFE0E, 0xFE0F, 0xFEFF)

# Marks that people leave out when they type: Latin, Greek and Cyrillic accents, Hebrew points, Arabic harakat and
# tatweel. Marks of Thai and the Indic scripts are vowels, so they stay.
_DROPPED_MARKS = dict.fromkeys((*range(0x0300, 0x0370), *range(0x0591, 0x05C8), 0x0640, *range(0x064B, 0x0660), 0x0670))

_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1100, 0x11FF),  # Hangul jamo
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # 々 and its like
    (0x3021, 0x3029),  # Hangzhou numerals
    (0x3041, 0x30FF),  # Hiragana, Katakana
    (0x3100, 0x31FF),  # Bopomofo, jamo, small Katakana
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),  # Han
    (0xA960, 0xA97F),  # Hangul jamo
    (0xA9E0, 0xA9FF),  # Myanmar
    (0xAA60, 0xAA7F),  # Myanmar
    (0xAC00, 0xD7FF),  # Hangul
    (0xF900, 0xFAFF),  # Han
    (0x1B000, 0x1B16F),  # Kana
    (0x20000, 0x3FFFF),  # Han
)

_MEMO_ENTRIES = 50_000
_MEMO_TERMS = 8


class _TokenCharacters(dict[int, int | None]):
    """A table for `str.translate`: keeps letters, digits, marks and joiners, turns the rest into spaces."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        kept = code if char.isalnum() or char in _EDGES or category(char)[0] == "M" else 0x20
        if code <= 0xFFFF:  # 65,536 entries at most, whatever the texts hold
            self[code] = kept
        return kept


class _Spacing(dict[str, bool | None]):
    """Character to whether its script is written without spaces; None for a mark, which goes with its base."""

    def __missing__(self, char: str) -> bool | None:
        code = ord(char)
        spacing: bool | None = any(first <= code <= last for first, last in _UNSPACED)
        if not spacing and category(char)[0] == "M":
            spacing = None
        if code <= 0xFFFF:
            self[char] = spacing
        return spacing


_TOKEN_CHARACTERS = _TokenCharacters({**_TWINS, **dict.fromkeys(_INVISIBLE)})
_SPACING = _Spacing()


class Analyser:
    """Turns text into index terms; the same for documents and queries, in both engines.

    Words are normalised (NFKC), casefolded, stripped of accents and stemmed. An identifier (`etc/app/main.toml`,
    `ABC-417`, `getUserName`, `2.10`) gives itself and its parts. Scripts without spaces give overlapping pairs of
    characters. Results never depend on what was analysed before. As thread-safe as `stem_words`.

    Cost: linear in the length of the text; 3 µs for an English sentence of 17 words seen before, 60 µs for one whose
    words are all new.

    >>> Analyser(lambda words: words).terms("Maria's router runs nginx-gateway")
    ['maria', 'router', 'runs', 'nginx-gateway', 'nginx', 'gateway']
    """

    def __init__(self, stem_words: Callable[[list[str]], list[str]]) -> None:
        """Make an analyser.

        Args:
            stem_words: Returns the stems of lower-case ASCII words, in order, one per word, none empty or longer
                than its word. The same word must always give the same stem.
        """
        self._stem_words = stem_words
        self._known: dict[str, Entry] = {}

    def terms(self, text: str) -> list[str]:
        """Return the terms a document is indexed by, in the order of the text, with repetition; often none."""
        known = self._known
        found: list[str] = []
        for chunk in _chunks(text):
            found += (known.get(chunk) or self._analyse(chunk))[0]
        return found

    def query(self, text: str) -> list[str]:
        """Return the distinct terms a query looks for, in first-seen order.

        Function words are left out unless the query has nothing else; the most common (`the`, `of`, `you`) always
        are, so that the result is empty for "to the" as it is for "*". Negations are kept.
        """
        known = self._known
        strong: list[str] = []
        weak: list[str] = []
        for chunk in _chunks(text):
            _, chunk_strong, chunk_weak = known.get(chunk) or self._analyse(chunk)
            strong += chunk_strong
            weak += chunk_weak
        return list(dict.fromkeys(strong or weak))

    def _analyse(self, chunk: str) -> Entry:
        """Return the terms of one chunk: for a document, for a query, for a query without other terms."""
        document: list[str] = []
        strong: list[str] = []
        weak: list[str] = []
        for run, unspaced in _runs(chunk):
            if unspaced:
                pairs, singles = _pairs(run)
                document += singles + pairs
                strong += pairs
                continue
            for token in _tokens(run):
                terms, is_weak = self._token_terms(token)
                document += terms
                (weak if is_weak else strong).extend(terms)
        indexed = tuple(document)
        entry = (indexed, indexed if strong == document else tuple(strong), tuple(weak))
        if len(chunk) <= MAX_TERM_CHARACTERS and len(indexed) <= _MEMO_TERMS:
            if len(self._known) >= _MEMO_ENTRIES:
                self._known.clear()
            self._known[chunk] = entry
        return entry

    def _token_terms(self, token: str) -> tuple[list[str], bool]:
        """Return the terms of a word or an identifier, and whether it is a word that queries leave out."""
        parts = _parts(token)
        if parts == [token]:
            # Compared before accents go: French "thé" is not "the".
            word = token[:MAX_TERM_CHARACTERS].casefold()
            if word in CORE_WORDS:
                return [], False
            folded = _folded(word)
            return (self._stemmed([folded]) if folded else []), word in QUERY_WORDS
        whole = _folded(token)
        stems = self._stemmed([folded for folded in (whole, *map(_folded, parts)) if folded])
        # Who types `MacBooks` as "macbooks" gets a stem, so a whole that looks like a word is there in both forms.
        return (stems if not whole or stems[0] == whole else [whole, *stems]), False

    def _stemmed(self, words: list[str]) -> list[str]:
        forms = [IRREGULAR.get(word, word) for word in words]
        stems = iter(self._stem_words([form for form in forms if _is_stemmable(form)]))
        return [next(stems) if _is_stemmable(form) else form for form in forms]


def _is_stemmable(word: str) -> bool:
    return len(word) >= 3 and word.isascii() and word.isalpha()


def _chunks(text: str) -> list[str]:
    """Split a text at everything that can be part of no token."""
    if text.isascii():
        return text.translate(_ASCII).split()
    return normalised("NFKC", text).translate(_TOKEN_CHARACTERS).split()


def _runs(chunk: str) -> list[tuple[str, bool]]:
    """Cut a chunk where scripts with and without spaces meet."""
    if chunk.isascii():
        return [(chunk, False)]
    runs: list[tuple[str, bool]] = []
    start = 0
    current = _SPACING[chunk[0]]
    for position, char in enumerate(chunk):
        spacing = _SPACING[char]
        if spacing is None or spacing is current:
            continue
        if position > start:
            runs.append((chunk[start:position], bool(current)))
        start, current = position, spacing
    runs.append((chunk[start:], bool(current)))
    return runs


def _pairs(run: str) -> tuple[list[str], list[str]]:
    """Return the overlapping pairs of a run, and the characters of it that are words by themselves.

    A run of one character is its own only pair. Han and Hangul characters are words (茶, 집): a query of one finds
    them inside a longer run.
    """
    run = run.translate(_DROPPED_MARKS)
    if len(run) < 2:
        return ([run] if run else []), []
    singles = [char for char in run if "\u3400" <= char <= "\ud7a3" or "\uf900" <= char <= "\ufaff" or char > "\uffff"]
    return [run[at : at + 2] for at in range(len(run) - 1)], singles


def _tokens(run: str) -> list[str]:
    """Return the words and identifiers of a run: joiners at its ends dropped, contractions spelt out."""
    rest = run.lstrip(_EDGES)
    bare = rest.rstrip(_EDGES)
    if "'" in bare:
        return _spelt_out(bare)
    if bare.lower() == "cannot":
        return ["can", "not"]
    tail = rest[len(bare) :]
    if bare and tail.startswith(("#", "++")):  # C# and C++ are not C
        bare += "#" if tail[0] == "#" else "++"
    return [bare] if bare else []


def _spelt_out(text: str) -> list[str]:
    """Split a text at apostrophes: Maria's is Maria, don't is do and not, l'eau is l and eau."""
    tokens: list[str] = []
    for piece in text.split("'"):
        token = piece.strip(_JOINERS)
        lower = token.lower()
        if not token or (tokens and lower in CLITICS):
            continue
        if tokens and lower == "t" and len(tokens[-1]) > 1 and tokens[-1][-1] in "nN":
            negated = tokens.pop()
            tokens += [CONTRACTED.get(negated.lower(), negated[:-1]), "not"]
        else:
            tokens.append(token)
    return tokens


def _parts(token: str) -> list[str]:
    """Split a token at joiners and between the words of camelCase; `[token]` when it is one plain word."""
    parts: list[str] = []
    for piece in token.translate(_UNJOINED).split():
        parts += _humps(piece)
    return parts


def _humps(piece: str) -> list[str]:
    is_plural_acronym = piece[-1] == "s" and piece[:-1].isupper()
    if piece.islower() or piece[1:].islower() or piece.isupper() or piece.isdigit() or is_plural_acronym:
        return [piece]
    starts = [0]
    starts += (
        at
        for at in range(1, len(piece))
        if piece[at].isupper() and (not piece[at - 1].isupper() or piece[at + 1 : at + 2].islower())
    )
    return [piece[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]


def _folded(token: str) -> str:
    """Return the first 64 characters of a token, caseless and without accents; may be empty.

    What is left stays decomposed, as documents and queries agree. Hangul, which would fall apart into jamo, is always
    in a run of its own and never comes here.
    """
    token = token[:MAX_TERM_CHARACTERS].casefold()
    if token.isascii():
        return token
    return normalize("NFKD", token).translate(_DROPPED_MARKS)[:MAX_TERM_CHARACTERS]

"""Text as it may be stored and shown: no half surrogates, no NUL, no raw control characters on a terminal. Lean."""

from __future__ import annotations

from unicodedata import category, combining, normalize

from eunoe.errors import Invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_ELLIPSIS = "…"
_JOINER = "\N{ZERO WIDTH JOINER}"

# Normalising sorts a run of combining marks by insertion: 1 MB of hostile marks takes minutes in one piece.
_SLICE_CHARACTERS = 256
_SLICE_BACKTRACK = 32


def storable(text: str, *, setting: str) -> tuple[str, bool]:
    """Return text that encodes to UTF-8, and whether half surrogates had to be replaced by U+FFFD.

    Raises:
        Invalid: `nul_character`.
    """
    if "\0" in text:
        raise Invalid("nul_character", f"{setting} holds a NUL character (at {text.index(chr(0))}); remove it")
    if text.isascii():
        return text, False
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), True
    return text, False


def normalised(form: str, text: str) -> str:
    """Return a Unicode normal form in linear time: cut into slices, never between what composes unless hostile."""
    if len(text) <= _SLICE_CHARACTERS:
        return normalize(form, text)  # type: ignore[arg-type]
    return "".join(normalize(form, part) for part in _slices(text))  # type: ignore[arg-type]


def _slices(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > _SLICE_CHARACTERS:
        end = limit = start + _SLICE_CHARACTERS
        while limit - end < _SLICE_BACKTRACK and (category(text[end])[0] == "M" or "\u1160" <= text[end] <= "\u11ff"):
            end -= 1
        yield text[start:end]
        start = end
    yield text[start:]


def clipped(text: str, limit: int) -> str:
    """Return at most `limit` characters, cut at a character and marked by an ellipsis where something is missing.

    Never ends in half of an emoji sequence's joiner or before a combining mark, as far as single characters tell.
    """
    if len(text) <= limit:
        return text
    end = max(limit - 1, 0)
    while end > 0 and (combining(text[end]) or _JOINER in text[end - 1 : end + 1]):
        end -= 1
    return (text[:end].rstrip() + _ELLIPSIS)[:limit]


def one_line(text: str) -> str:
    """Return the text on one line: white space collapsed to single spaces."""
    return " ".join(text.split())


def printable(text: str) -> str:
    """Return text that is safe on a terminal: control and format characters as visible escapes; newline and tab stay.

    Escape sequences, bidirectional overrides and the like in a memory must not be able to act on the reader's screen.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in "\n\t" or char in _HARMLESS else _escaped(char) for char in text
    )


def unhidden(text: str) -> str:
    """Return printable text in which nothing is invisible: what has no shape of its own becomes a visible escape.

    Such characters can hide a message between the letters of another one. They stay where they do their work: a joiner
    between letters that join or between emoji, one variation selector after a symbol.
    """
    if text.isascii() or _SHAPELESS.isdisjoint(text):
        return text
    shown = []
    for at, char in enumerate(text):
        before = text[at - 1] if at else " "
        shown.append(char if char not in _SHAPELESS or _has_work(char, before) else _escaped(char))
    return "".join(shown)


def _has_work(char: str, before: str) -> bool:
    if char in _JOINERS:
        return not before.isascii() and before not in _UNJOINED and not before.isspace()
    return char == _EMOJI_STYLE and (category(before)[0] == "S" or before in "0123456789#*‼⁉〰〽")


_EMOJI_STYLE = "\N{VARIATION SELECTOR-16}"
_JOINERS = frozenset("\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}")
# Default-ignorable code points and blanks that count as printable: variation selectors, fillers, tags.
_SHAPELESS = frozenset(
    chr(code)
    for first, last in (
        *((0x00AD, 0x00AD), (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)),
        *((0x200B, 0x200F), (0x2060, 0x206F), (0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F)),
        *((0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xE0000, 0xE01EF)),
    )
    for code in range(first, last + 1)
)
_UNJOINED = _SHAPELESS - {_EMOJI_STYLE}  # what no joiner does its work after
_HARMLESS = frozenset(
    "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}\N{NO-BREAK SPACE}\N{IDEOGRAPHIC SPACE}"
    "\N{SOFT HYPHEN}\N{NARROW NO-BREAK SPACE}"
)


def _escaped(char: str) -> str:
    code = ord(char)
    if category(char) == "Zs":
        return char
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

"""What kind of sentence a turn of a conversation is, in a few bits, so that ranking need not read its text. Lean."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

IS_QUESTION = 1  # it ends by asking
ASKS = 2  # there is a question in it
SAYS_WHEN = 4
COUNTS = 8
SPEAKS_OF_SELF = 16
SPEAKS_OF_OTHER = 32
NAMES = 64  # a capitalised word inside a sentence
GIVES_REASON = 128
REACTS = 256  # it opens with thanks or praise, and often says nothing else
SHARES = 512  # a photo

_QUESTION_MARKS = ("?", "？", "؟")
_EDGES = ".,;:!?…\"'()[]{}<>*—–-"

_WHEN_WORDS = """
yesterday today tonight tomorrow last next ago week weeks weekend month months year years monday tuesday wednesday
thursday friday saturday sunday january february march april june july august september october november december
recently since morning evening spring summer autumn fall winter
"""
_NUMBER_WORDS = """
one two three four five six seven eight nine ten eleven twelve dozen once twice thrice first second third fourth fifth
couple several half
"""
_SELF_WORDS = "i i'm i've i'd i'll my me mine myself we we're we've our us"
_OTHER_WORDS = "you your you're you've yours yourself"
_REASON_WORDS = "because since reason why felt feel feels want wanted wants love loved loves helps help hope"
_REACTION_WORDS = """
thanks thank wow that's sounds glad nice cool awesome congrats congratulations yeah great amazing haha lovely
"""

_WHEN, _NUMBERS, _SELF, _OTHER, _REASONS, _REACTIONS = (
    frozenset(words.split())
    for words in (_WHEN_WORDS, _NUMBER_WORDS, _SELF_WORDS, _OTHER_WORDS, _REASON_WORDS, _REACTION_WORDS)
)


def shape(text: str | None) -> int:
    """Return the bits of a text; 0 for none. Linear, and blind to whatever stands behind the first 4,000 characters."""
    text = (text or "")[:4000].replace("’", "'")
    body, _, photo = text.partition(" [shares ")
    raw = [word.strip(_EDGES) for word in body.split()]
    words = {word.lower() for word in raw}
    bits = SHARES if photo else 0
    if body.rstrip(" \n\t)\"'").endswith(_QUESTION_MARKS):
        bits |= IS_QUESTION
    if any(mark in body for mark in _QUESTION_MARKS):
        bits |= ASKS
    if words & _WHEN or any(word.isdigit() and len(word) == 4 for word in words):
        bits |= SAYS_WHEN
    if words & _NUMBERS or any(word[:1].isdigit() for word in words):
        bits |= COUNTS
    for bit, known in ((SPEAKS_OF_SELF, _SELF), (SPEAKS_OF_OTHER, _OTHER), (GIVES_REASON, _REASONS)):
        if words & known:
            bits |= bit
    if raw and raw[0].lower() in _REACTIONS:
        bits |= REACTS
    return bits | (NAMES if _has_name(body.split(), raw) else 0)


def _has_name(spelled: list[str], words: Iterable[str]) -> bool:
    """Tell whether a capitalised word stands where no sentence begins."""
    begins = True
    for as_spelled, word in zip(spelled, words, strict=True):
        if not begins and word[:1].isupper() and len(word) > 1 and not word.startswith("I'"):
            return True
        begins = as_spelled[-1:] in ".!?…:"
    return False

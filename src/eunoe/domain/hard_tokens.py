"""Hard tokens: what makes two nearly equal sentences different facts.

Numbers, dates, versions and units; names and case-sensitive identifiers; flags; negation. Two texts whose hard tokens
differ are never taken for one another, however alike they are (DESIGN, promise 10).
"""

from __future__ import annotations

import re

from eunoe.domain.words import CORE_WORDS, QUERY_WORDS

_NEGATIONS = frozenset(
    ("not", "no", "never", "none", "nor", "neither", "without", "cannot", "nobody", "nothing", "nowhere", "non")
)

_FUNCTION_WORDS = CORE_WORDS | QUERY_WORDS

# A token is a run without white space, freed of the punctuation around it; a leading dash or dollar stays, because
# `-v`, `--force` and `$HOME` are spelled with it.
_TOKEN = re.compile(r"[^\s\"'`“”‘’(),;!?\[\]{}<>]+(?:['’][a-z]+)?")
_EDGES = ".:*_~|"


def hard_tokens(text: str) -> frozenset[str]:
    """Return the hard tokens of a text, case kept where it carries meaning.

    Capitals inside a word make it an identifier or a name (`getUser`, `GitHub`). A word all in capitals is often only
    an acronym or emphasis (`API`, `RAW`) and counts only where it would else be a function word (`US`, `IT`), or has a
    digit or an underscore (`MAX_SIZE`).

    >>> sorted(hard_tokens("Use parser 2.10, never -V; call getUser() on API v2 in the US."))
    ['-V', '2.10', 'US', 'getUser', 'never', 'v2']
    """
    found = set()
    for token in _TOKEN.findall(text):
        if token.isalpha() and (token.islower() or token[1:].islower()):
            if (lowered := token.lower()) in _NEGATIONS:
                found.add(lowered)
            continue
        token = token.strip(_EDGES)
        lowered = token.lower().replace("’", "'")
        if lowered in _NEGATIONS or lowered.endswith("n't"):
            found.add(lowered)
        elif _is_hard(token):
            found.add(token)
    return frozenset(found)


def _is_hard(token: str) -> bool:
    """Tell whether a token has a digit, is a flag, or is written in a case that carries meaning."""
    if not token:
        return False
    if token.isalpha():
        if token.isupper():
            return len(token) > 1 and token.lower() in _FUNCTION_WORDS
        return token[1:] != token[1:].lower()
    if token[0] == "-" and token.lstrip("-")[:1].isalpha():
        return True
    if any(char.isdigit() for char in token):
        return True
    return token[1:] != token[1:].lower() and not _only_joined_acronyms(token)


def _only_joined_acronyms(token: str) -> bool:
    """Tell whether a token is capitals joined by dashes, slashes or dots (`TCP/IP`, `U.S`): no identifier of code."""
    return token.isupper() and "_" not in token

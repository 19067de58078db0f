"""Hard tokens: what makes two nearly equal sentences different facts.

Numbers, dates, versions and units; names and case-sensitive identifiers; flags; negation. Two texts whose hard tokens
differ are never taken for one another, however alike they are (DESIGN, promise 10).
"""

from __future__ import annotations

import re

_NEGATIONS = frozenset(
    ("not", "no", "never", "none", "nor", "neither", "without", "cannot", "nobody", "nothing", "nowhere", "non")
)

# A token is a run without white space, freed of the punctuation around it; a leading dash or dollar stays, because
# `-v`, `--force` and `$HOME` are spelled with it.
_TOKEN = re.compile(r"[^\s\"'`“”‘’(),;!?\[\]{}<>]+(?:['’][a-z]+)?")
_EDGES = ".:*_~|"


def hard_tokens(text: str) -> frozenset[str]:
    """Return the hard tokens of a text, case kept where it carries meaning.

    >>> sorted(hard_tokens("Use parser 2.10, never -V; call getUser() on API v2."))
    ['-V', '2.10', 'API', 'getUser', 'never', 'v2']
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
    """Tell whether a token has a digit, is a flag, or has capitals after its first letter (`getUser`, `API`)."""
    if not token or token.isalpha():
        return bool(token) and token[1:] != token[1:].lower()
    if token[0] == "-" and token.lstrip("-")[:1].isalpha():
        return True
    return token[1:] != token[1:].lower() or any(char.isdigit() for char in token)

"""Exact identity of a text: an HMAC with the project's secret over its folded form and its hard tokens.

Keyed, so that a fingerprint tells nothing to who lacks the secret. Two texts share a fingerprint only if they are the
same words in the same scope, apart from letter case and white space outside code, *and* agree in every hard token.
"""

from __future__ import annotations

import hmac
import re

from eunoe.domain.hard_tokens import hard_tokens
from eunoe.domain.text import normalised

_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)


def folded(text: str) -> str:
    """Return a text as identity sees it: NFC, casefolded, white space collapsed; code spans word for word."""
    if "`" not in text:
        return _folded_prose(text)
    parts = _CODE.split(text)
    return "".join(part if at % 2 else _folded_prose(part, edges=True) for at, part in enumerate(parts)).strip()


def _folded_prose(text: str, *, edges: bool = False) -> str:
    if not text.isascii():
        text = normalised("NFC", text)
    body = " ".join(text.casefold().split())
    if not edges or not body:
        return body if body or not text else " "
    return f"{' ' if text[0].isspace() else ''}{body}{' ' if text[-1].isspace() else ''}"


def text_fingerprint(secret: bytes, scope: str, text: str, hard: frozenset[str] | None = None) -> str:
    """Return the fingerprint of an unkeyed statement: 32 hexadecimal characters.

    Args:
        secret: The project's secret.
        scope: Where the text belongs.
        text: The text.
        hard: Its hard tokens, when they are known already.
    """
    return _mac(secret, "text", scope, folded(text), *sorted(hard_tokens(text) if hard is None else hard))


def turn_fingerprint(secret: bytes, scope: str, session: str, turn: int, text: str, hard: frozenset[str]) -> str:
    """Return the fingerprint of a turn of a conversation: the same words said in another turn are another turn."""
    return _mac(secret, "turn", scope, session, str(turn), folded(text), *sorted(hard))


def words_fingerprint(secret: bytes, scope: str, terms: list[str], hard: frozenset[str]) -> str:
    """Return the fingerprint of content words, in their order, and hard tokens: equal ones are twins, never the same.

    Order counts: "Ann pays Ben" and "Ben pays Ann" are two facts, as are "row 1, seat 2" and "row 2, seat 1".

    Args:
        secret: The project's secret.
        scope: Where the text belongs.
        terms: The analysed content terms of the text.
        hard: Its hard tokens.
    """
    return _mac(secret, "words", scope, " ".join(terms), *sorted(hard))


def key_fingerprint(secret: bytes, scope: str, key: str) -> str:
    """Return the fingerprint under which a key's intervals are kept."""
    return _mac(secret, "key", scope, key)


def value_fingerprint(secret: bytes, scope: str, key: str, value: str) -> str:
    """Return the fingerprint of a key's value: restating it in other white space or case is the same value."""
    return _mac(secret, "value", scope, key, folded(value), *sorted(hard_tokens(value)))


def _mac(secret: bytes, *parts: str) -> str:
    message = b"".join(len(raw).to_bytes(4, "big") + raw for raw in (part.encode() for part in parts))
    return hmac.digest(secret, message, "sha256")[:16].hex()

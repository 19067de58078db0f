"""Cursors: where a page ended, and the moment for which all pages answer.

A cursor belongs to one question. Pages after the first answer from what was recorded at the moment of the first, so
that writing in between neither repeats nor skips anything. It is opaque, holds no text, and is not a secret.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from zlib import compress, crc32, decompressobj, error

from eunoe.domain.canonical import canonical_bytes, parse
from eunoe.errors import Invalid

_MOST_BYTES = 1_000_000


class Cursor(NamedTuple):
    """What a cursor says.

    Attributes:
        now: The moment of the first page, microseconds.
        known: Project → when the last thing was recorded in it that the first page knew.
        seen: Ids that were returned, when searching.
        place: The place of the last memory in the order, when browsing.
        returned: How many were returned so far, when browsing.
    """

    now: int
    known: Mapping[str, int]
    seen: tuple[str, ...] = ()
    place: dict[str, Any] | None = None
    returned: int = 0


def new_cursor(
    question: str,
    now: int,
    known: Mapping[str, int],
    *,
    seen: Sequence[str] = (),
    place: dict[str, Any] | None = None,
    returned: int = 0,
) -> str:
    """Return the cursor for the page after this one."""
    # Ids of one project share most of their digits, so they compress to a third.
    content = {"q": _mark(question), "now": now, "known": dict(known), "seen": list(seen), "place": place}
    content["returned"] = returned
    return urlsafe_b64encode(compress(canonical_bytes(content))).decode().rstrip("=")


def read_cursor(text: str, *, question: str) -> Cursor:
    """Return what a cursor says. Raises `Invalid` (`bad_cursor`): damaged, or of another question."""
    try:
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        if len(raw) > _MOST_BYTES:
            raise ValueError("too long")
        unpacker = decompressobj()
        content = parse(unpacker.decompress(raw, _MOST_BYTES))
        if unpacker.unconsumed_tail:
            raise ValueError("too long")
        mark, now, seen = content["q"], int(content["now"]), tuple(map(str, content["seen"]))
        known = {str(slug): int(at) for slug, at in content["known"].items()}
        place, returned = _place(content["place"]), int(content["returned"])
        cursor = Cursor(now=now, known=known, seen=seen, place=place, returned=returned)
    except (ValueError, error, KeyError, TypeError, AttributeError, Invalid) as exc:
        raise Invalid(
            "bad_cursor", "after is no cursor of this Eunoe; leave it out to start from the beginning"
        ) from exc
    if mark != _mark(question):
        raise Invalid("bad_cursor", "after belongs to another query or other filters; repeat those of the first page")
    return cursor


def _place(value: Any) -> dict[str, Any] | None:
    if value is not None and not all(isinstance(each, int | str) for each in value.values()):
        raise ValueError("no place")
    return dict(value) if value is not None else None


def _mark(question: str) -> str:
    return f"{crc32(question.encode(errors='surrogatepass')):08x}"

"""How a memory is addressed: `12`, `#12`, an id, `me#12`, `acme/api#12`, or a key."""

from __future__ import annotations

from typing import NamedTuple

from eunoe.domain.ids import is_id
from eunoe.domain.keys import check_key
from eunoe.errors import Invalid, shown

Target = int | str

NUMBER_LIMIT = 2**31


class Address(NamedTuple):
    """One memory's address; exactly one of number, id and key is set.

    Attributes:
        project: A project named in the address (`me#12`), or None for the session's own.
    """

    number: int | None = None
    id: str | None = None
    key: str | None = None
    project: str | None = None

    def __str__(self) -> str:
        """Return the address as a person would write it."""
        where = f"{self.project}" if self.project else ""
        return f"{where}#{self.number}" if self.number is not None else self.id or f"{where}[{self.key}]"


def parse_address(target: Target | None, *, key: str | None = None) -> Address:
    """Return the address that a caller wrote.

    Raises:
        Invalid: `bad_address`: both or neither of target and key, or a text that is no address.
    """
    if (target is None) == (key is None):
        raise Invalid("bad_address", "name one memory: a number, an id, me#12, or key=…, and only one of them")
    if key is not None:
        return Address(key=check_key(key))
    if isinstance(target, int) and not isinstance(target, bool):
        if not 0 < target < NUMBER_LIMIT:
            raise _bad(target)
        return Address(number=target)
    if not isinstance(target, str):
        raise _bad(target)
    text = target.strip()
    if is_id(text.lower()):
        return Address(id=text.lower())
    project, hash_mark, number = text.rpartition("#")
    return _numbered(number, (project or None) if hash_mark else None, target)


def _numbered(number: str, project: str | None, target: Target) -> Address:
    if not (number.isascii() and number.isdigit() and len(number) < 11) or not 0 < int(number) < NUMBER_LIMIT:
        raise _bad(target)
    return Address(number=int(number), project=project)


def _bad(target: object) -> Invalid:
    named = shown(target) if not isinstance(target, int) else "the number"
    return Invalid("bad_address", f"{named} addresses no memory; give a number such as 12, an id, or me#12")

r"""A passage's term counts in one string: what the scorer needs of a text, and nothing that reads as the text.

`"\nterm body,title,tags,paths\n…"`, where zeros at the end are left out (`"\ndeploy 2"` is twice in the body). Looking
a term up is one `str.find`, so scoring hundreds of candidates for a handful of terms parses nothing. Lean: the recall
path of hooks imports it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FIELDS = ("own", "title", "tags", "paths")


def pack(fields: Sequence[Iterable[str]]) -> str:
    """Return the packed counts of the terms of each field, in the order of `FIELDS`, terms sorted."""
    table: dict[str, list[int]] = {}
    for at, terms in enumerate(fields):
        for term in terms:
            row = table.get(term)
            if row is None:
                row = table[term] = [0, 0, 0, 0]
            row[at] += 1
    return "".join(f"\n{term} {_trimmed(table[term])}" for term in sorted(table)) + "\n"


def _trimmed(row: list[int]) -> str:
    if not (row[1] or row[2] or row[3]):
        return str(row[0])
    end = 4 if row[3] else 3 if row[2] else 2
    return ",".join(map(str, row[:end]))


def term_names(packed: str) -> list[str]:
    """Return the distinct terms, sorted."""
    return [line[: line.index(" ")] for line in packed.split("\n") if line]


def counts(packed: str, term: str) -> list[int] | None:
    """Return how often a term stands in each field (trailing zeros may be missing), or None where it does not."""
    at = packed.find(f"\n{term} ")
    if at < 0:
        return None
    start = at + len(term) + 2
    return [int(number) for number in packed[start : packed.index("\n", start)].split(",")]

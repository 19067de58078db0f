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
    own, *others = fields
    counted: dict[str, int] = {}
    for term in own:
        counted[term] = counted.get(term, 0) + 1
    written: dict[str, int | str] = {**counted}
    for at, terms in enumerate(others, 1):
        for term in terms:
            row = str(written.get(term, 0)).split(",")
            row += ["0"] * (at + 1 - len(row))
            row[at] = str(int(row[at]) + 1)
            written[term] = ",".join(row)
    return "".join([f"\n{term} {written[term]}" for term in sorted(written)]) + "\n"


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

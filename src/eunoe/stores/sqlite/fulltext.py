"""Full text by FTS5: how terms are written into it and asked of it. Lean.

Every token carries the number of its project (`a~webhook`), so that a query reads and weighs postings of its own
project only: what other projects hold costs nothing and is never seen. The row range of the project stands in each
query as well. Terms arrive analysed; the `ascii` tokenizer only splits at spaces (every other character is declared a
token character), and a term in double quotes is never grammar.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from eunoe.stores.sql.filters import Where

INSERT = "insert into passages_fts (rowid, own, title, tags, paths) values (?, ?, ?, ?, ?)"
DELETE = "delete from passages_fts where rowid = :rid"

BLOCK_BITS = 43

# FTS5 ranks by its own BM25, with the field weights of the scorer; its statistics are the file's, so it only selects.
_RANKED = """
select f.rowid as rid, bm25(passages_fts, 1.0, 2.0, 1.5, 1.0) as place
from passages_fts f{joins}
where passages_fts match :words and f.rowid between :first_row and :last_row{where}
order by place, f.rowid desc
limit :limit
"""


def ranked(p: int, terms: Sequence[str], where: Where | None) -> tuple[str, dict[str, Any]]:
    """See `Connection.ranked`."""
    first, last = block(p)
    params = {"words": match_any(p, terms), "first_row": first, "last_row": last}
    if where is None:
        return _RANKED.format(joins="", where=""), params
    joins = f"\ncross join passages pa on pa.rid = f.rowid{where.joins}"
    return _RANKED.format(joins=joins, where=f" and ({where.sql})"), params


def fulltext_row(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the parameters of `INSERT` for a change `fulltext_insert`."""
    prefix = _prefix(row["p"])
    return (row["rid"], *(_joined(prefix, terms) for terms in row["fields"]))


def match_any(p: int, terms: Sequence[str]) -> str:
    """Return the FTS5 query for passages of a project with any of the terms."""
    prefix = _prefix(p)
    return " OR ".join('"{}{}"'.format(prefix, term.replace('"', '""')) for term in terms)


def block(p: int) -> tuple[int, int]:
    """Return the first and last row number of a project's passages."""
    return p << BLOCK_BITS, (p + 1 << BLOCK_BITS) - 1


def _prefix(p: int) -> str:
    return f"{p:x}~"


def _joined(prefix: str, terms: Iterable[str]) -> str:
    text = f" {prefix}".join(terms)
    return prefix + text if text else ""

"""Full text by `tsvector` and GIN, or by BM25 where pg_textsearch is there: which passages are candidates.

Terms arrive analysed. Every token carries the number of its project (`a~webhook`), so that a query reads postings of
its own project only. Either way the server only selects; the one scorer ranks, as on SQLite.
"""

from __future__ import annotations

from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from eunoe.stores.sql.connection import Row
    from eunoe.stores.sql.filters import Where

# A tsvector keeps 255 places of a word; more mentions in one field change no rank.
OCCURRENCES = 60

COLUMNS = ("p", "rid", "tokens", "words")
INSERT = "insert into passages_fts (p, rid, tokens, words) values (:p, :rid, cast(:tokens as tsvector), :words)"
CLEAR = "delete from passages_fts where p = :p"
WITHOUT_WORDS = "select '', rid, '' from passages_fts where p = :p and words is null"
OCCURRING = """
select substr(u.lexeme, cast(:start as integer)), f.rid, t.place
from passages_fts f, unnest(f.tokens) as u (lexeme, positions, weights), unnest(u.positions) as t (place)
where f.p = :p
"""

_WEIGHTS = "'{0.5, 0.75, 0.5, 1.0}'"  # of paths, tags, own words and titles: the scorer's, halved (D, C, B, A)
_LETTERS = ("B", "A", "C", "D")  # own, title, tags, paths: the order of the index's fields

# What a rare term finds stands before what common ones do. Each posting is looked at once.
_RANKED = """
with asked as materialized (
  select cast(u.word as tsquery) as word, (
    select 1.0 / ln(2.0 + coalesce(sum(t.df), 0))
    from scope_stats s join term_stats t on t.p = s.p and t.scope = s.scope and t.term = u.term
    where s.p = :p) as worth
  from unnest(cast(:words as text[]), cast(:terms as text[])) as u (word, term))
select f.rid, -sum(asked.worth * ts_rank({weights}, f.tokens, asked.word, 1)) as place
from asked
join passages_fts f on f.tokens @@ asked.word{joins}
where f.p = :p{where}
group by f.rid
order by place, f.rid desc
limit :limit
"""
# A text without any of the words is at 0, and the others below it.
_RANKED_BM25 = """
select f.rid, f.words <@> to_bm25query(:words, 'passages_bm25') as place
from passages_fts f{joins}
where f.p = :p and f.words <@> to_bm25query(:words, 'passages_bm25') < 0{where}
order by place, f.rid desc
limit :limit
"""


def ranked(p: int, terms: Sequence[str], where: Where | None, *, bm25: bool) -> tuple[str, dict[str, Any]]:
    """See `Connection.ranked`."""
    parts = {"joins": "", "where": "", "weights": _WEIGHTS}
    if where is not None:
        parts["joins"] = f"\njoin passages pa on pa.p = f.p and pa.rid = f.rid{where.joins}"
        parts["where"] = f" and ({where.sql})"
    if bm25:
        return _RANKED_BM25.format(**parts), {"words": " ".join(_hashed(p, term) for term in terms)}
    return _RANKED.format(**parts), {"words": [_quoted(p, term) for term in terms], "terms": list(terms)}


def fulltext_row(row: Mapping[str, Any], *, bm25: bool) -> dict[str, Any]:
    """Return the parameters of `INSERT` for a change `fulltext_insert`."""
    p = row["p"]
    places: dict[str, list[str]] = {}
    for field, terms in enumerate(row["fields"]):
        counted: dict[str, int] = {}
        for term in terms:
            counted[term] = counted.get(term, 0) + 1
        for term, n in counted.items():
            first = field * OCCURRENCES + 1
            places.setdefault(term, []).extend(
                f"{at}{_LETTERS[field]}" for at in range(first, first + min(n, OCCURRENCES))
            )
    tokens = " ".join(f"{_quoted(p, term)}:{','.join(at)}" for term, at in places.items())
    words = " ".join(_hashed(p, term) for terms in row["fields"] for term in terms) if bm25 else None
    return {"p": p, "rid": row["rid"], "tokens": tokens, "words": words}


def occurrences(rows: Iterator[Row], fields: Sequence[str]) -> Iterator[Row]:
    """Return rows of `OCCURRING` as (term, row, field)."""
    for term, rid, place in rows:
        yield term, rid, fields[(place - 1) // OCCURRENCES]


def prefix(p: int) -> str:
    """Return what stands before each token of a project."""
    return f"{p:x}~"


def _quoted(p: int, term: str) -> str:
    """Return a token as a lexeme that is never grammar."""
    escaped = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{prefix(p)}{escaped}'"


def _hashed(p: int, term: str) -> str:
    """Return a token as one word that no parser takes apart: pg_textsearch reads texts, not tokens."""
    return "t" + blake2b(f"{prefix(p)}{term}".encode(), digest_size=8).hexdigest()

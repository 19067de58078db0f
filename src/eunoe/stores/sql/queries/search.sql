-- What retrieval reads. Loaded alone by the recall path of hooks. `{…}` stands for fragments that Python composes out
-- of fixed texts and parameter names (stores/sql/filters.py); no value of a caller is ever part of a statement.

-- name: scope_totals
select coalesce(sum(n), 0), coalesce(sum(length), 0) from scope_stats where p = :p and scope in ({scopes})

-- name: document_frequencies
select term, sum(df) from term_stats where p = :p and scope in ({scopes}) and term in ({terms}) group by term

-- The neighbours of candidates in their sessions, by ranges of turns.
-- name: neighbours
with wanted (session, first, last) as (values {wanted})
select pa.rid, pa.memory, pa.version, pa.session, pa.turn, pa.length, pa.terms, pa.trust, {visible}
from wanted
cross join passages pa on pa.p = :p and pa.session = wanted.session and pa.turn between wanted.first and wanted.last
  and pa.turn is not null{joins}
where {readable}

-- Browsing without a query; the index `versions_browse` gives the order.
-- name: browse
select pa.rid, pa.memory, pa.version, pa.session, pa.turn, pa.length, pa.terms, pa.trust, 1
from memory_versions v
cross join memories m on m.p = v.p and m.id = v.memory
cross join passages pa on pa.p = v.p and pa.memory = v.memory and pa.version = v.version and pa.ordinal = 0
where v.p = :p and ({visible}) {after}
order by {order}
limit :limit

-- name: count_visible
select count(*) from passages pa{joins}
where pa.p = :p and pa.ordinal = 0 and ({visible})

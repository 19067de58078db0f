-- What retrieval reads. Loaded alone by the recall path of hooks. `{…}` stands for fragments that Python composes out
-- of fixed texts and parameter names (stores/sql/filters.py); no value of a caller is ever part of a statement.

-- name: scope_totals
select coalesce(sum(n), 0), coalesce(sum(length), 0) from scope_stats where p = :p and scope in ({scopes})

-- name: document_frequencies
select term, sum(df) from term_stats where p = :p and scope in ({scopes}) and term in ({terms}) group by term

-- `{ranked}` is the engine's. The ranked rows first, what the filter says of each second: filtering before ranking costs
-- a look-up a match.
-- name: candidates
with ranked as materialized ({ranked})
select pa.rid, pa.memory, pa.version, pa.session, pa.turn, pa.length, pa.terms, pa.trust, pa.valid_from, pa.speaker,
  pa.shape, {visible}
from ranked
cross join passages pa on pa.rid = ranked.rid{joins}
where pa.p = :p
order by ranked.place, ranked.rid desc

-- The neighbours of candidates in their sessions, by ranges of turns.
-- name: neighbours
with wanted (session, first, last) as ({wanted})
select pa.rid, pa.memory, pa.version, pa.session, pa.turn, pa.length, pa.terms, pa.trust, pa.valid_from, pa.speaker,
  pa.shape, {visible}
from wanted
cross join passages pa on pa.p = :p and pa.session = wanted.session and pa.turn between wanted.first and wanted.last
  and pa.turn is not null{joins}
where {readable}

-- The plus keeps SQLite from reading the whole project by an index of `p`, here and in what follows: rows are named.
-- name: passages
select pa.rid, pa.memory, pa.version, pa.session, pa.turn, pa.length, pa.terms, pa.trust, pa.valid_from, pa.speaker,
  pa.shape, {visible}
from passages pa{joins}
where +pa.p = :p and pa.rid in ({rids}) and {readable}
order by pa.rid

-- name: rows
select pa.rid from passages pa{joins}
where pa.p = :p and ({visible})
order by pa.rid

-- name: said_between
select pa.rid, pa.memory, pa.version, pa.session, pa.turn, pa.length, pa.terms, pa.trust, pa.valid_from, pa.speaker,
  pa.shape, 1
from passages pa{joins}
where pa.p = :p and pa.valid_from >= :first and pa.valid_from < :last and ({visible})
order by pa.valid_from desc, pa.rid desc limit :limit

-- name: standing
select pa.rid, v.kind, v.importance, m.confirmed_at, m.disputed_at, v.recorded_from
from passages pa
cross join memories m on m.p = pa.p and m.id = pa.memory
cross join memory_versions v on v.p = pa.p and v.memory = pa.memory and v.version = pa.version
where +pa.p = :p and pa.rid in ({rids})
order by pa.rid

-- Browsing without a query; the index `versions_browse` gives the order.
-- name: browse
select pa.rid, pa.memory, pa.version, pa.session, pa.turn, pa.length, pa.terms, pa.trust, pa.valid_from, pa.speaker,
  pa.shape, 1
from memory_versions v
cross join memories m on m.p = v.p and m.id = v.memory
cross join passages pa on pa.p = v.p and pa.memory = v.memory and pa.version = v.version and pa.ordinal = 0
where v.p = :p and ({visible}) {after}
order by {order}
limit :limit

-- name: count_visible
select count(*) from passages pa{joins}
where pa.p = :p and pa.ordinal = 0 and ({visible})

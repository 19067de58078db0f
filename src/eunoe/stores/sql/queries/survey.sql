-- What a project holds as a whole. `{visible}` is a filter (stores/sql/filters.py). The order of the joins is forced:
-- the index on versions gives the order, so that the limit ends the search.

-- name: foremost
select m.id, v.kind, v.importance, v.pinned, m.confirmed_at, m.disputed_at is not null, m.trust, v.tokens_full,
  v.tokens_line
from memory_versions v
cross join memories m on m.p = v.p and m.id = v.memory
cross join passages pa on pa.p = v.p and pa.memory = v.memory and pa.version = v.version and pa.ordinal = 0
where v.p = :p and v.recorded_to is null and ({visible})
order by v.pinned desc, v.importance desc, v.recorded_from desc, v.memory desc
limit :limit

-- name: newest
select m.id, v.kind, v.importance, v.pinned, m.confirmed_at, m.disputed_at is not null, m.trust, v.tokens_full,
  v.tokens_line
from memory_versions v
cross join memories m on m.p = v.p and m.id = v.memory
cross join passages pa on pa.p = v.p and pa.memory = v.memory and pa.version = v.version and pa.ordinal = 0
where v.p = :p and v.recorded_to is null and ({visible})
order by v.recorded_from desc, v.memory desc
limit :limit

-- name: disputed
select m.number
from memories m
cross join memory_versions v on v.p = m.p and v.memory = m.id and v.version = m.version
cross join passages pa on pa.p = m.p and pa.memory = m.id and pa.version = m.version and pa.ordinal = 0
where m.p = :p and m.disputed_at is not null and ({visible})
order by m.number limit :limit

-- Believed, but not true at the instant: what begins later, and what has ended.
-- name: scheduled
select v.kind, v.tags from passages pa
cross join memory_versions v on v.p = pa.p and v.memory = pa.memory and v.version = pa.version
where pa.p = :p and pa.live = 1 and pa.valid_from > :now and pa.ordinal = 0 and pa.scope in ({scopes})
limit :limit

-- The plus keeps the planner from the index on beginnings, which nearly all memories pass.
-- name: ended
select v.kind, v.tags from passages pa
cross join memory_versions v on v.p = pa.p and v.memory = pa.memory and v.version = pa.version
where pa.p = :p and pa.live = 1 and (pa.valid_to is not null or pa.expires_at is not null)
  and (pa.valid_to <= :now or pa.expires_at <= :now) and +pa.valid_from <= :now and pa.ordinal = 0
  and pa.scope in ({scopes})
limit :limit

-- name: labels
select label, sum(n) from label_stats where p = :p and scope in ({scopes}) group by label order by label

-- What a review asks. A question that may be about any memory walks them by number and stops at its limit.
-- `{visible}` is the condition of an open filter, over the passage.

-- name: live
select coalesce(sum(n), 0) from scope_stats where p = :p

-- name: ended
select count(*) from passages
where p = :p and live = 1 and (valid_to is not null or expires_at is not null) and (valid_to <= :now or expires_at <= :now)

-- name: first
select pa.rid, pa.memory, pa.version, pa.session, pa.turn, pa.length, pa.terms, pa.trust, pa.valid_from, pa.speaker,
  pa.shape, 1
from memories m
cross join passages pa on pa.p = m.p and pa.memory = m.id and pa.version = m.version and pa.ordinal = 0
where m.p = :p and m.turn is null and {visible}
order by m.number limit :limit

-- name: disputed
select m.id from memories m
cross join passages pa on pa.p = m.p and pa.memory = m.id and pa.version = m.version and pa.ordinal = 0
where m.p = :p and m.disputed_at is not null and {visible}
order by m.number limit :limit

-- name: pending
select m.id from memories m
where m.p = :p and m.status = 'pending' and m.scope in ({scopes}) and (m.expires_at is null or m.expires_at > :now)
order by +m.number limit :limit

-- name: stale
select m.id from memory_versions v
cross join memories m on m.p = v.p and m.id = v.memory
cross join passages pa on pa.p = v.p and pa.memory = v.memory and pa.version = v.version and pa.ordinal = 0
where v.p = :p and v.recorded_to is null and v.kind = 'state' and v.recorded_from < :before
  and m.confirmed_at < :before and {visible}
order by v.recorded_from limit :limit

-- The first condition on the length is that of the index; the second one decides.
-- name: oversized
select m.id from memory_versions v
cross join memories m on m.p = v.p and m.id = v.memory
cross join passages pa on pa.p = v.p and pa.memory = v.memory and pa.version = v.version and pa.ordinal = 0
where v.p = :p and v.recorded_to is null and v.tokens_full > 600 and v.tokens_full > :above and {visible}
order by v.tokens_full desc limit :limit

-- A read is noted by its day, so `before` is the beginning of one.
-- name: unread
select m.id from memories m
cross join passages pa on pa.p = m.p and pa.memory = m.id and pa.version = m.version and pa.ordinal = 0
cross join memory_versions v on v.p = m.p and v.memory = m.id and v.version = m.version
where m.p = :p and m.turn is null and m.recorded_at < :before and v.pinned = 0 and {visible}
  and not exists (select 1 from accesses a where a.p = m.p and a.memory = m.id and a.at >= :before)
order by m.number limit :limit

-- name: orphans
select m.id from memories m
cross join passages pa on pa.p = m.p and pa.memory = m.id and pa.version = m.version and pa.ordinal = 0
cross join memory_versions v on v.p = m.p and v.memory = m.id and v.version = m.version
where m.p = :p and m.turn is null and v.pinned = 0 and {visible}
  and not exists (
    select 1 from links l cross join passages o on o.p = l.p and o.memory = l.b
    where l.p = m.p and l.a = m.id and {other})
  and not exists (
    select 1 from links l cross join passages o on o.p = l.p and o.memory = l.a
    where l.p = m.p and l.b = m.id and {other})
order by m.number limit :limit

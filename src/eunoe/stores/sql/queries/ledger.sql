-- The ledger of one project.

-- name: position
select c.seq, c.id, c.recorded_at, c.number, coalesce(h.n, 0), h.hash
from counters c left join heads h on h.p = c.p and h.stream = :stream
where c.p = :p

-- name: event_insert
insert into events (p, seq, id, stream, n, type, v, origin, occurred_at, recorded_at, received_at, dedupe_key, meta,
  payload, payload_key, payload_hash, prev_hash, hash)
values (:p, :seq, :id, :stream, :n, :type, :v, :origin, :occurred_at, :recorded_at, :received_at, :dedupe_key, :meta,
  :payload, :payload_key, :payload_hash, :prev_hash, :hash)

-- name: head_set
insert into heads (p, stream, n, hash) values (:p, :stream, :n, :hash)
on conflict (p, stream) do update set n = excluded.n, hash = excluded.hash

-- name: counters_set
insert into counters (p, seq, id, recorded_at, number) values (:p, :seq, :id, :recorded_at, :number)
on conflict (p) do update set seq = excluded.seq, id = excluded.id, recorded_at = excluded.recorded_at,
  number = excluded.number

-- name: heads
select stream, n, hash from heads where p = :p order by stream

-- name: events_after
select seq, id, stream, n, type, v, origin, occurred_at, recorded_at, received_at, dedupe_key, meta, payload,
  payload_key, payload_hash, prev_hash, hash
from events where p = :p and seq > :after order by seq

-- name: events_newest
select seq, id, stream, n, type, v, origin, occurred_at, recorded_at, received_at, dedupe_key, meta, payload,
  payload_key, payload_hash, prev_hash, hash
from events where p = :p and seq > :after order by seq desc

-- name: events_of_memory
select e.seq, e.id, e.stream, e.n, e.type, e.v, e.origin, e.occurred_at, e.recorded_at, e.received_at, e.dedupe_key,
  e.meta, e.payload, e.payload_key, e.payload_hash, e.prev_hash, e.hash
from subjects s join events e on e.p = s.p and e.seq = s.seq
where s.p = :p and s.memory = :memory and s.seq > :after order by s.seq

-- name: events_of_memory_newest
select e.seq, e.id, e.stream, e.n, e.type, e.v, e.origin, e.occurred_at, e.recorded_at, e.received_at, e.dedupe_key,
  e.meta, e.payload, e.payload_key, e.payload_hash, e.prev_hash, e.hash
from subjects s join events e on e.p = s.p and e.seq = s.seq
where s.p = :p and s.memory = :memory and s.seq > :after order by s.seq desc

-- name: event_by_id
select seq, id, stream, n, type, v, origin, occurred_at, recorded_at, received_at, dedupe_key, meta, payload,
  payload_key, payload_hash, prev_hash, hash
from events where p = :p and id = :id

-- name: event_by_seq
select seq, id, stream, n, type, v, origin, occurred_at, recorded_at, received_at, dedupe_key, meta, payload,
  payload_key, payload_hash, prev_hash, hash
from events where p = :p and seq = :seq

-- name: event_by_dedupe_key
select seq, id, stream, n, type, v, origin, occurred_at, recorded_at, received_at, dedupe_key, meta, payload,
  payload_key, payload_hash, prev_hash, hash
from events where p = :p and dedupe_key = :dedupe_key

-- name: stored
select seq, cast(id as blob), cast(stream as blob), n, cast(type as blob), v, cast(origin as blob), occurred_at,
  recorded_at, cast(dedupe_key as blob), cast(meta as blob), payload, payload_key, payload_hash, prev_hash, hash
from events where p = :p and seq > :after order by seq

-- name: event_count
select count(*) from events where p = :p

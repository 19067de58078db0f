-- Copying a store into another one. `{table}` and `{columns}` come from the lists in tables.py.

-- name: read_all
select {columns} from {table} order by {columns}

-- name: read
select {columns} from {table} where p = :p

-- name: events_from
select {columns} from events where p = :p and seq > :after order by seq limit :limit

-- name: count
select count(*) from {table} where p = :p

-- name: clear
delete from {table} where p = :p

-- What was copied of a project: its last event, and where its counters stand when all of it was.
-- name: reached
select c.seq, coalesce((select max(e.seq) from events e where e.p = c.p), 0) from counters c where c.p = :p

-- name: hash_at
select hash from events where p = :p and seq = :seq

-- name: counters
select seq, id, recorded_at, number from counters where p = :p

-- name: counters_set
insert into counters (p, seq, id, recorded_at, number) values (:p, :seq, :id, :recorded_at, :number)
on conflict (p) do update set seq = excluded.seq, id = excluded.id, recorded_at = excluded.recorded_at,
  number = excluded.number

-- name: model_put
insert into models (id, name, fingerprint, dim, bound_at) values (:id, :name, :fingerprint, :dim, :bound_at)
on conflict (id) do update set bound_at = excluded.bound_at

-- What happened beside the ledger.

-- name: access_add
insert into accesses (p, memory, at, n) values (:p, :memory, :at, :n)
on conflict (p, memory, at) do update set n = accesses.n + excluded.n

-- name: last_read
select max(at) from accesses where p = :p and memory = :memory

-- Reads are noted from the migration on that brought the table, and of a project from its registration on.
-- name: since
select r.created_at, g.applied_at from projects r join migrations g on g.name = 'signals' where r.p = :p

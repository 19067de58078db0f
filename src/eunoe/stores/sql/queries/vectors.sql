-- What a model made of texts, and the queue of what is to be done. Those of `models`, `leases` and the queue as a whole
-- name no project: there is one worker a store.

-- name: bound
select id, name, fingerprint, dim from models where bound_at is not null order by bound_at desc, id desc limit 1

-- name: known
select id, name, fingerprint, dim from models where fingerprint = :fingerprint

-- name: register
insert into models (id, name, fingerprint, dim)
values ((select coalesce(max(id), 0) + 1 from models), :name, :fingerprint, :dim)

-- name: bind
update models set bound_at = :at where id = :id

-- name: last_bound
select coalesce(max(bound_at), 0) from models

-- name: lease_take
insert into leases (name, holder, until) values (:name, :holder, :until)
on conflict (name) do update set holder = excluded.holder, until = excluded.until
where leases.holder = excluded.holder or leases.until <= :now
returning holder

-- name: lease_release
delete from leases where name = :name and holder = :holder

-- name: position
select generation, removals from vector_sets where p = :p and model = :model

-- name: position_set
insert into vector_sets (p, model, generation, removals) values (:p, :model, :generation, :removals)
on conflict (p, model) do update set generation = excluded.generation, removals = excluded.removals

-- name: since
select generation, rid, scale, quantised from vectors where p = :p and model = :model and generation > :generation
order by generation

-- name: exact
select rid, vector, first, last from vectors where p = :p and model = :model and rid in ({rids})

-- name: vector_put
insert into vectors (p, model, rid, generation, first, last, scale, quantised, vector)
values (:p, :model, :rid, :generation, :first, :last, :scale, :quantised, :vector)
on conflict (p, model, rid) do update set generation = excluded.generation, first = excluded.first,
  last = excluded.last, scale = excluded.scale, quantised = excluded.quantised, vector = excluded.vector

-- name: states
select rid, ids, states from token_states where p = :p and model = :model and rid in ({rids}) and states is not null

-- name: state_rows
select rid, block, scope, ids, counts from token_states where p = :p and model = :model and rid in ({rids})

-- name: states_put
insert into token_states (p, model, rid, block, scope, ids, states)
values (:p, :model, :rid, :block, :scope, :ids, :states)

-- name: states_remove
delete from token_states where p = :p and model = :model and rid = :rid

-- name: states_discount
update token_states set counts = 0 where p = :p and model = :model and rid = :rid

-- name: source_put
insert into state_sources (p, source, model, block) values (:p, :source, :model, :block)
on conflict (p, source, model, block) do nothing

-- name: sources_remove
delete from state_sources where p = :p and model = :model and block = :block and not exists (
  select 1 from token_states t where t.p = :p and t.model = :model and t.block = :block)

-- name: token_weigh
insert into state_stats (p, model, scope, token, df) values (:p, :model, :scope, :token, :by)
on conflict (p, model, scope, token) do update set df = state_stats.df + excluded.df

-- name: token_sweep
delete from state_stats where p = :p and model = :model and scope = :scope and df <= 0

-- name: token_df
select token, sum(df) from state_stats
where p = :p and model = :model and scope in ({scopes}) and token in ({tokens}) group by token

-- name: vector_sizes
select count(*), coalesce(sum(length(vector) + length(quantised)), 0) from vectors where p = :p and model = :model

-- name: state_sizes
select count(states), coalesce(sum(length(ids) + coalesce(length(states), 0)), 0)
from token_states where p = :p and model = :model

-- name: states_oldest
select rid, length(ids) + coalesce(length(states), 0) from token_states where p = :p and model = :model order by rid

-- name: clear_vectors
delete from vectors where p = :p and model = :model

-- name: clear_states
delete from token_states where p = :p and model = :model

-- name: clear_sources
delete from state_sources where p = :p and model = :model

-- name: clear_stats
delete from state_stats where p = :p and model = :model

-- The row numbers of a project are one block, of 2^43.
-- name: missing
select pa.rid from passages pa
where +pa.p = :p and pa.live = 1 and pa.rid > :after
  and pa.rid >= :p * 8796093022208 and pa.rid < (:p + 1) * 8796093022208
  and not exists (select 1 from vectors v where v.p = pa.p and v.model = :model and v.rid = pa.rid)
order by pa.rid limit :limit

-- name: jobs_due
select p, rid from embed_jobs where not_before <= :now and attempts < :most order by p, rid limit :limit

-- name: job_texts
select pa.rid, pa.live, pa.scope, pa.session, pa.turn, m.origin, v.title, v.body, v.key, v.value, v.speaker
from passages pa
cross join memories m on m.p = pa.p and m.id = pa.memory
cross join memory_versions v on v.p = pa.p and v.memory = pa.memory and v.version = pa.version
where +pa.p = :p and pa.rid in ({rids})
order by pa.rid

-- name: job_turns
select pa.rid, pa.live, pa.scope, pa.session, pa.turn, m.origin, v.title, v.body, v.key, v.value, v.speaker
from passages pa
cross join memories m on m.p = pa.p and m.id = pa.memory
cross join memory_versions v on v.p = pa.p and v.memory = pa.memory and v.version = pa.version
where pa.p = :p and pa.session = :session and pa.turn between :first and :last and pa.live = 1
order by pa.turn, pa.rid

-- name: job_done
delete from embed_jobs where p = :p and rid = :rid

-- Tried again after a second, ten, a minute, ten, an hour.
-- name: job_failed
update embed_jobs set attempts = attempts + 1, error = :error, not_before = :now + case attempts
  when 0 then 1000000 when 1 then 10000000 when 2 then 60000000 when 3 then 600000000 else 3600000000 end
where p = :p and rid = :rid

-- name: job_delayed
update embed_jobs set not_before = :not_before, error = :error where p = :p and rid = :rid

-- name: jobs_revive
update embed_jobs set attempts = 0, not_before = 0, error = null where attempts >= :most

-- name: jobs_counted
select count(case when attempts < :most then 1 end), count(case when attempts >= :most then 1 end), max(error) from embed_jobs

-- name: jobs_counted_of
select count(case when attempts < :most then 1 end), count(case when attempts >= :most then 1 end), max(error) from embed_jobs where p = :p

-- name: jobs_requeue
insert into embed_jobs (p, rid)
select pa.p, pa.rid from passages pa
where pa.p = :p and pa.live = 1
  and not exists (select 1 from vectors v where v.p = pa.p and v.model = :model and v.rid = pa.rid)
on conflict (p, rid) do nothing

-- Rows about passages that are there no longer: after a rebuild.
-- name: orphaned_vectors
select v.rid, v.model from vectors v where v.p = :p and not exists (
  select 1 from passages pa where pa.p = v.p and pa.rid = v.rid / 4096 * 4096)

-- name: vector_remove
delete from vectors where p = :p and model = :model and rid = :rid

-- name: orphaned_states
select t.rid, t.model from token_states t where t.p = :p and not exists (
  select 1 from passages pa where pa.p = t.p and pa.rid = t.rid / 4096 * 4096)

-- name: orphaned_jobs
delete from embed_jobs where p = :p and not exists (
  select 1 from passages pa where pa.p = embed_jobs.p and pa.rid = embed_jobs.rid)

-- name: unserved
select count(*) from passages pa
where pa.p = :p and pa.live = 1
  and not exists (select 1 from embed_jobs j where j.p = pa.p and j.rid = pa.rid)
  and not exists (select 1 from vectors v where v.p = pa.p and v.rid = pa.rid and v.model = (
    select id from models where bound_at is not null order by bound_at desc, id desc limit 1))

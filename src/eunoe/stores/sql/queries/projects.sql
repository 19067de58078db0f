-- Reference tables: the store itself and its projects. These statements name no project by `p`.

-- name: store_uuid
select uuid from store

-- name: store_insert
insert into store (only_row, uuid, created_at) values (1, :uuid, :now) on conflict (only_row) do nothing

-- name: by_slug
select r.p, r.uuid, r.slug, r.identity, k.wrapped from projects r
join data_keys k on k.p = r.p and k.key_id = 'secret' where r.slug = :slug

-- name: by_identity
select r.p, r.uuid, r.slug, r.identity, k.wrapped from projects r
join data_keys k on k.p = r.p and k.key_id = 'secret' where r.identity = :identity

-- name: by_uuid
select r.p, r.uuid, r.slug, r.identity, k.wrapped from projects r
join data_keys k on k.p = r.p and k.key_id = 'secret' where r.uuid = :uuid

-- name: numbers
select p from projects order by p

-- name: register
insert into projects (p, uuid, slug, identity, created_at)
values ((select coalesce(max(p), 0) + 1 from projects), :uuid, :slug, :identity, :now)
returning p

-- So that there is a row to lock before the first event.
-- name: counters_begin
insert into counters (p, seq, id, recorded_at, number) values (:p, 0, :nil, 0, 0)

-- name: secret_set
insert into data_keys (p, key_id, wrapped) values (:p, 'secret', :secret)
on conflict (p, key_id) do update set wrapped = excluded.wrapped

-- name: rebind
update projects set identity = :identity where p = :p

-- name: adopt
update projects set uuid = :uuid where p = :p

-- name: counts
select r.p, r.uuid, r.slug, r.identity, k.wrapped,
  (select count(*) from memories m where m.p = r.p and m.status = 'active' and m.scope in ({scopes}))
    - (select count(*) from passages pa where pa.p = r.p and pa.live = 1 and pa.scope in ({scopes})
        and (pa.valid_to is not null or pa.expires_at is not null) and (pa.valid_to <= :now or pa.expires_at <= :now)),
  (select count(*) from memories m where m.p = r.p and m.scope in ({scopes})),
  coalesce((select c.seq from counters c where c.p = r.p), 0),
  (select count(*) from links l
    join memories a on a.p = l.p and a.id = l.a and a.scope in ({scopes})
    join memories b on b.p = l.p and b.id = l.b and b.scope in ({scopes})
    where l.p = r.p)
from projects r join data_keys k on k.p = r.p and k.key_id = 'secret'
order by r.slug

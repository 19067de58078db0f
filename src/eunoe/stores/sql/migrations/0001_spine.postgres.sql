-- What only PostgreSQL has: triggers that freeze the ledger, keys that shard by project, and the full-text index.

-- An event never changes. Its payload alone may be cleared (erase) or re-encoded (encryption); `verify` finds a
-- payload that was replaced, and a cleared one that no erasure names.
create function event_is_frozen() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (old.p, old.seq, old.id, old.stream, old.n, old.type, old.v, old.origin, old.occurred_at,
      old.recorded_at, old.received_at, old.dedupe_key, old.meta, old.payload_hash, old.prev_hash, old.hash)
    is not distinct from (new.p, new.seq, new.id, new.stream, new.n, new.type, new.v, new.origin, new.occurred_at,
      new.recorded_at, new.received_at, new.dedupe_key, new.meta, new.payload_hash, new.prev_hash, new.hash)
  then
    return new;
  end if;
  raise exception 'eunoe: an event of the ledger never changes and is never deleted';
end $$;
create trigger events_are_frozen before update or delete on events for each row execute function event_is_frozen();
create trigger events_are_kept before truncate on events execute function event_is_frozen();

-- Whoever writes to a project locks its row of counters; whoever registers one locks this row.
insert into counters (p, seq, id, recorded_at, number) values (0, 0, '', 0, 0);

-- A project's rows live in one shard, so its number stands in every key.
alter table passages drop constraint passages_pkey, add primary key (p, rid);

-- Tokens arrive analysed and carry their project (see stores/postgres/fulltext.py). `words` is for pg_textsearch alone.
create table passages_fts (
  p      bigint not null,
  rid    bigint not null,
  tokens tsvector not null,
  words  text,
  primary key (p, rid)
);
create index passages_fts_tokens on passages_fts using gin (tokens) with (fastupdate = off);

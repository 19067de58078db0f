-- Meaning: what a model makes of texts. Derived data: it can be dropped and made again. A row number of `passages`
-- names a text; its parts, where it is long, have the numbers that follow (rid | ordinal).

alter table passages add column speaker text;     -- of a turn, like the next one: who said it,
alter table passages add column shape integer;    -- and what kind of sentence it is (domain/turns.py)

create table models (
  id          integer primary key,
  name        text not null,
  fingerprint text not null unique,               -- vectors of different fingerprints are never compared
  dim         integer not null,
  bound_at    integer                             -- the one that is bound latest is the store's
);

create table vectors (
  p          integer not null,
  model      integer not null references models (id),
  rid        integer not null,
  generation integer not null,                    -- ascending in a project: what is new since a process last looked
  first      integer not null,                    -- the characters of the body that a part covers;
  last       integer not null,                    -- of a whole text: 0 and the number of its parts
  scale      real not null,                       -- quantised × scale = vector
  quantised  blob not null,                       -- int8
  vector     blob not null,                       -- f16
  primary key (p, model, rid)
);
create unique index vectors_generation on vectors (p, model, generation);

create table vector_sets (
  p          integer not null,
  model      integer not null,
  generation integer not null,
  removals   integer not null,                    -- grows when vectors are taken out: everybody loads anew
  primary key (p, model)
);

create table token_states (
  p      integer not null,
  model  integer not null,
  rid    integer not null,
  block  integer not null,                        -- the turns that were read together
  scope  text not null,
  ids    blob not null,                           -- uint32
  states blob,                                    -- int8 rows, then their f16 scales; null: to be made anew
  counts integer not null default 1,              -- whether `state_stats` counts it: while it is believed
  primary key (p, model, rid)
);
create index token_states_block on token_states (p, model, block);

-- Whose words went into a block: when one of them goes, the block's states go with it.
create table state_sources (
  p      integer not null,
  source integer not null,
  model  integer not null,
  block  integer not null,
  primary key (p, source, model, block)
);

create index state_sources_block on state_sources (p, model, block);

create table state_stats (
  p     integer not null,
  model integer not null,
  scope text not null,
  token integer not null,
  df    integer not null,                         -- texts of the scope with the token
  primary key (p, model, scope, token)
);

create table embed_jobs (
  p          integer not null,
  rid        integer not null,
  attempts   integer not null default 0,
  not_before integer not null default 0,
  error      text,                                -- code of the last failure
  primary key (p, rid)
);

create table leases (
  name   text primary key,
  holder text not null,
  until  integer not null
);

insert into embed_jobs (p, rid) select p, rid from passages where live = 1;

update passages set speaker = (
  select v.speaker from memory_versions v
  where v.p = passages.p and v.memory = passages.memory and v.version = passages.version)
where turn is not null;

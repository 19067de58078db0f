-- The spine: the ledger, what is projected from it, and the text index. Times are integer microseconds since 1970 UTC.
-- `p` is the number of the project in this store and leads every key; nothing below the project is unique without it.

-- ── reference tables: named by no project ───────────────────────────────────────────────────────────────────────────
create table store (
  only_row   integer primary key check (only_row = 1),
  uuid       text not null unique,         -- the stream of every event written here
  created_at integer not null
);
create table projects (
  p          integer primary key,          -- 1 to 2^20 - 1: it is the upper part of a passage's row number
  uuid       text not null unique,
  slug       text not null unique,         -- display name in this store
  identity   text unique,                  -- host/owner/name, else a path; null for a project that was only named
  created_at integer not null
);

-- Keys of a project. The row `secret` keys its fingerprints.
create table data_keys (
  p           integer not null references projects (p),
  key_id      text not null,
  wrapped     blob not null,
  fingerprint text,
  retired_at  integer,
  primary key (p, key_id)
);

-- ── the ledger ──────────────────────────────────────────────────────────────────────────────────────────────────────
create table events (
  p            integer not null references projects (p),
  seq          integer not null,
  id           text not null,
  stream       text not null,
  n            integer not null,
  type         text not null,
  v            integer not null,
  origin       text not null,
  occurred_at  integer not null,
  recorded_at  integer not null,
  received_at  integer not null,
  dedupe_key   text,
  meta         text not null,
  payload      blob,
  payload_key  text,
  payload_hash blob,
  prev_hash    blob not null,
  hash         blob not null,
  primary key (p, seq)
);
create unique index events_id on events (p, id);
create unique index events_chain on events (p, stream, n);
create unique index events_dedupe on events (p, dedupe_key) where dedupe_key is not null;

create table heads (
  p      integer not null,
  stream text not null,
  n      integer not null,
  hash   blob not null,
  primary key (p, stream)
);

-- What the next event needs to know; derived from the ledger, one row a project.
create table counters (
  p           integer primary key,
  seq         integer not null,
  id          text not null,
  recorded_at integer not null,
  number      integer not null
);

-- ── projections ─────────────────────────────────────────────────────────────────────────────────────────────────────
create table memories (
  p             integer not null,
  id            text not null,
  number        integer not null,
  version       integer not null,          -- the live version
  tier          text not null,
  scope         text not null,
  status        text not null,             -- pending active archived superseded forgotten
  trust         text not null,             -- stated observed inferred imported external
  origin        text not null,
  session       text,
  turn          integer,
  expires_at    integer,
  occurrences   integer not null,
  first_seen    integer not null,
  last_seen     integer not null,
  recorded_at   integer not null,
  confirmed_at  integer not null,
  disputed_at   integer,
  superseded_by text,
  seq           integer not null,          -- the event that recorded it
  fp            text,                      -- null for keyed memories: their identity is the key and its value
  words_fp      text,
  key_fp        text,
  value_fp      text,
  primary key (p, id)
);
create unique index memories_number on memories (p, number);
create index memories_fp on memories (p, scope, fp) where fp is not null;
create index memories_words on memories (p, scope, words_fp) where words_fp is not null;
create index memories_pending on memories (p, scope, value_fp) where status = 'pending';
create index memories_successor on memories (p, superseded_by) where superseded_by is not null;
create index memories_session on memories (p, session, turn) where session is not null;
create index memories_expiry on memories (p, expires_at) where expires_at is not null;

create table memory_versions (
  p             integer not null,
  memory        text not null,
  version       integer not null,
  seq           integer not null,          -- the event that opened it
  kind          text not null,
  title         text,
  body          text not null,
  tags          text not null,             -- JSON list
  paths         text not null,             -- JSON list
  key           text,
  value         text,
  source        text,
  speaker       text,
  importance    integer not null,          -- thousandths
  pinned        integer not null,
  valid_from    integer not null,
  valid_to      integer,
  valid_to_at   integer,                   -- when `valid_to` became known, if later than recorded_from
  recorded_from integer not null,
  recorded_to   integer,                   -- null while it is what we believe
  primary key (p, memory, version)
);
create index versions_browse on memory_versions (p, pinned, importance, recorded_from, memory) where recorded_to is null;
create index versions_recorded on memory_versions (p, recorded_from);

create table keys (
  p             integer not null,
  scope         text not null,
  key_fp        text not null,
  valid_from    integer not null,
  recorded_from integer not null,
  valid_to      integer,
  recorded_to   integer,
  memory        text not null,
  value_fp      text not null,
  primary key (p, scope, key_fp, valid_from, recorded_from)
);
create unique index keys_holder on keys (p, scope, key_fp) where valid_to is null and recorded_to is null;
create index keys_memory on keys (p, memory);

create table tags (
  p      integer not null,
  tag    text not null,
  memory text not null,
  primary key (p, tag, memory)
);
create index tags_memory on tags (p, memory);

create table paths (
  p      integer not null,
  path   text not null,
  memory text not null,
  primary key (p, memory, path)
);
create index paths_path on paths (p, path, memory);

create table links (
  p       integer not null,
  a       text not null,
  b       text not null,
  note    text,
  made_at integer not null,
  primary key (p, a, b),
  check (a < b),
  foreign key (p, a) references memories (p, id),
  foreign key (p, b) references memories (p, id)
);
create index links_b on links (p, b, a);

create table evidence (
  p       integer not null,
  memory  text not null,
  version integer not null,
  source  text not null,                   -- an event or a memory
  primary key (p, memory, version, source)
);
create index evidence_source on evidence (p, source);

create table subjects (
  p      integer not null,
  memory text not null,
  seq    integer not null,                 -- an event that speaks of the memory
  primary key (p, memory, seq)
);

create table rejections (
  p          integer not null,
  scope      text not null,
  match      text not null,                -- key_value text source
  fp         text not null,
  memory     text,
  by_person  integer not null,
  seq        integer not null,
  lifted_seq integer,
  primary key (p, scope, match, fp, seq)
);
create index rejections_memory on rejections (p, memory) where lifted_seq is null;
create index rejections_seq on rejections (p, seq);

create table contradictions (
  p            integer not null,
  a            text not null,
  b            text not null,
  rule         text not null,
  state        text not null,              -- open resolved
  opened_seq   integer not null,
  resolved_seq integer,
  primary key (p, a, b),
  check (a < b)
);
create index contradictions_state on contradictions (p, state);

-- ── the text index: rebuildable, compared by logical content ────────────────────────────────────────────────────────
create table passages (
  rid     integer primary key,             -- p << 43 | seq << 12 | ordinal: a project is one block of row numbers
  p       integer not null,
  memory  text not null,
  version integer not null,
  ordinal integer not null,
  live    integer not null,                -- 1 while its version is what we believe and its memory is active
  scope   text not null,
  session text,
  turn    integer,
  length  integer not null,                -- terms of the body; a title, tags and paths do not make a text long
  terms   text not null,                   -- "\nterm body,title,tags,paths\n…", see domain/postings.py
  trust   text not null,                   -- this and the next three as in memories and memory_versions, so that
  valid_from integer not null,             -- the common recall needs no join
  valid_to   integer,
  expires_at integer
);
create unique index passages_version on passages (p, memory, version, ordinal);
create index passages_turns on passages (p, session, turn) where turn is not null;

create table term_stats (
  p     integer not null,
  scope text not null,
  term  text not null,
  df    integer not null,                  -- live passages of the scope that hold the term
  primary key (p, scope, term)
);
create table scope_stats (
  p      integer not null,
  scope  text not null,
  n      integer not null,                 -- live passages
  length integer not null,                 -- sum of their lengths
  primary key (p, scope)
);

-- Signals: what happened beside the ledger. No event, no projection: a rebuild leaves them alone, an export leaves them
-- out, and losing some harms nothing. And the indexes by which a review finds what needs tending.

create table accesses (
  p      integer not null,
  memory text not null,
  at     integer not null,                 -- the day, by its first microsecond UTC
  n      integer not null,                 -- how often its full text was delivered on that day
  primary key (p, memory, at)
);

-- Each holds only the rows that its question is about, so writing anything else costs nothing.
create index versions_states on memory_versions (p, recorded_from) where recorded_to is null and kind = 'state';
create index versions_large on memory_versions (p, tokens_full) where recorded_to is null and tokens_full > 600;
create index passages_ending on passages (p, valid_to, expires_at)
  where live = 1 and (valid_to is not null or expires_at is not null);

-- What only SQLite has: triggers that freeze the ledger, and the full-text index.

-- An event never changes. Its payload alone may be cleared (erase) or re-encoded (encryption); `verify` finds a
-- payload that was replaced, and a cleared one that no erasure names.
create trigger events_are_frozen before update of
  p, seq, id, stream, n, type, v, origin, occurred_at, recorded_at, received_at, dedupe_key, meta, payload_hash,
  prev_hash, hash on events
begin
  select raise(abort, 'eunoe: an event of the ledger never changes');
end;
create trigger events_are_kept before delete on events
begin
  select raise(abort, 'eunoe: an event of the ledger is never deleted');
end;

-- Tokens arrive analysed, encoded to [a-z0-9] and non-ASCII, and carry their project (see stores/sqlite/fulltext.py).
-- Without content the words stand in no second place; deletions take them out of the segments at once.
create virtual table passages_fts using fts5 (
  own, title, tags, paths,
  content = '', contentless_delete = 1, columnsize = 1, tokenize = "ascii tokenchars '_-./:\@+=#''~%!$&*,;<>?[]^`{|}()'"
);
insert into passages_fts (passages_fts, rank) values ('secure-delete', 1);

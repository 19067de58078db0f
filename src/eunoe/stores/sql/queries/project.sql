-- Row changes: one statement for each name that `projections` emits. Both engines run them as they stand.

-- name: memory_insert
insert into memories (p, id, number, version, tier, scope, status, trust, origin, session, turn, expires_at,
  occurrences, first_seen, last_seen, recorded_at, confirmed_at, superseded_by, seq, fp, words_fp, key_fp, value_fp)
values (:p, :id, :number, :version, :tier, :scope, :status, :trust, :origin, :session, :turn, :expires_at,
  :occurrences, :first_seen, :last_seen, :recorded_at, :confirmed_at, :superseded_by, :seq, :fp, :words_fp, :key_fp,
  :value_fp)

-- name: memory_version
update memories set version = :version where p = :p and id = :id

-- name: memory_revised
update memories set confirmed_at = :confirmed_at, disputed_at = :disputed_at, fp = :fp, words_fp = :words_fp,
  key_fp = :key_fp, value_fp = :value_fp
where p = :p and id = :id

-- name: memory_seen
update memories set occurrences = :occurrences, first_seen = :first_seen, last_seen = :last_seen,
  confirmed_at = :confirmed_at, disputed_at = :disputed_at
where p = :p and id = :id

-- name: memory_disputed
update memories set disputed_at = :disputed_at where p = :p and id = :id

-- name: memory_status
update memories set status = :status where p = :p and id = :id

-- name: memory_restored
update memories set status = :status, confirmed_at = :confirmed_at where p = :p and id = :id

-- name: memory_superseded
update memories set status = :status, superseded_by = :superseded_by where p = :p and id = :id

-- name: version_insert
insert into memory_versions (p, memory, version, seq, kind, title, body, tags, paths, key, value, source, speaker,
  importance, pinned, valid_from, valid_to, valid_to_at, recorded_from, recorded_to, tokens_full, tokens_line)
values (:p, :memory, :version, :seq, :kind, :title, :body, :tags, :paths, :key, :value, :source, :speaker,
  :importance, :pinned, :valid_from, :valid_to, :valid_to_at, :recorded_from, :recorded_to, :tokens_full, :tokens_line)

-- name: version_close
update memory_versions set recorded_to = :recorded_to where p = :p and memory = :memory and version = :version

-- name: version_until
update memory_versions set valid_to = :valid_to, valid_to_at = :valid_to_at
where p = :p and memory = :memory and version = :version

-- name: tag_insert
insert into tags (p, tag, memory) values (:p, :tag, :memory)

-- name: tags_clear
delete from tags where p = :p and memory = :memory

-- name: path_insert
insert into paths (p, path, memory) values (:p, :path, :memory)

-- name: paths_clear
delete from paths where p = :p and memory = :memory

-- name: key_insert
insert into keys (p, scope, key_fp, valid_from, recorded_from, valid_to, memory, value_fp)
values (:p, :scope, :key_fp, :valid_from, :recorded_from, :valid_to, :memory, :value_fp)

-- name: key_close
update keys set recorded_to = :recorded_to
where p = :p and scope = :scope and key_fp = :key_fp and valid_from = :valid_from and recorded_from = :recorded_from

-- name: link_insert
insert into links (p, a, b, note, made_at) values (:p, :a, :b, :note, :made_at) on conflict (p, a, b) do nothing

-- name: link_delete
delete from links where p = :p and a = :a and b = :b

-- name: evidence_insert
insert into evidence (p, memory, version, source) values (:p, :memory, :version, :source)

-- name: subject_insert
insert into subjects (p, memory, seq) values (:p, :memory, :seq) on conflict (p, memory, seq) do nothing

-- name: rejection_insert
insert into rejections (p, scope, match, fp, memory, by_person, seq)
values (:p, :scope, :match, :fp, :memory, :by_person, :seq)

-- name: rejection_lift
update rejections set lifted_seq = :lifted_seq where p = :p and seq = :seq and lifted_seq is null

-- name: rejections_lift_memory
update rejections set lifted_seq = :lifted_seq where p = :p and memory = :memory and lifted_seq is null

-- name: passage_insert
insert into passages (rid, p, memory, version, ordinal, live, scope, session, turn, length, terms, trust, valid_from,
  valid_to, expires_at, speaker, shape)
values (:rid, :p, :memory, :version, :ordinal, :live, :scope, :session, :turn, :length, :terms, :trust, :valid_from,
  :valid_to, :expires_at, :speaker, :shape)

-- name: embed_queue
insert into embed_jobs (p, rid) values (:p, :rid) on conflict (p, rid) do nothing

-- What was read together with a text that goes: its states are void, and are made anew without it.
-- name: embed_requeue
insert into embed_jobs (p, rid)
select t.p, t.rid from state_sources s
cross join token_states t on t.p = s.p and t.model = s.model and t.block = s.block
where s.p = :p and s.source = :rid and t.rid <> :rid
on conflict (p, rid) do nothing

-- name: states_void
update token_states set states = null
where p = :p and rid <> :rid and (model, block) in (select s.model, s.block from state_sources s where s.p = :p and s.source = :rid)

-- name: passage_until
update passages set valid_to = :valid_to where p = :p and rid = :rid

-- name: passage_retire
update passages set live = 0 where p = :p and rid = :rid

-- name: term_weigh
insert into term_stats (p, scope, term, df) values (:p, :scope, :term, :by)
on conflict (p, scope, term) do update set df = term_stats.df + excluded.df

-- name: term_sweep
delete from term_stats where p = :p and scope = :scope and term = :term and df <= 0

-- name: label_weigh
insert into label_stats (p, scope, label, n) values (:p, :scope, :label, :by)
on conflict (p, scope, label) do update set n = label_stats.n + excluded.n

-- name: label_sweep
delete from label_stats where p = :p and scope = :scope and label = :label and n <= 0

-- name: scope_weigh
insert into scope_stats (p, scope, n, length) values (:p, :scope, :n, :length)
on conflict (p, scope) do update set n = scope_stats.n + excluded.n, length = scope_stats.length + excluded.length

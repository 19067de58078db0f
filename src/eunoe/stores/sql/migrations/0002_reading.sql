-- What a briefing needs to be cheap: what each version costs in tokens, and how many memories each kind and tag has.

alter table memory_versions add column tokens_full integer;   -- null: recorded by a version that did not count
alter table memory_versions add column tokens_line integer;

create table label_stats (
  p     integer not null,
  scope text not null,
  label text not null,                     -- kind:gotcha or tag:stripe
  n     integer not null,                  -- live passages of the scope with it
  primary key (p, scope, label)
);
insert into label_stats (p, scope, label, n)
select pa.p, pa.scope, 'kind:' || v.kind, count(*)
from passages pa
join memory_versions v on v.p = pa.p and v.memory = pa.memory and v.version = pa.version
where pa.live = 1 and pa.ordinal = 0
group by pa.p, pa.scope, v.kind;
insert into label_stats (p, scope, label, n)
select pa.p, pa.scope, 'tag:' || t.tag, count(*)
from passages pa
join tags t on t.p = pa.p and t.memory = pa.memory
where pa.live = 1 and pa.ordinal = 0
group by pa.p, pa.scope, t.tag;

create index memories_disputed on memories (p, number) where disputed_at is not null;
create index passages_begin on passages (p, valid_from) where live = 1;

-- What the server searches by meaning; the truth is in `vectors`. See stores/postgres/nearest.py.
create table vector_index (
  p         bigint not null,
  model     bigint not null,
  rid       bigint not null,
  embedding halfvec not null,
  primary key (p, model, rid),
  foreign key (p, model, rid) references vectors (p, model, rid) on delete cascade
);
alter table vector_index alter column embedding set storage plain;

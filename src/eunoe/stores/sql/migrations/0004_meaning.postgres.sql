-- What the server searches by meaning; the truth is in `vectors`. See stores/postgres/nearest.py.
create table vector_index (
  p         bigint not null,
  model     bigint not null,
  rid       bigint not null,
  embedding halfvec not null,
  primary key (p, model, rid)
);
alter table vector_index alter column embedding set storage plain;

-- What leaves the truth leaves the index: for all rows of a statement at once, which a foreign key would do one by one.
create function vectors_left() returns trigger language plpgsql as $$
begin
  delete from vector_index vi using gone where vi.p = gone.p and vi.model = gone.model and vi.rid = gone.rid;
  return null;
end $$;
create trigger vectors_leave after delete on vectors
referencing old table as gone for each statement execute function vectors_left();

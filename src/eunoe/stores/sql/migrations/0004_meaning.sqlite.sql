-- `eunoe_shape` is domain/turns.py, registered on the connection that migrates.
update passages set shape = eunoe_shape((
  select v.body from memory_versions v
  where v.p = passages.p and v.memory = passages.memory and v.version = passages.version))
where turn is not null;

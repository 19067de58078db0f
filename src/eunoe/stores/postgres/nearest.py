"""Search by meaning: exact as long as that is cheap, then by an HNSW index of the project's own."""

from __future__ import annotations

import sys
from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from eunoe.stores.sql.connection import Row
    from eunoe.stores.sql.filters import Where

    class Asked(Protocol):
        """The part of a connection that this needs."""

        def run(self, sql: str, params: dict[str, Any]) -> list[Row]:
            """Run one statement."""

    HasIndex = Callable[[Asked, int, int], bool]

EXACT_BELOW = 20_000  # vectors that are compared one by one: some ten milliseconds

INSERT = """
insert into vector_index (p, model, rid, embedding) values (:p, :model, :rid, cast(:embedding as halfvec))
on conflict (p, model, rid) do update set embedding = excluded.embedding
"""

# The newest generation: as many vectors as a project ever had, or fewer.
_SIZE = "select generation from vector_sets where p = :p and model = :model"
# The parts of a text follow its row number, and what the filter says of a passage is said of its parts.
_EXACT = """
select vi.rid, vi.embedding <#> cast(:query as halfvec) as far
from vector_index vi
join passages pa on pa.p = vi.p and pa.rid = (vi.rid >> 12) << 12{joins}
where vi.p = :p and vi.model = :model and ({where})
order by far, vi.rid
limit :limit
"""
# How many pass, and the nearest of them unless they are many. `offset 0` keeps one look into the index a passage.
_NARROW = """
with passing as materialized (select pa.rid from passages pa{joins} where pa.p = :p and ({where}) limit :most),
few as (select count(*) as n from passing)
select few.n, found.rid, found.far
from few
left join lateral (
  select part.rid, part.far
  from passing, lateral (
    select vi.rid, vi.embedding <#> cast(:query as halfvec) as far from vector_index vi
    where vi.p = :p and vi.model = :model and vi.rid >= passing.rid and vi.rid < passing.rid + 4096
    offset 0) part
  order by part.far, part.rid
  limit :limit) found on few.n < :most
order by found.far, found.rid
"""
_SCOPED = "select coalesce(sum(n), 0) from scope_stats where p = :p and scope in ({scopes})"
# The numbers stand in the statement: with parameters the planner does not see that the partial index fits.
_APPROXIMATE = """
select vi.rid, cast(vi.embedding as halfvec({dim})) <#> cast(:query as halfvec({dim})) as far
from vector_index vi
join passages pa on pa.p = {p} and pa.rid = (vi.rid >> 12) << 12{joins}
where vi.p = {p} and vi.model = {model} and ({where})
order by cast(vi.embedding as halfvec({dim})) <#> cast(:query as halfvec({dim}))
limit :limit
"""
_READY = """
select 1 from pg_class c join pg_index i on i.indexrelid = c.oid
where c.relname = :name and i.indisvalid and c.relnamespace = cast(current_schema() as regnamespace)
"""
# Of other models, or not ready: a process was ended while it made it.
_LEFT = """
select c.relname from pg_class c join pg_index i on i.indexrelid = c.oid
where c.relname like :name and c.relnamespace = cast(current_schema() as regnamespace)
  and (not i.indisvalid or not exists (
    select 1 from vectors v where v.p = cast(split_part(c.relname, '_', 4) as bigint)
      and v.model = cast(split_part(c.relname, '_', 5) as bigint)))
"""
_INDEX = """
create index concurrently if not exists {name} on vector_index
using hnsw (cast(embedding as halfvec({dim})) halfvec_ip_ops) with (m = 16, ef_construction = 100)
where p = {p} and model = {model}
"""


class Halfvec(bytes):
    """A vector as the server takes it in: its length, two free bytes, its f16 numbers, high byte first."""

    @classmethod
    def of(cls, f16: bytes) -> Halfvec:
        """Return one for f16 numbers, little-endian."""
        numbers = array("H", f16)
        if sys.byteorder == "little":
            numbers.byteswap()
        return cls(len(numbers).to_bytes(2, "big") + b"\0\0" + numbers.tobytes())


def nearest(
    connection: Asked, p: int, model: int, vector: bytes, where: Where, limit: int, *, has_index: HasIndex
) -> list[Row]:
    """Return (rid, minus the cosine) of the nearest vectors whose passages pass.

    Exact for a project of at most `EXACT_BELOW` vectors, for a filter that lets no more than that pass, and as long as
    there is no index.
    """
    named = where.params | {"p": p, "model": model, "query": Halfvec.of(vector), "limit": limit}
    parts = {"joins": where.joins, "where": where.sql}
    sizes = connection.run(_SIZE, named)
    if not sizes or sizes[0][0] <= EXACT_BELOW:
        return connection.run(_EXACT.format(**parts), named)
    if where.joins or _scoped(connection, p, where) <= EXACT_BELOW:
        found = connection.run(_NARROW.format(**parts), named | {"most": EXACT_BELOW + 1})
        if found[0][0] <= EXACT_BELOW:
            return [(rid, far) for _, rid, far in found if rid is not None]
    if not has_index(connection, p, model):
        return connection.run(_EXACT.format(**parts), named)
    return connection.run(_APPROXIMATE.format(p=p, model=model, dim=len(vector) // 2, **parts), named)


def _scoped(connection: Asked, p: int, where: Where) -> int:
    """Return how many live passages the filter's scopes hold."""
    scopes = {name: value for name, value in where.params.items() if name.startswith("scope")}
    ((held,),) = connection.run(_SCOPED.format(scopes=", ".join(f":{name}" for name in scopes)), {"p": p, **scopes})
    count: int = held
    return count


def is_indexed(connection: Asked, p: int, model: int) -> bool:
    """Tell whether a project's vectors by a model have an index that is ready."""
    return bool(connection.run(_READY, {"name": index_name(p, model)}))


def tending(connection: Asked, p: int, model: int, dim: int) -> list[str]:
    """Return the statements that give a project's vectors an index, if there are many; and drop what is left behind.

    Each is to run outside of any transaction. What an ended attempt left is no index, and is dropped first.
    """
    sizes = connection.run(_SIZE, {"p": p, "model": model})
    if not sizes or sizes[0][0] <= EXACT_BELOW or is_indexed(connection, p, model):
        return []
    left = [name for (name,) in connection.run(_LEFT, {"name": f"vector_index_hnsw_{p}\\_%"})]
    name = index_name(p, model)
    return [
        "set maintenance_work_mem = '512MB'",
        *(f"drop index concurrently {each}" for each in left),
        _INDEX.format(name=name, p=p, model=model, dim=dim),
    ]


def index_name(p: int, model: int) -> str:
    """Return the name of the index of a project's vectors by a model."""
    return f"vector_index_hnsw_{p}_{model}"

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
EF_SEARCH = 200

INSERT = """
insert into vector_index (p, model, rid, embedding) values (:p, :model, :rid, :embedding)
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
_NARROW = """
with passing as materialized (select pa.rid from passages pa{joins} where pa.p = :p and ({where}))
select vi.rid, vi.embedding <#> cast(:query as halfvec) as far
from passing
join vector_index vi on vi.p = :p and vi.model = :model and vi.rid >= passing.rid and vi.rid < passing.rid + 4096
order by far, vi.rid
limit :limit
"""
_PASSING = "select count(*) from (select 1 from passages pa{joins} where pa.p = :p and ({where}) limit :most) few"
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


def search(
    connection: Asked, p: int, model: int, vector: bytes, where: Where, *, has_index: HasIndex
) -> tuple[str, dict[str, Any]]:
    """Return the statement that finds (rid, minus the cosine) of the nearest vectors that pass, and its values.

    Exact for a project below `EXACT_BELOW` vectors, for a filter that lets fewer than that pass, and without an index.
    """
    named: dict[str, Any] = {"p": p, "model": model, "query": Halfvec.of(vector)}
    parts = {"joins": where.joins, "where": where.sql}
    sizes = connection.run(_SIZE, {"p": p, "model": model})
    if not sizes or sizes[0][0] <= EXACT_BELOW:
        return _EXACT.format(**parts), named
    passing = connection.run(_PASSING.format(**parts), where.params | {"p": p, "most": EXACT_BELOW + 1})
    if passing[0][0] <= EXACT_BELOW:
        return _NARROW.format(**parts), named
    if not has_index(connection, p, model):
        return _EXACT.format(**parts), named
    return _APPROXIMATE.format(p=p, model=model, dim=len(vector) // 2, **parts), named


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

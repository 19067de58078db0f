"""The ports of meaning over one connection: vectors, token states, the queue, the models."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

from eunoe.ports.text_index import Filter
from eunoe.ports.vectors import Model, Text, TokenStates, Vector, whole
from eunoe.stores.sql.connection import Connection
from eunoe.stores.sql.filters import among, condition, names, values
from eunoe.stores.sql.statements import load

_SQL = load("vectors")

MOST_ATTEMPTS = 5
_ALL_TEXTS = -1  # the token under which texts themselves are counted


class SqlVectors:
    """Implements `eunoe.ports.vectors.Vectors` and `Embedding` for a project and a model."""

    def __init__(self, connection: Connection, p: int, model: int) -> None:
        self._connection = connection
        self._p = p
        self._model = model
        self._named = {"p": p, "model": model}

    @property
    def are_searched(self) -> bool:
        """See `Vectors.are_searched`."""
        return self._connection.searches_vectors

    def nearest(self, vector: bytes, accept: Filter, *, limit: int) -> list[tuple[int, float]]:
        """See `Vectors.nearest`. Twice as many are asked for: room for several parts of one text."""
        wanted, where = 2 * limit, condition(accept)
        while True:
            found = self._connection.nearest(self._p, self._model, vector, where, wanted)
            best: dict[int, float] = {}
            for rid, cosine in found:
                best[whole(rid)] = max(cosine, best.get(whole(rid), cosine))
            if len(best) >= limit or len(found) < wanted:
                return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]
            wanted *= 4

    def position(self) -> tuple[int, int]:
        """See `Vectors.position`."""
        rows = self._run("position")
        return (rows[0][0], rows[0][1]) if rows else (0, 0)

    def since(self, generation: int) -> Iterable[tuple[int, int, float, bytes]]:
        """See `Vectors.since`."""
        stream: Iterable[Any] = self._connection.stream(_SQL["since"], self._named | {"generation": generation})
        return stream

    def exact(self, rids: Sequence[int]) -> dict[int, tuple[bytes, int, int]]:
        """See `Vectors.exact`."""
        return {rid: (vector, first, last) for rid, vector, first, last in self._among("exact", rids)}

    def states(self, rids: Sequence[int]) -> dict[int, tuple[bytes, bytes]]:
        """See `Vectors.states`."""
        return {rid: (ids, states) for rid, ids, states in self._among("states", rids)}

    def token_statistics(self, tokens: Sequence[int], scopes: Sequence[str]) -> tuple[int, dict[int, int]]:
        """See `Vectors.token_statistics`."""
        asked = [_ALL_TEXTS, *tokens]
        listed, given = self._connection.listed("token", asked)
        sql = _SQL["token_df"].format(scopes=names("scope", scopes), tokens=listed)
        rows = self._connection.run(sql, self._named | values("scope", scopes) | given)
        found: dict[int, int] = dict(rows)
        return found.pop(_ALL_TEXTS, 0), found

    def sizes(self) -> dict[str, int]:
        """See `Vectors.sizes`."""
        ((vectors, vector_bytes),) = self._run("vector_sizes")
        ((states, state_bytes),) = self._run("state_sizes")
        return {"vectors": vectors, "vector_bytes": vector_bytes, "states": states, "state_bytes": state_bytes}

    def missing(self, *, after: int, limit: int) -> list[int]:
        """See `Vectors.missing`."""
        return [rid for (rid,) in self._run("missing", after=after, limit=limit)]

    def put(self, vectors: Sequence[Vector], states: Sequence[TokenStates], sources: Sequence[tuple[int, int]]) -> None:
        """See `WritableVectors.put`."""
        generation, removals = self.position()
        rows = []
        for vector in vectors:
            generation += 1
            rows.append(self._named | _columns(vector) | {"generation": generation})
        self._connection.many(_SQL["vector_put"], rows)
        if rows:
            self._run("position_set", generation=generation, removals=removals)
            self._connection.index_vectors(self._p, self._model, [(each.rid, each.vector) for each in vectors])
        self.remove_states([each.rid for each in states])
        self._connection.many(_SQL["states_put"], [self._named | _columns(each) for each in states])
        for each in states:
            self._weigh(each.scope, each.ids, +1)
        pairs = [self._named | {"source": source, "block": block} for source, block in sources]
        self._connection.many(_SQL["source_put"], pairs)

    def remove_states(self, rids: Sequence[int]) -> None:
        """See `WritableVectors.remove_states`."""
        rows = self._among("state_rows", rids)
        self._uncount(rows)
        for rid, *_ in rows:
            self._run("states_remove", rid=rid)
        for block in sorted({block for _, block, *_ in rows}):
            self._run("sources_remove", block=block)

    def discount(self, rids: Sequence[int]) -> None:
        """See `WritableVectors.discount`."""
        texts = [rid + at for rid, (_, _, parts) in self.exact(rids).items() for at in range(parts + 1)]
        rows = self._among("state_rows", texts)
        self._uncount(rows)
        for rid, *_ in rows:
            self._run("states_discount", rid=rid)

    def drop_states(self, *, keep_bytes: int) -> int:
        """See `WritableVectors.drop_states`."""
        sizes = self._run("states_oldest")
        over = sum(size for _, size in sizes) - keep_bytes
        going = []
        for rid, size in sizes:
            if over <= 0:
                break
            going.append(rid)
            over -= size
        self.remove_states(going)
        return len(going)

    def clear(self) -> None:
        """See `WritableVectors.clear`."""
        generation, removals = self.position()
        for name in ("clear_vectors", "clear_states", "clear_sources", "clear_stats"):
            self._run(name)
        self._run("position_set", generation=generation, removals=removals + 1)

    def remove(self, rids: Sequence[int]) -> None:
        """See `WritableVectors.remove`."""
        if not rids:
            return
        generation, removals = self.position()
        self._connection.many(_SQL["vector_remove"], [self._named | {"rid": rid} for rid in rids])
        self._run("position_set", generation=generation, removals=removals + 1)

    def _uncount(self, rows: Sequence[tuple[Any, ...]]) -> None:
        counted = [(scope, ids) for _, _, scope, ids, counts in rows if counts]
        for scope, ids in counted:
            self._weigh(scope, ids, -1)
        for scope in sorted({scope for scope, _ in counted}):
            self._run("token_sweep", scope=scope)

    def _weigh(self, scope: str, ids: bytes, by: int) -> None:
        tokens = [_ALL_TEXTS, *sorted(set(array("I", ids)))]
        rows = [self._named | {"scope": scope, "token": token, "by": by} for token in tokens]
        self._connection.many(_SQL["token_weigh"], rows)

    def _among(self, name: str, rids: Sequence[int]) -> list[tuple[Any, ...]]:
        return among(self._connection, _SQL[name], self._named, rids)

    def _run(self, name: str, /, **params: Any) -> list[tuple[Any, ...]]:
        return self._connection.run(_SQL[name], self._named | params)


class SqlJobs:
    """Implements `eunoe.ports.vectors.Jobs`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def due(self, *, now: int, limit: int) -> list[tuple[int, int]]:
        """See `Jobs.due`."""
        return [(p, rid) for p, rid in self._run("jobs_due", now=now, limit=limit, most=MOST_ATTEMPTS)]

    def texts(self, p: int, rids: Sequence[int]) -> list[Text]:
        """See `Jobs.texts`."""
        return [Text(*row) for row in among(self._connection, _SQL["job_texts"], {"p": p}, rids)]

    def turns(self, p: int, session: str, first: int, last: int) -> list[Text]:
        """See `Jobs.turns`."""
        return [Text(*row) for row in self._run("job_turns", p=p, session=session, first=first, last=last)]

    def done(self, p: int, rids: Sequence[int]) -> None:
        """See `Jobs.done`."""
        self._connection.many(_SQL["job_done"], [{"p": p, "rid": rid} for rid in rids])

    def failed(self, p: int, rids: Sequence[int], *, error: str, now: int) -> None:
        """See `Jobs.failed`."""
        rows = [{"p": p, "rid": rid, "error": error, "now": now} for rid in rids]
        self._connection.many(_SQL["job_failed"], rows)

    def delayed(self, p: int, rids: Sequence[int], *, error: str, not_before: int) -> None:
        """See `Jobs.delayed`."""
        rows = [{"p": p, "rid": rid, "error": error, "not_before": not_before} for rid in rids]
        self._connection.many(_SQL["job_delayed"], rows)

    def revive(self) -> int:
        """See `Jobs.revive`."""
        dead = self.counts()[1]
        self._run("jobs_revive", most=MOST_ATTEMPTS)
        return dead

    def counts(self, p: int | None = None) -> tuple[int, int, str | None]:
        """See `Jobs.counts`."""
        name, named = ("jobs_counted", {}) if p is None else ("jobs_counted_of", {"p": p})
        ((waiting, dead, error),) = self._run(name, most=MOST_ATTEMPTS, **named)
        return waiting, dead, error

    def requeue(self, p: int, *, model: int) -> int:
        """See `Jobs.requeue`."""
        before = sum(self.counts(p)[:2])
        self._run("jobs_requeue", p=p, model=model)
        return sum(self.counts(p)[:2]) - before

    def _run(self, name: str, /, **params: Any) -> list[tuple[Any, ...]]:
        return self._connection.run(_SQL[name], params)


class SqlModels:
    """Implements `eunoe.ports.vectors.Models`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def bound(self) -> Model | None:
        """See `Models.bound`."""
        rows = self._run("bound")
        return Model(*rows[0]) if rows else None

    def known(self, fingerprint: str) -> Model | None:
        """See `Models.known`."""
        rows = self._run("known", fingerprint=fingerprint)
        return Model(*rows[0]) if rows else None

    def register(self, name: str, fingerprint: str, dim: int) -> Model:
        """See `Models.register`."""
        found = self.known(fingerprint)
        if found is not None:
            return found
        self._run("register", name=name, fingerprint=fingerprint, dim=dim)
        ((ident, *rest),) = self._run("known", fingerprint=fingerprint)
        return Model(ident, *rest)

    def bind(self, model: Model, *, now: int) -> None:
        """See `Models.bind`."""
        ((last,),) = self._run("last_bound")
        self._run("bind", id=model.id, at=max(now, last + 1))

    def lease(self, name: str, holder: str, *, now: int, until: int) -> bool:
        """See `Models.lease`."""
        return bool(self._run("lease_take", name=name, holder=holder, now=now, until=until))

    def release(self, name: str, holder: str) -> None:
        """See `Models.release`."""
        self._run("lease_release", name=name, holder=holder)

    def _run(self, name: str, /, **params: Any) -> list[tuple[Any, ...]]:
        return self._connection.run(_SQL[name], params)


def tend(connection: Connection, p: int) -> None:
    """After a rebuild: take out what belongs to no passage, and queue what has no vector."""
    for name in ("vectors", "states"):
        gone: dict[int, list[int]] = {}
        for rid, model in connection.run(_SQL[f"orphaned_{name}"], {"p": p}):
            gone.setdefault(model, []).append(rid)
        for model, rids in gone.items():
            held = SqlVectors(connection, p, model)
            (held.remove if name == "vectors" else held.remove_states)(rids)
    connection.run(_SQL["orphaned_jobs"], {"p": p})
    bound = SqlModels(connection).bound()
    SqlJobs(connection).requeue(p, model=bound.id if bound else 0)


def unserved(connection: Connection, p: int) -> int:
    """Return how many live passages have neither a vector of the bound model nor a job."""
    ((count,),) = connection.run(_SQL["unserved"], {"p": p})
    found: int = count
    return found


def _columns(row: Vector | TokenStates) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__slots__}

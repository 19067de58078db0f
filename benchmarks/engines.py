"""Both engines side by side: the same store as a file and on a PostgreSQL server that this starts.

    python benchmarks/engines.py [--size 100000] [--queries 100] [--folder DIR] [--url postgresql://…]

A file is filled with sentences (every tenth memory is tagged, and every hundredth) and with vectors of 384 numbers that
lie in 64 directions, as those of a model do; the file is moved to the server; then recalls run in turns on both, the
vector search of the server is compared with the exact one, and `remember` with a raw transaction of psycopg that writes
the same rows. Wall time: the work of a server is not this process's CPU. `--folder` keeps the file for another run.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import psycopg
from corpus import queries, sentences

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.postgres import Server

from eunoe import Memory, bootstrap, storing
from eunoe.config.settings import load_settings
from eunoe.ports.text_index import Filter
from eunoe.ports.vectors import Vector
from eunoe.retrieval.quantise import halves, quantised
from eunoe.stores.postgres import connection as server
from eunoe.stores.postgres import nearest
from eunoe.stores.postgres.dialect import returns_rows, statement

PROJECT = "bench"
DIM, DIRECTIONS = 384, 64
TAGS = {"no filter": (), "10 %": ("tenth",), "1 %": ("hundredth",)}
EF = (40, 100, 200, 400, 800)
TOP = 10


def main() -> int:
    """Measure and print a JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--url")
    asked = parser.parse_args()
    os.environ["EUNOE_MODEL"] = "none"
    with tempfile.TemporaryDirectory() as scratch, _server(asked.url) as url:
        file = (asked.folder or Path(scratch)) / f"engines-{asked.size}.sqlite"
        found: dict[str, Any] = {"size": asked.size}
        if not file.exists():
            found["fill"] = fill(file, asked.size)
        found["move"] = move(file, url)
        found["recall"] = recalls(file, url, asked.size, asked.queries)
        found["vectors"] = vector_search(url, asked.queries)
        found["remember"] = remembering(url, asked.queries)
    print(json.dumps(found, indent=2))
    return 0


@contextmanager
def _server(url: str | None) -> Iterator[str]:
    if url is not None:
        yield url
        return
    started = Server()
    started.execute("alter system set fsync = on")
    started.execute("alter system set shared_buffers = '1GB'")
    started.kill(2)
    started.start(fsync=True)
    try:
        yield started.url
    finally:
        started.stop()


def fill(file: Path, size: int) -> dict[str, float]:
    """Make the store; return the seconds that it took."""
    began = time.perf_counter()
    texts = list(sentences(size))
    random = np.random.default_rng(3)
    basis = random.normal(size=(DIRECTIONS, DIM)).astype(np.float32)
    with Memory.open(file, project=PROJECT) as memory:
        for start in range(0, size, 5000):
            part = range(start, min(start + 5000, size))
            memory.remember_many([{"body": texts[at], "tags": _tags(at)} for at in part])
        store, clock = memory._context.store, memory._context.clock
        with store.writing() as tx:
            model = tx.models.register("bench", "bench", DIM)
            tx.models.bind(model, now=clock.now_us())
            project = memory._context.project(tx)
            assert project is not None
            rids = tx.vectors(project.p, model.id).missing(after=0, limit=size)
        for start in range(0, size, 5000):
            part_rids = rids[start : start + 5000]
            rows = random.normal(size=(len(part_rids), DIRECTIONS)).astype(np.float32) @ basis
            rows += random.normal(scale=0.5, size=rows.shape).astype(np.float32)
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            small, scales = quantised(rows)
            with store.writing() as tx:
                tx.vectors(project.p, model.id).put(
                    [
                        Vector(rid, 0, 0, float(scales[at]), small[at].tobytes(), halves(rows[at]))
                        for at, rid in enumerate(part_rids)
                    ],
                    (),
                    (),
                )
                tx.jobs.done(project.p, part_rids)
    return {"seconds": round(time.perf_counter() - began, 1)}


def _tags(at: int) -> tuple[str, ...]:
    return (*(("tenth",) if at % 10 == 0 else ()), *(("hundredth",) if at % 100 == 0 else ()))


def move(file: Path, url: str) -> dict[str, Any]:
    """Move the file to the server; return the seconds, and the bytes of a memory on either side."""
    source, target = (load_settings({}, store=place) for place in (str(file), url))
    began = time.perf_counter()
    moved = storing.move_store(source, target, clock=bootstrap.SystemClock(), entropy=bootstrap.SystemEntropy())
    seconds = time.perf_counter() - began
    with Memory.open(url, project=PROJECT) as memory:
        size = memory._context.store.describe()["bytes"]
    return {
        "events": moved.events,
        "rows": moved.rows,
        "seconds": round(seconds, 1),
        "bytes_a_memory": {"sqlite": file.stat().st_size // moved.events, "postgres": int(size) // moved.events},
    }


def recalls(file: Path, url: str, size: int, count: int) -> dict[str, Any]:
    """Recall in turns on both, by words."""
    asked = queries(list(sentences(size)), count + 10)
    with Memory.open(file, project=PROJECT) as one, Memory.open(url, project=PROJECT) as other:
        for query in asked[:10]:
            one.recall(query), other.recall(query)
        times: dict[str, list[float]] = {"sqlite": [], "postgres": []}
        same = 0.0
        for query in asked[10:]:
            answers = {}
            for name, memory in (("sqlite", one), ("postgres", other)):
                began = time.perf_counter()
                answers[name] = {hit.memory.id for hit in memory.recall(query, limit=TOP).hits}
                times[name].append((time.perf_counter() - began) * 1e3)
            both = answers["sqlite"] & answers["postgres"]
            same += len(both) / max(len(answers["sqlite"]), 1)
    p50 = {name: round(median(each), 1) for name, each in times.items()}
    return {"p50_ms": p50, "ratio": round(p50["postgres"] / p50["sqlite"], 2), "same_top_10": round(same / count, 3)}


def vector_search(url: str, count: int) -> dict[str, Any]:
    """Make the index, and compare what it finds with the exact answer, at several widths of the search."""
    found: dict[str, Any] = {}
    with Memory.open(url, project=PROJECT) as memory:
        context = memory._context
        with context.store.reading() as view:
            project, model = context.existing(view), view.models.bound()
            assert model is not None
            rids = [row[1] for row in view.vectors(project.p, model.id).since(0)]
            picked = np.random.default_rng(5).choice(rids, count, replace=False).tolist()
            exact = view.vectors(project.p, model.id).exact(picked)
        began = time.perf_counter()
        context.store.tend_vectors(project.p, model)
        found["index_seconds"] = round(time.perf_counter() - began, 1)
        asked = [_moved(vector) for vector, _, _ in exact.values()]
        now = context.clock.now_us()
        for name, tags in TAGS.items():
            accept = Filter(scopes=("project",), now=now, tags=tags)
            truth, exact_ms = _searched(context, project.p, model.id, asked, accept, exact_below=1 << 40)
            row: dict[str, Any] = {"exact_ms": exact_ms}
            for ef in EF if not tags else (EF[2],):
                near, ms = _searched(context, project.p, model.id, asked, accept, ef=ef)
                recall = np.mean([len(a & b) / TOP for a, b in zip(truth, near, strict=True)])
                row[f"ef_search {ef}"] = {"recall": round(float(recall), 3), "ms": ms}
            found[name] = row
    return found


def _moved(vector: bytes) -> bytes:
    """Return a question near a vector, but not the vector."""
    row = np.frombuffer(vector, "<f2").astype(np.float32)
    row = row + np.random.default_rng(len(vector)).normal(scale=0.02, size=row.shape).astype(np.float32)
    return halves(row / np.linalg.norm(row))


def _searched(
    context: Any,
    p: int,
    model: int,
    asked: list[bytes],
    accept: Filter,
    *,
    ef: int = 200,
    exact_below: int | None = None,
) -> tuple[list[set[int]], float]:
    kept = nearest.EXACT_BELOW
    nearest.EXACT_BELOW = kept if exact_below is None else exact_below
    answers, times = [], []
    try:
        with context.store.reading() as view:
            connection = view._connection
            connection._db.execute(f"set local hnsw.ef_search = {ef}")
            vectors = view.vectors(p, model)
            for vector in asked:
                began = time.perf_counter()
                answers.append({rid for rid, _ in vectors.nearest(vector, accept, limit=TOP)})
                times.append((time.perf_counter() - began) * 1e3)
    finally:
        nearest.EXACT_BELOW = kept
    return answers, round(median(times), 1)


def remembering(url: str, count: int) -> dict[str, Any]:
    """Remember, and write the same rows by a raw transaction: to a fresh store each, in turns."""
    ours_url, raw_url = f"{url}&schema=bench_ours", f"{url}&schema=bench_raw"
    texts = list(sentences(3 * count + 50))
    with Memory.open(ours_url, project=PROJECT) as ours, Memory.open(raw_url, project=PROJECT) as raw:
        writes, trips = _traced()
        for text in texts[:50]:
            raw.remember(text)
            ours.remember(text)
        recorded = []
        for text in texts[50 : 50 + count]:
            writes.clear()
            trips.clear()
            raw.remember(text, tags=("alpha", "beta"), paths=("src/api/app.py",))
            recorded.append(list(writes))
        round_trips = len(trips) + 2  # the beginning and the commit
        for text in texts[50 : 50 + count]:  # the same rows are to be written once more
            ours.remember(text, tags=("alpha", "beta"), paths=("src/api/app.py",))
        times = _in_turns(ours, url, texts[50 + count : 50 + 2 * count], recorded)
    ratio = round(times["ours"] / times["raw"], 2)
    return {"p50_ms": times, "ratio": ratio, "round_trips": round_trips}


def _traced() -> tuple[list[tuple[str, Any]], list[str]]:
    """Return lists to which every write, and every question, of any connection is added from now on."""
    writes: list[tuple[str, Any]] = []
    trips: list[str] = []
    run, many = server.PostgresConnection.run, server.PostgresConnection.many

    def traced_run(self: Any, sql: str, params: Any = None) -> Any:
        if returns_rows(sql):
            trips.append(sql)
        elif sql not in ("commit",):
            writes.append((sql, [params]))
        return run(self, sql, params)

    def traced_many(self: Any, sql: str, rows: Any) -> None:
        rows = list(rows)
        writes.append((sql, rows))
        many(self, sql, rows)

    server.PostgresConnection.run = traced_run  # type: ignore[method-assign]
    server.PostgresConnection.many = traced_many  # type: ignore[method-assign]
    return writes, trips


def _in_turns(ours: Memory, url: str, texts: list[str], recorded: list[list[tuple[str, Any]]]) -> dict[str, float]:
    times: dict[str, list[float]] = {"ours": [], "raw": []}
    with psycopg.connect(url, autocommit=True) as db:
        server.adapt(db)
        # An emptied store of the same schema, so that the recorded rows can be written again.
        db.execute("set search_path = bench_raw, public; set synchronous_commit = on")
        _empty(db)
        for text, rows in zip(texts, recorded, strict=True):
            for name, work in (("ours", _ours(ours, text)), ("raw", _raw(db, rows))):
                began = time.perf_counter()
                work()
                times[name].append((time.perf_counter() - began) * 1e3)
    return {name: round(median(each), 2) for name, each in times.items()}


def _empty(db: psycopg.Connection[Any]) -> None:
    db.execute("set session_replication_role = replica")
    tables = db.execute("select tablename from pg_tables where schemaname = 'bench_raw'").fetchall()
    keep = {"migrations", "store", "projects", "data_keys", "counters"}
    for (table,) in tables:
        if table not in keep:
            db.execute(f"delete from {table}".encode())
    db.execute("set session_replication_role = origin")


def _ours(memory: Memory, text: str) -> Callable[[], Any]:
    return lambda: memory.remember(text, tags=("alpha", "beta"), paths=("src/api/app.py",))


def _raw(db: psycopg.Connection[Any], writes: list[tuple[str, Any]]) -> Callable[[], Any]:
    ready = [(statement(sql)[0], [statement(sql)[1](row or {}) for row in rows]) for sql, rows in writes]

    def run() -> None:
        with db.pipeline(), psycopg.RawCursor(db) as cursor:
            cursor.execute("begin")
            for text, rows in ready:
                if len(rows) == 1:
                    cursor.execute(text, rows[0])
                else:
                    cursor.executemany(text, rows)
            cursor.execute("commit")

    return run


if __name__ == "__main__":
    sys.exit(main())

"""Search by meaning against its parts: the two forwards of a query, the engine's candidates, the scan of the matrix.

    python benchmarks/meaning.py [--sizes 10000 100000] [--queries 100] [--model FOLDER]

A store is filled with sentences; 300 of them are embedded by the real model, and their vectors and token states, moved
a little, stand for the others: speed does not depend on what they mean. Then recalls run in turns with their parts,
over queries that were never seen. CPU of this process; the model on one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from corpus import queries, sentences
from measure import in_turns, summary

from eunoe import Memory
from eunoe.domain.analyse import Analyser
from eunoe.models.stemmer import english_stemmer
from eunoe.ports.text_index import Filter
from eunoe.ports.vectors import TokenStates, Vector
from eunoe.retrieval.lanes.keyword import KeywordLane
from eunoe.retrieval.quantise import pack_states, quantised
from eunoe.retrieval.question import Question
from eunoe.retrieval.reach import Reach

FRESH = """
import sys
from eunoe import Memory
with Memory.open(sys.argv[1], project="bench") as memory:
    for query in sys.argv[2:]:
        memory.recall(query)
    status = open("/proc/self/status").read()
    print(status.split("VmRSS:")[1].split()[0])
"""
REAL = 300
AT_ONCE = 2000


def fill(memory: Memory, size: int) -> list[str]:
    """Remember sentences, and store vectors and token states for all of them."""
    texts = list(sentences(size))
    for start in range(0, size, 5000):
        memory.remember_many([{"body": text} for text in texts[start : start + 5000]])
    context = memory._context
    embedder = context.semantics.embedder()
    vectors = embedder.passages(texts[:REAL])
    states = [embedder.states([text], 0, 1)[0] for text in texts[:REAL]]
    random = np.random.default_rng(7)
    with context.store.writing() as tx:
        model = tx.models.register(embedder.name, embedder.fingerprint, embedder.dim)
        tx.models.bind(model, now=context.clock.now_us())
        project = context.project(tx)
        assert project is not None
        rids = tx.vectors(project.p, model.id).missing(after=0, limit=size)
    for start in range(0, size, AT_ONCE):
        part = rids[start : start + AT_ONCE]
        picked = random.integers(0, REAL, len(part))
        rows = vectors[picked] + random.normal(0, 0.02, (len(part), vectors.shape[1])).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        small, scales = quantised(rows)
        stored = [
            Vector(rid, 0, 0, float(scales[at]), small[at].tobytes(), rows[at].astype("<f2").tobytes())
            for at, rid in enumerate(part)
        ]
        told = [
            TokenStates(rid, rid, "project", states[at].ids.astype("<u4").tobytes(), pack_states(states[at].states))
            for rid, at in zip(part, picked.tolist(), strict=True)
        ]
        with context.store.writing() as tx:
            tx.vectors(project.p, model.id).put(stored, told, ())
            tx.jobs.done(project.p, part)
    return texts


def measure(size: int, count: int, folder: Path) -> dict[str, Any]:
    """Return the times of whole recalls and of their parts over one store."""
    with Memory.open(folder / f"{size}.sqlite", project="bench") as memory:
        texts = fill(memory, size)
        context = memory._context
        embedder = context.semantics.embedder()
        asked = [f"{query} {at}" for at, query in enumerate(queries(texts, count + 20))]
        for query in asked[:20]:
            memory.recall(query)
        started = time.process_time()
        memory.remember("One more, so that what a process holds is brought up to date")
        memory.flush()
        memory.recall(asked[0])
        added = 1000 * (time.process_time() - started)
        analyser = Analyser(english_stemmer())

        def select(query: str) -> None:
            with context.store.reading() as view:
                project = context.project(view)
                assert project is not None
                accept = Filter(scopes=("project",), now=context.clock.now_us())
                question = Question(query, analyser, now=accept.now)
                KeywordLane().find(Reach(question, view.index(project.p), accept, context.recipe))

        def scan(query: str) -> None:
            with context.store.reading() as view:
                project = context.project(view)
                assert project is not None
                sight = context.semantics.sight(view, project.p)
                assert sight is not None
                sight._matrix.nearest(vectors[query], limit=context.recipe.nearest)

        vectors = {query: embedder.query(query).vector for query in asked[20:]}
        context.semantics._asked.clear()
        fresh = [f"{query} again" for query in asked[20:]]
        rounds = [
            (
                lambda query=query: memory.recall(query),
                lambda query=query, other=other: (embedder.query(other), select(query), scan(query)),
                lambda other=other: embedder.query(other + " once more"),
            )
            for query, other in zip(asked[20:], fresh, strict=True)
        ]
        whole, parts, forwards = in_turns(rounds)
        sizes = _sizes(context)
    resident = subprocess.run(
        [sys.executable, "-c", FRESH, str(folder / f"{size}.sqlite"), *asked[:50]],
        capture_output=True,
        text=True,
        check=True,
    )
    return {
        "memories": size,
        "recall": summary(whole),
        "forwards + candidates + scan": summary(parts),
        "forwards": summary(forwards),
        "ratio, p50": round(summary(whole)["p50"] / summary(parts)["p50"], 2),
        "beside the forwards, ms": round(summary(whole)["p50"] - summary(forwards)["p50"], 2),
        "remember, embed and recall one more, ms": round(added, 1),
        "RSS of a fresh process after 50 recalls, MB": int(resident.stdout) // 1024,
        **sizes,
    }


def _sizes(context: Any) -> dict[str, Any]:
    from eunoe.service.embedded import held

    found = held(context.store)
    return {"disk of meaning, KB a memory": round(found.bytes / max(found.texts, 1) / 1024, 1)}


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--model", default=os.environ.get("EUNOE_MODEL") or os.environ.get("EUNOE_TEST_MODEL"))
    arguments = parser.parse_args()
    if not arguments.model:
        print("no model: set EUNOE_MODEL, or give --model", file=sys.stderr)
        return 1
    os.environ["EUNOE_MODEL"] = arguments.model
    with tempfile.TemporaryDirectory() as folder:
        for size in arguments.sizes:
            print(json.dumps(measure(size, arguments.queries, Path(folder))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

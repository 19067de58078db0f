"""A hook searches in process on every prompt, so what it loads must cost next to nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from eunoe import Memory
from eunoe.service.flush import flush

LEAN = (
    "eunoe.domain.analyse",
    "eunoe.models.stemmer",
    "eunoe.domain.dates",
    "eunoe.domain.turns",
    "eunoe.ports.embedder",
    "eunoe.ports.vectors",
    "eunoe.retrieval.lanes.key",
    "eunoe.retrieval.lanes.keyword",
    "eunoe.retrieval.lanes.time",
    "eunoe.retrieval.lanes.vector",
    "eunoe.retrieval.pipeline",
    "eunoe.retrieval.question",
    "eunoe.retrieval.reach",
    "eunoe.retrieval.recipes",
    "eunoe.retrieval.semantics",
    "eunoe.stores.sql.text_index",
    "eunoe.stores.sqlite.connection",
)
HEAVY = {
    *("aiosql", "asyncio", "click", "dataclasses", "importlib.metadata", "inspect", "json", "logging", "numpy"),
    *("pathlib", "re", "rich", "sqlite3", "subprocess", "tempfile", "typing", "urllib.parse"),
}

SEARCH = """
import sys
from eunoe.domain.analyse import Analyser
from eunoe.models.stemmer import english_stemmer
from eunoe.ports.text_index import Filter
from eunoe.retrieval.lanes.key import KeyLane
from eunoe.retrieval.lanes.keyword import KeywordLane
from eunoe.retrieval.lanes.time import TimeLane
from eunoe.retrieval.lanes.vector import VectorLane
from eunoe.retrieval.pipeline import search
from eunoe.retrieval.question import Question
from eunoe.retrieval.reach import Reach
from eunoe.retrieval.recipes import DEFAULT
from eunoe.stores.sql.text_index import SqlTextIndex
from eunoe.stores.sqlite.connection import SqliteConnection

_, store, project, now, query = sys.argv
connection = SqliteConnection(store)
((p,),) = connection.run("select p from projects where slug = :slug", {"slug": project})
accept = Filter(scopes=("project",), now=int(now))
question = Question(query, Analyser(english_stemmer()), now=accept.now)
lanes = {lane.name: lane for lane in (KeywordLane(), KeyLane(), TimeLane(), VectorLane())}
found = search(Reach(question, SqlTextIndex(connection, p), accept, DEFAULT), lanes=lanes)
print(*(hit.passage.memory for hit in found.hits))
print(*(repr(hit.evidence) for hit in found.hits))
print(*found.failures)
print(*sys.modules)
"""


def run(code: str, *args: str) -> str:
    # -S as well: `site` itself loads what virtual environments and editable installs need, which is not ours.
    path = f"import sys; sys.path[:0] = {[entry for entry in sys.path if entry]!r}\n"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", path + code, *args], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout


def test_the_recall_path_loads_nothing_heavy() -> None:
    loaded = run(f"import {', '.join(LEAN)}\nprint(*sys.modules)").split()
    assert set(LEAN) <= set(loaded)
    assert HEAVY & set(loaded) == set()


@pytest.mark.parametrize("module", LEAN)
def test_each_module_of_the_recall_path_is_lean_alone(module: str) -> None:
    assert HEAVY & set(run(f"import {module}\nprint(*sys.modules)").split()) == set()


def test_the_lean_modules_alone_find_what_memory_wrote(store_path: Path) -> None:
    with Memory.open(store_path, project="acme/api", user="kim") as memory:
        memory.remember("Stripe webhooks need the raw body", tags=["stripe"], paths=["src/api/hooks.py"])
        memory.remember("Deploys run from the main branch", kind="howto")
        memory.remember("only kim may know that stripe is down", scope="user:kim")
        memory.remember_many([{"body": f"turn {i} speaks of invoices", "session": "s", "turn": i} for i in range(9)])
        wanted = memory.recall("stripe webhook signature", scope="project")
        now = max(hit.recorded_from for hit in wanted.hits) + timedelta(seconds=60)
        for query in ("stripe webhook signature", "invoices", "hooks.py deploys", f"What was said on {now:%d %B %Y}?"):
            expected = memory.recall(query, scope="project", limit=100).hits
            assert expected
            ids, evidence, failures, loaded = run(
                SEARCH, str(store_path), "acme/api", str(round(now.timestamp() * 1e6)), query
            ).split("\n")[:4]
            assert ids.split() == [hit.id for hit in expected]
            assert [json.loads(number) for number in evidence.split()] == [hit.evidence for hit in expected]
            assert failures == ""
            assert HEAVY & set(loaded.split()) == set()


RECALL = """
import sys
from eunoe import Memory
with Memory.open(sys.argv[1], project="acme/api", user="kim") as memory:
    memory.remember("Something new")
    print(*(hit.id for hit in memory.recall("stripe webhook").hits))
    print(*sys.modules)
"""


def test_without_a_model_what_a_model_made_is_left_alone(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EUNOE_MODEL", "fake")
    with Memory.open(store_path, project="acme/api", user="kim") as memory:
        ident = memory.remember("Stripe webhooks need the raw body").id
        flush(memory._context)
    monkeypatch.setenv("EUNOE_MODEL", "none")
    found, loaded = run(RECALL, str(store_path)).split("\n")[:2]
    assert found == ident
    assert {"numpy", "onnxruntime", "tokenizers", "eunoe.retrieval.matrix"} & set(loaded.split()) == set()

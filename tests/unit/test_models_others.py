"""The multilingual model and the reranker, where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from eunoe.errors import Unavailable
from eunoe.models.e5 import E5Embedder
from eunoe.models.manifest import find_manifest
from eunoe.models.opening import find_reranker, load_reranker
from eunoe.models.rerank import OnnxReranker

ROOT = Path(__file__).parents[2]
# Read before a fixture takes every EUNOE_* out of the environment. Others than the default lie beside it.
MODELS = Path(os.environ.get("EUNOE_TEST_MODEL") or ROOT / ".venv" / "models" / "x").parent
MULTILINGUAL = MODELS / "multilingual-e5-small"
RERANKER = MODELS / "ms-marco-MiniLM-L12-v2"


@pytest.fixture(scope="session")
def multilingual() -> E5Embedder:
    manifest = find_manifest(str(MULTILINGUAL))
    if manifest is None:
        pytest.skip(f"{MULTILINGUAL} is not there: eunoe model install multilingual --to {MULTILINGUAL}")
    return E5Embedder(str(MULTILINGUAL), manifest)


@pytest.fixture(scope="session")
def reranker() -> OnnxReranker:
    manifest = find_manifest(str(RERANKER))
    if manifest is None:
        pytest.skip(f"{RERANKER} is not there: eunoe model install reranker --to {RERANKER}")
    return OnnxReranker(str(RERANKER), manifest)


FACTS = ["The cat eats fish every day", "Webhooks need the raw body", "The office is closed in August"]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Was frisst die Katze?", 0),
        ("Коли зачинений офіс?", 2),
        ("¿Qué necesitan los webhooks?", 1),
        ("猫は何を食べる？", 0),
    ],
)
def test_a_question_in_another_language_is_nearest_to_its_answer(
    multilingual: E5Embedder, question: str, answer: int
) -> None:
    found = multilingual.query(question)
    assert found.tokens is None
    assert int(np.argmax(multilingual.passages(FACTS) @ found.vector)) == answer


def test_a_text_has_the_same_vector_in_any_company_and_thread(multilingual: E5Embedder) -> None:
    alone = np.concatenate([multilingual.passages([text]) for text in FACTS])
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(multilingual.passages(FACTS))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(rows, alone) for rows in found)  # type: ignore[arg-type]
    assert np.allclose(np.linalg.norm(alone, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize(
    "text",
    ["", "\0", "a\0b", "\ud800", "\ufdfa" * 4_000, "猫" * 15_000, "a" * 1_000_000, "e\u0301\u0323" * 2_000],
    ids=["empty", "nul", "nul inside", "half", "expanding", "cjk", "one word", "marks"],
)
def test_any_text_has_a_vector(multilingual: E5Embedder, text: str) -> None:
    """U+FDFA becomes 18 characters: without care, 500 of them write beyond a buffer of the engine."""
    vector = multilingual.passages([text])[0]
    assert np.isfinite(vector).all()
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5


def test_a_long_text_is_cut_to_what_the_model_reads(multilingual: E5Embedder) -> None:
    cut = multilingual._cut("word " * 2_000, is_query=False)
    tokens = multilingual._engine.e5_token_count(multilingual._model, cut.encode(), 0)
    assert 200 < tokens <= 256


def test_it_has_no_token_states(multilingual: E5Embedder) -> None:
    assert not multilingual.has_states
    assert [each.states.shape for each in multilingual.states(FACTS, 1, 3)] == [(0, 384), (0, 384)]


def test_loading_leaves_the_environment_as_it_was(multilingual: E5Embedder) -> None:
    code = f"""
import os
os.environ["OMP_NUM_THREADS"] = "7"
os.environ.pop("OMP_WAIT_POLICY", None)
from eunoe.models.opening import find, load
load(find({str(MULTILINGUAL)!r}, "/"), environ={{}}).query("hi")
print(os.environ["OMP_NUM_THREADS"], os.environ.get("OMP_WAIT_POLICY"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["7", "None"]


@pytest.mark.parametrize("file", ["engine.so", "libgomp.so", "model.bin"])
def test_a_damaged_engine_is_an_error_of_ours(multilingual: E5Embedder, tmp_path: Path, file: str) -> None:
    folder = tmp_path / "copy"
    folder.mkdir()
    for each in MULTILINGUAL.iterdir():
        if each.name != file:
            (folder / each.name).symlink_to(each)
    (folder / file).write_bytes(b"garbage " * 8)
    manifest = find_manifest(str(MULTILINGUAL))
    assert manifest is not None
    with pytest.raises(Unavailable) as caught:
        E5Embedder(str(folder), manifest)
    assert caught.value.code == "model_failed"
    assert "eunoe model install multilingual-e5-small" in caught.value.message


def test_what_answers_scores_higher(reranker: OnnxReranker) -> None:
    texts = ["The office is closed in August.", "We sell coffee.", "", "\ud800" * 10, "word " * 5_000]
    scores = reranker.scores("When is the office closed?", texts)
    assert len(scores) == len(texts)
    assert all(0 <= score <= 1 for score in scores)
    assert max(scores) == scores[0] > 0.5
    assert scores[1] < 0.1


def test_it_is_opened_from_the_data_directory(reranker: OnnxReranker, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / RERANKER.name).symlink_to(RERANKER)
    opened = load_reranker(find_reranker(str(tmp_path)))
    assert opened.name == RERANKER.name
    assert opened.scores("a", ["b"]) == reranker.scores("a", ["b"])


def test_a_score_depends_on_the_pair_alone(reranker: OnnxReranker) -> None:
    texts = ["The office is closed in August.", "We sell coffee."]
    both = reranker.scores("When is it closed?", texts)
    assert both == [reranker.scores("When is it closed?", [text])[0] for text in texts]
    assert reranker.scores("When is it closed?", []) == []


def test_a_text_is_read_to_its_256th_token(reranker: OnnxReranker) -> None:
    end = ["word " * 256 + tail for tail in ("", "The office is closed in August.")]
    first, second = reranker.scores("When is the office closed?", end)
    assert first == second


def test_a_damaged_reranker_is_an_error_of_ours(reranker: OnnxReranker, tmp_path: Path) -> None:
    manifest = find_manifest(str(RERANKER))
    assert manifest is not None
    shutil.copy(RERANKER / "tokenizer.json", tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"garbage")
    with pytest.raises(Unavailable) as caught:
        OnnxReranker(str(tmp_path), manifest._replace(prepared=""))
    assert caught.value.code == "model_failed"

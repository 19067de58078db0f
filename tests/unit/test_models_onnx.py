"""A sentence model in ONNX against the raw runtime: the default model where it is installed, a tiny one everywhere."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import tokenizers
from tests.tiny_model import CLS, SEP, WORDS, table, write_model

from eunoe.errors import Unavailable
from eunoe.models import onnx_session
from eunoe.models.manifest import PREPARED, Kept, Manifest, find_manifest, hash_file
from eunoe.models.masking import FUNCTION_WORDS
from eunoe.models.onnx import OnnxEmbedder

ROOT = Path(__file__).parents[2]
# Read before a fixture takes every EUNOE_* out of the environment.
MODEL = Path(os.environ.get("EUNOE_TEST_MODEL") or ROOT / ".venv" / "models" / "bge-small-en-v1.5")

TURNS = [
    "Kim: Hi Lee, how was the trip to Oslo?",
    "Lee: Great! We took the night train and it was cheaper than flying.",
    "Kim: Did you see the opera house?",
    "Lee: Yes, and we walked on its roof.",
    "Kim: I'd love to go; my sister lives in Bergen.",
    "Lee: You should visit her in May, the fjords are beautiful then.",
    "Kim: Good idea, I will ask her.",
]


@pytest.fixture(scope="session")
def model() -> OnnxEmbedder:
    """Return the default model."""
    manifest = find_manifest(str(MODEL))
    if manifest is None:
        pytest.skip(f"the default model is not installed in {MODEL}; `make test` installs it")
    return OnnxEmbedder(str(MODEL), manifest)


class Raw:
    """The same files without any of our code around them."""

    def __init__(self) -> None:
        self.tokenizer = tokenizers.Tokenizer.from_file(str(MODEL / "tokenizer.json"))
        self.session = onnxruntime.InferenceSession(str(MODEL / "model.onnx"), providers=["CPUExecutionProvider"])

    def ids(self, text: str) -> list[int]:
        found: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return found

    def states(self, ids: list[int]) -> Any:
        tokens = np.array([ids])
        feed = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}
        states = self.session.run(None, feed)[0][0]
        return states / np.linalg.norm(states, axis=1, keepdims=True)


@pytest.fixture(scope="session")
def raw(model: OnnxEmbedder) -> Raw:
    return Raw()


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("tiny") / "tiny")


@pytest.fixture
def tiny(tiny_folder: Path) -> OnnxEmbedder:
    return opened(tiny_folder)


def manifest_of(folder: Path, **changes: Any) -> Manifest:
    files = {name: hash_file(str(folder / name)) for name in ("model.onnx", "tokenizer.json")}
    manifest = Manifest("tiny", "embed", "onnx", 0, "mean", "query ", "passage ", 512, files, "", "a test", None)
    return manifest._replace(**changes)


def opened(folder: Path, **changes: Any) -> OnnxEmbedder:
    return OnnxEmbedder(str(folder), manifest_of(folder, **changes))


def unit(rows: Any) -> Any:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


# ── vectors ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_vector_is_that_of_the_raw_runtime(model: OnnxEmbedder, raw: Raw) -> None:
    text = "Stripe webhooks need the raw body"
    expected = raw.states(raw.tokenizer.encode(text).ids)[0]
    assert np.allclose(model.passages([text])[0], expected, atol=1e-6)


def test_a_text_has_the_same_vector_in_any_company(model: OnnxEmbedder) -> None:
    alone = np.concatenate([model.passages([text]) for text in TURNS])
    assert np.array_equal(model.passages(TURNS), alone)
    assert np.array_equal(model.passages(TURNS[::-1]), alone[::-1])
    assert np.array_equal(model.passages([TURNS[0], "word " * 400, TURNS[0]])[[0, 2]], alone[[0, 0]])


def test_rows_are_float32_of_length_one(model: OnnxEmbedder) -> None:
    rows = model.passages([*TURNS, "", "?", "a"])
    assert rows.dtype == np.float32
    assert rows.shape == (len(TURNS) + 3, model.dim)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert model.passages([]).shape == (0, model.dim)


def test_a_question_is_nearest_to_what_answers_it(model: OnnxEmbedder) -> None:
    question = model.query("When should the fjords be visited?").vector
    assert int(np.argmax(model.passages(TURNS) @ question)) == 5


def test_a_query_has_its_prefix_and_its_states_have_none(model: OnnxEmbedder, raw: Raw) -> None:
    text = "What did Lee take to Oslo?"
    found = model.query(text)
    prefixed = "Represent this sentence for searching relevant passages: " + text
    assert np.array_equal(found.vector, model.passages([prefixed])[0])
    assert found.tokens is not None
    expected = raw.states(raw.tokenizer.encode(text).ids)[1:-1]
    keep = [at for at, token in enumerate(raw.ids(text)) if token in found.tokens.ids]
    assert np.allclose(found.tokens.states, expected[keep], atol=1e-6)


def test_the_mean_is_taken_where_the_model_wants_it(tiny_folder: Path) -> None:
    rows = table()[[CLS, WORDS.index("cat"), WORDS.index("fish"), SEP]]
    states = rows + rows.mean(axis=0)
    mean = opened(tiny_folder, passage_prefix="").passages(["cat fish"])[0]
    first = opened(tiny_folder, passage_prefix="", pooling="cls").passages(["cat fish"])[0]
    assert np.allclose(mean, unit(states.mean(axis=0)), atol=1e-6)
    assert np.allclose(first, unit(states[0]), atol=1e-6)


def test_padding_and_truncation_of_the_exported_tokenizer_do_not_count(tiny: OnnxEmbedder) -> None:
    many = tiny.states(["cat " * 60], 0, 1)[0]
    assert len(many.ids) == 60
    assert set(tiny.query("cat dog").tokens.ids.tolist()) == {WORDS.index("cat"), WORDS.index("dog")}  # type: ignore[union-attr]


# ── token states ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_states_are_those_of_a_block_made_by_hand(model: OnnxEmbedder, raw: Raw) -> None:
    before = [token for text in TURNS[:2] for token in raw.ids(text)]
    kept = [raw.ids(text) for text in TURNS[2:5]]
    ahead = raw.ids(TURNS[5])[:60]
    block = raw.states([101, *before, *(token for ids in kept for token in ids), *ahead, 102])
    at = 1 + len(before)
    for ids, found in zip(kept, model.states(TURNS, 2, 5), strict=True):
        places = [place for place, token in enumerate(ids) if not masked(raw, token)]
        assert found.ids.tolist() == [ids[place] for place in places]
        assert np.allclose(found.states, block[[at + place for place in places]], atol=1e-6)
        at += len(ids)


def masked(raw: Raw, token: int) -> bool:
    text = raw.tokenizer.id_to_token(token)
    return text in FUNCTION_WORDS or not any(char.isalnum() for char in text)


def test_punctuation_and_function_words_have_no_states(model: OnnxEmbedder, raw: Raw) -> None:
    (found,) = model.states(["The cat's bowls, and it is on that #1 (by 3.5)!"], 0, 1)
    words = [raw.tokenizer.id_to_token(int(token)) for token in found.ids]
    assert words == ["cat", "s", "bowls", "1", "3", "5"]
    assert found.ids.dtype == np.uint32
    assert found.states.dtype == np.float32
    assert np.allclose(np.linalg.norm(found.states, axis=1), 1, atol=1e-6)


def test_only_the_last_150_tokens_before_and_60_of_the_next_text_are_read(tiny: OnnxEmbedder) -> None:
    def mean_of(before: str, after: str) -> Any:
        (found,) = tiny.states([before, "cat", after, "stripe " * 50], 1, 2)
        return found.states

    def by_hand(before: list[str], after: list[str]) -> Any:
        tokens = [CLS, *map(WORDS.index, [*before, "cat", *after]), SEP]
        rows = table()[tokens]
        return unit((rows + rows.mean(axis=0))[[1 + len(before)]])

    assert np.allclose(
        mean_of("dog " * 200 + "fish " * 150, "raw " * 60 + "body " * 90),
        by_hand(["fish"] * 150, ["raw"] * 60),
        atol=1e-5,
    )
    assert np.allclose(mean_of("fish", ""), by_hand(["fish"], []), atol=1e-5)


def test_history_gives_way_to_what_is_kept(tiny: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = inputs(tiny, monkeypatch)
    tiny.states(["dog " * 300, "cat " * 330, "fish " * 300], 1, 2)
    assert lengths == [512]


def test_texts_that_do_not_fit_are_read_in_successive_runs(tiny: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["dog " * 10, "cat " * 200, "fish " * 200, "raw " * 100, "body " * 5]
    lengths = inputs(tiny, monkeypatch)
    found = tiny.states(texts, 1, 4)
    assert [len(each.ids) for each in found] == [200, 200, 100]
    # begin, history, kept, ahead, end: the first text alone, then the next two with it as their history.
    assert lengths == [1 + 10 + 200 + 60 + 1, 1 + 150 + 300 + 5 + 1]
    monkeypatch.undo()
    for at, each in enumerate(found[1:], start=2):
        assert np.array_equal(each.states, tiny.states(texts, 2, 4)[at - 2].states)


def test_a_text_that_is_longer_than_what_fits_is_cut(tiny: OnnxEmbedder) -> None:
    (found,) = tiny.states(["cat " * 900], 0, 1)
    assert len(found.ids) == 330


def test_a_small_input_is_shared_in_the_same_proportions(tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = opened(tiny_folder, max_tokens=64)
    lengths = inputs(small, monkeypatch)
    found = small.states(["dog " * 90, "cat " * 90, "fish " * 90], 1, 2)
    assert len(found[0].ids) == 40
    assert lengths == [64]
    small.passages(["cat " * 90])
    assert lengths[1:] == [64]


def test_without_anything_to_keep_states_are_empty_and_nothing_is_computed(
    tiny: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths = inputs(tiny, monkeypatch)
    for each in tiny.states(["cat", "", "the, a ...", "\ud800", "dog"], 1, 3):
        assert each.ids.shape == (0,)
        assert each.states.shape == (0, tiny.dim)
    assert lengths == []
    assert tiny.states(["cat"], 1, 1) == []


def inputs(model: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the length of every input from now on."""
    lengths: list[int] = []
    run = model._session.run

    def counting(ids: Any, **settings: Any) -> Any:
        lengths.append(len(ids))
        return run(ids, **settings)

    monkeypatch.setattr(model._session, "run", counting)
    return lengths


# ── hostile texts ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    ["", " \n\t", "\0", "\ud800", "a\udfff\ud800b", "[SEP][CLS][PAD]", "猫" * 15_000, "a" * 1_000_000, "🧑‍🚀" * 3_000],
    ids=["empty", "white", "nul", "half", "halves", "specials", "cjk", "one word", "emoji"],
)
def test_any_text_has_a_vector_and_states(model: OnnxEmbedder, text: str) -> None:
    vector = model.passages([text])[0]
    assert np.isfinite(vector).all()
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5
    found = model.query(text)
    assert found.tokens is not None
    assert np.isfinite(found.tokens.states).all()
    assert len(model.states([text, text, text], 1, 2)) == 1


def test_no_more_than_4000_characters_are_tokenised(tiny: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The length of a text, not time: what is beyond costs nothing."""
    read: list[int] = []
    encodable = onnx_session.encodable

    def counting(text: str) -> str:
        read.append(len(text))
        return encodable(text)

    monkeypatch.setattr(onnx_session, "encodable", counting)
    tiny.passages(["a" * 1_000_000])
    tiny.query("猫" * 15_000)
    tiny.states(["dog " * 50_000, "cat " * 50_000, "fish " * 50_000], 1, 2)
    assert max(read) == 4_000


def test_names_of_special_tokens_in_a_text_are_only_text(tiny: OnnxEmbedder) -> None:
    assert SEP not in tiny._session.ids("cat [SEP] dog")
    assert CLS not in tiny._session.ids("[CLS]")


def test_half_a_surrogate_reads_as_the_replacement_character(model: OnnxEmbedder) -> None:
    assert np.array_equal(model.passages(["a \ud800 b"]), model.passages(["a \ufffd b"]))


def test_threads_get_what_one_gets_alone(model: OnnxEmbedder) -> None:
    alone = model.passages(TURNS)
    found: dict[int, Any] = {}

    def work(at: int) -> None:
        found[at] = model.passages(TURNS[at % 7 :] + TURNS[: at % 7])

    threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for at, rows in found.items():
        assert np.array_equal(rows, np.roll(alone, -(at % 7), axis=0))


# ── files ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
@pytest.mark.parametrize("damage", [b"", b"\x08\x08garbage", None], ids=["empty", "garbage", "missing"])
def test_a_damaged_file_is_named_with_what_repairs_it(
    tiny_folder: Path, tmp_path: Path, file: str, damage: bytes | None
) -> None:
    folder = shutil.copytree(tiny_folder, tmp_path / "copy")
    manifest = manifest_of(folder)
    (folder / file).unlink()
    if damage is not None:
        (folder / file).write_bytes(damage)
    with pytest.raises(Unavailable) as caught:
        OnnxEmbedder(str(folder), manifest)
    assert caught.value.code == "model_failed"
    assert str(folder / file) in caught.value.message
    assert "eunoe model install tiny" in caught.value.message


def test_a_graph_that_gives_no_rows_for_tokens_is_refused(tiny_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_folder, tmp_path / "copy")
    graph = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(graph.replace(b"input_ids", b"other_ids"))
    with pytest.raises(Unavailable) as caught:
        opened(folder)
    assert caught.value.code == "model_failed"


def test_the_prepared_graph_gives_the_very_same_numbers(model: OnnxEmbedder, tmp_path: Path) -> None:
    manifest = find_manifest(str(MODEL))
    assert manifest is not None
    for file in ("model.onnx", "tokenizer.json"):
        (tmp_path / file).symlink_to(MODEL / file)
    plain = OnnxEmbedder(str(tmp_path), manifest._replace(prepared=""))
    onnx_session.prepare(str(tmp_path))
    prepared = OnnxEmbedder(str(tmp_path), manifest._replace(prepared=onnx_session.runtime()))
    for text in TURNS:
        assert np.array_equal(plain.passages([text]), prepared.passages([text]))
    for one, two in zip(plain.states(TURNS, 1, 5), prepared.states(TURNS, 1, 5), strict=True):
        assert np.array_equal(one.states, two.states)


def test_a_graph_prepared_for_another_runtime_is_not_touched(tiny_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_folder, tmp_path / "copy")
    (folder / PREPARED).write_bytes(b"made by another version")
    other = {"files": {**manifest_of(folder).files, PREPARED: Kept("0" * 64, 1)}, "prepared": "onnxruntime 0.1 vax"}
    assert opened(folder, **other).passages(["cat"]).shape == (1, 8)
    with pytest.raises(Unavailable):
        opened(folder, **(other | {"prepared": onnx_session.runtime()}))

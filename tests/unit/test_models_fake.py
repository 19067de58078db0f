"""The model for tests: near where words are shared, and the same on every machine."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from eunoe.models.fake import FakeEmbedder


def test_texts_that_share_words_are_near() -> None:
    model = FakeEmbedder()
    texts = ["The cat eats fish", "Cats eat a fish", "Stripe webhooks need the raw body"]
    same, other = (model.passages(texts)[1:] @ model.query("the cat eats fish").vector).tolist()
    assert same > other + 0.3
    assert model.passages(["the cat eats fish"])[0] == pytest.approx(model.query("EATS: fish, cat!").vector)


def test_rows_have_length_one_whatever_the_text() -> None:
    model = FakeEmbedder(dim=5)
    rows = model.passages(["", "the", "\ud800", "\0", "a" * 10_000, "猫 eats"])
    assert rows.shape == (6, 5)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert model.passages([]).shape == (0, 5)


def test_states_are_one_for_each_word_that_says_something() -> None:
    model = FakeEmbedder()
    first, second, empty = model.states(["before", "The cat, and a cat!", "cat", "", "after"], 1, 4)
    assert len(first.ids) == 2
    assert first.ids[0] == first.ids[1] == second.ids[0]
    assert np.array_equal(first.states[0], second.states[0])
    assert empty.states.shape == (0, 32)
    assert np.allclose(np.linalg.norm(first.states, axis=1), 1, atol=1e-6)


def test_dimension_and_variant_make_another_model() -> None:
    models = [FakeEmbedder(), FakeEmbedder(dim=16), FakeEmbedder(variant="b")]
    assert len({model.fingerprint for model in models}) == 3
    assert not np.allclose(models[0].query("cat").vector, models[2].query("cat").vector)
    assert FakeEmbedder().fingerprint == models[0].fingerprint


def test_every_process_makes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from eunoe.models.fake import FakeEmbedder as F; print(F().query('the cat eats').vector.tobytes().hex())"
    seen = set()
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        seen.add(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert seen == {FakeEmbedder().query("the cat eats").vector.tobytes().hex() + "\n"}

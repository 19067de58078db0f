"""The model of a process: loaded once, missing without an error, and never another one's vectors."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from threading import Barrier, Thread
from typing import Any

import pytest

from eunoe.errors import EunoeError, Unavailable
from eunoe.models.fake import FakeEmbedder
from eunoe.ports.embedder import Meaning
from eunoe.ports.vectors import Model
from eunoe.retrieval.semantics import Semantics, other_model


class Counted(FakeEmbedder):
    """The fake model, which counts the queries that it read."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def query(self, text: str) -> Meaning:
        self.asked.append(text)
        return super().query(text)


class Loader:
    """Loads a model, or fails; counts how often it was asked to."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.calls = 0

    def __call__(self) -> Any:
        self.calls += 1
        answer = self.answers[min(self.calls, len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


class ViewOf:
    """The part of `View` that sight needs: the model that is bound, and no vectors."""

    are_searched = False

    def __init__(self, bound: Model | None) -> None:
        self._bound = bound
        self.models = self

    def bound(self) -> Model | None:
        return self._bound

    def vectors(self, p: int, model: int) -> ViewOf:
        return self

    def position(self) -> tuple[int, int]:
        return 0, 0

    def since(self, generation: int) -> Sequence[Any]:
        return []


def model_of(embedder: FakeEmbedder, *, name: str = "fake") -> Model:
    return Model(1, name, embedder.fingerprint, embedder.dim)


def test_a_missing_model_is_said_once_and_only_where_one_was_wanted() -> None:
    missing = Semantics(absent="it is not installed")
    assert [missing.say_absent() for _ in range(3)] == ["it is not installed", "", ""]
    assert Semantics().say_absent() == ""
    assert Semantics(Loader(FakeEmbedder()), absent="never").say_absent() == ""


def test_without_a_model_a_query_means_nothing_and_there_is_no_error() -> None:
    semantics = Semantics(absent="it is not installed")
    assert (semantics.wanted, semantics.ask("a cat")) == (False, None)
    for without, words in ((semantics, "it is not installed"), (Semantics(), "EUNOE_MODEL")):
        with pytest.raises(Unavailable) as caught:
            without.embedder()
        assert caught.value.code == "no_model"
        assert words in caught.value.message


def test_nothing_is_loaded_before_it_is_asked_for_and_then_once() -> None:
    loader = Loader(FakeEmbedder())
    semantics = Semantics(loader, name="fake")
    assert (semantics.wanted, loader.calls) == (True, 0)
    assert semantics.embedder() is semantics.embedder()
    semantics.ask("a cat")
    assert loader.calls == 1


def test_threads_that_ask_at_once_load_it_once() -> None:
    loader, barrier = Loader(FakeEmbedder()), Barrier(8, timeout=5)
    semantics = Semantics(loader)

    def ask() -> None:
        barrier.wait()
        semantics.ask("a cat")

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert loader.calls == 1


def test_a_model_that_cannot_be_loaded_is_tried_once_and_says_the_same_ever_after() -> None:
    failure = Unavailable("missing_extra", "a library is missing")
    loader = Loader(failure, FakeEmbedder())
    semantics = Semantics(loader)
    for _ in range(3):
        with pytest.raises(Unavailable) as caught:
            semantics.ask("a cat")
        assert caught.value is failure
    assert loader.calls == 1


def test_what_is_no_error_of_ours_is_not_remembered() -> None:
    loader = Loader(MemoryError(), FakeEmbedder())
    semantics = Semantics(loader)
    with pytest.raises(MemoryError):
        semantics.ask("a cat")
    assert semantics.ask("a cat") is not None


def test_a_query_that_was_asked_before_is_not_read_again() -> None:
    embedder = Counted()
    semantics = Semantics(Loader(embedder))
    first = semantics.ask("a cat")
    assert semantics.ask("a cat") is first
    for at in range(100):
        semantics.ask(f"query {at}")
    assert embedder.asked.count("a cat") == 1
    assert len(semantics._asked) <= 32


def test_a_failure_of_a_query_is_not_remembered() -> None:
    class Moody(Counted):
        def query(self, text: str) -> Meaning:
            if not self.asked:
                self.asked.append(text)
                raise Unavailable("model_failed", "not in the mood")
            return super().query(text)

    semantics = Semantics(Loader(Moody()))
    with suppress(EunoeError):
        semantics.ask("a cat")
    assert semantics.ask("a cat") is not None


def test_another_models_vectors_are_refused_and_the_error_names_both_and_the_way_out() -> None:
    ours, theirs = FakeEmbedder(), FakeEmbedder(variant="other")
    theirs.name = "other-model"
    semantics = Semantics(Loader(ours), name="fake")
    with pytest.raises(Unavailable) as caught:
        semantics.sight(ViewOf(model_of(theirs, name="other-model")), 1)  # type: ignore[arg-type]
    error = caught.value
    assert error.code == "other_model"
    assert error.details == {"bound": "other-model", "model": "fake"}
    for said in ("other-model", "fake", "`eunoe reembed`", "EUNOE_MODEL=other-model"):
        assert said in error.message


def test_of_two_models_of_one_name_nobody_is_told_to_choose_the_one_they_have() -> None:
    ours, theirs = FakeEmbedder(), FakeEmbedder(variant="other")
    theirs.name = ours.name = "fake"
    message = other_model(model_of(theirs), ours).message
    assert "`eunoe reembed`" in message
    assert "EUNOE_MODEL=fake" not in message


def test_there_is_no_sight_before_a_model_is_bound() -> None:
    semantics = Semantics(Loader(FakeEmbedder()))
    assert semantics.sight(ViewOf(None), 1) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("keep", [True, False])
def test_token_states_are_kept_unless_they_are_not_wanted(keep: bool) -> None:
    embedder = FakeEmbedder()
    semantics = Semantics(Loader(embedder), keep_states=keep)
    sight = semantics.sight(ViewOf(model_of(embedder)), 1)  # type: ignore[arg-type]
    assert sight is not None
    assert semantics.keeps_states is sight.has_states is keep


def test_every_project_has_a_matrix_of_its_own() -> None:
    embedder = FakeEmbedder()
    semantics = Semantics(Loader(embedder))
    view: Any = ViewOf(model_of(embedder))
    for p in (1, 2, 1):
        semantics.sight(view, p)
    assert len(semantics._matrices) == 2

"""A model behind an address, against a server on this machine that answers well, badly, late or not at all."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from tests.loopback import Asked, served

from eunoe.errors import Unavailable
from eunoe.models.endpoint import EndpointEmbedder
from eunoe.models.opening import find, load

KEY = "sk-very-secret-0815"
DIM = 4


def vector(text: str) -> list[float]:
    return [float(len(text)) + 1, 2.0, 3.0, float(sum(text.encode()) % 7)]


def embeddings(texts: list[str], *, dim: int = DIM) -> bytes:
    rows = [{"object": "embedding", "index": at, "embedding": vector(text)[:dim]} for at, text in enumerate(texts)]
    return json.dumps({"object": "list", "data": rows[::-1]}).encode()  # no server promises their order


class Server:
    """Answers as OpenAI does, after the answers in `before`; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.before: list[Callable[[Asked], None]] = []
        self.dim = DIM

    def __call__(self, asked: Asked) -> None:
        self.asked.append(asked)
        if self.before:
            self.before.pop(0)(asked)
        else:
            asked.answer(200, embeddings(json.loads(asked.body)["input"], dim=self.dim))

    @property
    def inputs(self) -> list[list[str]]:
        return [json.loads(each.body)["input"] for each in self.asked]


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def model(server: Server) -> Iterator[EndpointEmbedder]:
    with served(server) as address, embedder(f"{address}/v1", key=KEY) as made:
        yield made


@contextmanager
def embedder(address: str, **settings: Any) -> Iterator[EndpointEmbedder]:
    made = EndpointEmbedder("some-model", address, **settings)
    try:
        yield made
    finally:
        made.close()


def failure(action: Callable[[], object]) -> Unavailable:
    with pytest.raises(Unavailable) as caught:
        action()
    assert KEY not in f"{caught.value!r} {caught.value.message} {caught.value.details}"
    return caught.value


def answering(status: int, body: bytes = b"", **headers: str) -> Callable[[Asked], None]:
    return lambda asked: asked.answer(status, body, **headers)


# ── what works ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_rows_come_in_the_order_of_the_texts_and_have_length_one(model: EndpointEmbedder) -> None:
    texts = ["one", "twenty-two", "three"]
    rows = model.passages(texts)
    expected = np.array([vector(text) for text in texts], dtype=np.float32)
    assert np.allclose(rows, expected / np.linalg.norm(expected, axis=1, keepdims=True))
    assert rows.dtype == np.float32


def test_sixty_four_texts_are_one_request(model: EndpointEmbedder, server: Server) -> None:
    rows = model.passages([f"text {at}" for at in range(130)])
    assert rows.shape == (130, DIM)
    assert [len(texts) for texts in server.inputs] == [64, 64, 2]
    assert np.allclose(rows[129], model.query("text 129").vector)


def test_the_request_is_that_of_openai(model: EndpointEmbedder, server: Server) -> None:
    model.query("hello")
    (asked,) = server.asked
    assert asked.path == "/v1/embeddings"
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert json.loads(asked.body) == {"model": "some-model", "input": ["hello"], "encoding_format": "float"}


def test_without_a_key_none_is_sent(server: Server) -> None:
    with served(server) as address, embedder(address) as made:
        made.query("hello")
    assert "Authorization" not in server.asked[0].headers


def test_dimension_and_fingerprint_are_asked_once_and_only_when_needed(model: EndpointEmbedder, server: Server) -> None:
    assert server.asked == []
    assert model.dim == DIM
    assert len(model.fingerprint) == 64
    assert model.passages([]).shape == (0, DIM)
    assert len(server.asked) == 1


def test_fingerprints_tell_models_and_dimensions_apart(server: Server) -> None:
    with served(server) as address:
        one, same = (EndpointEmbedder("a", address) for _ in range(2))
        other = EndpointEmbedder("b", address)
        found = [each.fingerprint for each in (one, same, other)]
        server.dim = 3
        small = EndpointEmbedder("a", address)
        found.append(small.fingerprint)
        for each in (one, same, other, small):
            each.close()
    assert found[0] == found[1]
    assert len(set(found)) == 3


def test_it_has_no_token_states(model: EndpointEmbedder) -> None:
    assert not model.has_states
    assert model.query("hello").tokens is None
    assert [each.states.shape for each in model.states(["a", "b", "c"], 1, 3)] == [(0, DIM), (0, DIM)]


def test_awkward_texts_are_sent_as_something_that_can_be_sent(model: EndpointEmbedder, server: Server) -> None:
    model.passages(["", "\ud800", "x" * 100_000])
    assert [len(text) for text in server.inputs[0]] == [1, 1, 8_000]


def test_the_setting_opens_it_with_the_key_of_the_environment(server: Server) -> None:
    with served(server) as address:
        chosen = find(f"openai:m@{address}/v1", "/nowhere")
        assert KEY not in repr(chosen)
        made = load(chosen, environ={"EUNOE_MODEL_KEY": KEY})
        assert made.query("hello").vector.shape == (DIM,)
        assert KEY not in repr(made)
        made.close()  # type: ignore[attr-defined]
    assert server.asked[0].headers["Authorization"] == f"Bearer {KEY}"


# ── what fails ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_is_busy_is_asked_again(model: EndpointEmbedder, server: Server, status: int) -> None:
    server.before = [answering(status, Retry_After="0"), answering(status)]
    assert model.query("hello").vector.shape == (DIM,)
    assert len(server.asked) == 3


def test_after_three_tries_it_is_unreachable_for_now(model: EndpointEmbedder, server: Server) -> None:
    server.before = [answering(503, Retry_After="0")] * 9
    error = failure(lambda: model.query("hello"))
    assert (error.code, error.retryable) == ("model_unreachable", True)
    assert "503" in error.message
    assert len(server.asked) == 3


def test_a_long_wait_that_a_server_asks_for_does_not_exceed_the_time(server: Server) -> None:
    server.before = [answering(429, Retry_After="3600")] * 9
    with served(server) as address, embedder(address, query_timeout_s=0.2) as made:
        assert failure(lambda: made.query("hello")).code == "model_unreachable"
    assert len(server.asked) == 1


def test_nobody_listens(server: Server) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with embedder(f"http://127.0.0.1:{unused.getsockname()[1]}", key=KEY, query_timeout_s=0.3) as made:
            error = failure(lambda: made.query("hello"))
            assert (error.code, error.retryable) == ("model_unreachable", True)
            assert failure(lambda: made.fingerprint).code == "model_unreachable"


@pytest.mark.parametrize("begins", [False, True], ids=["silent", "trickling"])
def test_an_answer_that_does_not_come_in_time_is_given_up(server: Server, begins: bool) -> None:
    done = threading.Event()

    def late(asked: Asked) -> None:
        if begins:
            asked.begin(200)
            while not done.wait(0.02):
                asked.send(b" ")
        done.wait(5)

    server.before = [late] * 9
    with served(server) as address, embedder(address, key=KEY, query_timeout_s=0.2) as made:
        error = failure(lambda: made.query("hello"))
        done.set()
    assert (error.code, error.retryable) == ("model_unreachable", True)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_is_not_tried_again_and_names_the_setting(
    model: EndpointEmbedder, server: Server, status: int
) -> None:
    server.before = [answering(status, KEY.encode())]
    error = failure(lambda: model.query("hello"))
    assert (error.code, error.retryable) == ("model_refused", False)
    assert "EUNOE_MODEL_KEY" in error.message
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 404, 422])
def test_redirects_are_not_followed_and_other_answers_are_final(
    model: EndpointEmbedder, server: Server, status: int
) -> None:
    server.before = [answering(status, Location="/elsewhere")]
    error = failure(lambda: model.query("hello"))
    assert (error.code, error.retryable) == ("model_failed", False)
    assert str(status) in error.message
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"data": 1}',
        b'{"data": []}',
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 1, "embedding": [1, 2]}]}',
        b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": [0, 0]}]}',
        b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}',
        b'{"data": [{"index": 0, "embedding": [1e999, 1]}]}',
        b'{"data": [{"index": 0, "embedding": ["x"]}]}',
        b'{"data": [{"index": "0", "embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": [[1]]}]}',
    ],
)
def test_an_answer_of_another_form_is_an_error_of_ours(model: EndpointEmbedder, server: Server, body: bytes) -> None:
    server.before = [answering(200, body)]
    assert failure(lambda: model.query("hello")).code == "model_failed"


def test_a_model_that_changes_its_dimension_is_told(model: EndpointEmbedder, server: Server) -> None:
    model.query("hello")
    server.dim = 3
    error = failure(lambda: model.passages(["hello"]))
    assert error.code == "model_failed"
    assert "3 numbers and had 4" in error.message
    assert model.dim == DIM


def test_huge_and_tiny_numbers_become_rows_of_length_one(server: Server) -> None:
    for scale in ("1e300", "1e-300"):
        server.before = [answering(200, f'{{"data": [{{"index": 0, "embedding": [{scale}, {scale}]}}]}}'.encode())]
        with served(server) as address, embedder(address) as made:
            assert np.allclose(made.query("hello").vector, [0.5**0.5] * 2)


def test_white_space_around_a_key_is_not_sent(server: Server) -> None:
    with served(server) as address, embedder(address, key=f" {KEY}\n") as made:
        made.query("hello")
    assert server.asked[0].headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("key", ["with\nnewline", "schlüssel", "\ud800"])
def test_a_key_that_no_header_may_hold_is_refused_without_being_shown(server: Server, key: str) -> None:
    with served(server) as address:
        with pytest.raises(Unavailable) as caught:
            EndpointEmbedder("m", address, key=key).query("hello")
        assert caught.value.code == "model_refused"
        assert key not in str(caught.value)
        assert caught.value.__cause__ is None
    assert server.asked == []


@pytest.mark.parametrize("address", ["http://[", "http://exa mple", "https://"])
def test_an_address_that_is_none_is_an_error_of_ours(address: str) -> None:
    with embedder(address, query_timeout_s=0.2) as made:
        assert failure(lambda: made.query("hello")).code == "model_unreachable"


def test_a_password_in_the_address_is_not_shown(server: Server) -> None:
    server.before = [answering(401)]
    with served(server) as address, embedder(address.replace("//", "//kim:hidden@")) as made:
        assert "hidden" not in failure(lambda: made.query("hello")).message + repr(made)
    assert server.asked[0].headers["Authorization"].startswith("Basic ")

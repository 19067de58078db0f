"""A model behind an address: whatever answers `/embeddings` as OpenAI does, on this machine or another.

Texts leave the process here, which is why nothing but an explicit setting leads here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from threading import Event, Lock
from time import monotonic
from typing import Any

import httpx
import numpy as np

from eunoe.errors import Unavailable
from eunoe.models.failing import said
from eunoe.ports.embedder import Meaning, States

MAX_CHARACTERS = 8_000
_BATCH = 64
_PASSAGES_TIMEOUT_S = 10.0
_QUERY_TIMEOUT_S = 2.0
_TRIES = 3
_FIRST_WAIT_S = 0.25
_LARGEST_BYTES = 64 << 20
_LARGEST_DIM = 1 << 16
_PROBE = "dimension"
_REFUSED = (401, 403)


class EndpointEmbedder:
    """See `Embedder`. `dim` and `fingerprint` are asked of the server when they are first needed, and then fixed.

    Whether equal texts give equal vectors is up to the server.
    """

    has_states = False
    dim: int
    fingerprint: str

    def __init__(
        self,
        model: str,
        address: str,
        *,
        key: str | None = None,
        timeout_s: float = _PASSAGES_TIMEOUT_S,
        query_timeout_s: float = _QUERY_TIMEOUT_S,
    ) -> None:
        """Keep where the model is; nothing is asked yet.

        Args:
            model: Its name at the server.
            address: What comes before `/embeddings`, as a rule ending in `/v1`.
            key: Sent as a bearer token, shown nowhere.
            timeout_s, query_timeout_s: For a batch of passages and for a query, all tries together.
        """
        self.name = model
        self._place = address.partition("://")[2].rpartition("@")[2]
        self._url = f"{address.rstrip('/')}/embeddings"
        self._timeouts = timeout_s, query_timeout_s
        self._lock = Lock()
        key = (key or "").strip()
        if not key.isascii() or not key.isprintable():
            raise Unavailable("model_refused", "EUNOE_MODEL_KEY holds a character that no header may hold")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(headers=headers, follow_redirects=False)

    def __repr__(self) -> str:
        """Show the model and the server, not the key."""
        return f"EndpointEmbedder({self.name!r}, {self._place!r})"

    def __getattr__(self, name: str) -> Any:
        """Return `dim` or `fingerprint`, which only the server knows; found once, they are plain attributes.

        The fingerprint is the SHA-256 of the model's name and its dimension: all that a server tells of a model.

        Raises:
            Unavailable: as `passages`.
        """
        if name not in ("dim", "fingerprint"):
            raise AttributeError(name)
        self._ask([_PROBE], self._timeouts[1])
        return self.__dict__[name]

    def passages(self, texts: Sequence[str]) -> Any:
        """See `Embedder.passages`; 64 texts are one request.

        Raises:
            Unavailable: `model_unreachable` (retryable), `model_refused`, `model_failed`.
        """
        batches = [self._ask(texts[at : at + _BATCH], self._timeouts[0]) for at in range(0, len(texts), _BATCH)]
        return np.concatenate(batches) if batches else np.empty((0, self.dim), dtype=np.float32)

    def states(self, texts: Sequence[str], start: int, stop: int) -> list[States]:
        """See `Embedder.states`: no server tells them, so each text's are empty."""
        none = States(np.empty(0, dtype=np.uint32), np.empty((0, self.dim), dtype=np.float32))
        return [none for _ in texts[start:stop]]

    def query(self, text: str) -> Meaning:
        """See `Embedder.query`. Raises as `passages` does, within two seconds."""
        return Meaning(self._ask([text], self._timeouts[1])[0], None)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _ask(self, texts: Sequence[str], timeout_s: float) -> Any:
        """Return the rows for one batch."""
        wanted = [text[:MAX_CHARACTERS].encode("utf-8", "replace").decode() or " " for text in texts]
        body = self._post({"model": self.name, "input": wanted, "encoding_format": "float"}, timeout_s)
        try:
            data = json.loads(body)["data"]
            ordered = sorted(data, key=lambda item: item["index"])
            if [item["index"] for item in ordered] != list(range(len(texts))):
                raise self._failed(f"it gave {len(data)} vectors for {len(texts)} texts")
            rows = np.array([item["embedding"] for item in ordered], dtype=np.float64)
        except (ValueError, KeyError, TypeError) as exc:
            raise self._failed("its answer has not the form of OpenAI's") from exc
        return self._checked(rows)

    def _checked(self, rows: Any) -> Any:
        if rows.ndim != 2 or not 0 < rows.shape[1] <= _LARGEST_DIM or not np.isfinite(rows).all():
            raise self._failed("its vectors are no rows of finite numbers")
        with self._lock:
            dim = self.__dict__.setdefault("dim", rows.shape[1])
            facts = json.dumps(["endpoint", self.name, dim]).encode()
            self.__dict__.setdefault("fingerprint", hashlib.sha256(facts).hexdigest())
        if rows.shape[1] != dim:
            raise self._failed(f"its vectors have {rows.shape[1]} numbers and had {dim}: the model was changed")
        largest = np.abs(rows).max(axis=1, keepdims=True)
        if not largest.all():
            raise self._failed("a vector is all zeros")
        rows = rows / largest  # so that no square overflows
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def _post(self, body: dict[str, object], timeout_s: float) -> bytes:
        """Return what an answer with status 200 holds, after up to three tries."""
        problem, wait_s, deadline = "", _FIRST_WAIT_S, monotonic() + timeout_s
        for _ in range(_TRIES):
            if (left_s := deadline - monotonic()) <= 0:
                break
            asked_s: float | None = None
            try:
                with self._client.stream("POST", self._url, json=body, timeout=left_s) as answer:
                    if answer.status_code == httpx.codes.OK:
                        return self._read(answer, deadline)
                    problem = self._judged(answer.status_code)
                    asked_s = _seconds(answer.headers.get("Retry-After"))
            except httpx.TimeoutException:
                problem = f"nothing came within {timeout_s:g} s"
            except (httpx.HTTPError, httpx.InvalidURL) as exc:
                problem = said(exc)
            # An event that nobody sets: a wait that an interrupt ends.
            Event().wait(max(0.0, min(wait_s if asked_s is None else asked_s, deadline - monotonic())))
            wait_s *= 2
        raise Unavailable(
            "model_unreachable", f"the model {self.name} at {self._place} does not answer: {problem}", retryable=True
        )

    def _read(self, answer: httpx.Response, deadline: float) -> bytes:
        """Return the body. The client's own timeout is about the next byte, not about the last."""
        pieces, size = [], 0
        for piece in answer.iter_bytes():
            pieces.append(piece)
            size += len(piece)
            if size > _LARGEST_BYTES:
                raise self._failed("its answer does not end")
            if monotonic() > deadline:
                raise httpx.ReadTimeout("too slow")
        return b"".join(pieces)

    def _judged(self, status: int) -> str:
        """Return what is wrong with an answer after which it is worth trying again; raise for any other."""
        if status in _REFUSED:
            raise Unavailable(
                "model_refused",
                f"{self._place} refuses the model {self.name} (HTTP {status}): EUNOE_MODEL_KEY must hold its key",
            )
        if status != httpx.codes.TOO_MANY_REQUESTS and status < httpx.codes.INTERNAL_SERVER_ERROR:
            raise self._failed(f"HTTP {status}")
        return f"HTTP {status}"

    def _failed(self, why: str) -> Unavailable:
        return Unavailable("model_failed", f"the model {self.name} at {self._place} cannot be used: {why}")


def _seconds(value: str | None) -> float | None:
    """Return the wait that a server asks for in seconds; one that names a date asks for none."""
    return float(value) if value is not None and value.isascii() and value.isdigit() else None

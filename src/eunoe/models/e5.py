"""The multilingual model, run by its own engine: a C library and a packed file, called through `ctypes`.

The Python package that carries them is not needed. It has no token states.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np

from eunoe.domain.text import normalised
from eunoe.errors import Unavailable
from eunoe.models.failing import Blamed
from eunoe.models.manifest import Manifest
from eunoe.ports.embedder import Meaning, States

MAX_CHARACTERS = 4_000
_FLOATS = ctypes.POINTER(ctypes.c_float)
# Read by the library of threads when it is loaded. With more threads, which spin, one query takes seconds where
# processors are few; the private copy in the folder serves nobody else.
_THREADS = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
_LOADING = Lock()


class E5Embedder:
    """See `Embedder`. Each text is computed alone. The engine adds the prefixes `query: ` and `passage: ` itself."""

    has_states = False

    def __init__(self, folder: str, manifest: Manifest) -> None:
        """Load the model of a folder.

        Raises:
            Unavailable: `model_failed`: a file is missing or damaged, or this machine cannot run it.
        """
        self.name = manifest.name
        self.fingerprint = manifest.fingerprint
        self.dim = manifest.dim
        self._max_tokens = manifest.max_tokens
        self._fix = f"eunoe model install {manifest.name} repairs it; it needs Linux on x86-64"
        with Blamed(f"the engine of {self.name} in {folder} cannot be loaded", self._fix):
            self._engine = _engine(folder)
        packed = os.path.join(folder, "model.bin")
        self._model = self._engine.e5_load(os.fsencode(packed))
        if not self._model or self._engine.e5_dim(self._model) != self.dim:
            raise Unavailable("model_failed", f"{packed} of the model {self.name} cannot be loaded; {self._fix}")

    def passages(self, texts: Sequence[str]) -> Any:
        """See `Embedder.passages`."""
        found = np.empty((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            found[row] = self._vector(text, is_query=False)
        return found

    def states(self, texts: Sequence[str], start: int, stop: int) -> list[States]:
        """See `Embedder.states`: this model has none, so each text's are empty."""
        none = States(np.empty(0, dtype=np.uint32), np.empty((0, self.dim), dtype=np.float32))
        return [none for _ in texts[start:stop]]

    def query(self, text: str) -> Meaning:
        """See `Embedder.query`."""
        return Meaning(self._vector(text, is_query=True), None)

    def _vector(self, text: str, *, is_query: bool) -> Any:
        encoded = self._cut(_harmless(text), is_query=is_query).encode()
        vector = np.empty(self.dim, dtype=np.float32)
        if self._engine.e5_embed(self._model, encoded, int(is_query), vector.ctypes.data_as(_FLOATS)) != 0:
            raise Unavailable("model_failed", f"{self.name} cannot compute; {self._fix}")
        length = np.linalg.norm(vector)
        if not 0 < length < np.inf:
            raise Unavailable("model_failed", f"{self.name} gave no vector; {self._fix}")
        return vector / length

    def _cut(self, text: str, *, is_query: bool) -> str:
        """Return the beginning that fits; the engine itself would read all of it, window after window."""
        while (tokens := self._engine.e5_token_count(self._model, text.encode(), int(is_query))) > self._max_tokens:
            text = text[: min(len(text) * self._max_tokens // tokens, len(text) - 1)]
        return text


def _harmless(text: str) -> str:
    """Return a text that the engine may read.

    It makes room for four characters for each byte, and then replaces U+FDFA (three bytes) by 18: 500 of them write
    beyond that room. In the form NFKC nothing grows any more. A NUL would end the text.
    """
    whole = text[:MAX_CHARACTERS].replace("\0", " ").encode("utf-8", "replace").decode()
    return normalised("NFKC", whole)[:MAX_CHARACTERS]


def _engine(folder: str) -> Any:
    """Return the loaded library with its functions typed."""
    with _LOADING:
        before = {name: os.environ.get(name) for name in _THREADS}
        os.environ.update(_THREADS)
        try:
            # First, and by its own name: where it lies in the package's tree is not where it lies here.
            ctypes.CDLL(os.path.join(folder, "libgomp.so"))
            engine = ctypes.CDLL(os.path.join(folder, "engine.so"))
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
    engine.e5_load.restype = ctypes.c_void_p
    engine.e5_load.argtypes = [ctypes.c_char_p]
    engine.e5_dim.restype = ctypes.c_int
    engine.e5_dim.argtypes = [ctypes.c_void_p]
    engine.e5_token_count.restype = ctypes.c_int
    engine.e5_token_count.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
    engine.e5_embed.restype = ctypes.c_int
    engine.e5_embed.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, _FLOATS]
    return engine

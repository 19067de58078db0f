"""A model in ONNX with its tokenizer: one text at a time goes in, the numbers of its tokens come out.

There are no batches and there is no padding. The models are quantised dynamically: the scale of a layer's input is
taken over all that is computed at once, so in a batch each vector would depend a little on its neighbours.
Imported only when a model is loaded: NumPy alone takes 100 ms.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime
import tokenizers

from eunoe.errors import Unavailable
from eunoe.models.failing import Blamed
from eunoe.models.manifest import PREPARED, Manifest

# Longest text that is tokenised. 512 tokens of English are 2,300 characters; what is beyond is cut off in any case.
MAX_CHARACTERS = 4_000
_QUIET = 3  # errors, not warnings
_PROVIDERS = ["CPUExecutionProvider"]


class OnnxSession:
    """One model in memory. Thread-safe: neither part keeps state between calls.

    Attributes:
        begin, end: The tokens around every input.
        room: The most tokens between them.
    """

    def __init__(self, folder: str, manifest: Manifest) -> None:
        """Load it.

        Raises:
            Unavailable: `model_failed`: a file is missing, damaged, or nothing that can be run.
        """
        self._name = manifest.name
        self._fix = f"eunoe model install {manifest.name} repairs it"
        path = os.path.join(folder, "tokenizer.json")
        with Blamed(f"{path} of the model {self._name} cannot be loaded", self._fix):
            self._tokenizer = tokenizers.Tokenizer.from_file(path)
            self._tokenizer.no_padding()
            self._tokenizer.no_truncation()
            # Read "[SEP]" in a text as five characters, not as the end of it.
            self._tokenizer.encode_special_tokens = True
            around = self._tokenizer.encode("").ids
        is_prepared = manifest.prepared == runtime()
        path = os.path.join(folder, PREPARED if is_prepared else "model.onnx")
        with Blamed(f"{path} of the model {self._name} cannot be loaded", self._fix):
            self._session = onnxruntime.InferenceSession(path, _options(is_prepared), providers=_PROVIDERS)
            self._inputs = frozenset(each.name for each in self._session.get_inputs())
        if len(around) < 2:
            raise Unavailable("model_failed", f"the tokenizer of {self._name} puts no tokens around a text")
        self.begin, self.end = around[0], around[-1]
        self.room = max(manifest.max_tokens - 2, 1)

    def ids(self, text: str) -> list[int]:
        """Return the tokens of a text, none around it; only its first 4,000 characters are read."""
        with Blamed(f"{self._name} cannot read a text", self._fix):
            found: list[int] = self._tokenizer.encode(encodable(text[:MAX_CHARACTERS]), add_special_tokens=False).ids
        return found

    def token(self, number: int) -> str:
        """Return a token's text."""
        return self._tokenizer.id_to_token(number) or ""

    def run(self, ids: Sequence[int], *, second: int | None = None) -> Any:
        """Return the model's first output for one input, without the dimension of the batch.

        Args:
            ids: All tokens, those around the text included.
            second: Where the second text of a pair begins.
        """
        tokens = np.array([ids], dtype=np.int64)
        feed = {"input_ids": tokens, "attention_mask": np.ones_like(tokens)}
        if "token_type_ids" in self._inputs:
            feed["token_type_ids"] = types = np.zeros_like(tokens)
            if second is not None:
                types[0, second:] = 1
        with Blamed(f"{self._name} cannot compute", self._fix):
            return self._session.run(None, feed)[0][0]


def encodable(text: str) -> str:
    """Return a text in which every half surrogate is U+FFFD; tokenizers refuse those."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def runtime() -> str:
    """Return what a prepared graph is bound to."""
    return f"onnxruntime {onnxruntime.__version__} {platform.machine()}"


def prepare(folder: str) -> None:
    """Write the graph of a folder as this runtime optimises it; see `manifest.PREPARED`.

    Raises:
        Unavailable: `model_failed`: it cannot be loaded.
    """
    path = os.path.join(folder, "model.onnx")
    options = _options(False)
    options.optimized_model_filepath = written = os.path.join(folder, PREPARED)
    with Blamed(f"{path} cannot be loaded", "it is no model that onnxruntime can run"):
        onnxruntime.InferenceSession(path, options, providers=_PROVIDERS)
    os.chmod(written, 0o600)


def _options(is_prepared: bool) -> Any:
    """One thread that sleeps when it waits: a spinning pool costs the agent's machine more than it gains here."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = _QUIET
    options.enable_mem_pattern = False  # it keeps a plan for every length of a text that ever came
    if is_prepared:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    return options

"""A model that reads a question and a text together, as a reranker."""

from __future__ import annotations

import math
from collections.abc import Sequence

from eunoe.models.manifest import Manifest
from eunoe.models.onnx_session import OnnxSession

_QUERY_TOKENS = 128
_TEXT_TOKENS = 256


class OnnxReranker:
    """See `Reranker`. Each pair is one forward pass of its own."""

    def __init__(self, folder: str, manifest: Manifest) -> None:
        """Load the model of a folder.

        Raises:
            Unavailable: `model_failed`.
        """
        self.name = manifest.name
        self._session = OnnxSession(folder, manifest)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """See `Reranker.scores`. Of the question 128 tokens are read, of a text 256."""
        session = self._session
        asked = [session.begin, *session.ids(query)[:_QUERY_TOKENS], session.end]
        found = []
        for text in texts:
            pair = [*asked, *session.ids(text)[:_TEXT_TOKENS], session.end]
            found.append(_sigmoid(float(session.run(pair, second=len(asked)).ravel()[0])))
        return found


def _sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit >= 0 else (tail := math.exp(logit)) / (1 + tail)

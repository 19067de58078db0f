"""The default model through Eunoe against the raw runtime on the same files, in turns, in one process.

    python benchmarks/embedding.py [--model FOLDER] [--texts 400]

CPU milliseconds; rates are texts per CPU second. The raw side tokenises, runs and normalises one text at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
from pathlib import Path
from random import Random
from typing import Any

from measure import in_turns, summary

from eunoe.models.manifest import Manifest, find_manifest
from eunoe.models.probing import probe

_TEXT = (
    "deploy branch webhook signature raw body token session invoice queue worker retry database index migration cache "
    "the a of to and in for when because after before every only never must should needs fails returns uses holds "
    "Kim Lee Oslo Bergen Monday March server client header request answer test file folder path version error"
)
WORDS = _TEXT.split()


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("EUNOE_TEST_MODEL") or Path(sys.prefix) / "models" / "bge-small-en-v1.5"
    parser.add_argument("--model", type=Path, default=default)
    parser.add_argument("--texts", type=int, default=400)
    arguments = parser.parse_args()
    manifest = find_manifest(str(arguments.model))
    if manifest is None:
        print(f"no model in {arguments.model}: eunoe model install --to {arguments.model}", file=sys.stderr)
        return 1
    for row in measured(str(arguments.model), manifest, arguments.texts):
        print(json.dumps(row))
    return 0


def measured(folder: str, manifest: Manifest, count: int) -> list[dict[str, Any]]:
    """Return a row for each thing measured."""
    cold = probe(folder)
    before = peak_mb()
    from eunoe.models.onnx import OnnxEmbedder

    model, raw = OnnxEmbedder(folder, manifest), Raw(folder, manifest)
    texts = list(sentences(count, least=6, most=40))
    model.passages(texts[:20])
    raw.passages(texts[:20])
    pairs = [(lambda text=text: model.passages([text]), lambda text=text: raw.passages([text])) for text in texts]
    ours, theirs = in_turns(pairs)
    queries = in_turns([(lambda text=text: model.query(text),) for text in sentences(100, least=5, most=12)])[0]
    turns = texts[:200]
    blocks = in_turns(
        [(lambda at=at: model.states(turns, at, min(at + 5, len(turns))),) for at in range(0, len(turns), 5)]
    )[0]
    return [
        {"what": "passages a CPU second", "eunoe": rate(ours), "raw": rate(theirs), "share": share(ours, theirs)},
        {"what": "a passage, ms", "eunoe": summary(ours), "raw": summary(theirs)},
        {"what": "a query with token states, ms", **summary(queries)},
        {"what": "token states a turn, ms", "mean": round(sum(blocks) / len(turns), 2)},
        {"what": "cold load, ms", "best of 3": cold.load_ms, "first text": cold.first_ms},
        {"what": "memory, MB", "before": before, "peak": peak_mb(), "note": "two sessions of the model are loaded"},
    ]


class Raw:
    """The same graph and tokenizer with nothing of Eunoe's around them but the options."""

    def __init__(self, folder: str, manifest: Manifest) -> None:
        """Load."""
        import onnxruntime
        import tokenizers

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.tokenizer = tokenizers.Tokenizer.from_file(f"{folder}/tokenizer.json")
        self.session = onnxruntime.InferenceSession(f"{folder}/model.onnx", options, providers=["CPUExecutionProvider"])
        self.takes_mean = manifest.pooling == "mean"

    def passages(self, texts: list[str]) -> Any:
        """Return the rows."""
        import numpy as np

        rows = []
        for text in texts:
            ids = np.array([self.tokenizer.encode(text).ids])
            feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            states = self.session.run(None, feed)[0][0]
            row = states.mean(axis=0) if self.takes_mean else states[0]
            rows.append(row / np.linalg.norm(row))
        return np.stack(rows)


def sentences(count: int, *, least: int, most: int) -> list[str]:
    """Return the same texts each time."""
    random = Random(7)
    return [" ".join(random.choices(WORDS, k=random.randint(least, most))) for _ in range(count)]


def rate(times: list[float]) -> int:
    """Return how many a CPU second."""
    return round(1000 * len(times) / sum(times))


def share(ours: list[float], theirs: list[float]) -> float:
    """Return our rate as a share of theirs."""
    return round(sum(theirs) / sum(ours), 3)


def peak_mb() -> int:
    """Return the most memory that this process held so far."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


if __name__ == "__main__":
    raise SystemExit(main())

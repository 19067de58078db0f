"""A model tried out in a process of its own: whether it runs, how many numbers it gives, how long loading takes.

A process of its own, because a cold start can be measured only once in each, and because a library that this
processor cannot run ends the process that loads it. `python -m eunoe.models.probing TASK FOLDER` is what runs there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any, NamedTuple

from eunoe.errors import EunoeError, Unavailable
from eunoe.models.failing import said

_STARTS = 3
_TIMEOUT_S = 300
_SENTENCE = "Stripe webhooks need the raw body to check the signature"


class Probed(NamedTuple):
    """What was measured.

    Attributes:
        dim: Numbers in a vector; 0 for a reranker.
        load_ms: Milliseconds from nothing to a loaded model, libraries included: by the clock or of the processor,
            whichever is less, because other programs lengthen the first and idle threads the second.
        first_ms: Wall milliseconds of the first text.
    """

    dim: int
    load_ms: float
    first_ms: float


def probe(folder: str, *, starts: int = _STARTS) -> Probed:
    """Load the model of a folder in fresh processes, and return the best of what they measured.

    Raises:
        Unavailable: `missing_extra`, `model_failed`.
    """
    found = [Probed(**_run("probe", folder)) for _ in range(starts)]
    return min(found, key=lambda each: each.load_ms)


def prepare(folder: str) -> str:
    """Write the graph of a folder as the runtime optimises it, and return what it is bound to.

    Raises:
        Unavailable: `missing_extra`, `model_failed`.
    """
    return str(_run("prepare", folder)["prepared"])


def _run(task: str, folder: str) -> dict[str, Any]:
    # -P: what lies in the current folder must not be taken for a library.
    command = [sys.executable, "-P", "-m", "eunoe.models.probing", task, folder]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_TIMEOUT_S, check=False)  # noqa: S603 - this module
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise Unavailable("model_failed", f"the model in {folder} cannot be tried out: {said(exc)}") from exc
    try:
        facts: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.decode(errors="replace").strip().splitlines() or [""])[-1]
        ending = f"signal {-done.returncode}" if done.returncode < 0 else f"code {done.returncode}"
        raise Unavailable(
            "model_failed", f"the model in {folder} does not run here: its process ended with {ending}. {last}".rstrip()
        ) from None
    if "code" not in facts:
        return facts
    if facts["code"] == "missing_extra":
        raise Unavailable("missing_extra", facts["message"])
    raise Unavailable("model_failed", facts["message"])


def _prepared(folder: str) -> dict[str, Any]:
    from eunoe.models import onnx_session  # noqa: PLC0415 - NumPy and the runtime

    onnx_session.prepare(folder)
    return {"prepared": onnx_session.runtime()}


def _probed(folder: str) -> dict[str, Any]:
    from eunoe.models.manifest import find_manifest  # noqa: PLC0415 - what is loaded is what is measured
    from eunoe.models.opening import Choice, load, load_reranker  # noqa: PLC0415

    manifest = find_manifest(folder)
    if manifest is None:
        raise Unavailable("model_failed", f"{folder} holds no model")
    choice = Choice("ready", manifest.name, "", engine=manifest.engine, folder=folder, manifest=manifest)
    started, spent = time.perf_counter(), time.process_time()
    if manifest.task == "rerank":
        reranker = load_reranker(choice)
        loaded, load_s = time.perf_counter(), time.process_time() - spent
        reranker.scores("what do webhooks need?", [_SENTENCE])
        dim = 0
    else:
        embedder = load(choice, environ={})
        loaded, load_s = time.perf_counter(), time.process_time() - spent
        dim = embedder.dim
        embedder.query(_SENTENCE)
        embedder.passages([_SENTENCE])
    first_ms = (time.perf_counter() - loaded) * 1000
    load_ms = min(loaded - started, load_s) * 1000
    return {"dim": dim, "load_ms": round(load_ms, 1), "first_ms": round(first_ms, 1)}


def main(task: str, folder: str) -> None:
    """Print what was found, or the error, as one JSON object; whatever else is written does not come between."""
    answer = os.dup(1)
    os.dup2(2, 1)  # engines in C print to where they like
    try:
        facts = _prepared(folder) if task == "prepare" else _probed(folder)
    except EunoeError as exc:
        facts = exc.to_dict()
    with os.fdopen(answer, "w", encoding="utf-8") as file:
        json.dump(facts, file)


if __name__ == "__main__":
    main(*sys.argv[1:])

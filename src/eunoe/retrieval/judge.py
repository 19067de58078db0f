"""The judge: a logistic over what a candidate looks like. It orders candidates, and its probability is the evidence.

Weights are fitted on data of our own (benchmarks/fit.py), for each embedder, and stand in `weights/<embedder>.txt`, a
section for each of what is known of a candidate: `words`, `vector` (cosines as well), `late` (token states as well),
each for `plain` memories and `chat`. Lean: the file is plain text, because JSON would cost a hook 10 ms.
"""

from __future__ import annotations

import os.path  # pathlib costs 12 ms, and hooks load this module
from math import exp
from operator import mul

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FOLDER = os.path.join(os.path.dirname(__file__), "weights")
WORDS = "words"
UNFITTED = "any"
"""The weights of embedders that nobody fitted: they use only what does not depend on the embedder's scale."""


class Judge:
    """One fitted logistic.

    Attributes:
        bias: What a candidate begins with.
        weights: Feature → weight.
    """

    __slots__ = ("bias", "weights")

    def __init__(self, bias: float, weights: Mapping[str, float]) -> None:
        self.bias = bias
        self.weights = dict(weights)

    def evidence(self, columns: Mapping[str, Sequence[float]], count: int) -> list[float]:
        """Return the probability of each of `count` candidates; features that nobody gave count as 0."""
        held = [name for name in self.weights if name in columns]
        if not held:
            return [probability(self.bias)] * count
        weights = [self.weights[name] for name in held]
        rows = zip(*[columns[name] for name in held], strict=True)
        return [probability(sum(map(mul, weights, row), self.bias)) for row in rows]

    def parts(self, columns: Mapping[str, Sequence[float]], at: int, *, most: int = 8) -> dict[str, float]:
        """Return the features that moved a candidate most, by name, and by how much (in log odds)."""
        moved = {name: weight * columns[name][at] for name, weight in self.weights.items() if name in columns}
        largest = sorted(moved, key=lambda name: (-abs(moved[name]), name))[:most]
        return {name: round(moved[name], 3) for name in largest if moved[name]}


class Judges:
    """The judges of one embedder.

    Attributes:
        fitted: Whether they were fitted for it, so that evidence is a calibrated probability.
    """

    __slots__ = ("_sections", "fitted")

    def __init__(self, sections: Mapping[str, Judge], *, fitted: bool) -> None:
        self._sections = dict(sections)
        self.fitted = fitted

    def usual(self, kind: str) -> dict[str, tuple[float, float]]:
        """Return number → its mean and deviation among the candidates of most queries, of a kind of memories."""
        told = self._sections.get(f"usual {kind}")
        held = told.weights if told is not None else {}
        names = {name.partition("_")[0] for name in held}
        return {name: (held[f"{name}_mean"], held[f"{name}_deviation"]) for name in names}

    def judge(self, known: str, kind: str) -> Judge:
        """Return the judge for what is known (`words`, `vector`, `late`) of candidates of a kind (`plain`, `chat`)."""
        return self._sections[f"{known} {kind}"]


_LOADED: dict[str, Judges] = {}


def judges(embedder: str) -> Judges:
    """Return the judges of an embedder by its name, those of `words` without one, or those for any."""
    found = _LOADED.get(embedder)
    if found is None:
        sections = _read(WORDS)
        own = os.path.isfile(_file(embedder or WORDS))
        sections |= _read(embedder or WORDS) if own else _read(UNFITTED)
        found = _LOADED[embedder] = Judges(sections, fitted=own)
    return found


def probability(odds: float) -> float:
    """Return the logistic of log odds, without overflow."""
    if odds < 0:
        raised = exp(max(odds, -700.0))
        return raised / (1 + raised)
    return 1 / (1 + exp(-min(odds, 700.0)))


def parse(text: str) -> dict[str, Judge]:
    """Return the judges in a file's text: `[words plain]`, then `name weight` on a line each; `#` begins a remark."""
    sections: dict[str, Judge] = {}
    for block in ("\n" + text).split("\n[")[1:]:
        head, _, body = block.partition("]")
        weights = {}
        for line in body.splitlines():
            name, _, weight = line.partition(" ")
            if name and name != "#":
                weights[name] = float(weight)
        sections[head] = Judge(weights.pop("bias", 0.0), weights)
    return sections


def _read(embedder: str) -> dict[str, Judge]:
    with open(_file(embedder), encoding="utf-8") as file:
        return parse(file.read())


def _file(embedder: str) -> str:
    safe = "".join(char if char.isalnum() or char in "._-" else "_" for char in embedder)
    return os.path.join(FOLDER, f"{safe}.txt")

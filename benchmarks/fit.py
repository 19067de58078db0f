"""Fit the judges' weights on data of our own, and write them where Eunoe reads them.

    python benchmarks/fit.py [--model FOLDER_OR_NAME] [--work FOLDER] [--write] [--generated 6]

Data: `benchmarks/training/` (conversations and project memories written for this, and chats of its generator). For each
labelled question the very pipeline that recall uses gathers candidates and computes their features; a logistic with an
L2 penalty is fitted to whether a candidate is gold. Folds leave whole projects out; they give the numbers that are
printed. With `--write` the weights go to `src/eunoe/retrieval/weights/`: sections `words` always, and `vector` and
`late` for the model. The golden set and LoCoMo are never read here.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks" / "training"))

from corpus import Project, conversations, memories  # noqa: E402

from eunoe import Memory  # noqa: E402
from eunoe.ports.text_index import Filter  # noqa: E402
from eunoe.retrieval import judge as judging  # noqa: E402
from eunoe.retrieval.features import FEATURES, Sums  # noqa: E402
from eunoe.retrieval.pool import Pool  # noqa: E402
from eunoe.retrieval.question import Question  # noqa: E402
from eunoe.retrieval.reach import Reach  # noqa: E402
from eunoe.service.asking import ask  # noqa: E402
from eunoe.service.flush import flush  # noqa: E402

# How strongly weights are held near 0. Chosen on the tuning half of the golden set for single memories, and on every
# other conversation of LoCoMo for turns: chats of two hands differ so much that little but the sum carries over.
PENALTIES = {"words plain": 10.0, "words chat": 10_000.0, "plain": 1_000.0, "chat": 3_000.0}
FREE = {"chat": ("sum", "rank", "sum_top"), "plain": ()}  # of turns: the rest may only correct the sum
GATHERED = 100  # candidates of a question; from the 40 that recall judges less is learned of what is surely wrong
FOLDS = 5
PARTS = ("mean", "deviation")
# What depends on the scale of an embedder's cosines; left out of the weights for embedders that nobody fitted.
OF_THE_EMBEDDER = ("cosine", "late", "cosine_top", "late_top")
MEANT = ("cosine", "late", "meaning")


Usual = Mapping[str, tuple[float, float]]


class Asked(NamedTuple):
    """One question's candidates: their features, whether each is gold, and how many gold ones there are in all."""

    project: str
    x: Any
    y: Any
    gold: int


class Fitted(NamedTuple):
    """Weights by feature, the bias, and what folds said of them."""

    bias: float
    weights: dict[str, float]
    penalty: float
    numbers: dict[str, float]


def stored(project: Project, folder: Path) -> Memory:
    """Return a project in a store of its own; made and embedded once."""
    file = folder / f"{project.name.replace('/', '-')}.sqlite"
    is_new = not file.exists()
    memory = Memory.open(file, project=project.name)
    if is_new:
        receipts = memory.remember_many(list(project.items))
        assert len({receipt.number for receipt in receipts}) == len(project.items), project.name
    flush(memory._context)
    return memory


def usual_of(projects: Sequence[Project], opened: Mapping[str, Memory]) -> Usual:
    """Return the mean and deviation of cosine and late interaction among the candidates of every fourth question."""
    seen: dict[str, list[tuple[float, float]]] = {"cosine": [], "late": []}
    for project in projects:
        context = opened[project.name]._context
        for labelled in project.questions[::4]:
            asked = ask(context, labelled.text)
            names, rows = _candidates(project, context, labelled, asked, "late", leave_out=False, usual={})
            for name, several in seen.items():
                if name in names and len(rows.x):
                    column = rows.x[:, names.index(name)]
                    several.append((float(column.mean()), float(column.std())))
    return {name: tuple(np.mean(several, axis=0).tolist()) for name, several in seen.items() if several}


def gathered(project: Project, memory: Memory, known: str, usual: Usual) -> Iterator[tuple[list[str], Asked]]:
    """Yield, for each question, the names of the features and the best candidates that recall finds.

    Questions about single memories come twice: the second time without their gold, as questions that nothing answers.
    """
    context = memory._context
    for labelled in project.questions:
        asked = ask(context, labelled.text)
        yield _candidates(project, context, labelled, asked, known, leave_out=False, usual=usual)
        if labelled.gold and project.kind == "plain":
            yield _candidates(project, context, labelled, asked, known, leave_out=True, usual=usual)


def _candidates(
    project: Project, context: Any, labelled: Any, asked: Any, known: str, *, leave_out: bool, usual: Usual
) -> tuple[list[str], Asked]:
    with context.store.reading() as view:
        found = context.project(view)
        now = context.moment(view, found)
        sight = context.semantics.sight(view, found.p) if asked.meaning and known != "words" else None
        if sight is not None and known == "vector":
            sight.has_states = False
        question = Question(labelled.text, context.analyser, now=now, meaning=asked.meaning if sight else None)
        reach = Reach(question, view.index(found.p), Filter(scopes=context.scopes(), now=now), context.recipe, sight)
        lanes = {name: context.lanes[name].find(reach) for name in context.recipe.lanes}
        memories_ = view.memories(found.p)
        idents = sorted({each.passage.memory for lane in lanes.values() for each in lane})
        sources = {ident: each.source for ident, each in memories_.read(idents, now=now).items()}
        if leave_out:
            gone = {ident for ident, source in sources.items() if source in labelled.gold}
            lanes = {name: [each for each in lane if each.passage.memory not in gone] for name, lane in lanes.items()}
        pool = Pool(reach, lanes)
        sums = Sums(reach, pool, usual)
        order = sorted(pool.places, key=lambda at: (-sums.total[at], pool.passages[at].memory))
        places = order[:GATHERED]
        columns = FEATURES[project.kind](reach, pool, sums, places)
        idents = [pool.passages[at].memory for at in places]
        sources |= {ident: each.source for ident, each in memories_.read(idents, now=now).items()}
    columns = {name: column for name, column in columns.items() if not _unknown_to(known, name)}
    gold = frozenset() if leave_out else labelled.gold
    y = np.array([sources[ident] in gold for ident in idents], float)
    x = np.array(list(columns.values()), float).T.reshape(len(idents), len(columns))
    return list(columns), Asked(project.name, x, y, len(gold))


def _unknown_to(known: str, feature: str) -> bool:
    """Tell whether a feature is a constant where no model, or no token states, are known."""
    return any(word in feature for word in {"words": MEANT, "vector": ("late",), "late": ()}[known])


def solve(x: Any, y: Any, ridge: Any) -> Any:
    """Return the weights (the bias last) of a logistic with an L2 penalty for each, by Newton's method."""
    x = np.column_stack([x, np.ones(len(x))]).astype(np.float32)
    weights, ridge = np.zeros(x.shape[1]), np.append(ridge, 1e-6)
    for _ in range(12):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (p - y).astype(np.float32) + ridge * weights
        hessian = (x * (p * (1 - p)).astype(np.float32)[:, None]).T @ x + np.diag(ridge)
        step = np.linalg.solve(hessian, gradient)
        weights -= step
        if np.abs(step).max() < 1e-4:
            break
    return weights


def fit(head: str, names: Sequence[str], asked: Sequence[Asked]) -> Fitted:
    """Return the weights of a section, and what they come to on projects that were left out."""
    kind = head.split()[-1]
    penalty = PENALTIES.get(head, PENALTIES[kind])
    ridge = np.array([1.0 if name in FREE[kind] else penalty for name in names])
    x, y = np.concatenate([each.x for each in asked]), np.concatenate([each.y for each in asked])
    mean, deviation = x.mean(0), np.maximum(x.std(0), 1e-6)
    projects = sorted({each.project for each in asked})
    predicted: list[tuple[Asked, Any]] = []
    for left_out in (projects[at::FOLDS] for at in range(FOLDS)):
        rest = [each for each in asked if each.project not in left_out]
        fold_x = (np.concatenate([each.x for each in rest]) - mean) / deviation
        weights = solve(fold_x, np.concatenate([each.y for each in rest]), ridge)
        for each in asked:
            if each.project in left_out:
                odds = (each.x - mean) / deviation @ weights[:-1] + weights[-1]
                predicted.append((each, 1 / (1 + np.exp(-np.clip(odds, -30, 30)))))
    weights = solve((x - mean) / deviation, y, ridge)
    raw = weights[:-1] / deviation
    bias = float(weights[-1] - raw @ mean)
    return Fitted(bias, dict(zip(names, raw.tolist(), strict=True)), penalty, measured(predicted))


def measured(predicted: Sequence[tuple[Asked, Any]]) -> dict[str, float]:
    """Return loss, R@1, R@5, R@10 of the answerable, calibration error, and AUC of the best evidence."""
    loss, rows, bins, tops = 0.0, [], {}, ([], [])  # type: ignore[var-annotated]
    for each, p in predicted:
        loss -= float((each.y * np.log(p + 1e-9) + (1 - each.y) * np.log(1 - p + 1e-9)).sum())
        order = np.argsort(-p, kind="stable")
        if each.gold:
            rows.append([each.y[order[:k]].sum() / each.gold for k in (1, 5, 10)])
        tops[each.gold > 0].append(float(p.max()) if len(p) else 0.0)
        for at in order[:10]:
            held = bins.setdefault(int(min(p[at], 0.999) * 10), [0.0, 0.0, 0])
            held[0] += p[at]
            held[1] += each.y[at]
            held[2] += 1
    total = sum(held[2] for held in bins.values())
    no, yes = np.array(tops[0]), np.array(tops[1])
    auc = float((yes[:, None] > no[None, :]).mean() + 0.5 * (yes[:, None] == no[None, :]).mean()) if len(no) else 0.0
    r = np.array(rows).mean(0)
    ece = sum(abs(held[0] - held[1]) for held in bins.values()) / total
    return {"loss": loss, "R@1": 100 * r[0], "R@5": 100 * r[1], "R@10": 100 * r[2], "ECE": ece, "AUC": auc}


def written(sections: dict[str, Fitted]) -> str:
    """Return the text of a file of weights."""
    lines = ["# Made by benchmarks/fit.py; do not edit."]
    for head, fitted in sections.items():
        lines += [f"[{head}]", f"bias {fitted.bias:.6g}"]
        lines += [f"{name} {weight:.6g}" for name, weight in fitted.weights.items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Fit, print what the folds say, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=os.environ.get("EUNOE_MODEL"))
    parser.add_argument("--work", type=Path)
    parser.add_argument("--generated", type=int, default=6)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.model:
        os.environ["EUNOE_MODEL"] = arguments.model
    os.environ["EUNOE_RECALL_QUALITY"] = "best"
    work = arguments.work or Path(tempfile.mkdtemp())
    work.mkdir(parents=True, exist_ok=True)
    generator = [sys.executable, str(ROOT / "benchmarks/training/generate.py"), str(work / "generated"), "--seed", "7"]
    subprocess.run([*generator, "--conversations", str(arguments.generated)], check=True, stdout=sys.stderr)
    projects = [*memories(), *conversations(), *conversations(work / "generated")]
    with Memory.open(":memory:", project="model") as probe:
        semantics = probe._context.semantics
        name = semantics.name
        kinds = ["words", *(["vector"] if semantics.wanted else [])]
        kinds += ["late"] if semantics.wanted and semantics.embedder().has_states else []
    fitted: dict[str, Fitted] = {}
    opened = {project.name: stored(project, work) for project in projects}
    usual: dict[str, Usual] = {"plain": {}, "chat": {}}
    for kind in usual if semantics.wanted else ():
        usual[kind] = usual_of([project for project in projects if project.kind == kind], opened)
        numbers = {f"{name}_{part}": each[at] for name, each in usual[kind].items() for at, part in enumerate(PARTS)}
        fitted[f"usual {kind}"] = Fitted(0.0, numbers, 0.0, {})
    for known in kinds:
        for kind in ("plain", "chat"):
            found = [
                row
                for project in projects
                if project.kind == kind
                for row in gathered(project, opened[project.name], known, usual[kind])
            ]
            names = found[0][0]
            asked = [each for _, each in found if len(each.y)]
            fitted[f"{known} {kind}"] = result = fit(f"{known} {kind}", names, asked)
            told = "  ".join(f"{label} {value:.3f}" for label, value in result.numbers.items())
            print(f"{known:6} {kind:6} penalty {result.penalty:g}  {told}", flush=True)
            if known != "words" and name == "bge-small-en-v1.5":
                kept = [at for at, label in enumerate(names) if label not in OF_THE_EMBEDDER]
                free = [Asked(each.project, each.x[:, kept], each.y, each.gold) for each in asked]
                fitted[f"any {known} {kind}"] = fit(f"{known} {kind}", [names[at] for at in kept], free)
    if arguments.write:
        write(name, fitted)
    return 0


def write(name: str, fitted: dict[str, Fitted]) -> None:
    """Write the sections to the files that they belong to."""
    folder = Path(judging.FOLDER)
    words = {head: each for head, each in fitted.items() if head.startswith("words")}
    own = {head: each for head, each in fitted.items() if head.startswith(("usual", "vector", "late"))}
    free = {head.removeprefix("any "): each for head, each in fitted.items() if head.startswith("any ")}
    for file, sections in (("words", words), (name, own), ("any", free)):
        if sections and file:
            (folder / f"{file}.txt").write_text(written(sections), encoding="utf-8")
            print(f"wrote {file}.txt")


if __name__ == "__main__":
    sys.exit(main())

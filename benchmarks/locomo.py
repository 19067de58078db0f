"""What LoCoMo costs: processor time for each turn that is written and each question that is asked, beside the measures.

    python benchmarks/locomo.py FILE [--json OUT]

FILE is the LoCoMo JSON (Maharana et al., CC BY-NC 4.0): it is read for measuring and is no part of this project. The
measures are those of `eunoe eval --locomo FILE`, which has baselines, halves and answerability as well; this adds time.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from eunoe.bootstrap import open_session
from eunoe.evaluation.answering import facts, settled, write
from eunoe.evaluation.locomo import CATEGORIES, load, measured
from eunoe.evaluation.scoring import scored, tabled

METRICS = ("R@5", "R@10", "hit@10", "MRR", "session@5", "session@10")


def run(file: Path) -> dict[str, Any]:
    """Return the averages over all conversations of a file, in all and by category, and what they cost."""
    conversations = load(file)
    session = open_session(store=":memory:", project="locomo")
    started = time.process_time()
    shelves = [write(session.context, f"locomo/{each.at}", list(each.turns.items())) for each in conversations]
    written = time.process_time()
    settled(session.context)
    embedded = time.process_time()
    rows = [
        scored(f"{each.at}-{one.at}", one.category, each.half, one.gold, shelf.ask(one.text).names, by=measured)
        for each, shelf in zip(conversations, shelves, strict=True)
        for one in each.questions
    ]
    asked = time.process_time()
    model = facts(session.context)["model"]
    session.close()
    turns = sum(len(each.turns) for each in conversations)
    table = tabled(rows, ["both"])["both"]
    return {
        "file": file.name,
        "model": model,
        "turns": turns,
        "write_cpu_ms_per_turn": round(1000 * (written - started) / turns, 3),
        "embed_cpu_ms_per_turn": round(1000 * (embedded - written) / turns, 3),
        "recall_cpu_ms_per_question": round(1000 * (asked - embedded) / len(rows), 3),
        "results": {name: {each: _shown(each, row[each]) for each in row} for name, row in table.items()},
    }


def _shown(name: str, value: float) -> float:
    return value if name == "questions" else round(100 * value, 2)


def main() -> int:
    """Run, print a table, and write the JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    report = run(arguments.file)
    columns = (*METRICS, "questions")
    print(f"{'':12}" + "".join(f"{metric:>12}" for metric in columns))
    for name in ("all", *CATEGORIES.values()):
        if name in report["results"]:
            print(f"{name:12}" + "".join(f"{report['results'][name][metric]:>12}" for metric in columns))
    print(
        f"model {report['model']}; {report['turns']} turns, CPU: {report['write_cpu_ms_per_turn']} ms a turn to write, "
        f"{report['embed_cpu_ms_per_turn']} ms to embed; {report['recall_cpu_ms_per_question']} ms a question"
    )
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""LoCoMo through the public API: every turn one memory, every question one recall; words alone.

    python benchmarks/locomo.py FILE [--json OUT] [--limit 10]

FILE is the LoCoMo JSON (Maharana et al., CC BY-NC 4.0): it is read for measuring and is no part of this project.

Definitions. R@k: the share of a question's gold turns among the first k hits, averaged over questions. hit@k: whether
any gold turn is. MRR: 1 / rank of the first gold turn. Session any-hit@k: hits reduced to their sessions in order of
first appearance; whether a session of a gold turn is among the first k. Questions without gold turns are left out.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

from eunoe import Memory

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "adversarial"}
DEPTH = 50


def turns(conversation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a conversation's turns in order as fields of `remember`, with the turn's id as `source`."""
    items = []
    sessions = sorted(
        (int(match.group(1)) for name in conversation if (match := re.fullmatch(r"session_(\d+)", name))),
    )
    for session in sessions:
        said_at = conversation[f"session_{session}_date_time"]
        when = datetime.strptime(f"{said_at} +0000", "%I:%M %p on %d %B, %Y %z")
        for at, turn in enumerate(conversation[f"session_{session}"]):
            photo = f" [shares a photo of {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            items.append(
                {
                    "body": (turn["text"] + photo).strip() or "…",
                    "kind": "message",
                    "session": f"session_{session}",
                    "turn": at,
                    "speaker": turn["speaker"],
                    "occurred_at": when,
                    "source": turn["dia_id"],
                }
            )
    return items


def gold(question: dict[str, Any]) -> set[str]:
    """Return the ids of a question's gold turns."""
    found: set[str] = set()
    for entry in question.get("evidence", ()):
        found.update(re.findall(r"D\d+:\d+", entry))
    return found


def measure(ranked: list[tuple[str, str]], wanted: set[str]) -> dict[str, float]:
    """Return the metrics of one question; `ranked` holds (turn, session), best first."""
    ids = [turn for turn, _ in ranked]
    first = next((1 / rank for rank, turn in enumerate(ids, 1) if turn in wanted), 0.0)
    sessions = list(dict.fromkeys(session for _, session in ranked))
    gold_sessions = {f"session_{turn[1 : turn.index(':')]}" for turn in wanted}
    row = {"MRR": first}
    for k in (5, 10):
        row[f"R@{k}"] = len(wanted.intersection(ids[:k])) / len(wanted)
        row[f"hit@{k}"] = float(bool(wanted.intersection(ids[:k])))
        row[f"session@{k}"] = float(bool(gold_sessions.intersection(sessions[:k])))
    return row


def run(file: Path) -> dict[str, Any]:
    """Return the averages over all conversations of a file, in all and by category."""
    rows: dict[str, list[dict[str, float]]] = defaultdict(list)
    recall_cpu = 0.0
    written, write_cpu = 0, 0.0
    for at, sample in enumerate(json.loads(file.read_text(encoding="utf-8"))):
        with Memory.open(":memory:", project=f"locomo/conversation-{at}") as memory:
            items = turns(sample["conversation"])
            known = {item["source"] for item in items}
            started = time.process_time()
            memory.remember_many(items)
            write_cpu += time.process_time() - started
            written += len(items)
            for question in sample["qa"]:
                wanted = gold(question) & known
                if not wanted:
                    continue
                started = time.process_time()
                hits = memory.recall(question["question"], limit=DEPTH).hits
                recall_cpu += time.process_time() - started
                row = measure([(hit.source, hit.session) for hit in hits], wanted)
                rows["all"].append(row)
                rows[CATEGORIES[question["category"]]].append(row)
    table = {
        name: {metric: round(100 * sum(row[metric] for row in each) / len(each), 2) for metric in each[0]}
        | {"questions": len(each)}
        for name, each in rows.items()
    }
    return {
        "file": file.name,
        "turns": written,
        "write_cpu_ms_per_turn": round(1000 * write_cpu / written, 3),
        "recall_cpu_ms_per_question": round(1000 * recall_cpu / len(rows["all"]), 3),
        "results": table,
    }


def main() -> int:
    """Run, print a table, and write the JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    report = run(arguments.file)
    metrics = ("R@5", "R@10", "hit@10", "MRR", "session@5", "session@10", "questions")
    print(f"{'':12}" + "".join(f"{metric:>12}" for metric in metrics))
    for name in ("all", *CATEGORIES.values()):
        if name in report["results"]:
            print(f"{name:12}" + "".join(f"{report['results'][name][metric]:>12}" for metric in metrics))
    print(
        f"{report['turns']} turns, {report['write_cpu_ms_per_turn']} ms CPU a turn to write; "
        f"{report['recall_cpu_ms_per_question']} ms CPU a question"
    )
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

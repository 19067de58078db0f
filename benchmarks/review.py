"""`review`: what it costs as a project grows, and how well likely duplicates are told from facts that only look alike.

    python benchmarks/review.py [--sizes 10000 100000]

The cost is that of one whole review, over memories without links and over memories that are all linked in a chain,
where no look for orphans may stop early. The likeness is measured on sentences about software with slots: a
near-duplicate is the same sentence after one kind of edit, a fact of its own the same sentence with another word in one
or two slots.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

from corpus import sentences
from measure import cpu_ms

from eunoe import Memory
from eunoe.domain.alike import likeness, sketch
from eunoe.domain.analyse import Analyser
from eunoe.domain.postings import pack
from eunoe.models.stemmer import english_stemmer
from eunoe.retrieval.score import idf

_SLOTS = {
    "service": ["billing", "search", "checkout", "auth", "export", "mail", "upload", "report", "audit", "session"],
    "store": ["postgres", "redis", "sqlite", "kafka", "memcached", "elastic", "mongo", "nats"],
    "person": ["alice", "bob", "carla", "dmitri", "eva", "farid", "grace", "hiro"],
    "action": ["deploys", "restarts", "retries", "migrates", "scales", "caches", "rotates", "drains"],
    "thing": ["invoices", "tokens", "webhooks", "sessions", "uploads", "tickets", "backups", "certificates"],
    "reason": ["timeouts", "latency", "cost", "compliance", "ordering", "memory", "security", "reliability"],
}
_SENTENCES = [
    "The {service} service keeps its {thing} in {store} because of {reason}",
    "{person} owns the {service} service and reviews every change to its {thing}",
    "Never run the {service} migration while {store} {action} in the background",
    "We chose {store} over the alternatives for {service} mainly for {reason}",
    "The {service} worker {action} before it reads {thing} from {store}",
    "Ask {person} before touching the {thing} of the {service} service on a friday",
    "A failing {service} job leaves {thing} behind in {store} that nobody cleans up",
    "Tests of {service} need a fresh {store} or the {thing} of the last run leak into them",
]
_FILLERS = ["currently", "as of today", "in production", "please note", "by the way", "in every environment"]


def filled(rng: random.Random) -> tuple[str, dict[str, str]]:
    """Return a sentence and what fills its slots."""
    sentence = rng.choice(_SENTENCES)
    return sentence, {name: rng.choice(words) for name, words in _SLOTS.items()}


def near(rng: random.Random, text: str) -> str:
    """Return the text after one edit that leaves the fact as it is."""
    words = text.split()
    edit = rng.randrange(4)
    if edit == 0:  # a clause more
        return f"{text}, {rng.choice(_FILLERS)} {rng.choice(_FILLERS)}"
    if edit == 1:  # a word less
        del words[rng.randrange(len(words))]
    elif edit == 2:  # another order of its halves
        middle = len(words) // 2
        words = words[middle:] + words[:middle]
    else:  # another wording of one word
        words[rng.randrange(len(words))] = rng.choice(["thing", "setup", "handling", "whole", "existing", "related"])
    return " ".join(words)


def other(rng: random.Random, sentence: str, slots: dict[str, str], changed: int) -> str:
    """Return the same sentence about something else: other words in so many of its slots."""
    used = [name for name in slots if f"{{{name}}}" in sentence]
    new = dict(slots)
    for name in rng.sample(used, min(changed, len(used))):
        new[name] = rng.choice([word for word in _SLOTS[name] if word != slots[name]])
    return sentence.format(**new)


def separation(pairs: int = 2000) -> list[dict[str, Any]]:
    """Return for each threshold the share of pairs that are listed, by what they are."""
    rng, analyse = random.Random(3), Analyser(english_stemmer()).terms

    def sketched(text: str) -> dict[str, int]:
        return sketch(pack((analyse(text), (), (), ())))

    background = [sentence.format(**slots) for sentence, slots in (filled(rng) for _ in range(2000))]
    df: dict[str, int] = {}
    for text in background:
        for term in sketched(text):
            df[term] = df.get(term, 0) + 1

    class Worth(dict[str, float]):
        def __missing__(self, term: str) -> float:
            return idf(df.get(term, 1), len(background))

    worth, scores = Worth(), {name: [] for name in ("near-duplicate", "one slot differs", "two slots differ")}
    for _ in range(pairs):
        sentence, slots = filled(rng)
        text = sentence.format(**slots)
        made = {
            "near-duplicate": near(rng, text),
            "one slot differs": other(rng, sentence, slots, 1),
            "two slots differ": other(rng, sentence, slots, 2),
        }
        for name, second in made.items():
            scores[name].append(likeness(sketched(text), sketched(second), worth))
    return [
        {"threshold": at}
        | {name: round(sum(score >= at for score in found) / pairs, 3) for name, found in scores.items()}
        for at in (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85)
    ]


def cost(size: int, *, linked: bool) -> dict[str, Any]:
    """Return the CPU milliseconds of a review."""
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "s.sqlite", project="bench") as memory:
        texts = list(sentences(size))
        for start in range(0, size, 1000):
            batch: list[dict[str, Any]] = [{"body": text} for text in texts[start : start + 1000]]
            if linked and start:
                batch[0]["links"] = [start]
            memory.remember_many(batch)
        if linked:
            chain(memory, size)
        found = memory.review()
        times = sorted(cpu_ms(memory.review) for _ in range(3))
        totals = {section.name: section.total for section in found.sections}
    return {"memories": size, "linked": linked, "review, ms": round(times[1], 1), "found": totals}


def chain(memory: Memory, size: int) -> None:
    """Link each memory to the next one, straight in the table: 100,000 calls would measure something else."""
    engine: Any = memory._opened.context.store._engine  # type: ignore[attr-defined]
    with engine.writing() as connection:
        ids = [ident for (ident,) in connection.run("select id from memories order by number")]
        connection.many(
            "insert or ignore into links (p, a, b, note, made_at) values (1, :a, :b, null, 0)",
            [{"a": one, "b": two} for one, two in pairwise(ids)],
        )


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000])
    arguments = parser.parse_args()
    for row in separation():
        print(json.dumps(row))
    for size in arguments.sizes:
        for linked in (False, True):
            print(json.dumps(cost(size, linked=linked)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

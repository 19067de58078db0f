"""What memory must beat: rankings of the same texts for the same questions, made by something simpler.

A baseline takes the texts once, name → text in the order in which they were written, and returns a function from a
question to the names of at most `DEPTH` texts, best first, ties in the order of writing. None of them knows scopes,
validity or keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import apsw

DEPTH = 50
SEED = 20260101
DENSE = "dense only"

Ranker = Callable[[str], list[str]]

_WORD = re.compile(r"\w+")
_LETTERS = re.compile(r"[^\W\d_]")


def grep(texts: Mapping[str, str]) -> Ranker:
    """Rank by how many different words of the question, of three letters or more, stand in a text; case is ignored.

    A word stands in a text wherever its letters do, as with `grep -i`. A text with none of them is not found.

    >>> grep({"a": "The build broke", "b": "Rebuild the index at night"})("what rebuilds the index")
    ['b', 'a']
    """
    folded = {name: text.casefold() for name, text in texts.items()}

    def ranked(question: str) -> list[str]:
        words = {word for word in _WORD.findall(question.casefold()) if len(_LETTERS.findall(word)) >= 3}
        counts = {name: sum(word in text for word in words) for name, text in folded.items()}
        found = sorted((name for name, count in counts.items() if count), key=lambda name: -counts[name])
        return found[:DEPTH]

    return ranked


def plain_fts5(texts: Mapping[str, str]) -> Ranker:
    """Rank by SQLite's own full-text search: any word of the question, `bm25` with its defaults, no stemming.

    >>> plain_fts5({"a": "queues drain slowly", "b": "the queue drains"})("how does the queue drain?")
    ['b', 'a']
    """
    names = list(texts)
    connection = apsw.Connection(":memory:")
    connection.execute("create virtual table texts using fts5(body)")
    connection.executemany("insert into texts (rowid, body) values (?, ?)", list(enumerate(texts.values())))

    def ranked(question: str) -> list[str]:
        words = dict.fromkeys(_WORD.findall(question))
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        rows = connection.execute(
            "select rowid from texts where texts match ? order by bm25(texts), rowid limit ?", (match, DEPTH)
        )
        return [names[int(row[0])] for row in rows]

    return ranked


def dense(
    texts: Mapping[str, str], *, embed_passages: Callable[[Sequence[str]], Any], embed_query: Callable[[str], Any]
) -> Ranker:
    """Rank by the cosine of embeddings alone.

    Args:
        texts: The bodies.
        embed_passages: Texts to a float array [n, dim], rows of length 1.
        embed_query: A question to a float array [dim] of length 1.
    """
    names = list(texts)
    matrix = embed_passages(list(texts.values()))

    def ranked(question: str) -> list[str]:
        cosines = (matrix @ embed_query(question)).tolist()
        order = sorted(range(len(names)), key=lambda at: -cosines[at])
        return [names[at] for at in order[:DEPTH]]

    return ranked


def shuffled(texts: Mapping[str, str], *, seed: int = SEED) -> Ranker:
    """Rank at random, the same for the same question and seed: what luck alone finds."""
    names = list(texts)

    def ranked(question: str) -> list[str]:
        order = names.copy()
        Random(f"{seed}:{question}").shuffle(order)  # noqa: S311 - luck, not a secret
        return order[:DEPTH]

    return ranked


def nothing(_: Mapping[str, str]) -> Ranker:
    """Find nothing: what an agent without memory has."""
    return lambda _: []


def rankers(
    texts: Mapping[str, str], bodies: Mapping[str, str], embedder: Any, *, absent: str = ""
) -> tuple[dict[str, Ranker], dict[str, str]]:
    """Return the baselines over the same texts by name, and why one is left out.

    Args:
        texts: All the words of each memory.
        bodies: Their bodies alone, for the embeddings.
        embedder: See `eunoe.ports.embedder`; None without a model.
        absent: Why there is none.
    """
    made = {"grep": grep(texts), "plain FTS5": plain_fts5(texts)}
    skipped = {}
    if embedder is None:
        skipped[DENSE] = absent or "there is no model; set EUNOE_MODEL"
    else:
        made[DENSE] = dense(
            bodies, embed_passages=embedder.passages, embed_query=lambda question: embedder.query(question).vector
        )
    return made | {"no memory": nothing(texts), "random": shuffled(texts)}, skipped

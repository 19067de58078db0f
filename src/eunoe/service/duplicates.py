"""Likely duplicates: pairs of memories that say nearly the same by their words. A suggestion, at a bounded price."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from eunoe.domain.alike import Sketch, likeness, sketch
from eunoe.domain.hard_tokens import hard_tokens
from eunoe.domain.memory import Memory
from eunoe.ports.store import View
from eunoe.ports.text_index import Filter, Passage, Statistics
from eunoe.retrieval.score import idf

LOOKED_AT = 500  # memories, the first by number
NEIGHBOURS = 3  # of each; so at most 1,500 comparisons, however large the project is
# Of near-duplicates 86 % are this alike, of facts with another word in one place 9 %, in two places 0.1 %
# (benchmarks/review.py). Plain overlap cannot tell: where it finds 54 % of the first, it takes 78 % of the second.
THRESHOLD = 0.75

_ASKED = 5  # terms of a memory that are asked for, the rarest: near-duplicates share most of them
_COMMON, _COMMON_SHARE = 100, 0.002  # a term in more memories than this tells little, and costs much to ask for
# In a small project whatever two memories share is in many of all, and would count for nothing.
_BACKGROUND = 1000
_TERMS_AT_ONCE = 500
# Longer texts are documents: comparing them by their words says little, and reading them costs much.
_LONGEST = 4000


class Likely(NamedTuple):
    """Two memories that say nearly the same, the older first, and how alike they are, 0 to 1."""

    one: Memory
    other: Memory
    likeness: float


def likely_duplicates(view: View, p: int, accept: Filter) -> list[Likely]:
    """Return pairs that say nearly the same, the most alike first, ties by number; each pair once.

    Pairs that differ in a number, a name, a flag or a negation are two facts and are left out, as are pairs of
    different scopes, turns of conversations, and documents.
    """
    near = _Near(view, p, accept)
    pairs = near.pairs()
    idents = list(dict.fromkeys(ident for pair in pairs for ident in pair))
    memories = view.memories(p).read(idents, now=accept.now)
    hard = {ident: hard_tokens(memory.body) for ident, memory in memories.items()}
    found = []
    for (a, b), alike in pairs.items():
        if memories[a].scope == memories[b].scope and hard[a] == hard[b]:
            one, other = sorted((memories[a], memories[b]), key=lambda memory: memory.number)
            found.append(Likely(one=one, other=other, likeness=alike))
    return sorted(found, key=lambda pair: (-pair.likeness, pair.one.number, pair.other.number))


class _Near:
    """The neighbours of a project's first memories."""

    def __init__(self, view: View, p: int, accept: Filter) -> None:
        self._index = view.index(p)
        self._accept = accept
        self._first = [each for each in view.upkeep(p).first(accept, limit=LOOKED_AT) if each.length <= _LONGEST]
        self._sketches: dict[str, Sketch] = {}
        self._worth: dict[str, float] = {}
        self._df: dict[str, int] = {}
        self._documents = 0

    def pairs(self) -> dict[tuple[str, str], float]:
        """Return (id, id), the smaller first, of all neighbours that are alike enough → how alike they are."""
        self._learn(self._first)
        neighbours = {each.memory: self._neighbours(each) for each in self._first}
        self._learn(each for found in neighbours.values() for each in found)
        pairs: dict[tuple[str, str], float] = {}
        for ident, found in neighbours.items():
            for each in found:
                a, b = sorted((ident, each.memory))
                if (a, b) not in pairs:
                    pairs[a, b] = round(likeness(self._sketches[a], self._sketches[b], self._worth), 3)
        return {pair: alike for pair, alike in pairs.items() if alike >= THRESHOLD}

    def _neighbours(self, passage: Passage) -> list[Passage]:
        shared = sorted((self._df[term], term) for term in self._sketches[passage.memory] if self._df[term] > 1)
        common = max(_COMMON, _COMMON_SHARE * self._documents)
        asked = [term for at, (df, term) in enumerate(shared[:_ASKED]) if at < 2 or df <= common]
        if not asked:
            return []
        found = self._index.candidates(asked, self._accept, limit=NEIGHBOURS + 1)
        others = [each for each in found if each.memory != passage.memory]
        return [each for each in others[:NEIGHBOURS] if each.turn is None and each.length <= _LONGEST]

    def _learn(self, passages: Iterable[Passage]) -> None:
        """Take in the words of passages, and what each word is worth in this project."""
        for each in passages:
            if each.memory not in self._sketches:
                self._sketches[each.memory] = sketch(each.terms)
        new = sorted({term for words in self._sketches.values() for term in words} - self._df.keys())
        for start in range(0, len(new), _TERMS_AT_ONCE):
            batch = new[start : start + _TERMS_AT_ONCE]
            statistics: Statistics = self._index.statistics(batch, self._accept.scopes)
            self._documents = statistics.documents
            for term in batch:
                self._df[term] = statistics.df.get(term, 0)
                self._worth[term] = idf(self._df[term], max(self._documents, _BACKGROUND))

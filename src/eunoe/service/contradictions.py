"""Memories that say the same of different things: at most one of them may still hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

from eunoe.domain.hard_tokens import hard_tokens
from eunoe.domain.memory import Memory

LEAST_TERMS = 3  # fewer words in common than this say too little
_LONGEST = 600  # characters: a long text has many numbers, and differs in one of them without contradicting


def contradictions(memories: Iterable[Memory], analyse: Callable[[str], list[str]]) -> list[tuple[Memory, Memory]]:
    """Return pairs that differ only in a number, a date, a name, a flag or a negation, the later of each first.

    Keyed memories are left out: a key has one value at a time. So are turns of a conversation, which are events.
    """
    groups: dict[tuple[str, ...], list[Memory]] = {}
    for memory in memories:
        if memory.key is None and memory.turn is None and memory.status == "active" and len(memory.body) <= _LONGEST:
            hard = hard_tokens(memory.body)
            kept = {term for token in hard for term in analyse(token)}
            plain = tuple(term for term in analyse(memory.body) if term not in kept)
            if hard and len(set(plain)) >= LEAST_TERMS:
                groups.setdefault((memory.scope, *plain), []).append(memory)
    pairs = []
    for group in groups.values():
        group.sort(key=lambda memory: (memory.confirmed_at, memory.id), reverse=True)
        pairs += [
            (later, earlier)
            for later, earlier in pairwise(group)
            if hard_tokens(later.body) != hard_tokens(earlier.body)
        ]
    return pairs

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
    groups: dict[tuple[str, ...], list[tuple[Memory, frozenset[str]]]] = {}
    for memory in memories:
        if memory.key is None and memory.turn is None and len(memory.body) <= _LONGEST:
            hard = hard_tokens(memory.body)
            plain = _plain(memory.body, hard, analyse)
            if len(set(plain)) >= LEAST_TERMS:
                groups.setdefault((memory.scope, *plain), []).append((memory, hard))
    pairs = []
    for group in groups.values():
        group.sort(key=lambda each: (each[0].confirmed_at, each[0].id), reverse=True)
        pairs += [(later[0], earlier[0]) for later, earlier in pairwise(group) if later[1] != earlier[1]]
    return pairs


def _plain(body: str, hard: frozenset[str], analyse: Callable[[str], list[str]]) -> tuple[str, ...]:
    """Return the terms of a text that are not those of its hard tokens."""
    kept = {term for token in hard for term in analyse(token)}
    return tuple(term for term in analyse(body) if term not in kept)

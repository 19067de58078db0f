"""What a model is given to read: texts one by one, and turns of conversations in blocks.

A turn's vector is that of its own words. Its token states are read among the turns around it: three before a block of
five, one after it. All that was read together is of one origin and scope, and every text that went in is noted as a
source, so that when one of them goes, what was derived from it goes as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from eunoe.domain.canonical import parse
from eunoe.domain.parts import parts
from eunoe.errors import EunoeError
from eunoe.ports.embedder import Embedder, States
from eunoe.ports.vectors import MOST_PARTS, Jobs, Text, TokenStates, Vector, whole

Piece = tuple[tuple[int, int], str]  # characters of the body, and what is read of them

KEPT = 5
BEFORE = 3
AFTER = 1
_OWN_TO_THE_TURN = ("author_type", "agent", "turn")


class Block(NamedTuple):
    """Turns that are read together; those from `start` to `stop` get their states from it."""

    texts: tuple[Text, ...]
    start: int
    stop: int

    @property
    def id(self) -> int:
        """Return its number: that of its first text that is kept."""
        return min(text.rid for text in self.texts[self.start : self.stop])

    def reading(self) -> tuple[Any, ...]:
        """Return all that the model reads of it."""
        return (self.start, self.stop, *((text.rid, _content(text)) for text in self.texts))


class Plan(NamedTuple):
    """What jobs ask for.

    Attributes:
        rids: The jobs.
        texts: What is to be embedded by itself.
        blocks: What is to be read together.
        turns: Those of the jobs that are turns of conversations.
        gone: Those that are no longer believed.
    """

    rids: tuple[int, ...]
    texts: tuple[Text, ...]
    blocks: tuple[Block, ...]
    turns: frozenset[int]
    gone: tuple[int, ...]

    def contents(self) -> dict[int, tuple[Any, ...]]:
        """Return row number → what the model reads of it, and as whose."""
        return {text.rid: _content(text) for text in self.texts}

    def readings(self) -> dict[int, tuple[Any, ...]]:
        """Return block → all that the model reads for it."""
        return {block.id: block.reading() for block in self.blocks}

    def read(self, embedder: Embedder, *, with_states: bool, go_on: Callable[[], bool]) -> Made | None:
        """Let a model read everything; slow. Raises what the model raises.

        Args:
            embedder: The model.
            with_states: Whether token states are wanted.
            go_on: Asked before each text; once it says no, the result is None.
        """
        vectors: list[Vector] = []
        states: list[TokenStates] = []
        for text in self.texts:
            if not go_on():
                return None
            pieces = _pieces(text)
            vectors += _vectors(text, pieces, embedder)
            if with_states and text.turn is None:
                for at, (_, piece) in enumerate(pieces):
                    rid = text.rid + at + (len(pieces) > 1)
                    states.append(_stored(rid, text.rid, text.scope, embedder.states([piece], 0, 1)[0]))
        sources: list[tuple[int, int]] = []
        for block in self.blocks if with_states else ():
            if not go_on():
                return None
            try:
                read = embedder.states([spoken(text) for text in block.texts], block.start, block.stop)
            except EunoeError as exc:
                if exc.retryable:
                    raise
                continue  # one of them cannot be read; each still has its vector, or is a failure of its own
            for text, made in zip(block.texts[block.start : block.stop], read, strict=True):
                states.append(_stored(text.rid, block.id, text.scope, made))
            sources += [(text.rid, block.id) for text in block.texts]
        return Made(vectors, states, sources)


class Made(NamedTuple):
    """What a model made of a plan."""

    vectors: list[Vector]
    states: list[TokenStates]
    sources: list[tuple[int, int]]

    def still_true(self, then: Plan, now: Plan) -> tuple[Made, list[int]]:
        """Return what still stands, and the jobs that are done with it; others stay queued.

        Args:
            then: The plan that this was made of.
            now: The same jobs planned anew, in the transaction that stores.
        """
        before, after = then.contents(), now.contents()
        same = {rid for rid, content in before.items() if after.get(rid) == content}
        read, reads = then.readings(), now.readings()
        blocks = {block for block, reading in read.items() if reads.get(block) == reading}
        single = same - then.turns  # what was read by itself is a block of its own
        kept = Made(
            [vector for vector in self.vectors if whole(vector.rid) in same],
            [each for each in self.states if each.block in blocks or each.block in single],
            [(source, block) for source, block in self.sources if block in blocks],
        )
        done = [rid for rid in then.rids if after.get(rid) == before.get(rid)]
        return kept, done if read == reads else [rid for rid in done if rid not in then.turns]


def planned(jobs: Jobs, p: int, rids: Sequence[int]) -> Plan:
    """Return what is to be done for jobs: a text that is no longer believed only has its neighbours read anew."""
    texts = jobs.texts(p, rids)
    live = tuple(text for text in texts if text.live)
    groups = {group: None for text in texts for group in _groups(text)}
    blocks = [block for session, at in groups for block in _blocks(jobs, p, session, at)]
    turns = frozenset(text.rid for text in texts if text.turn is not None)
    gone = tuple(text.rid for text in texts if not text.live)
    return Plan(tuple(rids), live, tuple(blocks), turns, gone)


def spoken(text: Text) -> str:
    """Return what a model reads of a turn: who said it, and what."""
    return f"{text.speaker}: {text.body}" if text.speaker else text.body


def _groups(text: Text) -> Iterable[tuple[str, int]]:
    """Return the groups of turns that read a turn: its own, the one that looks ahead to it, those that look back."""
    if text.turn is None or text.session is None:
        return ()
    first, last = (text.turn - AFTER) // KEPT, (text.turn + BEFORE) // KEPT
    return ((text.session, group) for group in range(max(first, 0), last + 1))


def _blocks(jobs: Jobs, p: int, session: str, group: int) -> Iterable[Block]:
    """Return the blocks of a group: one, unless origin or scope change inside it."""
    first = group * KEPT
    turns = jobs.turns(p, session, first - BEFORE, first + KEPT - 1 + AFTER)
    runs: list[list[Text]] = []
    for text in turns:
        if runs and _source(runs[-1][-1]) == _source(text):
            runs[-1].append(text)
        else:
            runs.append([text])
    for run in runs:
        kept = [at for at, text in enumerate(run) if text.turn is not None and first <= text.turn < first + KEPT]
        if kept:
            yield Block(tuple(run), kept[0], kept[-1] + 1)


def _source(text: Text) -> tuple[str, Any]:
    """Return what texts that are read together have in common; who of two spoke is no difference."""
    origin: Mapping[str, Any] = parse(text.origin)
    return text.scope, {name: value for name, value in origin.items() if name not in _OWN_TO_THE_TURN}


def _pieces(text: Text) -> list[Piece]:
    """Return the pieces that a model reads: one for a short text, several for a long one."""
    if text.turn is not None:
        return [((0, 0), spoken(text))]
    head = text.title if text.title and text.title not in text.body else ""
    stated = f"{text.key}: {text.value}" if text.key and text.value and text.value not in text.body else text.key or ""
    spans = parts(text.body, most=MOST_PARTS)
    if not spans:
        return [((0, 0), "\n".join(filter(None, (head, text.body, stated))))]
    return [(span, "\n".join(filter(None, (head, text.body[slice(*span)])))) for span in spans]


def _vectors(text: Text, pieces: Sequence[Piece], embedder: Embedder) -> list[Vector]:
    """Return the vector of a text and those of its parts; a whole in parts has their mean."""
    import numpy as np  # noqa: PLC0415 - 100 ms, only where there is a model

    from eunoe.retrieval.quantise import quantised  # noqa: PLC0415 - the same

    rows = embedder.passages([piece for _, piece in pieces])
    spans = [span for span, _ in pieces]
    if len(pieces) > 1:
        mean = rows.mean(axis=0)
        rows = np.concatenate([(mean / max(float(np.linalg.norm(mean)), 1e-9))[None, :], rows])
        spans = [(0, len(pieces)), *spans]
    small, scales = quantised(rows)
    exact = rows.astype("<f2")
    return [
        Vector(text.rid + at, first, last, float(scales[at]), small[at].tobytes(), exact[at].tobytes())
        for at, (first, last) in enumerate(spans)
    ]


def _stored(rid: int, block: int, scope: str, made: States) -> TokenStates:
    from eunoe.retrieval.quantise import pack_states  # noqa: PLC0415 - NumPy, only where there is a model

    return TokenStates(rid, block, scope, made.ids.astype("<u4").tobytes(), pack_states(made.states))


def _content(text: Text) -> tuple[Any, ...]:
    return (text.scope, text.origin, text.title, text.body, text.key, text.value, text.speaker)

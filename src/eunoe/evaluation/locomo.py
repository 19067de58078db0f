"""LoCoMo (Maharana et al., CC BY-NC 4.0): conversations of many sessions, and questions about them.

The file is read for measuring and is no part of Eunoe; no text of it goes into a report. Every turn is one memory.
Questions whose gold turns are not in the conversation are left out. A session is in the ranking where its first turn
is: session@k tells whether a session of a gold turn is among the first k sessions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from eunoe.domain.instants import DAY_US, to_us
from eunoe.errors import Invalid
from eunoe.evaluation.golden import parse_json, read_text
from eunoe.evaluation.metrics import hit_at, measure

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "adversarial"}
HALVES = ("even", "odd")

_TURN = re.compile(r"D\d+:\d+")


class Asked(NamedTuple):
    """A question: its place in the conversation's list from 0, its category, its text, and its gold turns."""

    at: int
    category: str
    text: str
    gold: frozenset[str]


class Conversation(NamedTuple):
    """One conversation: its turns as fields of `remember`, by the turn's id, in order; and its questions.

    Attributes:
        at: Its place in the file, from 0; even and odd ones are the two halves.
    """

    at: int
    turns: Mapping[str, Mapping[str, Any]]
    questions: tuple[Asked, ...]

    @property
    def half(self) -> str:
        """Return `even` or `odd`."""
        return HALVES[self.at % 2]

    @property
    def texts(self) -> dict[str, str]:
        """Return what a file of the conversation holds, turn by turn: who speaks, and what they say."""
        return {name: f"{turn['speaker']}: {turn['body']}" for name, turn in self.turns.items()}


def load(file: Path) -> list[Conversation]:
    """Read a LoCoMo file. Raises `Invalid` (`bad_evaluation_data`)."""
    samples = parse_json(read_text(file), file.name)
    try:
        return [_conversation(at, sample) for at, sample in enumerate(samples)]
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        raise Invalid("bad_evaluation_data", f"{file.name} is not in the form of LoCoMo: {exc!r}") from exc


def session_of(turn: str) -> str:
    """Return the session of a turn's id.

    >>> session_of("D3:17")
    'D3'
    """
    return turn.partition(":")[0]


def measured(ranked: Sequence[str], gold: Collection[str]) -> dict[str, float]:
    """Return the measures of turns, and whether a gold session is among the first 5 and 10 sessions.

    >>> measured(["D2:1", "D2:4", "D1:3"], ["D1:9"])["session@5"]
    1.0
    """
    sessions, wanted = list(dict.fromkeys(map(session_of, ranked))), set(map(session_of, gold))
    return measure(ranked, gold) | {f"session@{k}": hit_at(sessions, wanted, k) for k in (5, 10)}


def _conversation(at: int, sample: Mapping[str, Any]) -> Conversation:
    turns = _turns(sample["conversation"])
    asked = [
        Asked(number, CATEGORIES[each["category"]], each["question"], _gold(each) & turns.keys())
        for number, each in enumerate(sample["qa"])
    ]
    return Conversation(at, turns, tuple(each for each in asked if each.gold))


def _turns(conversation: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    matches = (re.fullmatch(r"session_(\d+)", name) for name in conversation)
    for session in sorted(int(match[1]) for match in matches if match):
        said_at = conversation[f"session_{session}_date_time"]
        when = datetime.strptime(f"{said_at} +0000", "%I:%M %p on %d %B, %Y %z")
        for at, turn in enumerate(conversation[f"session_{session}"]):
            photo = f" [shares a photo of {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            found[turn["dia_id"]] = {
                "body": (turn["text"] + photo).strip() or "…",
                "kind": "message",
                "session": f"session_{session}",
                "turn": at,
                "speaker": turn["speaker"],
                "occurred_at": when,
                "source": turn["dia_id"],
            }
    return found


def _gold(question: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(turn for entry in question.get("evidence", ()) for turn in _TURN.findall(entry))


def end_us(conversations: Sequence[Conversation]) -> int:
    """Return the instant at which to ask: a day after the last turn of all."""
    turns = (turn for each in conversations for turn in each.turns.values())
    return max(to_us(turn["occurred_at"], setting="occurred_at") for turn in turns) + DAY_US

"""Turns are read among the turns around them; nobody's words are read with another's, and what is forgotten is gone."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases.conftest import Open, put_in
from tests.embedders import ContextualEmbedder
from tests.strategies import budget

from eunoe import Memory, bootstrap
from eunoe.testing.clock import ManualClock, SeededEntropy

SAID = (
    "amber",
    "basalt",
    "cobalt",
    "dolomite",
    "ebony",
    "flint",
    "garnet",
    "hematite",
    "jade",
    "lapis",
    "mica",
    "opal",
)


def say(m: Memory, turn: int, body: str | None = None, **how: Any) -> int:
    """Say a turn of the session `s`; return its number."""
    said = body or f"{SAID[turn % len(SAID)]} number{turn}"
    return m.remember(said, kind="message", session="s", turn=turn, **how).number


def states(m: Memory) -> dict[str, tuple[bytes, bytes]]:
    """Return the body of each believed text → its token states."""
    with m._context.store.reading() as view:
        bound, p = view.models.bound(), m._context.existing(view).p
        assert bound is not None
        held = view.vectors(p, bound.id)
        texts = view.jobs.texts(p, [row[1] for row in held.since(0)])
        found = held.states([text.rid for text in texts if text.live])
        return {text.body: found[text.rid] for text in texts if text.rid in found}


def statistics(m: Memory) -> Any:
    """Return how many texts hold each of the words that were said."""
    words = [word.lower() for word in SAID]
    tokens = [int(token) for token in ContextualEmbedder().query(" ".join(words)).tokens.ids]  # type: ignore[union-attr]
    with m._context.store.reading() as view:
        bound, p = view.models.bound(), m._context.existing(view).p
        assert bound is not None
        return view.vectors(p, bound.id).token_statistics(tokens, m._context.scopes())


def as_if_never(opened: Open, turns: list[int], **revised: str) -> Memory:
    """Return a memory in which only these turns were ever said."""
    m = opened("acme/never", at=":memory:", model=ContextualEmbedder(), background=False)
    for turn in turns:
        say(m, turn, revised.get(f"turn{turn}"))
    m.flush()
    return m


# ── read together ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_turn_is_read_among_those_around_it(opened: Open) -> None:
    model = ContextualEmbedder()
    m = opened(at=":memory:", model=model, background=False)
    for turn in range(12):
        say(m, turn, f"turn{turn}")
    m.flush()
    assert set(states(m)) == {f"turn{turn}" for turn in range(12)}
    for turn in range(12):
        assert any(f"turn{turn}" in read and f"turn{max(turn - 1, 0)}" in read for read in model.read)
    assert max(len(read) for read in model.read) <= 9


def test_who_said_it_is_read_with_it(opened: Open) -> None:
    model = ContextualEmbedder()
    m = opened(at=":memory:", model=model, background=False)
    say(m, 1, "I like jade", speaker="Ana")
    say(m, 2, "So do I", speaker="Björn")
    m.flush()
    assert ("Ana: I like jade", "Björn: So do I") in model.read


@pytest.mark.parametrize(
    "pattern", [*["".join(each) for each in product("ps", repeat=5)][1:-1:3], "psps" * 4, "pppssspp"]
)
def test_turns_of_two_scopes_are_never_read_together(opened: Open, pattern: str) -> None:
    model = ContextualEmbedder()
    m = opened(at=":memory:", model=model, background=False)
    for turn, scope in enumerate(pattern):
        say(m, turn, f"{scope} {turn}", scope="user:kim" if scope == "s" else "project")
    m.flush()
    assert len(states(m)) == len(pattern)
    for read in model.read:
        assert len({text[0] for text in read}) == 1, read


@pytest.mark.parametrize("pattern", ["ab", "abab", "aabba", "abbbba", "aaaaab" * 2])
def test_turns_of_two_users_are_never_read_together(opened: Open, pattern: str) -> None:
    model = ContextualEmbedder()
    users = {user: opened(user=user, model=model, background=False) for user in "ab"}
    for turn, user in enumerate(pattern):
        say(users[user], turn, f"{user} {turn}")
    users["a"].flush()
    assert len(states(users["a"])) == len(pattern)
    for read in model.read:
        assert len({text[0] for text in read}) == 1, read


def test_turns_of_two_sessions_or_projects_are_never_read_together(opened: Open) -> None:
    model = ContextualEmbedder()
    one, other = (opened(project, model=model, background=False) for project in ("acme/api", "acme/web"))
    for turn in range(4):
        one.remember(f"a {turn}", kind="message", session="s", turn=turn)
        one.remember(f"b {turn}", kind="message", session="t", turn=turn)
        other.remember(f"c {turn}", kind="message", session="s", turn=turn)
    one.flush()
    assert {len({text[0] for text in read}) for read in model.read} == {1}


def test_single_memories_are_read_alone(opened: Open) -> None:
    model = ContextualEmbedder()
    m = opened(at=":memory:", model=model, background=False)
    for at in range(4):
        m.remember(f"memory {at}", session="s")
    m.flush()
    assert {len(read) for read in model.read} == {1}


# ── what goes takes along what was made of it ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("gone", [0, 1, 4, 5, 6, 9, 13])
@pytest.mark.parametrize("late", [False, True], ids=["after it was read", "before it was read"])
def test_a_turn_that_is_forgotten_is_in_no_state_of_the_others(opened: Open, gone: int, late: bool) -> None:
    m = opened(at=":memory:", model=ContextualEmbedder(), background=False)
    numbers = [say(m, turn) for turn in range(14)]
    if not late:
        m.flush()
        whole = states(m)
    m.forget(numbers[gone])
    if not late:
        now = states(m)
        assert all(now[body] == whole[body] for body in now)
        assert len(now) < 13  # what was read together with it is void at once
    m.flush()
    never = as_if_never(opened, [turn for turn in range(14) if turn != gone])
    assert states(m) == states(never)
    assert statistics(m) == statistics(never)
    assert len(states(m)) == 13


@pytest.mark.parametrize("turn", [0, 2, 5, 9])
def test_an_old_wording_is_in_no_state_of_the_others(opened: Open, turn: int) -> None:
    m = opened(at=":memory:", model=ContextualEmbedder(), background=False)
    numbers = [say(m, each) for each in range(10)]
    m.flush()
    m.update(numbers[turn], body="zircon instead")
    m.flush()
    never = as_if_never(opened, list(range(10)), **{f"turn{turn}": "zircon instead"})
    assert states(m) == states(never)
    assert statistics(m) == statistics(never)


def test_a_turn_that_comes_back_is_read_again_by_the_others(opened: Open) -> None:
    m = opened(at=":memory:", model=ContextualEmbedder(), background=False)
    numbers = [say(m, turn) for turn in range(8)]
    m.flush()
    before = states(m)
    m.forget(numbers[4])
    m.flush()
    m.restore(numbers[4])
    m.flush()
    assert states(m) == before


HISTORY = st.lists(
    st.tuples(st.sampled_from(("say", "say", "say", "forget", "update", "flush")), st.integers(0, 11)), max_size=25
)


@budget(25)
@given(HISTORY)
def test_whatever_happened_states_are_those_of_what_is_believed_now(history: list[tuple[str, int]]) -> None:
    happened, fresh = memory("happened"), memory("fresh")
    believed: dict[int, tuple[int, str]] = {}
    for act, turn in history:
        if act == "say" and turn not in believed:
            believed[turn] = (say(happened, turn), f"{SAID[turn]} number{turn}")
        elif act == "forget" and turn in believed:
            happened.archive(believed.pop(turn)[0])
        elif act == "update" and turn in believed:
            number, body = believed[turn]
            believed[turn] = (number, f"{body} more")
            happened.update(number, body=believed[turn][1])
        elif act == "flush":
            happened.flush()
    fresh.remember("there is something in it")
    happened.remember("there is something in it")
    for turn in sorted(believed):
        say(fresh, turn, believed[turn][1])
    for m in (happened, fresh):
        m.flush()
    assert states(happened) == states(fresh)
    assert statistics(happened) == statistics(fresh)
    for m in (happened, fresh):
        m.close()


def memory(seed: str) -> Memory:
    session = bootstrap.open_session(
        store=":memory:",
        project="acme/api",
        user="kim",
        environ={"HOME": "/nowhere", "EUNOE_MODEL": "fake"},
        clock=ManualClock(),
        entropy=SeededEntropy(seed),
        background=False,
    )
    return put_in(Memory(session), ContextualEmbedder())

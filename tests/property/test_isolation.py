"""Promise 13: no read leaves its project and scopes. Every absence has a presence beside it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe import Memory
from eunoe.errors import EunoeError, NotFound, Refused
from tests.strategies import World, budget, last_number, sibling

SHARED = "The ticket queue is drained by the worker"
MACHINE = "The worker runs on one machine"
FOREIGN = "zanzibar"

_TEXTS = st.sampled_from(
    (
        "The ticket queue is drained at night",
        "A worker drains the queue, the ticket says",
        "ticket ticket ticket queue",
        "The ticket queue is drained by the worker",
        "Tickets and workers and drains",
    )
)
_PRIVATE = st.lists(
    st.fixed_dictionaries(
        {"body": _TEXTS.map(lambda text: f"{text} {FOREIGN}")},
        optional={
            "key": st.sampled_from(("queue/drained", "queue/worker")),
            "tags": st.just(["infra"]),
            "session": st.just("morning"),
            "links": st.just([1]),
        },
    ),
    min_size=1,
    max_size=6,
)


class Two:
    """Kim and Lee in one project, and the same store seen from another project."""

    def __init__(self) -> None:
        self.world = World()
        self.kim = self.world.memory
        self.lee = sibling(self.kim, user="lee")
        self.other = sibling(self.kim, project="acme/other")
        self.kim.remember(SHARED, tags=["infra"], key="queue/drained", session="morning", turn=3)
        self.kim.remember(MACHINE, tags=["infra"])


def told(memory: Memory, target: int | str | None = None) -> str:
    """Return everything that the reads of a memory say, as one text."""
    answers: list[Any] = [memory.recall(None, limit=100), memory.count(), memory.count(tags=("infra",))]
    answers.append(memory.review())
    answers += [memory.recall(query, limit=100, explain=True) for query in (FOREIGN, "ticket queue", "zanzibar worker")]
    for number in range(1, last_number(memory) + 1):
        answers += [_answer(read, number) for read in (memory.get, memory.links, memory.history, memory.why)]
        answers.append(_answer(memory.why, number, FOREIGN))
    for key in ("queue/drained", "queue/worker"):
        answers += [_answer(memory.get, key=key), _answer(memory.history, key=key)]
    return repr(answers)


def _answer(read: Any, *given: Any, **named: Any) -> Any:
    try:
        return read(*given, **named)
    except NotFound:
        return None


@budget(40)
@given(_PRIVATE)
def test_what_one_user_keeps_private_is_read_by_that_user_alone(private: list[dict[str, Any]]) -> None:
    two = Two()
    before = {query: two.lee.recall(query, limit=50) for query in (None, "ticket queue", "worker drained")}
    reviewed = two.lee.review()
    receipts = two.kim.remember_many([{**item, "scope": "user:kim"} for item in private])
    mine = {receipt.id for receipt in receipts}
    assert FOREIGN in told(two.kim)
    assert FOREIGN not in told(two.lee)
    assert mine <= {hit.id for hit in two.kim.recall(None, limit=50).hits} | {
        replaced.id for receipt in receipts for replaced in receipt.replaced
    }
    for query, answer in before.items():
        assert two.lee.recall(query, limit=50) == answer
    assert two.lee.review() == reviewed
    assert two.lee.count() == 2
    assert two.lee.links(1) == []
    for receipt in receipts:
        for address in (receipt.number, receipt.id):
            with pytest.raises(NotFound):
                two.lee.get(address)
            with pytest.raises(NotFound):
                two.lee.forget(address)
    with pytest.raises(Refused):
        two.lee.recall(None, scope="user:kim")
    with pytest.raises(Refused):
        two.lee.export()
    assert FOREIGN in repr(two.kim.export())


@budget(30)
@given(_PRIVATE)
def test_what_is_in_one_project_is_read_in_that_project_alone(foreign: list[dict[str, Any]]) -> None:
    two = Two()
    before = {query: two.kim.recall(query, limit=50) for query in (None, "ticket queue", "worker drained")}
    document, reviewed = two.kim.export(), two.kim.review()
    two.other.remember("Something to link to")
    two.other.remember_many(foreign)
    assert FOREIGN in told(two.other)
    assert FOREIGN in repr(two.other.export())
    assert FOREIGN not in told(two.kim)
    assert two.kim.export() == document
    assert two.kim.review() == reviewed
    for query, answer in before.items():
        assert two.kim.recall(query, limit=50) == answer
    assert MACHINE not in told(two.other)
    assert MACHINE in told(two.kim)
    assert two.kim.recall("ticket", include_me=True).hits == two.kim.recall("ticket").hits


@budget(20)
@given(_PRIVATE, _TEXTS)
def test_private_memories_decide_nothing_about_what_another_user_states(
    private: list[dict[str, Any]], text: str
) -> None:
    alone, beside = Two(), Two()
    beside.kim.remember_many([{**item, "body": text, "scope": "user:kim"} for item in private])
    results = []
    for two in (alone, beside):
        outcomes: list[Any] = []
        for given_ in ({}, {"key": "queue/worker"}, {"key": "queue/drained"}):
            try:
                receipt = two.lee.remember(text, **given_)
            except EunoeError as exc:
                outcomes.append(exc.code)
            else:
                said = two.lee.get(receipt.id)
                outcomes.append((receipt.outcome, len(receipt.twins), len(receipt.replaced), said.occurrences))
        results.append(outcomes)
    assert results[0] == results[1]


def test_private_messages_of_a_session_move_no_turn_of_another_user() -> None:
    turns = []
    for private in (0, 3):
        two = Two()
        for n in range(private):
            two.kim.remember(f"Only for kim, number {n}", scope="user:kim", session="morning")
        turns.append(two.lee.get(two.lee.remember("For everyone", session="morning").id).turn)
    assert turns[0] == turns[1]


def test_links_to_private_memories_are_not_counted_for_another_user() -> None:
    two = Two()
    two.kim.remember("Only for kim", scope="user:kim", links=[1])
    assert [linked.number for linked in two.kim.links(1)] == [3]
    receipt = two.lee.remember("It is drained by hand now", key="queue/drained")
    assert [each.links_moved for each in receipt.replaced] == [0]


def test_events_that_speak_of_a_shared_memory_do_not_name_private_ones_to_another_user() -> None:
    two = Two()
    secret = two.kim.remember("Only for kim", scope="user:kim", links=[1]).id
    shared = two.kim.remember("Shared again", links=[secret]).number
    assert secret in repr(two.kim.history(shared))
    assert secret not in repr(two.lee.history(shared))
    assert secret not in repr(two.lee.log(limit=50))


def test_the_users_own_project_is_read_only_when_it_is_asked_for() -> None:
    two = Two()
    sibling(two.kim, project="~kim").remember("My own ticket to zanzibar")
    assert two.kim.recall(FOREIGN).hits == ()
    assert [hit.project for hit in two.kim.recall(FOREIGN, include_me=True).hits] == ["~kim"]
    assert two.lee.recall(FOREIGN, include_me=True).hits == ()
    assert two.kim.get("me#1").body == "My own ticket to zanzibar"
    with pytest.raises(EunoeError):
        two.lee.get("me#1")


@pytest.mark.parametrize("read", ["get", "links", "history", "why"])
def test_no_address_reaches_another_users_own_project(read: str) -> None:
    two = Two()
    sibling(two.kim, project="~kim").remember("My own ticket to zanzibar")
    assert FOREIGN in repr(two.kim.why("~kim#1"))
    with pytest.raises(EunoeError):
        getattr(two.lee, read)("~kim#1")

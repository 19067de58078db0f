"""Walking an answer page by page while others write: everything of the first moment once, nothing twice."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe import Memory
from eunoe.errors import Invalid
from tests.strategies import Op, World, budget, histories

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=4)
ORDERS = st.sampled_from(("relevance", "newest", "oldest"))
LATE = st.lists(
    st.fixed_dictionaries(
        {"body": st.sampled_from(("The deploy target is new", "lemon cake, late", "deploy deploy deploy target"))},
        optional={
            "pinned": st.booleans(),
            "importance": st.sampled_from((0.0, 1.0)),
            "key": st.sampled_from(("deploy/current", "queue:retries")),
            "force": st.just(True),
            "valid_from": st.sampled_from(("2025-01-01", "2027-01-01")),
        },
    ),
    max_size=8,
)


def walk(world: World, query: str | None, sizes: list[int], late: list[dict[str, Any]], **given_: Any) -> list[str]:
    """Return the ids of all pages in order, writing one thing after each page."""
    found: list[str] = []
    after, step, waiting = None, 0, list(late)
    while True:
        page = world.memory.recall(query, limit=sizes[step % len(sizes)], after=after, **given_)
        found += [hit.id for hit in page.hits]
        if page.next is None:
            return found
        assert page.hits
        after, step = page.next, step + 1
        assert step < 200
        if waiting:
            world.do(("remember", waiting.pop(0)))
            world.clock.advance(us=1_000_000)


def start(history: list[Op]) -> World:
    world = World()
    bodies = ("The deploy target is old", "lemon cake, early", "target practice", "deploy on Friday", "cake and deploy")
    world.memory.remember_many([{"body": body, "importance": n / 4} for n, body in enumerate(bodies)])
    world.run(history)
    return world


def ids(memory: Memory, query: str | None, **given_: Any) -> list[str]:
    return [hit.id for hit in memory.recall(query, limit=1000, **given_).hits]


@budget(70)
@given(histories(most=10), SIZES, ORDERS, LATE)
def test_browsing_by_pages_gives_everything_of_the_first_moment_once_and_in_order(
    history: list[Op], sizes: list[int], order: str, late: list[dict[str, Any]]
) -> None:
    world = start(history)
    whole = ids(world.memory, None, order=order)
    assert walk(world, None, sizes, late, order=order) == whole


@budget(40)
@given(histories(most=10), SIZES, ORDERS)
def test_pages_of_a_query_are_the_whole_answer_in_slices(history: list[Op], sizes: list[int], order: str) -> None:
    world = start(history)
    whole = ids(world.memory, "deploy target cake", order=order)
    assert walk(world, "deploy target cake", sizes, [], order=order) == whole


@budget(50)
@given(histories(most=10), SIZES, ORDERS, LATE)
def test_pages_of_a_query_repeat_nothing_and_lose_nothing_while_others_write(
    history: list[Op], sizes: list[int], order: str, late: list[dict[str, Any]]
) -> None:
    world = start(history)
    whole = set(ids(world.memory, "deploy target cake", order=order))
    found = walk(world, "deploy target cake", sizes, late, order=order)
    assert len(found) == len(set(found))
    assert set(found) == whole


@budget(20)
@given(SIZES, ORDERS)
def test_counts_of_a_page_add_up(sizes: list[int], order: str) -> None:
    world = start([])
    after, seen = None, 0
    while True:
        page = world.memory.recall(None, limit=sizes[0], after=after, order=order)
        seen += len(page.hits)
        assert page.total == world.memory.count() == seen + page.omitted
        if page.next is None:
            break
        after = page.next
    assert seen == world.memory.count()


@budget(30)
@given(st.text(max_size=60))
def test_any_text_that_is_no_cursor_is_invalid(text: str) -> None:
    world = start([])
    if not text:
        return
    with pytest.raises(Invalid) as caught:
        world.memory.recall(None, after=text)
    assert caught.value.code == "bad_cursor"


def test_a_cursor_belongs_to_its_own_question() -> None:
    world = start([])
    cursor = world.memory.recall(None, limit=1).next
    for given_ in ({"order": "newest"}, {"tags": ("infra",)}, {"scope": "project"}):
        with pytest.raises(Invalid) as caught:
            world.memory.recall(None, after=cursor, **given_)
        assert caught.value.code == "bad_cursor"
    with pytest.raises(Invalid):
        world.memory.recall("deploy", after=cursor)
    assert world.memory.recall(None, limit=1, after=cursor).hits

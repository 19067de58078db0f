"""Promise 4: projections are a function of the ledger, whatever happened."""

from __future__ import annotations

import pytest
from hypothesis import given

from eunoe import Memory
from eunoe.domain.document import dump
from eunoe.errors import Conflict
from tests.strategies import Op, World, budget, everything, histories


def assert_whole(memory: Memory) -> None:
    """Assert that the chain holds and that replaying it gives what is there."""
    checked = memory.verify()
    assert checked.fault is None
    rebuilt = memory.rebuild(dry_run=True)
    assert rebuilt.differences == {}
    assert rebuilt.events == checked.events


def text_of(memory: Memory) -> str:
    return "".join(dump(memory.export()))


@budget(150)
@given(histories(most=18))
def test_rebuilding_after_any_history_finds_no_difference(history: list[Op]) -> None:
    world = World()
    world.memory.remember("There is something")
    world.run(history)
    assert_whole(world.memory)


@budget(100)
@given(histories(moving=True))
def test_rebuilding_after_adopting_and_merging_finds_no_difference(history: list[Op]) -> None:
    world = World()
    world.memory.remember("There is something")
    world.run(history)
    assert_whole(world.memory)


@budget(60)
@given(histories(moving=True))
def test_an_export_that_was_adopted_exports_to_the_same_bytes(history: list[Op]) -> None:
    world = World()
    world.memory.remember("There is something")
    world.run(history)
    document = world.memory.export()
    adopted = world.fresh()
    assert adopted.import_(document).adopted
    assert adopted.export() == document
    assert text_of(adopted) == text_of(world.memory)
    assert_whole(adopted)


@budget(60)
@given(histories())
def test_an_adopted_project_answers_as_the_one_it_came_from(history: list[Op]) -> None:
    world = World()
    world.memory.remember("There is something")
    world.run(history)
    adopted = world.fresh()
    adopted.import_(world.memory.export())
    assert everything(adopted) == everything(world.memory)
    for query in (None, "deploy target", "payment queue", "migration backup"):
        found = adopted.recall(query, limit=50, explain=True)
        assert found == world.memory.recall(query, limit=50, explain=True)
    assert adopted.verify().heads == world.memory.verify().heads


@budget(60)
@given(histories(most=10), histories(most=10))
def test_merging_a_second_time_changes_nothing(here: list[Op], there: list[Op]) -> None:
    world = World(seed="here")
    other = World(seed="there", project="acme/other", clock=world.clock)
    other.memory.remember("There is something")
    other.run(there)
    document = other.memory.export()
    world.memory.remember("Here is something else")
    world.run(here)
    if isinstance(world.do(("import_", {"document": document})), tuple):
        assert_whole(world.memory)
        return
    before = world.memory.export()
    again = world.memory.import_(document)
    assert (again.adopted, again.events) == (False, 0)
    assert world.memory.export() == before
    assert_whole(world.memory)


@budget(40)
@given(histories(most=10))
def test_merging_loses_no_memory_that_is_not_named(history: list[Op]) -> None:
    other = World(seed="there", project="acme/other")
    other.memory.remember("There is something")
    other.run(history)
    document = other.memory.export()
    world = World(seed="here")
    world.clock.now = other.clock.now
    world.memory.remember("Entirely apart from all the rest")
    done = world.memory.import_(document)
    recorded = sum(event["type"] == "memory.recorded" for event in document["events"])
    assert done.memories + len(done.set_aside) == recorded
    assert_whole(world.memory)


def test_links_of_a_later_memory_are_rebuilt_after_the_memory() -> None:
    memory = World().memory
    memory.remember("first")
    memory.remember("second")
    memory.archive(2)
    memory.restore(2)
    memory.link(1, 2)
    memory.remember("third", links=[1])
    assert_whole(memory)


def test_merging_a_key_that_was_given_by_an_update_and_is_held_here_is_a_conflict() -> None:
    world, other = World(seed="here"), World(seed="there", project="acme/other")
    world.memory.remember("Frankfurt", key="deploy/current")
    other.memory.remember("Dublin")
    other.memory.update(1, key="deploy/current")
    before = world.memory.export()
    with pytest.raises(Conflict) as caught:
        world.memory.import_(other.memory.export())
    assert caught.value.code == "held_key"
    assert world.memory.export() == before

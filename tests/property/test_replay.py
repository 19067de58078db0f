"""Promise 4: projections are a function of the ledger, whatever happened."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from eunoe import Memory
from eunoe.domain.document import dump
from eunoe.stores.sql.tables import TABLES
from tests.engines import IS_POSTGRES
from tests.strategies import Failed, Op, World, budget, everything, histories


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
    if isinstance(world.do(("import_", {"document": document})), Failed):
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


def test_merging_takes_no_key_away_that_is_held_here() -> None:
    world, other = World(seed="here"), World(seed="there", project="acme/other")
    held = world.memory.remember("Frankfurt", key="deploy/current")
    other.memory.remember("Dublin")
    other.memory.update(1, key="deploy/current")
    done = world.memory.import_(other.memory.export())
    assert len(done.set_aside) == 1
    assert world.memory.get(key="deploy/current").id == held.id
    assert world.memory.get(2).body == "Dublin"
    assert_whole(world.memory)


@budget(60)
@given(st.data(), histories(most=10))
def test_whatever_is_wrong_in_a_projection_is_found_and_put_right(data: st.DataObject, history: list[Op]) -> None:
    world = World()
    memory = world.memory
    memory.remember_many(
        [
            {"body": "A value", "key": "k", "tags": ["t"], "paths": ["src"]},
            {"body": "Its end", "key": "k", "links": [1]},
            {"body": "Taken back"},
        ]
    )
    memory.forget(3)
    world.run(history)
    told = everything(memory), memory.recall(None, limit=50), memory.recall("deploy value", limit=50, explain=True)
    with memory._context.store._engine.writing() as connection:
        filled = [table for table in TABLES if connection.run(f"select 1 from {table} limit 1")]
        table = data.draw(st.sampled_from(filled))
        damage(connection, table, data)
    found = memory.rebuild(dry_run=True)
    assert table in found.differences
    assert not found.swapped
    assert memory.rebuild().swapped
    assert memory.rebuild(dry_run=True).differences == {}
    assert (everything(memory), memory.recall(None, limit=50)) == told[:2]
    assert memory.recall("deploy value", limit=50, explain=True) == told[2]


def damage(connection: Any, table: str, data: st.DataObject) -> None:
    """Remove one row of a table, or change one of its numbers."""
    connection.run("set local session_replication_role = replica" if IS_POSTGRES else "pragma defer_foreign_keys = on")
    at = "cast(ctid as text)" if IS_POSTGRES else "rowid"
    columns = ("at", *TABLES[table])
    found = connection.run(f"select {at}, {', '.join(TABLES[table])} from {table}")
    rows = [dict(zip(columns, row, strict=True)) for row in found]
    row = data.draw(st.sampled_from(rows))
    numbers = [name for name in _PLAIN_NUMBERS if isinstance(row.get(name), int)]
    if table != "memories" and (not numbers or data.draw(st.booleans())):
        connection.run(f"delete from {table} where {at} = :at", {"at": row["at"]})
    else:
        name = data.draw(st.sampled_from(numbers))
        connection.run(f"update {table} set {name} = {name} + 1 where {at} = :at", {"at": row["at"]})


_PLAIN_NUMBERS = (
    *("occurrences", "last_seen", "confirmed_at", "importance", "valid_to", "recorded_to", "made_at", "by_person"),
    *("length", "df", "n"),
)


def test_merging_keeps_the_end_of_a_short_term_value() -> None:
    world, other = World(seed="here"), World(seed="there", project="acme/other")
    other.memory.remember("Dublin", key="deploy/current", tier="stm", ttl="7d")
    world.clock.advance(days=1)
    world.memory.remember("There is something")
    world.memory.import_(other.memory.export())
    there, here = other.memory.get(1), world.memory.get(2)
    assert (here.valid_to, here.expires_at) == (there.valid_to, there.expires_at)


def test_superseding_two_that_are_linked_leaves_no_link_to_what_was_superseded() -> None:
    memory = World().memory
    for body in ("the first half", "the other half", "a neighbour"):
        memory.remember(body)
    memory.link(1, 2)
    memory.link(2, 3)
    memory.remember("both halves", supersedes=[1, 2])
    assert [linked.number for linked in memory.links(4)] == [3]
    assert_whole(memory)

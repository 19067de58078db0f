"""Keys: one value at a time, whatever is done to its holder (inventory rows 65 to 70, 321 and 322)."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from eunoe import Conflict, EunoeError, Invalid, Memory, NotFound
from eunoe.domain.document import dump
from eunoe.testing.clock import ManualClock

Open = Callable[..., Memory]
KEY = "deploy/current"


def holder(m: Memory, key: str = KEY, **when: object) -> str:
    return m.get(key=key, **when).body  # type: ignore[arg-type]


def code_of(action: Callable[[], object], error: type[EunoeError] = Conflict) -> str:
    with pytest.raises(error) as caught:
        action()
    return caught.value.code


# ── Row 65: what a key is, and that it has one holder ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("key", ["a", "0", "deploy/current", "a.b_c/d:e-f", "-", "x" * 80])
def test_row_65_a_key_is_made_of_these_characters(m: Memory, key: str) -> None:
    m.remember("v1", key=key)
    assert holder(m, key) == "v1"


@pytest.mark.parametrize(
    "key", ["", "x" * 81, "A", "a b", "a\n", "a\t", "clé", "a#1", "a*", "a,b", "a@b", "a\\b", " a"]
)
def test_row_65_nothing_else_is_a_key(m: Memory, key: str) -> None:
    assert code_of(lambda: m.remember("v1", key=key), Invalid) == "bad_key"
    m.remember("something else")
    assert code_of(lambda: m.update(1, key=key), Invalid) == "bad_key"
    assert m.count() == 1


def test_row_65_a_key_has_one_holder_in_its_project_and_scope(m: Memory, opened: Open) -> None:
    m.remember("shared v1", key=KEY)
    m.remember("kim's v1", key=KEY, scope="user:kim")
    assert m.recall(None).total == 2
    m.remember("shared v2", key=KEY)
    assert {hit.body for hit in m.recall(None).hits} == {"shared v2", "kim's v1"}


def test_row_65_two_projects_share_no_key(opened: Open) -> None:
    api, web = opened("acme/api"), opened("acme/web")
    api.remember("api v1", key=KEY)
    web.remember("web v1", key=KEY)
    assert (holder(api), holder(web)) == ("api v1", "web v1")


# ── Row 66: a keyed write replaces the holder ────────────────────────────────────────────────────────────────────────


def test_row_66_a_new_value_replaces_the_holder_and_the_receipt_says_whom(m: Memory) -> None:
    m.remember("The build runs on Fridays")
    m.remember("deploy is v1", key=KEY)
    m.link(1, 2)
    receipt = m.remember("deploy is v2", key=KEY)
    assert receipt.outcome == "replaced"
    (replaced,) = receipt.replaced
    assert (replaced.number, replaced.key, replaced.links_moved) == (2, KEY, 1)
    assert "#2" in receipt.text
    assert KEY in receipt.text
    assert holder(m) == "deploy is v2"
    assert m.get(2).status == "superseded"
    assert m.get(2).superseded_by == receipt.id


def test_row_66_the_old_value_is_in_history_and_in_no_recall_of_now(m: Memory) -> None:
    m.remember("deploy is v1", key=KEY)
    m.remember("deploy is v2", key=KEY)
    assert [hit.body for hit in m.recall("deploy v1").hits] == ["deploy is v2"]
    bodies = [step.version.body for step in m.history(key=KEY) if step.version]
    assert bodies == ["deploy is v1", "deploy is v2"]


def test_row_66_restating_the_value_confirms_it_and_never_empties_the_key(m: Memory) -> None:
    first = m.remember("deploy is v1", key=KEY)
    for said in ("deploy is v1", "Deploy  is v1\n"):
        again = m.remember(said, key=KEY)
        assert (again.outcome, again.id) == ("confirmed", first.id)
    assert holder(m) == "deploy is v1"
    assert m.get(1).occurrences == 3


def test_row_66_a_value_may_return_after_another(m: Memory) -> None:
    for said in ("v1", "v2", "v1"):
        m.remember(said, key=KEY)
    assert holder(m) == "v1"
    assert m.get(key=KEY).number == 3


def test_row_66_the_value_is_what_is_compared_when_the_body_is_a_sentence_about_it(m: Memory) -> None:
    m.remember("We deployed version one on Monday", key=KEY, value="v1")
    assert m.remember("Version one is what runs", key=KEY, value="V1".lower()).outcome == "confirmed"
    assert m.remember("Version one is what runs", key=KEY, value="v1.1").outcome == "replaced"


# ── Row 67: conflicts ────────────────────────────────────────────────────────────────────────────────────────────────


def test_row_67_superseding_another_memory_alongside_a_key_is_refused(m: Memory) -> None:
    m.remember("deploy is v1", key=KEY)
    m.remember("The build runs on Fridays")
    assert code_of(lambda: m.remember("deploy is v2", key=KEY, supersedes=2), Invalid) == "supersedes_with_key"
    assert (m.count(), holder(m)) == (2, "deploy is v1")


def test_row_67_an_update_into_a_held_key_is_refused_and_writes_nothing(m: Memory) -> None:
    m.remember("deploy is v1", key=KEY)
    m.remember("The build runs on Fridays")
    before = m.head()
    with pytest.raises(Conflict) as caught:
        m.update(2, key=KEY, title="Build")
    assert caught.value.code == "held_key"
    assert caught.value.details["holder"] == 1
    assert m.head() == before
    assert (m.get(2).key, m.get(2).version) == (None, 1)


def test_row_67_an_update_takes_a_free_key_and_moves_it_on(m: Memory) -> None:
    m.remember("deploy is v1")
    m.update(1, key=KEY)
    assert holder(m) == "deploy is v1"
    m.update(1, key="deploy/next")
    assert code_of(lambda: holder(m), NotFound) == "no_memory"
    assert holder(m, "deploy/next") == "deploy is v1"
    assert m.remember("deploy is v2", key=KEY).outcome == "recorded"


@pytest.mark.parametrize("release", ["archive", "forget", "supersede", "update"])
def test_row_67_a_key_is_free_when_its_holder_goes_or_gives_it_up(m: Memory, release: str) -> None:
    m.remember("deploy is v1", key=KEY)
    match release:
        case "archive":
            m.archive(1)
        case "forget":
            m.forget(1)
        case "supersede":
            m.remember("deploy is v2", supersedes=1)
            m.update(2, key=None)
        case _:
            m.update(1, key=None)
    assert code_of(lambda: holder(m), NotFound) == "no_memory"
    assert m.remember("deploy is v3", key=KEY).outcome == "recorded"
    assert holder(m) == "deploy is v3"


def test_row_67_superseding_without_a_key_carries_the_key_on(m: Memory) -> None:
    m.remember("deploy is v1", key=KEY)
    receipt = m.remember("Since today it is version two that runs", supersedes=1)
    assert receipt.outcome == "replaced"
    assert (m.get(key=KEY).number, m.get(2).key) == (2, KEY)
    assert m.get(1).status == "superseded"


# ── Row 68: concurrent writers ───────────────────────────────────────────────────────────────────────────────────────


def test_row_68_writers_who_race_for_a_new_key_form_one_chain(opened: Open) -> None:
    writers = [opened() for _ in range(4)]
    with ThreadPoolExecutor(len(writers)) as pool:
        jobs = [pool.submit(writer.remember, f"value {at}", key=KEY) for at, writer in enumerate(writers * 3)]
        receipts = [job.result() for job in jobs]
    m = writers[0]
    assert sorted(receipt.number for receipt in receipts) == list(range(1, 13))
    assert m.recall(None).total == 1
    assert m.get(key=KEY).number == 12
    for number in range(1, 12):
        assert m.get(number).superseded_by == m.get(number + 1).id
    assert m.verify().ok
    assert m.rebuild().differences == {}


# ── Row 69: reading by key ───────────────────────────────────────────────────────────────────────────────────────────


def test_row_69_a_key_is_read_at_any_time_and_by_what_was_known(m: Memory, clock: ManualClock) -> None:
    m.remember("v1", key=KEY)
    clock.advance(days=10)
    m.remember("v2", key=KEY)
    clock.advance(days=10)
    assert holder(m) == "v2"
    assert holder(m, as_of="2026-01-05") == "v1"
    assert holder(m, known_at="2026-01-05") == "v1"
    assert holder(m, known_at="2026-01-05", as_of="2026-01-15") == "v1"
    assert code_of(lambda: holder(m, as_of="2025-12-31"), NotFound) == "no_memory"


def test_row_69_a_key_that_nobody_ever_held_is_not_found(m: Memory) -> None:
    m.remember("something else")
    assert code_of(lambda: holder(m, "deploy/never"), NotFound) == "no_memory"


@pytest.mark.parametrize("key", ["", "No Key", "half \ud83d", 5], ids=ascii)
def test_row_69_what_can_be_no_key_is_a_typed_error(m: Memory, key: object) -> None:
    m.remember("something else")
    with pytest.raises((Invalid, NotFound)):
        m.get(key=key)  # type: ignore[arg-type]


def test_row_69_history_of_a_key_holds_every_holder_also_those_who_left(m: Memory) -> None:
    m.remember("v1", key=KEY)
    m.archive(1)
    assert [step.type for step in m.history(key=KEY)] == ["memory.recorded", "memory.archived"]
    m.remember("v2", key=KEY)
    m.update(2, key=None)
    m.remember("v3", key=KEY)
    bodies = [step.version.body for step in m.history(key=KEY) if step.version]
    assert bodies == ["v1", "v2", "v2", "v3"]


# ── Row 70: links move, and what is superseded stays so ──────────────────────────────────────────────────────────────


def test_row_70_links_move_to_the_successor_and_none_is_left_between_the_two(m: Memory) -> None:
    for body in ("The build runs on Fridays", "The gate is green", "deploy is v1"):
        m.remember(body)
    m.link(1, 3, note="same day")
    m.link(2, 3)
    receipt = m.remember("deploy is version two", supersedes=3, links=[1, 3])
    assert receipt.replaced[0].links_moved == 2
    assert [(each.number, each.note) for each in m.links(4)] == [(1, "same day"), (2, None)]
    assert m.links(3) == []


def test_row_70_what_is_superseded_is_not_revived(m: Memory) -> None:
    m.remember("deploy is v1", key=KEY)
    m.remember("deploy is v2", key=KEY)
    m.remember("The build runs on Fridays")
    assert code_of(lambda: m.restore(1)) == "superseded"
    assert code_of(lambda: m.archive(1)) == "not_active"
    assert code_of(lambda: m.update(1, body="deploy is v1.1")) == "not_active"
    assert code_of(lambda: m.remember("deploy is v3", supersedes=1)) == "superseded"
    assert code_of(lambda: m.link(1, 3)) == "not_active"
    assert holder(m) == "deploy is v2"


# ── Row 321: import keeps keys, statuses and dates ───────────────────────────────────────────────────────────────────


def exported(m: Memory) -> dict[str, object]:
    document: dict[str, object] = json.loads("".join(dump(m.export())))
    return document


def test_row_321_an_import_keeps_status_dates_keys_and_links(m: Memory, opened: Open, clock: ManualClock) -> None:
    m.remember("v1", key=KEY)
    m.remember("The gate is green")
    m.link(1, 2, note="n")
    clock.advance(days=1)
    m.remember("v2", key=KEY)
    m.archive(2)
    document = exported(m)
    clock.advance(days=50)
    other = opened("beta/web", at=":memory:")
    other.remember("It holds something already")
    done = other.import_(document)
    assert not done.adopted
    assert holder(other) == "v2"
    copies = {here: other.get(here) for here in done.numbers.values()}
    for there, here in done.numbers.items():
        assert (copies[here].status, copies[here].valid_from, copies[here].first_seen) == (
            m.get(there).status,
            m.get(there).valid_from,
            m.get(there).first_seen,
        )
    assert other.verify().ok
    assert other.rebuild().differences == {}


def test_row_321_importing_twice_changes_nothing(m: Memory, opened: Open) -> None:
    m.remember("v1", key=KEY)
    m.remember("v2", key=KEY)
    document = exported(m)
    other = opened("beta/web", at=":memory:")
    other.remember("It holds something already")
    other.import_(document)
    before = other.head()
    assert other.import_(document).events == 0
    assert other.head() == before


def test_row_321_a_key_that_is_held_here_by_another_value_is_a_conflict_and_nothing_is_taken(
    m: Memory, opened: Open
) -> None:
    m.remember("The gate is green")
    m.remember("v1", key=KEY)
    document = exported(m)
    other = opened("beta/web", at=":memory:")
    other.remember("v2", key=KEY)
    before = other.head()
    assert code_of(lambda: other.import_(document)) == "held_key"
    assert other.head() == before


# ── Row 322: restoring needs a free key ──────────────────────────────────────────────────────────────────────────────


def test_row_322_a_memory_whose_key_was_taken_is_not_restored_until_the_key_is_free(m: Memory) -> None:
    m.remember("v1", key=KEY)
    m.archive(1)
    m.remember("v2", key=KEY)
    assert code_of(lambda: m.restore(1)) == "held_key"
    assert (m.get(1).status, holder(m)) == ("archived", "v2")
    m.update(2, key=None)
    assert m.restore(1).action == "restored"
    assert holder(m) == "v1"


def test_row_322_a_memory_whose_key_is_free_is_restored_with_it(m: Memory, clock: ManualClock) -> None:
    m.remember("v1", key=KEY)
    m.archive(1)
    clock.advance(days=1)
    m.restore(1)
    assert holder(m) == "v1"
    assert m.remember("v1", key=KEY).outcome == "confirmed"
    assert m.remember("v2", key=KEY).outcome == "replaced"

"""Is it still true? Confirming begins a memory's age anew, disputing marks it until somebody has looked at it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.cases.conftest import Open

from eunoe import Conflict, Invalid, Memory, NotFound
from eunoe.domain.instants import from_us
from eunoe.testing.clock import ManualClock

TEXT = "Stripe webhooks need the raw body"


def remembered(m: Memory, clock: ManualClock) -> Memory:
    m.remember(TEXT, kind="gotcha", tags=["stripe"])
    clock.advance(days=10)
    return m


def test_what_is_new_was_confirmed_when_it_was_written(m: Memory) -> None:
    m.remember(TEXT)
    memory = m.get(1)
    assert (memory.confirmed_at, memory.disputed_at) == (memory.created_at, None)


def test_confirming_begins_the_age_anew_and_is_no_occurrence(m: Memory, clock: ManualClock) -> None:
    before = remembered(m, clock).get(1)
    assert m.confirm(1).action == "confirmed"
    after = m.get(1)
    assert after.confirmed_at == from_us(clock.now_us()) > before.confirmed_at
    assert after._replace(confirmed_at=before.confirmed_at) == before
    assert [step.meta.get("how") for step in m.history(1)] == [None, "explicit"]


def test_restating_is_an_occurrence_as_before_and_ends_a_dispute(m: Memory) -> None:
    m.remember(TEXT)
    m.dispute(1)
    assert m.remember(TEXT).outcome == "confirmed"
    assert (m.get(1).occurrences, m.get(1).disputed_at) == (2, None)


def test_a_dispute_lasts_until_it_is_confirmed(m: Memory, clock: ManualClock) -> None:
    remembered(m, clock)
    change = m.dispute(1)
    assert change.action == "disputed"
    assert all(word in change.text for word in ("update", "superseding #1", "archive"))
    first = m.get(1).disputed_at
    assert first is not None
    clock.advance(days=1)
    assert m.dispute(1).action == "unchanged"
    assert m.get(1).disputed_at == first
    m.confirm(1)
    assert m.get(1).disputed_at is None


@pytest.mark.parametrize("changes", [{"title": "Another title"}, {"body": "Stripe webhooks need the raw bytes"}])
def test_an_edit_of_title_or_body_confirms_and_ends_a_dispute(
    m: Memory, clock: ManualClock, changes: dict[str, str]
) -> None:
    remembered(m, clock).dispute(1)
    m.update(1, **changes)
    memory = m.get(1)
    assert memory.disputed_at is None
    assert (memory.confirmed_at - memory.created_at).days == 10


@pytest.mark.parametrize("changes", [{"tags": ["x"]}, {"kind": "howto"}, {"pinned": True}, {"importance": 0.1}])
def test_any_other_edit_leaves_both_flags(m: Memory, clock: ManualClock, changes: dict[str, object]) -> None:
    disputed = remembered(m, clock).dispute(1)
    before = m.get(1)
    m.update(1, **changes)
    after = m.get(1)
    assert disputed.action == "disputed"
    assert (after.confirmed_at, after.disputed_at) == (before.confirmed_at, before.disputed_at)
    assert after.version == 2


def test_archiving_and_coming_back_leave_a_dispute(m: Memory) -> None:
    m.remember(TEXT)
    m.dispute(1)
    disputed = m.get(1).disputed_at
    m.archive(1)
    assert m.get(1).disputed_at == disputed
    m.restore(1)
    assert m.get(1).disputed_at == disputed


def test_what_is_not_believed_is_neither_confirmed_nor_disputed(m: Memory) -> None:
    m.remember("Heroku", key="deploy/target")
    m.remember("Fly", key="deploy/target")
    for body in ("put away", "taken back"):
        m.remember(body)
    m.archive(3)
    m.forget(4)
    m.remember("read on a page", trust="external")
    for number, code in ((1, "superseded"), (3, "not_active"), (4, "not_active"), (5, "not_active")):
        calls: tuple[Callable[[int], object], ...] = (
            m.confirm,
            m.dispute,
            lambda at: m.update(at, confirm=True),
            lambda at: m.update(at, dispute=True),
        )
        for call in calls:
            with pytest.raises(Conflict) as caught:
                call(number)
            assert caught.value.code == code
    with pytest.raises(NotFound):
        m.confirm(99)
    assert m.confirm(2).action == "confirmed"


def test_both_at_once_are_refused_and_nothing_is_written(m: Memory) -> None:
    m.remember(TEXT)
    with pytest.raises(Invalid) as caught:
        m.update(1, tags=["x"], confirm=True, dispute=True)
    assert caught.value.code == "confirm_and_dispute"
    with pytest.raises(Invalid) as caught:
        m.update(1, confirm="yes")
    assert caught.value.code == "bad_type"
    with pytest.raises(Invalid) as caught:
        m.update(1, confirm=False, dispute=False)
    assert caught.value.code == "nothing_to_change"
    assert m.get(1).version == 1
    assert m.update(1, tags=["x"], confirm=True).action == "updated"


def test_an_update_changes_fields_and_judges_in_one_transaction(m: Memory) -> None:
    m.remember("Heroku", key="deploy/target")
    m.remember(TEXT)
    with pytest.raises(Conflict):
        m.update(2, key="deploy/target", dispute=True)
    assert m.get(2).disputed_at is None
    change = m.update(2, tags=["x"], dispute=True)
    assert (change.action, change.details["judged"]) == ("updated", "disputed")
    assert m.get(2).disputed_at is not None
    assert m.update(2, body="Stripe webhooks need raw bytes", dispute=True).action == "updated"
    assert m.get(2).disputed_at is not None  # the new wording is doubted too
    assert m.update(2, confirm=True).action == "confirmed"
    assert m.get(2).disputed_at is None


def test_an_agent_may_do_both(opened: Open) -> None:
    agent = opened(author="agent")
    agent.remember(TEXT)
    assert agent.dispute(1).action == "disputed"
    assert agent.confirm(1).action == "confirmed"


QUERY = "stripe webhook number3"


def five(m: Memory) -> int:
    """Remember five things that differ in a number; return which one answers the query."""
    m.remember_many([{"body": f"Stripe webhook number{at} needs care"} for at in range(5)])
    return m.recall(QUERY).hits[0].number


def scores(m: Memory, **how: Any) -> dict[int, tuple[float, float]]:
    return {hit.number: (hit.evidence, hit.score) for hit in m.recall(QUERY, **how).hits}


def test_a_dispute_lowers_the_score_of_one_hit_and_no_evidence(m: Memory, clock: ManualClock) -> None:
    best = five(m)
    before = scores(m)
    clock.advance(us=1)
    m.dispute(best)
    after = scores(m)
    assert after.pop(best) == (before[best][0], pytest.approx(before[best][1] * 0.6))
    assert after.items() <= before.items()
    assert m.recall(QUERY).hits[0].disputed_at is not None


def test_a_dispute_that_is_switched_off_moves_no_score(opened: Open) -> None:
    m = opened(at=":memory:", EUNOE_RECALL_OFF="dispute")
    best = five(m)
    before = scores(m)
    m.dispute(best)
    assert scores(m) == before


def test_what_was_known_then_was_not_disputed_yet(m: Memory, clock: ManualClock) -> None:
    best = five(m)
    known, before = m.get(5).created_at, scores(m)
    clock.advance(us=1)
    m.dispute(best)
    assert m.recall(QUERY, known_at=known).hits[0].disputed_at is None
    assert scores(m, known_at=known) == before


def test_what_was_known_then_was_not_confirmed_yet(m: Memory, clock: ManualClock) -> None:
    m.remember("Stripe webhook number3 needs care", kind="state")
    clock.advance(days=100)
    known = from_us(clock.now)
    before = scores(m, known_at=known)
    clock.advance(us=1)
    m.confirm(1)
    assert scores(m, known_at=known)[1] == pytest.approx(before[1], rel=1e-6)


def test_an_import_beside_others_tells_again_what_was_confirmed_and_disputed(opened: Open, clock: ManualClock) -> None:
    there, here = opened("acme/there", at=":memory:"), opened("acme/here", at=":memory:")
    there.remember_many([{"body": "disputed there"}, {"body": "confirmed there"}, {"body": "known here"}])
    clock.advance(days=1)
    for number in (1, 2, 3):
        there.dispute(number)
    there.confirm(2)
    here.remember("known here")
    document = there.export()
    assert here.import_(document).set_aside == ()
    found = {memory.body: memory for memory in (here.get(number) for number in (1, 2, 3))}
    assert found["disputed there"].disputed_at is not None
    assert found["confirmed there"].disputed_at is found["known here"].disputed_at is None
    assert found["confirmed there"].occurrences == 1
    assert here.import_(document).events == 0
    assert here.get(1).disputed_at is None
    assert here.rebuild(dry_run=True).differences == {}


def test_importing_again_archives_nothing_that_was_known_here_before(opened: Open) -> None:
    there, here = opened("acme/there", at=":memory:"), opened("acme/here", at=":memory:")
    there.remember_many([{"body": "known here"}, {"body": "only there"}])
    there.archive(1)
    there.archive(2)
    here.remember("known here")
    for _ in range(2):
        here.import_(there.export())
        assert [here.get(number).status for number in (1, 2)] == ["active", "archived"]


def test_importing_again_holds_no_key_against_what_the_first_import_brought(opened: Open) -> None:
    there, here = opened("acme/there", at=":memory:"), opened("acme/here", at=":memory:")
    text = "The deploy target is Frankfurt and nothing else"
    there.remember("Something that only the other one holds")
    there.remember(text, key="deploy/current", value="one")
    there.forget(2)
    there.remember(text, key="deploy/current", value="one")
    there.remember(text)
    there.remember(text, supersedes=3)
    here.remember(text)
    document = there.export()
    here.import_(document)
    assert here.import_(document).events == 0

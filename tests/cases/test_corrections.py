"""Corrections stick: taking back, putting away, correcting, scheduling; and what must not come back does not."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from eunoe import Conflict, EunoeError, Invalid, Memory, NotFound, Refused
from eunoe.domain.document import dump
from eunoe.domain.redact import Redacted
from eunoe.service.import_lines import import_lines
from eunoe.testing.clock import ManualClock

Open = Callable[..., Memory]
CHEESE = "The moon is made of cheese"
KEY = "deploy/current"


def code_of(action: Callable[[], object], error: type[EunoeError]) -> str:
    with pytest.raises(error) as caught:
        action()
    return caught.value.code


def sound(m: Memory) -> bool:
    """Tell whether the ledger is whole, and says the same as the projections."""
    return m.verify().ok and m.rebuild().differences == {}


# ── Forgetting ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("author", ["person", "application"])
def test_what_was_forgotten_returns_when_a_person_or_an_application_states_it_again(opened: Open, author: str) -> None:
    m = opened(author=author)
    m.remember(CHEESE)
    assert m.forget(1).action == "forgotten"
    assert (m.recall("moon cheese").total, m.get(1).status) == (0, "forgotten")
    receipt = m.remember(CHEESE)
    assert (receipt.outcome, receipt.number) == ("recorded", 2)
    assert opened(author="agent").remember(CHEESE).outcome == "confirmed"
    assert sound(m)


def test_an_import_does_not_bring_back_what_was_forgotten(opened: Open) -> None:
    m = opened()
    m.remember(CHEESE)
    m.forget(1)
    done = import_lines(m._context, [json.dumps({"body": said}).encode() for said in (CHEESE, CHEESE.lower(), "other")])
    assert [bad.code for bad in done.bad] == ["rejected", "rejected"]
    assert m.recall("moon cheese").total == 0


def test_an_import_of_a_document_does_not_bring_back_what_was_forgotten(m: Memory, opened: Open) -> None:
    m.remember(CHEESE)
    document = json.loads("".join(dump(m.export())))
    other = opened("beta/web", at=":memory:")
    other.remember(CHEESE)
    other.forget(1)
    assert len(other.import_(document).set_aside) == 1
    assert other.count() == 0


def test_an_agent_does_not_bring_back_what_a_person_took_back(opened: Open) -> None:
    kim, agent = opened(author="person"), opened(author="agent")
    kim.remember(CHEESE)
    kim.forget(1)
    assert code_of(lambda: agent.remember(CHEESE), Refused) == "rejected"
    assert code_of(lambda: agent.remember("the moon  is made of cheese"), Refused) == "rejected"
    assert code_of(lambda: agent.remember_many([{"body": "fine"}, {"body": CHEESE}]), Refused) == "rejected"
    assert code_of(lambda: agent.restore(1), Refused) == "needs_person"
    assert kim.count() == 0


def test_an_agent_does_not_bring_it_back_by_updating_another_memory(opened: Open) -> None:
    kim, agent = opened(author="person"), opened(author="agent")
    kim.remember(CHEESE)
    kim.forget(1)
    kim.remember("The tide follows the moon")
    assert code_of(lambda: agent.update(2, body=CHEESE), Refused) == "rejected"
    assert kim.get(2).body == "The tide follows the moon"


def test_what_an_agent_forgot_any_later_statement_lifts(opened: Open) -> None:
    kim, agent = opened(), opened(author="agent")
    kim.remember(CHEESE)
    agent.forget(1)
    assert code_of(lambda: agent.remember(CHEESE, trust="inferred"), Refused) == "rejected"
    assert agent.remember(CHEESE).outcome == "recorded"
    assert kim.recall("moon cheese").total == 1


def test_what_an_agent_forgot_an_agent_may_restore(opened: Open) -> None:
    kim, agent = opened(), opened(author="agent")
    kim.remember(CHEESE)
    agent.forget(1)
    assert agent.restore(1).action == "restored"
    assert kim.get(1).status == "active"


def test_a_forgotten_value_of_a_key_does_not_return_under_that_key(opened: Open) -> None:
    kim, agent = opened(), opened(author="agent")
    kim.remember("v1", key=KEY)
    kim.forget(1)
    assert code_of(lambda: agent.remember("v1", key=KEY), Refused) == "rejected"
    assert code_of(lambda: agent.remember("We are on one", key=KEY, value="v1"), Refused) == "rejected"
    assert agent.remember("v2", key=KEY).outcome == "recorded"
    assert kim.remember("v1", key=KEY).outcome == "replaced"


def test_restoring_lifts_the_rejection_and_keeps_the_number(opened: Open) -> None:
    kim = opened()
    kim.remember(CHEESE, tags=["moon"])
    kim.forget(1)
    assert kim.restore(1).memories == (1,)
    assert [hit.number for hit in kim.recall("cheese", tags=["moon"]).hits] == [1]
    assert opened(author="agent").remember(CHEESE).outcome == "confirmed"
    assert sound(kim)


def test_forgetting_and_restoring_twice_changes_nothing_more(m: Memory) -> None:
    m.remember(CHEESE)
    m.forget(1)
    before = m.head()
    assert m.forget(1).action == "unchanged"
    m.restore(1)
    after = m.head()
    assert m.restore(1).action == "unchanged"
    assert before != after == m.head()


def test_an_empty_filter_forgets_nothing(m: Memory) -> None:
    m.remember(CHEESE)
    for filters in ({}, {"tags": []}, {"tags": (), "kinds": None}, {"scope": None}):
        assert code_of(lambda given=filters: m.forget(**given), Refused) == "empty_filter"
        assert code_of(lambda given=filters: m.forget(dry_run=True, **given), Refused) == "empty_filter"
    assert m.count() == 1


def test_a_dry_run_names_what_count_counts_and_writes_nothing(m: Memory) -> None:
    for at in range(6):
        m.remember(f"the painted wall, number {at}", tags=["even"] if at % 2 == 0 else ["odd"])
    before = m.head()
    preview = m.forget(tags=["even"], dry_run=True)
    assert preview.dry_run
    assert preview.memories == (1, 3, 5)
    assert len(preview.memories) == m.count(tags=["even"])
    assert m.forget(1, dry_run=True).memories == (1,)
    assert m.head() == before
    assert m.forget(tags=["even"]).memories == preview.memories
    assert (m.count(tags=["even"]), m.count()) == (0, 3)


TURNS = ("good morning everyone", "kiwi kiwi kiwi", "see you then", "bye bye", "kiwi", "so long", "well", "oh", "ah")


def say(m: Memory, *turns: int) -> Memory:
    for turn in turns:
        m.remember(TURNS[turn - 1], kind="message", session="s", turn=turn)
    return m


def ranked(m: Memory, query: str) -> list[tuple[int | None, float, float]]:
    return [(hit.turn, hit.evidence, hit.score) for hit in m.recall(query).hits]


def test_a_forgotten_turn_lends_no_words_to_its_neighbours(m: Memory, opened: Open) -> None:
    say(m, 1, 2, 3, 4, 5).forget(2)
    assert ranked(m, "kiwi") == ranked(say(opened("acme/never"), 1, 3, 4, 5), "kiwi")


def test_an_old_wording_lends_no_words_to_its_neighbours(m: Memory, opened: Open) -> None:
    say(m, 1, 2, 3, 4, 5).update(2, body="mango mango mango")
    other = say(opened("acme/never"), 1)
    other.remember("mango mango mango", kind="message", session="s", turn=2)
    say(other, 3, 4, 5)
    for query in ("kiwi", "mango"):
        assert ranked(m, query) == ranked(other, query)
    assert {hit.turn for hit in m.recall("mango").hits} >= {1, 2, 3, 4}


def test_a_turn_that_shares_no_word_and_is_lent_none_is_no_hit_without_a_model(m: Memory) -> None:
    say(m, *range(1, 10))
    assert {hit.turn for hit in m.recall("kiwi").hits} == {1, 2, 3, 4, 5, 6, 7}
    assert m.recall("kiwi", session="s").total == 7


# ── Archiving and restoring ──────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_archived_is_in_no_recall_and_comes_back_as_it_was(m: Memory, clock: ManualClock) -> None:
    m.remember(CHEESE, tags=["moon"], title="Moon", pinned=True)
    m.archive(1)
    assert (m.recall("cheese").total, m.recall(None).total, m.count(tags=["moon"])) == (0, 0, 0)
    assert m.get(1).status == "archived"
    clock.advance(days=3)
    m.restore(1)
    memory = m.get(1)
    assert (memory.status, memory.title, memory.tags, memory.pinned) == ("active", "Moon", ("moon",), True)
    assert m.recall("cheese").total == 1
    assert sound(m)


def test_stating_what_is_archived_makes_a_new_memory_beside_it_and_says_so(m: Memory) -> None:
    m.remember(CHEESE)
    m.archive(1)
    receipt = m.remember(CHEESE)
    assert (receipt.outcome, receipt.number) == ("recorded", 2)
    assert "#1" in receipt.text
    assert m.get(1).status == "archived"


def test_archiving_twice_changes_nothing_more(m: Memory) -> None:
    m.remember(CHEESE)
    m.archive(1)
    before = m.head()
    assert m.archive(1).action == "unchanged"
    assert m.head() == before


def test_a_current_value_with_a_scheduled_successor_can_be_archived_and_restored(m: Memory) -> None:
    m.remember("v1", key=KEY)
    m.remember("v2", key=KEY, valid_from="2030-01-01")
    m.archive(1)
    assert m.restore(1).action == "restored"
    assert m.get(key=KEY).body == "v1"
    assert m.get(key=KEY, as_of="2031-01-01").body == "v2"
    assert sound(m)


# ── Short-term memories ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_short_term_memory_is_gone_from_every_reading_when_it_expires(m: Memory, clock: ManualClock) -> None:
    m.remember("the build is red", tier="stm", ttl="1h", tags=["ci"])
    assert m.recall("build").total == 1
    clock.advance(s=3601)
    assert (m.recall("build").total, m.recall(None).total, m.count(tags=["ci"]), m.count()) == (0, 0, 0, 0)
    assert m.recall("build", as_of="2026-01-01T00:30:00Z").total == 1
    assert m.remember("the build is red", tier="stm").outcome == "recorded"


def test_the_key_of_an_expired_memory_is_free(m: Memory, clock: ManualClock) -> None:
    m.remember("red", key="ci/state", tier="stm", ttl="1h")
    clock.advance(s=3601)
    assert code_of(lambda: m.get(key="ci/state"), NotFound) == "no_memory"
    assert m.remember("green", key="ci/state").outcome == "recorded"
    assert m.get(key="ci/state").body == "green"


# ── Updating ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_correction_is_a_new_version_and_the_old_one_stays_in_history(m: Memory, clock: ManualClock) -> None:
    m.remember("Stripe webhooks need parsed JSON", tags=["stripe"])
    clock.advance(days=1)
    done = m.update(1, body="Stripe webhooks need the raw body")
    assert (done.action, done.details["version"], done.details["fields"]) == ("updated", 2, ["body"])
    assert (m.recall("parsed JSON").total, m.recall("raw body").total) == (0, 1)
    assert [step.version.body for step in m.history(1) if step.version] == [
        "Stripe webhooks need parsed JSON",
        "Stripe webhooks need the raw body",
    ]
    assert m.get(1, known_at="2026-01-01T12:00:00Z").body == "Stripe webhooks need parsed JSON"
    assert m.recall("parsed", known_at="2026-01-01T12:00:00Z").total == 1
    assert m.get(1).tags == ("stripe",)
    assert sound(m)


def test_only_who_has_read_the_last_version_may_write_the_next(m: Memory) -> None:
    m.remember(CHEESE)
    assert m.update(1, version=1, title="Moon").details["version"] == 2
    with pytest.raises(Conflict) as caught:
        m.update(1, version=1, title="Cheese")
    assert (caught.value.code, caught.value.details["version"]) == ("stale_version", 2)
    assert m.get(1).title == "Moon"


def test_an_update_masks_the_value_of_a_key_that_names_a_secret(m: Memory) -> None:
    m.remember("Who may log in", key="db/login", value="swordfish")
    receipt = m.update(1, key="db/password")
    assert m.get(1).value == "[masked:password]"
    assert "masked in: value" in receipt.text
    m.remember("The login of the queue", key="queue/password")
    assert "masked in: value" in m.update(2, value="swordfish").text
    assert m.get(2).value == "[masked:password]"


def test_an_import_masks_what_its_source_did_not(m: Memory, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as careless:
        careless.setattr("eunoe.admission.draft.redact", lambda text: Redacted(text, ()))
        m.remember("The first password is Fake1pass9")
        m.update(1, body="The second password is Fake2pass8")
        m.remember("The door is blue")
        m.link(1, 2, note="the token is Fake3tok7")
    document = json.loads("".join(dump(m.export())))
    other = opened("beta/web", at=":memory:")
    other.remember("Something is there already")
    other.import_(document)
    kept = "".join(dump(other.export()))
    assert "The first password is [masked:password]" in kept
    assert "The second password is [masked:password]" in kept
    assert "Fake1pass9" not in kept
    assert "Fake2pass8" not in kept
    assert "the token is [masked:token]" in kept


def test_what_was_confirmed_elsewhere_confirms_nothing_that_was_stated_here(
    m: Memory, opened: Open, clock: ManualClock
) -> None:
    m.remember(CHEESE)
    m.remember(CHEESE)
    document = json.loads("".join(dump(m.export())))
    other = opened("beta/web", at=":memory:")
    stated = other.remember(CHEESE)
    clock.advance(s=60)
    other.import_(document)
    memory = other.get(stated.number)
    assert (memory.occurrences, memory.confirmed_at) == (3, memory.created_at)


def test_an_update_that_changes_nothing_writes_nothing(m: Memory) -> None:
    m.remember(CHEESE, tags=["a"], importance=0.5)
    before = m.head()
    assert m.update(1, body=CHEESE, tags=["a"], importance=0.5, pinned=False).action == "unchanged"
    assert m.head() == before


def test_fields_are_cleared_by_none(m: Memory) -> None:
    m.remember(CHEESE, title="Moon", source="a book", key="moon", value="cheese", valid_to="2030-01-01")
    m.update(1, title=None, source=None, value=None, valid_to=None, key=None)
    memory = m.get(1)
    assert (memory.title, memory.source, memory.value, memory.valid_to, memory.key) == (CHEESE, None, None, None, None)


def test_no_value_is_left_without_its_key(m: Memory) -> None:
    m.remember(CHEESE, key="moon", value="cheese")
    m.update(1, key=None)
    assert (m.get(1).key, m.get(1).value) == (None, None)


def test_an_update_into_the_words_of_another_is_refused(m: Memory) -> None:
    m.remember(CHEESE)
    m.remember("The tide follows the moon")
    with pytest.raises(Conflict) as caught:
        m.update(2, body="the moon is  made of cheese")
    assert (caught.value.code, caught.value.details) == ("duplicate_text", {"twins": [1]})


def test_a_corrected_text_is_what_a_restatement_confirms(m: Memory) -> None:
    m.remember(CHEESE)
    m.update(1, body="The moon is made of rock")
    assert m.remember("the moon is made of rock").number == 1
    assert m.remember(CHEESE).number == 2


def test_an_edit_of_the_text_confirms_and_a_new_tag_does_not(m: Memory, clock: ManualClock) -> None:
    m.remember(CHEESE)
    first = m.get(1).confirmed_at
    clock.advance(days=1)
    m.update(1, tags=["a"])
    assert m.get(1).confirmed_at == first
    m.update(1, title="Moon")
    assert m.get(1).confirmed_at > first


# ── Time ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_scheduled_value_takes_over_when_the_clock_passes_its_day(m: Memory, clock: ManualClock) -> None:
    m.remember("deploy is v1", key=KEY)
    assert m.remember("deploy is v2", key=KEY, valid_from="2026-02-01").outcome == "scheduled"
    assert [hit.body for hit in m.recall("deploy").hits] == ["deploy is v1"]
    assert (m.get(1).status, m.get(key=KEY).number) == ("active", 1)
    assert [hit.body for hit in m.recall("deploy", as_of="2026-02-02").hits] == ["deploy is v2"]
    before = m.head()
    clock.advance(days=40)
    assert [hit.body for hit in m.recall("deploy").hits] == ["deploy is v2"]
    assert (m.get(1).status, m.get(key=KEY).number) == ("superseded", 2)
    assert [hit.body for hit in m.recall("deploy", as_of="2026-01-15").hits] == ["deploy is v1"]
    assert m.head() == before
    assert sound(m)


@pytest.mark.parametrize("withdraw", ["archive", "forget"])
def test_when_a_scheduled_value_is_withdrawn_before_its_day_the_old_one_goes_on(
    m: Memory, clock: ManualClock, withdraw: str
) -> None:
    m.remember("deploy is v1", key=KEY)
    m.remember("deploy is v2", key=KEY, valid_from="2026-02-01")
    getattr(m, withdraw)(2)
    assert (m.get(1).valid_to, m.get(1).superseded_by) == (None, None)
    clock.advance(days=400)
    assert [hit.body for hit in m.recall("deploy").hits] == ["deploy is v1"]
    assert m.get(key=KEY).body == "deploy is v1"
    assert m.remember("deploy is v3", key=KEY).outcome == "replaced"
    assert sound(m)


def test_the_middle_one_of_three_scheduled_values_can_be_withdrawn(m: Memory) -> None:
    m.remember("v1", key=KEY)
    m.remember("v3", key=KEY, valid_from="2030-01-01")
    m.remember("v2", key=KEY, valid_from="2028-01-01")
    m.archive(3)
    found = [m.get(key=KEY, as_of=day).body for day in ("2027-01-01", "2029-01-01", "2031-01-01")]
    assert found == ["v1", "v1", "v3"]
    assert sound(m)


def test_an_unkeyed_successor_withdrawn_before_its_day_lets_the_old_one_go_on(m: Memory, clock: ManualClock) -> None:
    m.remember("The build runs on Mondays")
    m.remember("It builds on Fridays instead", supersedes=1, valid_from="2026-02-01")
    m.archive(2)
    clock.advance(days=400)
    assert [hit.number for hit in m.recall("build Mondays").hits] == [1]


def test_a_late_older_value_goes_into_history_and_never_into_recall_of_now(m: Memory) -> None:
    m.remember("deploy is v2", key=KEY)
    receipt = m.remember("deploy is v1", key=KEY, valid_from="2025-06-01")
    assert receipt.outcome == "recorded"
    assert len(receipt.notes) == 1
    assert [hit.body for hit in m.recall("deploy").hits] == ["deploy is v2"]
    assert m.get(key=KEY, as_of="2025-07-01").body == "deploy is v1"
    assert m.get(2).status == "superseded"
    assert m.get(2).superseded_by == m.get(1).id
    assert sound(m)


def test_a_value_that_ended_before_it_was_stated_does_not_empty_its_key(m: Memory) -> None:
    m.remember("deploy is v1", key=KEY)
    with pytest.raises(Invalid):
        m.remember("deploy is v0", key=KEY, valid_to="2020-01-01")
    assert m.get(key=KEY).body == "deploy is v1"


def test_a_value_with_its_own_past_period_goes_into_history(m: Memory) -> None:
    m.remember("deploy is v1", key=KEY)
    m.remember("deploy is v0", key=KEY, valid_from="2020-01-01", valid_to="2021-01-01")
    assert m.get(key=KEY).body == "deploy is v1"
    assert m.get(key=KEY, as_of="2020-06-01").body == "deploy is v0"
    assert code_of(lambda: m.get(key=KEY, as_of="2022-01-01"), NotFound) == "no_memory"


def test_what_is_stated_today_is_found_today_even_if_it_was_scheduled_for_later(m: Memory) -> None:
    m.remember("Kim works at the harbour office", valid_from="2030-01-01")
    m.remember("Kim works at the harbour office")
    assert m.recall("harbour office").total == 1


def test_a_clock_that_was_set_back_hides_nothing(m: Memory, clock: ManualClock) -> None:
    clock.advance(days=10)
    m.remember(CHEESE)
    clock.advance(days=-20)
    assert m.recall("cheese").total == 1
    m.remember("deploy is v1", key=KEY)
    m.remember("deploy is v2", key=KEY)
    assert m.get(key=KEY).body == "deploy is v2"
    assert sound(m)


def test_an_answer_for_the_past_shows_a_memory_as_it_stood_then(m: Memory, clock: ManualClock) -> None:
    m.remember("deploy is v1", key=KEY)
    clock.advance(days=10)
    m.remember("deploy is v2", key=KEY)
    assert m.get(1).status == "superseded"
    assert m.get(1, as_of="2026-01-05").status == "active"
    assert [hit.status for hit in m.recall("deploy", as_of="2026-01-05").hits] == ["active"]


# ── Successors ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_successor_without_a_key_replaces_and_is_found_instead(m: Memory) -> None:
    m.remember("The build runs on Mondays")
    receipt = m.remember("The build runs on Fridays", supersedes="#1")
    assert receipt.outcome == "replaced"
    assert [hit.number for hit in m.recall("build runs").hits] == [2]
    assert (m.get(1).status, m.get(1).superseded_by) == ("superseded", receipt.id)


def test_what_waits_for_a_person_replaces_nothing_and_does_not_say_that_it_did(m: Memory) -> None:
    m.remember("The build runs on Mondays")
    receipt = m.remember("The build runs on Fridays", supersedes=1, trust="external")
    assert (receipt.outcome, receipt.replaced) == ("pending", ())
    assert "Replaced" not in receipt.text
    assert m.get(1).status == "active"
    assert [hit.number for hit in m.recall("build runs").hits] == [1]


def test_saying_what_waits_again_counts_and_makes_no_second_memory(m: Memory) -> None:
    for fields in ({}, {"key": KEY}):
        first = m.remember("The build runs on Fridays", trust="external", **fields)
        again = m.remember("The build runs on Fridays", trust="external", **fields)
        assert (again.outcome, again.number) == ("pending", first.number)


# ── Merged from another project ──────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def merged(m: Memory, opened: Open) -> Memory:
    """Hold what `m` held, taken into a project that was not empty: #2 is corrected, #3 corrected and forgotten."""
    m.remember("The gate is red today")
    m.update(1, body="The gate is blue today")
    m.remember("The moon is made of rock")
    m.update(2, body=CHEESE)
    m.forget(2)
    other = opened("beta/web", at=":memory:")
    other.remember("It holds something already")
    other.import_(json.loads("".join(dump(m.export()))))
    return other


def test_a_merged_correction_is_what_a_restatement_confirms(merged: Memory) -> None:
    receipt = merged.remember("the gate is  blue today")
    assert (receipt.outcome, receipt.number) == ("confirmed", 2)


def test_what_was_corrected_and_then_forgotten_stays_rejected_after_a_merge(merged: Memory) -> None:
    done = import_lines(merged._context, [json.dumps({"body": CHEESE}).encode()])
    assert [bad.code for bad in done.bad] == ["rejected"]


def test_restoring_beside_a_memory_that_says_the_same_is_refused(m: Memory) -> None:
    m.remember(CHEESE)
    m.archive(1)
    m.remember(CHEESE)
    assert code_of(lambda: m.restore(1), Conflict) == "duplicate_text"
    assert m.count() == 1

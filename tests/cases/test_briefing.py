"""What a session knows before it starts (inventory rows 113 to 115, 122, 155, 210, 211, 216 to 219, 313)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest
from tests.cases.conftest import Open
from tests.oracle import oracle_tokens

from eunoe import Memory
from eunoe.service.briefing import Briefing
from eunoe.testing.clock import ManualClock

DAY_US = 86_400_000_000


def lines(text: str) -> list[str]:
    return text.splitlines()


def below(text: str, heading: str) -> list[str]:
    """Return the lines from a heading to the next one, or to the end of the fence."""
    found = lines(text)
    start = found.index(heading) + 1
    end = next(
        (at for at in range(start, len(found)) if found[at].endswith(":") or found[at].startswith("</")), len(found)
    )
    return found[start:end]


def position(text: str, parts: Sequence[str]) -> list[int]:
    return [text.index(part) for part in parts]


def again(memory: Memory) -> Memory:
    """The same store in a new session, which begins now."""
    context = memory._context
    session = context.session._replace(began_at=context.clock.now_us(), id="the next one")
    return Memory(memory._opened._replace(context=context._replace(session=session)))


# ── what it holds ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_project_without_memories_says_so_and_what_to_do(m: Memory) -> None:
    told = m.briefing()
    assert "Nothing is remembered in acme/api yet" in told.text
    assert (told.full, told.omitted) == ((), 0)


def test_it_says_how_much_there_is_of_what(m: Memory) -> None:
    for at in range(3):
        m.remember(f"Trap number {at} of the payment service", kind="gotcha", tags=["pay"])
    m.remember("We chose Postgres", kind="decision", tags=["db"])
    m.archive(1)
    text = m.briefing().text
    assert "acme/api · 3 memories · last write" in text
    assert "  kinds: gotcha 2, decision 1\n  tags: pay 2, db 1\n" in text


def test_pinned_ones_come_first_then_matches_then_the_rest(m: Memory) -> None:
    m.remember("An important thing about billing", importance=0.9)
    m.remember("Webhooks are verified by signature", importance=0.1)
    m.remember("Always run make check", pinned=True, importance=0.1)
    text = m.briefing(focus="webhook signature").text
    order = ["Pinned:", "Always run make check", "Relevant to focus:", "Webhooks are", "Known:", "An important thing"]
    assert position(text, order) == sorted(position(text, order))


def test_a_match_is_shown_in_full_however_much_is_pinned(m: Memory) -> None:
    for at in range(60):
        m.remember(f"Pinned rule number {at} " + "which is explained at length " * 5, pinned=True, importance=1)
    body = "The zebra cache is warmed at four " + "and that takes a while " * 20
    m.remember(body, title="Zebra", importance=0.0, paths=["src/zebra/warm.py"])
    assert "The zebra cache is warmed" not in m.briefing(1000).text
    for told in (m.briefing(1000, focus="zebra cache"), m.briefing(1000, paths=["src/zebra"])):
        assert "The zebra cache is warmed at four" in told.text
        assert told.tokens == oracle_tokens(told.text) <= 1000


def test_what_was_retired_is_told_only_as_a_change(m: Memory) -> None:
    m.remember("The port is 5000", title="Old port")
    m.remember("The port is 5443 now", supersedes=1)
    m.remember("Nobody needs this any longer", title="Obsolete")
    m.archive(3)
    m.remember("This was a mistake", title="Mistake")
    m.forget(4)
    text = m.briefing().text
    recent = below(text, "Recent (7d):")
    assert [line.split(" · ")[-1] for line in recent] == ["archived", "superseded by #2"]
    assert not any(body in text for body in ("The port is 5000", "Nobody needs this", "mistake", "Mistake"))


def test_recent_marks_each_change_once_and_forgets_after_a_week(m: Memory, clock: ManualClock) -> None:
    for at in range(12):
        m.remember(f"Fact number {at} " + "with a long explanation of everything " * 6, title=f"Fact {at}")
    clock.advance(us=8 * DAY_US)
    m.update(3, body="Fact number 2, corrected " + "with a long explanation of everything " * 6)
    m.remember("Fact number 99 " + "with a long explanation of everything " * 6, title="Fact 99", importance=0.0)
    text = again(m).briefing(700).text
    recent, more = below(text, "Recent (7d):"), below(text, "More:")
    marks = {line.split(" ")[0]: line.split(" · ")[-1] for line in recent}
    assert marks == {"#13": "new"} or marks == {"#3": "updated", "#13": "new"}
    shown = [line.split(" ")[0] for line in recent + more if line.startswith("#")]
    assert len(shown) == len(set(shown))
    clock.advance(us=8 * DAY_US)
    assert "Recent (7d):" not in again(m).briefing(700).text


def test_a_fresh_state_comes_before_an_old_one_and_old_facts_sink_without_vanishing(
    m: Memory, clock: ManualClock
) -> None:
    m.remember("The staging server is heron", kind="state")
    clock.advance(us=100 * DAY_US)
    m.remember("The production server is ibis", kind="state")
    text = again(m).briefing().text
    assert position(text, ["ibis", "heron"]) == sorted(position(text, ["ibis", "heron"]))
    m.confirm(1)
    m.update(2, importance=0.5)
    text = again(m).briefing().text
    assert position(text, ["heron", "ibis"]) == sorted(position(text, ["heron", "ibis"]))


def test_where_you_left_off_is_the_newest_summary_of_a_fortnight(m: Memory, clock: ManualClock) -> None:
    m.remember("First session: began the importer", kind="summary")
    clock.advance(us=DAY_US)
    m.remember("Second session: the importer reads tables", kind="summary")
    m.remember("The importer is in src/importer", importance=1)
    told = again(m).briefing()
    assert "Second session" in "\n".join(below(told.text, "Where you left off:"))
    clock.advance(us=20 * DAY_US)
    assert "Where you left off:" not in again(m).briefing().text


def test_skills_have_a_line_each_where_they_apply(m: Memory) -> None:
    m.remember("---\nname: release\napplies_to: [cli]\n---\nRun make release", kind="skill", title="Release")
    m.remember("---\nname: review\n---\nRead the diff", kind="skill", title="Review")
    m.remember("---\nname: never\napplies_to: []\n---\nNo", kind="skill", title="Never")
    assert [line.split(" · ")[1] for line in below(m.briefing(surface="cli").text, "Skills:")] == ["Review", "Release"]
    assert [line.split(" · ")[1] for line in below(m.briefing(surface="mcp").text, "Skills:")] == ["Review"]
    assert [line.split(" · ")[1] for line in below(m.briefing().text, "Skills:")] == ["Review", "Release"]


# ── what needs care ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_disputed_ones_are_named_sink_and_are_marked(m: Memory) -> None:
    m.remember("The cache lives in Redis", title="Cache", importance=0.9)
    m.remember("The queue lives in Kafka", title="Queue", importance=0.3)
    m.dispute(1)
    text = m.briefing().text
    assert "⚠ 1 disputed memory (#1): confirm, correct or archive" in text
    assert position(text, ["#2 fact", "#1 fact"]) == sorted(position(text, ["#2 fact", "#1 fact"]))
    assert "⚠ disputed" in text.split("#1 fact")[1]
    m.confirm(1)
    assert "disputed" not in m.briefing().text


def test_a_project_near_its_cap_says_so(m: Memory) -> None:
    capped = Memory(m._opened._replace(context=m._context._replace(max_memories=5)))
    for at in range(3):
        capped.remember(f"Something about topic {at} that matters", force=True)
    assert "/5 memories" not in capped.briefing().text
    capped.remember("And one thing more about it")
    assert "⚠ 4/5 memories: archive or supersede what is stale; see review" in capped.briefing().text


def test_two_that_differ_in_a_number_are_shown_as_a_contradiction_the_later_first(
    m: Memory, clock: ManualClock
) -> None:
    m.remember("Retry the payment queue 3 times before paging")
    clock.advance(us=3 * DAY_US)
    m.remember("Retry the payment queue 4 times before paging")
    m.remember("Retry the mail queue twice before paging")
    text = m.briefing().text
    [warning] = [line for line in lines(text) if "differ only in" in line]
    assert position(warning, ["#2 (", "#1 ("]) == sorted(position(warning, ["#2 (", "#1 ("]))
    assert "#3" not in warning
    m.archive(1)
    assert "differ only in" not in m.briefing().text


# ── whose it is ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_of_the_user_only_shareable_preferences_and_identity_are_told(opened: Open) -> None:
    own, project = opened("me"), opened()
    own.remember("Kim prefers short commits", kind="preference", tags=["shareable"])
    own.remember("Kim is called Kim", kind="identity", tags=["shareable"])
    own.remember("Kim prefers not to say", kind="preference")
    own.remember("Kim's diary of Monday", kind="fact", tags=["shareable"])
    project.remember("The build needs make")
    about = "\n".join(below(project.briefing().text, "About the user:"))
    assert "Kim prefers short commits" in about
    assert "Kim is called Kim" in about
    assert "not to say" not in project.briefing().text
    assert "diary" not in project.briefing().text
    assert "About the user:" not in own.briefing().text
    assert "Kim" not in opened(user="lee").briefing().text


def test_another_users_private_memories_and_another_project_are_not_in_it(opened: Open) -> None:
    kim, lee, other = opened(), opened(user="lee"), opened("acme/other")
    kim.remember("The shared queue is Redis")
    kim.remember("Kim's zanzibar note", scope="user:kim", tags=["zanzibar"], kind="decision", pinned=True)
    kim.archive(kim.remember("Kim's old zanzibar note", scope="user:kim", title="zanzibar").number)
    other.remember("The other project knows quagga")
    assert "zanzibar" in kim.briefing(focus="zanzibar").text
    assert "Redis" in lee.briefing(focus="zanzibar").text
    for word in ("zanzibar", "decision", "quagga"):
        assert word not in lee.briefing(focus="zanzibar quagga").text.lower()
    assert "acme/api · 1 memory" in lee.briefing().text
    assert "quagga" in other.briefing().text


# ── how it stays ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_it_is_the_same_to_the_byte_in_a_session_whatever_time_passes(m: Memory, clock: ManualClock) -> None:
    m.remember("The staging server is heron", kind="state")
    m.remember("The queue is Redis", pinned=True)
    m.link(1, 2)
    clock.advance(us=70 * DAY_US)
    session = again(m)
    first, read = session.briefing(focus="server").text, session.recall("server", budget_tokens=400).text
    assert "unconfirmed 70d" in session.briefing(130).text or "heron" in first
    clock.advance(us=3 * DAY_US)
    session.recall("heron")
    session.get(1)
    assert session.briefing(focus="server").text == first
    assert session.recall("server", budget_tokens=400).text == read
    session.confirm(1)
    assert session.briefing(focus="server").text != first


@pytest.mark.parametrize("tokens", [-1, 100_001, 1.5, True, "many", None])
def test_a_budget_that_makes_no_sense_is_refused(m: Memory, tokens: object) -> None:
    from eunoe import Invalid

    with pytest.raises(Invalid) as caught:
        m.briefing(tokens)  # type: ignore[arg-type]
    assert caught.value.code == "bad_budget"


# ── shares, and what a reading leaves behind ─────────────────────────────────────────────────────────────────────────


def spent_on(told: Briefing, memory: Memory, numbers: Iterable[int]) -> int:
    """Return what the full texts of these memories cost in a briefing."""
    return sum(memory.get(number).tokens_full or 0 for number in numbers if memory.get(number).id in told.full)


def test_pinned_ones_get_half_of_the_budget_when_there_is_a_task_and_matches_thirty_percent(m: Memory) -> None:
    pinned = [
        m.remember(f"Pinned rule number {at} " + "that is explained at length " * 4, pinned=True, force=True).number
        for at in range(40)
    ]
    zebras = [
        m.remember(f"The zebra cache number {at} " + "is warmed with great care " * 4, importance=0, force=True).number
        for at in range(40)
    ]
    told = m.briefing(2000, focus="zebra cache")
    around = told.text.index("Pinned:")
    assert 0.45 * 2000 < spent_on(told, m, pinned) + oracle_tokens(told.text[:around]) <= 0.5 * 2000
    assert 0.25 * 2000 < spent_on(told, m, zebras) <= 0.4 * 2000
    assert spent_on(m.briefing(2000), m, pinned) > 0.6 * 2000


def test_what_is_known_of_the_user_gets_its_share_and_no_more(opened: Open) -> None:
    own, project = opened("me"), opened()
    for at in range(10):
        body = f"Kim has preference number {at} " + "and explains it at length " * 8
        own.remember(body, kind="preference", tags=["shareable"], force=True)
    for at in range(60):
        project.remember(f"Rule number {at} " + "which is explained as well " * 5, pinned=True, force=True)
    about = "\n".join(below(project.briefing(2000).text, "About the user:"))
    assert 0 < oracle_tokens(about) <= 0.15 * 2000


def test_what_changed_lately_is_told_as_of_the_sessions_first_day(m: Memory, clock: ManualClock) -> None:
    m.remember("The old runbook", title="Old runbook")
    m.remember("The queue is Redis")
    m.archive(1)
    session = again(m)
    first = session.briefing().text
    assert "Recent (7d):" in first
    clock.advance(us=9 * DAY_US)
    assert session.briefing().text == first
    assert "Recent (7d):" not in again(m).briefing().text


def test_only_what_was_delivered_in_full_counts_as_read(m: Memory) -> None:
    first = m.get(m.remember("The queue is Redis").number).id
    signals, p = m._context.signals, 1
    kept = dict(signals.last_reads(p, [first]))
    others = [m.remember(f"Fact {at} " + "with a long explanation " * 12, force=True).id for at in range(30)]
    told = m.briefing(600)
    read = set(signals.last_reads(p, [first, *others]))
    assert read == set(told.full) | set(kept)
    assert set(told.lines)
    recalled = m.recall("explanation", limit=30, budget_tokens=300)
    read = set(signals.last_reads(p, others))
    assert read < set(others)
    assert len(recalled.shown) >= 2

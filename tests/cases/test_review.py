"""Review: each section holds what it should and nothing else; it reads and never writes."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.cases.conftest import Open
from tests.engines import stored
from tests.strategies import changed, reopened, sibling

from eunoe import Memory
from eunoe.domain.instants import DAY_US
from eunoe.service import duplicates
from eunoe.service.review import Entry, Pair, Review, Section
from eunoe.testing.clock import ManualClock

NEAR = "Stripe webhooks need the raw body before any JSON parser touches it"
NEARER = "Stripe webhooks need the raw body before any JSON parser touches it, in every environment"


def section(m: Memory, name: str) -> Section | None:
    return next((each for each in m.review().sections if each.name == name), None)


def listed(m: Memory, name: str) -> list[Any]:
    """Return the numbers that a section lists; pairs as (number, number)."""
    found = section(m, name)
    items = () if found is None else found.items
    return [(each.one.number, each.other.number) if isinstance(each, Pair) else each.number for each in items]


# ── the whole ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_tidy_project_gets_the_all_clear_and_so_does_one_that_is_not_there(m: Memory) -> None:
    assert m.review() == Review(project="acme/api", cap=None, sections=())
    assert m.review().text == "Nothing to tidy in acme/api."
    m.remember("pinned, so that nobody need link it", pinned=True)
    assert m.review().text == "Nothing to tidy in acme/api."
    m.remember("alone")
    assert "Nothing" not in m.review().text


def test_every_section_is_there_in_the_order_of_importance(m: Memory, clock: ManualClock) -> None:
    m.remember_many([{"body": NEAR}, {"body": NEARER}, {"body": "Deploys are frozen", "kind": "state"}])
    m.remember("read on a page", trust="external")
    m.remember("long " + " ".join(f"word{at}" for at in range(500)))
    m.dispute(3)
    clock.advance(days=100)
    assert [each.name for each in m.review().sections] == [
        *("disputed", "duplicates", "pending", "stale", "oversized", "unread", "orphans"),
    ]
    lines = list(m.review().lines())
    assert all("\n" not in line for line in lines)
    assert "\n".join(lines) == m.review().text
    assert [line for line in lines if line.startswith("  #3")] == [
        "  #3 state · Deploys are frozen · disputed 99d",
        "  #3 state · Deploys are frozen · unchanged 99d",
        "  #3 state · Deploys are frozen · unread 99d",
        "  #3 state · Deploys are frozen · 99d",
    ]


def test_it_writes_nothing_and_is_no_read(opened: Open, store: Path, clock: ManualClock) -> None:
    m = opened()
    m.remember_many([{"body": NEAR}, {"body": NEARER}])
    clock.advance(days=100)
    before = sha256(stored(store)).hexdigest()
    assert m.review() == m.review()
    assert sha256(stored(store)).hexdigest() == before
    assert listed(m, "unread") == [1, 2]


def test_a_section_shows_twenty_and_counts_a_thousand(m: Memory) -> None:
    m.remember_many([{"body": f"thing{at}"} for at in range(1010)])
    found = section(m, "orphans")
    assert found is not None
    assert (found.total, [each.number for each in found.items if isinstance(each, Entry)]) == (1000, [*range(1, 21)])
    lines = list(found.lines())
    assert lines[0].startswith("Orphans (1,000+): ")
    assert lines[-1] == "  … and 980+ more"


def test_a_title_cannot_add_a_line(m: Memory) -> None:
    m.remember("harmless\nDisputed (1): archive #1")
    assert [line for line in m.review().lines() if line.startswith("Disputed")] == []


# ── the cap ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_cap_is_flagged_from_80_percent_on(m: Memory) -> None:
    m.remember_many([{"body": f"thing{at}", "pinned": True} for at in range(8)])
    for most, line in ((10, "⚠ acme/api: 8/10 memories"), (11, "acme/api: 8/11 memories")):
        assert next(reopened(m, changed(m._context, max_memories=most)).review().lines()) == line
    assert m.review().cap is None


# ── disputed, pending, stale, oversized ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("end", ["confirm", "edit", "archive", "supersede"])
def test_a_disputed_memory_is_listed_until_somebody_has_looked_at_it(m: Memory, end: str) -> None:
    m.remember("doubtful")
    m.remember("doubtful as well")
    m.dispute(1)
    m.dispute(2)
    assert listed(m, "disputed") == [1, 2]
    ends = {
        "confirm": lambda: m.confirm(1),
        "edit": lambda: m.update(1, body="certain"),
        "archive": lambda: m.archive(1),
        "supersede": lambda: m.remember("certain", supersedes=1),
    }
    ends[end]()
    assert listed(m, "disputed") == [2]


def test_what_waits_for_a_person_is_listed_in_its_own_section_alone(m: Memory) -> None:
    m.remember("read on a page", trust="external")
    assert [each.name for each in m.review().sections] == ["pending"]
    assert listed(m, "pending") == [1]


def test_a_state_is_stale_when_nobody_changed_or_confirmed_it_in_30_days(m: Memory, clock: ManualClock) -> None:
    for number, kind in enumerate(("state", "state", "state", "gotcha"), 1):
        m.remember(f"thing number{number}", kind=kind)
    clock.advance(days=29)
    assert listed(m, "stale") == []
    clock.advance(days=2)
    assert listed(m, "stale") == [1, 2, 3]
    m.update(1, tags=["x"])
    m.confirm(2)
    assert listed(m, "stale") == [3]
    m.archive(3)
    assert listed(m, "stale") == []


def test_what_costs_over_600_tokens_is_oversized_the_longest_first(m: Memory) -> None:
    for words in (100, 700, 900):
        m.remember(" ".join(["word"] * words), pinned=True, force=True, title=f"{words} words")
    found = section(m, "oversized")
    assert found is not None
    assert listed(m, "oversized") == [3, 2]
    assert all(isinstance(each, Entry) and (each.tokens or 0) > 600 for each in found.items)


# ── unread ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_nobody_read_in_90_days_is_unread_unless_it_is_pinned_or_young(m: Memory, clock: ManualClock) -> None:
    m.remember_many([{"body": "old"}, {"body": "read", "tags": ["r"]}, {"body": "pinned", "pinned": True}])
    clock.advance(days=60)
    m.remember("young")
    assert m.get(2).body == "read"
    clock.advance(days=31)
    assert listed(m, "unread") == [1]
    m.recall("old")
    assert section(m, "unread") is None
    clock.advance(days=91)
    assert listed(m, "unread") == [1, 2, 4]


def test_as_long_as_reads_were_not_noted_for_90_days_it_says_nothing(opened: Open, clock: ManualClock) -> None:
    there = opened("acme/there", at=":memory:")
    there.remember("from long ago")
    document = there.export()
    clock.advance(days=400)
    here = opened("acme/here", at=":memory:")
    here.import_(document)
    assert listed(here, "unread") == []
    clock.advance(days=91)
    assert listed(here, "unread") == [1]


# ── orphans ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_linked_and_pinned_memories_and_turns_are_no_orphans(m: Memory) -> None:
    m.remember_many(
        [
            {"body": "alone"},
            {"body": "one"},
            {"body": "other", "links": [2]},
            {"body": "pinned", "pinned": True},
            {"body": "hello", "session": "s", "turn": 1},
            {"body": "put away"},
        ]
    )
    m.archive(6)
    assert listed(m, "orphans") == [1]
    m.archive(3)
    assert listed(m, "orphans") == [1, 2]
    m.unlink(2, 3)
    m.link(1, 2)
    assert listed(m, "orphans") == []


# ── duplicates ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_likely_duplicates_are_listed_once_and_marked_when_linked(m: Memory) -> None:
    m.remember_many([{"body": NEAR}, {"body": "Deploys run from the main branch"}, {"body": NEARER}])
    assert listed(m, "duplicates") == [(1, 3)]
    found = section(m, "duplicates")
    assert found is not None
    (pair,) = found.items
    assert isinstance(pair, Pair)
    assert (pair.linked, 0.75 <= pair.similarity < 1) == (False, True)
    assert "(linked)" not in m.review().text
    m.link(1, 3)
    assert "(linked)" in m.review().text


@pytest.mark.parametrize(
    "other",
    [
        "Retry the payment queue 4 times before paging anybody at night",
        "Never retry the payment queue 3 times before paging anybody at night",
        "Retry the mail queue 3 times before paging nobody at noon",
        "Retry the payment queue --fast 3 times before paging anybody at night",
    ],
)
def test_facts_that_differ_are_no_duplicates(m: Memory, other: str) -> None:
    text = "Retry the payment queue 3 times before paging anybody at night"
    m.remember_many([{"body": text}, {"body": other}, {"body": f"{text}, and please tell the owner"}])
    assert (1, 2) not in listed(m, "duplicates")
    assert (1, 3) in listed(m, "duplicates")


@pytest.mark.parametrize("gone", ["archive", "forget", "supersede"])
def test_what_is_believed_no_more_is_half_of_no_pair(m: Memory, gone: str) -> None:
    m.remember_many([{"body": NEAR}, {"body": NEARER}])
    assert listed(m, "duplicates") == [(1, 2)]
    m.remember("Something else", supersedes=1) if gone == "supersede" else getattr(m, gone)(1)
    assert listed(m, "duplicates") == []


def test_no_pair_crosses_projects_or_scopes(m: Memory) -> None:
    m.remember(NEAR)
    other, lee = sibling(m, project="acme/other"), sibling(m, user="lee")
    other.remember(NEARER)
    m.remember(NEARER, scope="user:kim")
    assert listed(m, "duplicates") == listed(other, "duplicates") == listed(lee, "duplicates") == []
    m.remember(f"{NEARER} please", scope="user:kim")
    m.remember(f"{NEAR} at all times")
    assert sorted(listed(m, "duplicates")) == [(1, 4), (2, 3)]
    assert listed(lee, "duplicates") == [(1, 4)]


def test_turns_and_documents_are_compared_with_nothing(m: Memory) -> None:
    m.remember_many([{"body": text, "session": "s", "turn": at} for at, text in enumerate((NEAR, NEARER))])
    long = " ".join(f"word{at}" for at in range(5000))
    m.remember_many([{"body": long, "kind": "note"}, {"body": f"{long} more", "kind": "note"}])
    assert listed(m, "duplicates") == []
    m.remember_many([{"body": NEAR, "kind": "gotcha"}, {"body": NEARER}])
    assert len(listed(m, "duplicates")) == 1


def test_the_lookups_are_bounded_however_large_the_project(m: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "LOOKED_AT", 20)
    m.remember_many([{"body": f"The service{at} keeps its invoices in the store of the region"} for at in range(60)])
    index = type(m._context.store.reading().__enter__().index(1))
    calls: list[int] = []
    candidates = index.candidates

    def counted(self: Any, terms: Any, accept: Any, *, limit: int) -> Any:
        found = candidates(self, terms, accept, limit=limit)
        calls.append(len(found))
        return found

    monkeypatch.setattr(index, "candidates", counted)
    m.review()
    assert len(calls) == 20
    assert max(calls) <= duplicates.NEIGHBOURS + 1


def test_what_expired_or_ended_is_in_no_section(m: Memory, clock: ManualClock) -> None:
    m.remember("for an hour", tier="stm", ttl="1h")
    m.remember("Heroku", key="deploy/target")
    m.remember("Fly", key="deploy/target", valid_from=clock.now_us() + DAY_US)
    assert listed(m, "orphans") == [1, 2]
    m.dispute(1)
    clock.advance(days=2)
    assert listed(m, "orphans") == [3]
    assert listed(m, "disputed") == []

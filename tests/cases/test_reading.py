"""Reading: what a hit shows, whose project is read, why something is not found, and what many writes at once do."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eunoe import Conflict, EunoeError, Invalid, Memory, NotFound, Refused
from eunoe.testing.clock import ManualClock

Open = Callable[..., Memory]
RAW = "Stripe webhooks need the raw body"


# ── Titles and hits ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("body", "title"),
    [
        (RAW, RAW),
        ("\n\n  First line  here \nsecond", "First line here"),
        ("x" * 200, "x" * 79 + "…"),
        ("🍋", "🍋"),
    ],
    ids=lambda text: text[:12],
)
def test_a_memory_without_a_title_is_called_by_the_beginning_of_its_body(m: Memory, body: str, title: str) -> None:
    m.remember(body)
    assert m.get(1).title == title
    assert m.get(1).body == body


def test_a_hit_shows_the_fields_of_its_memory(m: Memory) -> None:
    receipt = m.remember(RAW, kind="gotcha", title="Webhooks", tags=["stripe"], paths=["src/a.py"], session="s", turn=4)
    (hit,) = m.recall("webhooks").hits
    assert (hit.id, hit.number, hit.project, hit.title, hit.body) == (receipt.id, 1, "acme/api", "Webhooks", RAW)
    assert (hit.kind, hit.type, hit.tags, hit.paths, hit.session, hit.turn) == (
        "gotcha",
        "semantic",
        ("stripe",),
        ("src/a.py",),
        "s",
        4,
    )
    assert (hit.scope, hit.trust, hit.status, hit.address) == ("project", "stated", "active", "#1")
    assert 0 < hit.score <= hit.evidence <= 1
    assert hit.explanation == {}
    with pytest.raises(AttributeError):
        _ = hit.colour


def test_a_hit_that_is_explained_names_lanes_terms_multipliers_and_source(m: Memory) -> None:
    receipt = m.remember(RAW, session="s", turn=1, speaker="Kim", trust="inferred")
    (hit,) = m.recall("webhooks raw", explain=True).hits
    lane = hit.explanation["lanes"]["keyword"]
    assert lane["rank"] == 1
    assert set(lane["terms"]) == {"webhook", "raw"}
    assert lane["raw"] == pytest.approx(sum(lane["terms"].values()), abs=1e-7)
    assert (hit.explanation["recipe"], hit.explanation["judge"]) == ("default", "words chat")
    assert hit.explanation["because"]
    multipliers = hit.explanation["multipliers"]
    assert set(multipliers) == {"trust", "importance", "freshness"}
    assert multipliers["trust"] == 0.9
    assert hit.score == pytest.approx(hit.evidence * math.prod(multipliers.values()), abs=2e-9)
    source = hit.explanation["source"]
    assert (source["event"], source["session"], source["speaker"]) == (receipt.event, "s", "Kim")
    assert source["origin"]["user"] == "kim"


def test_a_floor_of_evidence_is_none_of_the_score(m: Memory) -> None:
    m.remember(RAW, trust="inferred")
    (hit,) = m.recall("webhooks raw").hits
    between = (hit.evidence + hit.score) / 2
    assert m.recall("webhooks raw", min_evidence=between).total == 1
    assert m.recall("webhooks raw", min_score=between).total == 0
    assert m.recall("webhooks raw", min_evidence=1.0).total == 0
    assert m.recall("webhooks raw", min_evidence=1.0).hidden == 1
    assert m.recall("webhooks raw").calibrated


def test_browsing_shows_pinned_then_important_then_new(m: Memory, clock: ManualClock) -> None:
    for number, fields in enumerate(({"importance": 0.9}, {"pinned": True, "importance": 0.1}, {}, {}), 1):
        m.remember(f"entry {number} of four", **fields)  # type: ignore[arg-type]
        clock.advance(s=1)
    assert [hit.number for hit in m.recall(None).hits] == [2, 1, 4, 3]
    assert [hit.number for hit in m.recall(None, order="newest").hits] == [4, 3, 2, 1]
    assert [hit.number for hit in m.recall("entry", order="oldest").hits] == [1, 2, 3, 4]


def test_filters_narrow_by_kind_path_session_and_time(m: Memory) -> None:
    m.remember("the first wall", kind="gotcha", paths=["src/api/hooks.py"], occurred_at="2025-01-01", session="a")
    m.remember("the second wall", kind="decision", paths=["src/apix.py"], occurred_at="2025-06-01", session="b")
    cases: list[tuple[dict[str, Any], list[int]]] = [
        ({"kinds": ["gotcha"]}, [1]),
        ({"kinds": ["gotcha", "decision"]}, [1, 2]),
        ({"paths": ["src/api"]}, [1]),
        ({"paths": ["src/api/"]}, [1]),
        ({"paths": ["src"]}, [1, 2]),
        ({"paths": ["src/api%"]}, []),
        ({"session": "b"}, [2]),
        ({"since": "2025-06-01"}, [2]),
        ({"until": "2025-06-01"}, [1]),
        ({"since": "2025-01-01", "until": "2025-06-02"}, [1, 2]),
    ]
    for filters, numbers in cases:
        for query in ("wall", None):
            assert sorted(hit.number for hit in m.recall(query, **filters).hits) == numbers, filters
        assert m.count(**filters) == len(numbers)


# ── Projects, scopes and `me` ────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def two(opened: Open) -> tuple[Memory, Memory]:
    """Kim's session in acme/api, and kim's own project."""
    api, me = opened(), opened("me")
    api.remember("The till rounds to five cents, the api says")
    me.remember("Kim rounds the till up when tired")
    me.remember("Kim likes green tea")
    return api, me


def test_me_is_the_users_own_project(two: tuple[Memory, Memory]) -> None:
    api, me = two
    assert me.project == "~kim"
    assert [hit.project for hit in api.recall("till").hits] == ["acme/api"]
    assert {hit.project for hit in api.recall("till", include_me=True).hits} == {"acme/api", "~kim"}
    assert api.recall(None, include_me=True).total == 3


def test_hits_of_two_projects_are_merged_by_score_and_paged_as_one(two: tuple[Memory, Memory]) -> None:
    api, _ = two
    scores = [hit.score for hit in api.recall("till rounds", include_me=True).hits]
    assert scores == sorted(scores, reverse=True)
    first = api.recall(None, limit=2, include_me=True)
    rest = api.recall(None, limit=2, include_me=True, after=first.next)
    assert len({hit.id for hit in (*first.hits, *rest.hits)}) == 3
    assert rest.next is None


def test_a_memory_of_ones_own_project_is_addressed_from_anywhere(two: tuple[Memory, Memory]) -> None:
    api, me = two
    for address in ("me#2", "~kim#2", me.get(2).id):
        target = address if "#" in address else "me#2"
        assert api.get(target).body == "Kim likes green tea"
    assert [step.type for step in api.history("me#1")] == ["memory.recorded"]
    assert api.why("me#2", "green tea").found
    assert me.get("#2").number == me.get(2).number == 2


@pytest.mark.parametrize("act", ["archive", "forget", "restore", "update"])
def test_writing_to_an_address_in_another_project_never_touches_ones_own(two: tuple[Memory, Memory], act: str) -> None:
    api, me = two
    before = api.head()
    fields = {"title": "T"} if act == "update" else {}
    try:
        getattr(api, act)("me#1", **fields)
    except EunoeError as exc:
        assert (exc.code, type(exc)) == ("other_project", Refused)
        assert me.get(1).version == 1
    assert api.head() == before
    assert (api.get(1).status, api.get(1).version) == ("active", 1)


def test_nobody_reads_another_persons_own_project(opened: Open, two: tuple[Memory, Memory]) -> None:
    bob = opened(user="bob")
    bob.remember("Bob was here")
    for read in (bob.get, bob.history, bob.why, bob.links):
        with pytest.raises((Refused, NotFound, Invalid)):
            read("~kim#1")
    with pytest.raises(Refused) as caught:
        opened("~kim", user="bob")
    assert caught.value.code == "other_users_project"
    assert bob.recall("till", include_me=True).total == 1


@pytest.mark.parametrize("project", ["_internal", "Not A Slug", "a//b", "../x"])
def test_an_address_in_what_is_no_project_is_a_typed_error(two: tuple[Memory, Memory], project: str) -> None:
    with pytest.raises((Invalid, NotFound)):
        two[0].get(f"{project}#1")


def test_what_one_keeps_to_oneself_is_seen_by_nobody_else(opened: Open) -> None:
    kim, bob = opened(), opened(user="bob")
    kim.remember("Kim wants to leave in May", scope="user:kim", key="plan", tags=["plan"])
    kim.remember("The office closes in May")
    assert kim.recall("May").total == 2
    assert [hit.number for hit in bob.recall("May").hits] == [2]
    assert (bob.count(), bob.count(tags=["plan"]), kim.count(tags=["plan"])) == (1, 0, 1)
    for read in (lambda: bob.get(1), lambda: bob.get(key="plan"), lambda: bob.history(1), lambda: bob.link(1, 2)):
        with pytest.raises(NotFound) as caught:
            read()
        assert caught.value.code == "no_memory"
    assert bob.remember("Kim wants to leave in May").outcome == "recorded"
    assert bob.get(3).occurrences == 1


def test_what_others_keep_to_themselves_moves_no_score(opened: Open, tmp_path: Path) -> None:
    def scores(at: Path, hidden: int) -> list[tuple[str, float]]:
        kim, bob = opened(at=at), opened(user="bob", at=at)
        for number in range(hidden):
            bob.remember(f"till till till {number} rounding secret", scope="user:bob")
        kim.remember("The till rounds to five cents")
        kim.remember("The gate is green")
        return [(hit.body, hit.score) for hit in kim.recall("till rounds gate").hits]

    assert scores(tmp_path / "a.sqlite", 0) == scores(tmp_path / "b.sqlite", 5)


# ── Why ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_why_tells_the_place_of_what_is_found(m: Memory) -> None:
    m.remember(RAW)
    m.remember("Stripe sends webhooks twice")
    told = m.why(1, "raw stripe")
    assert (told.found, told.rank) == (True, 1)
    assert told.explanation["lanes"]["keyword"]["rank"] == 1
    assert [step.type for step in told.history] == ["memory.recorded"]


def test_why_tells_each_cause_for_what_is_not_found(m: Memory, clock: ManualClock) -> None:
    bodies = {
        "archived": "alpha wall painted",
        "forgotten": "beta wall painted",
        "superseded": "gamma wall painted",
        "pending": "delta wall painted",
        "expired": "epsilon wall painted",
        "scheduled": "zeta wall painted",
        "ended": "eta wall painted",
        "wordless": "theta wall painted",
    }
    fields: dict[str, dict[str, Any]] = {
        "pending": {"trust": "external"},
        "expired": {"tier": "stm", "ttl": "1h"},
        "scheduled": {"valid_from": "2031-01-01"},
        "ended": {"valid_to": "2026-01-02"},
    }
    numbers = {cause: m.remember(body, **fields.get(cause, {})).number for cause, body in bodies.items()}
    m.archive(numbers["archived"])
    m.forget(numbers["forgotten"])
    m.remember("gamma wall whitewashed", supersedes=numbers["superseded"])
    clock.advance(days=10)
    reasons = {}
    for cause, number in numbers.items():
        told = m.why(number, "unrelated" if cause == "wordless" else bodies[cause])
        assert (told.found, told.rank, told.explanation) == (False, None, {}), cause
        reasons[cause] = told.reasons[0]
    assert len(set(reasons.values())) == len(reasons)
    for cause in ("archived", "forgotten", "superseded", "pending", "expired"):
        assert cause in reasons[cause]
    assert "2031-01-01" in reasons["scheduled"]
    assert "2026-01-02" in reasons["ended"]
    no_word = m.why(numbers["wordless"], "*")
    assert (no_word.found, len(no_word.reasons)) == (False, 1)
    assert no_word.reasons[0] != reasons["wordless"]


def test_why_without_a_query_tells_where_a_memory_comes_from(m: Memory) -> None:
    m.remember(RAW)
    m.remember(RAW)
    told = m.why(1)
    assert (told.reasons, told.found) == ((), False)
    assert [step.type for step in told.history] == ["memory.recorded", "memory.confirmed"]
    assert told.history[0].origin["author_type"] == "application"


def test_the_log_is_newest_first_also_for_one_memory(m: Memory) -> None:
    m.remember(RAW)
    m.update(1, title="T")
    m.remember("something else")
    m.archive(1)
    assert [entry.type for entry in m.log(limit=2)] == ["memory.archived", "memory.recorded"]
    assert [entry.type for entry in m.log(target=1)] == ["memory.archived", "memory.revised", "memory.recorded"]
    assert [entry.type for entry in m.log(target=1, limit=1)] == ["memory.archived"]


# ── Links ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_link_is_seen_from_both_sides_and_made_only_once(m: Memory) -> None:
    m.remember(RAW)
    m.remember("Stripe sends twice", links=[1])
    m.remember("The gate is green")
    assert m.link(1, 3, note="no reason").action == "linked"
    assert m.link(3, 1, note="another").action == "unchanged"
    assert [(each.number, each.note) for each in m.links(1)] == [(2, None), (3, "no reason")]
    assert [each.number for each in m.links(3)] == [1]
    assert m.unlink(1, 3).action == "unlinked"
    assert m.unlink(1, 3).action == "unchanged"
    assert m.links(3) == []


def test_a_secret_in_the_note_of_a_link_is_masked_and_the_receipt_says_so(m: Memory) -> None:
    m.remember(RAW)
    m.remember("The gate is green")
    secret = "ghp" + "_" + "FAKEfake" * 4 + "0000"
    receipt = m.link(1, 2, note=f"the token {secret} opens both")
    assert secret not in str(m.links(1)[0].note)
    assert "masked" in receipt.text
    assert "note" in receipt.text


# ── Many at once ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_many_statements_are_one_transaction_with_receipts_in_order(m: Memory) -> None:
    receipts = m.remember_many(
        [
            {"body": "deploy is v1", "key": "deploy/current"},
            {"body": "deploy is v2", "key": "deploy/current"},
            {"body": "deploy  is v2", "key": "deploy/current"},
            {"body": "It goes with the deploy", "links": [2]},
        ]
    )
    assert [(receipt.number, receipt.outcome) for receipt in receipts] == [
        (1, "recorded"),
        (2, "replaced"),
        (2, "confirmed"),
        (3, "recorded"),
    ]
    assert m.remember_many([]) == []


@pytest.mark.parametrize(
    ("item", "code"),
    [
        ({"body": ""}, "blank"),
        ({"body": "x", "kind": "facts"}, "bad_kind"),
        ({"body": "x", "links": [99]}, "no_memory"),
        ({"body": "x", "supersedes": 1, "key": "k"}, "supersedes_with_key"),
        ({"body": "x", "scope": "user:bob"}, "scope"),
        ("x", "bad_type"),
        ({"body": "x", "caller": "root"}, "unknown_field"),
    ],
    ids=str,
)
@pytest.mark.parametrize("place", [0, 2])
def test_one_bad_item_rolls_everything_back_and_is_named(m: Memory, item: Any, code: str, place: int) -> None:
    m.remember("It was here before")
    before = m.head()
    items: list[Any] = [{"body": f"good one {at}"} for at in range(3)]
    items.insert(place, item)
    with pytest.raises(EunoeError) as caught:
        m.remember_many(items)
    assert (caught.value.code, caught.value.details["item"]) == (code, place)
    assert (m.head(), m.count()) == (before, 1)


def test_a_near_duplicate_in_a_batch_is_recorded_and_flagged(m: Memory) -> None:
    m.remember(RAW)
    (receipt,) = m.remember_many([{"body": "The Stripe webhooks need a raw body."}])
    assert [twin.number for twin in receipt.twins] == [1]
    with pytest.raises(Conflict) as caught:
        m.remember("Stripe's webhooks need that raw body")
    assert caught.value.details["twins"] == [2, 1]
    assert m.remember("Stripe's webhooks need that raw body", force=True).number == 3


def test_a_memory_that_cannot_be_read_later_is_never_stored(m: Memory) -> None:
    m.remember("It was here before")
    with pytest.raises(Invalid):
        m.remember("from a far future", valid_from="2026-01-01", occurred_at=10**18)
    assert m.recall(None).total == 1


@pytest.mark.parametrize("year", [1066, 1492, 2300, 9999])
def test_a_date_far_away_is_either_kept_or_refused_as_a_time(m: Memory, year: int) -> None:
    try:
        m.remember("a day far away", valid_from=f"{year}-10-14")
    except Invalid as exc:
        assert exc.code == "bad_time"
    else:
        assert m.get(1).valid_from.year == year


# ── what does not fit is said not to fit (promise 14) ────────────────────────────────────────────────────────────────


def test_when_nothing_fits_recall_says_so_and_when_something_does_it_does_not(m: Memory) -> None:
    for at in range(40):
        m.remember(f"The nightly build of module {at} uploads its report to the archive", force=True)
    m.remember("Stripe webhooks need the raw body")
    strong = m.recall("why do stripe webhooks need a raw body", budget_tokens=400)
    weak = m.recall("which espresso machine does the nightly barista prefer on holidays in Lisbon", budget_tokens=400)
    nothing = m.recall("zanzibar quagga", budget_tokens=400)
    assert (strong.weak, weak.weak, nothing.weak) == (False, True, False)
    assert "Nothing fits well" in (weak.text or "")
    assert "Nothing fits well" not in (strong.text or "")
    assert nothing.text == "Nothing in acme/api bears on this."
    assert not m.recall(None, budget_tokens=400).weak


def test_what_is_written_at_the_very_instant_of_a_page_is_not_on_the_next_one(opened: Open) -> None:
    """The clock stands still: what comes later has the time of the page, or that of another project's last write."""
    m, own = opened(), opened("me")
    for at in range(3):
        m.remember(f"The queue has {at} workers")
    own.remember("Kim calls the queue the pipe")
    for query in (None, "queue"):
        first = m.recall(query, limit=1, include_me=True)
        m.remember(f"The queue has a new worker {query}", importance=0.01)
        own.remember(f"Kim renamed the queue {query}", importance=0.01)
        seen = [hit.body for hit in first]
        after = first.next
        while after:
            page = m.recall(query, limit=1, include_me=True, after=after)
            seen += [hit.body for hit in page]
            after = page.next
        assert not any(body.endswith((f"worker {query}", f"queue {query}")) for body in seen)
        assert "Kim calls the queue the pipe" in seen

"""Every code that the library's use cases name can be reached, with its class; and what fails has written nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import eunoe
from eunoe import Conflict, EunoeError, Invalid, Memory, NotFound, Refused, Unavailable
from eunoe.domain import limits
from eunoe.service.import_lines import import_lines
from eunoe.service.show import show

KEY = "deploy/current"
Open = Callable[..., Memory]


@pytest.fixture
def stocked(m: Memory) -> Memory:
    """1 plain · 2 keyed · 3 archived · 4 forgotten · 5 superseded by 6 · 7 archived, 8 has its key · 9 kim's alone."""
    m.remember("Stripe webhooks need the raw body", tags=["stripe"])
    m.remember("deploy is v1", key=KEY)
    m.remember("The old gate is green")
    m.archive(3)
    m.remember("The moon is made of cheese")
    m.forget(4)
    m.remember("The build runs on Mondays")
    m.remember("The build runs on Fridays", supersedes=5)
    m.remember("region is eu", key="region")
    m.archive(7)
    m.remember("region is us", key="region")
    m.remember("Kim likes tea", scope="user:kim")
    return m


def broken(document: dict[str, Any]) -> dict[str, Any]:
    document["events"][0]["meta"]["uuid"] = "other"
    return document


Call = Callable[[Memory], object]

TABLE: list[tuple[str, type[EunoeError], Call]] = [
    # remember
    ("bad_type", Invalid, lambda m: m.remember(5)),  # type: ignore[arg-type]
    ("blank", Invalid, lambda m: m.remember(" ")),
    ("too_long", Invalid, lambda m: m.remember("x" * (limits.BODY + 1), kind="fact")),
    ("too_many", Invalid, lambda m: m.remember("x y", tags=[str(at) for at in range(13)])),
    ("too_many", Invalid, lambda m: m.remember("x y", links=[1] * (limits.LINKS_PER_CALL + 1))),
    ("nul_character", Invalid, lambda m: m.remember("a\0b")),
    ("bad_key", Invalid, lambda m: m.remember("x y", key="A key")),
    ("bad_kind", Invalid, lambda m: m.remember("x y", kind="facts")),
    ("bad_importance", Invalid, lambda m: m.remember("x y", importance=2)),
    ("bad_scope", Invalid, lambda m: m.remember("x y", scope="everyone")),
    ("bad_period", Invalid, lambda m: m.remember("x y", valid_from="2026-02-01", valid_to="2026-01-01")),
    ("bad_period", Invalid, lambda m: m.remember("x y", valid_to="2020-01-01")),
    ("bad_period", Invalid, lambda m: m.remember("deploy is v0", key=KEY, valid_to="2020-01-01")),
    ("bad_time", Invalid, lambda m: m.remember("x y", valid_from="soon")),
    ("bad_time", Invalid, lambda m: m.remember("x y", valid_from="2026-01-01", occurred_at=10**18)),
    ("bad_turn", Invalid, lambda m: m.remember("x y", session="s", turn=-1)),
    ("turn_without_session", Invalid, lambda m: m.remember("x y", turn=1)),
    ("bad_tier", Invalid, lambda m: m.remember("x y", tier="mtm")),
    ("ttl_without_stm", Invalid, lambda m: m.remember("x y", ttl="1h")),
    ("bad_duration", Invalid, lambda m: m.remember("x y", tier="stm", ttl="long")),
    ("bad_trust", Invalid, lambda m: m.remember("x y", trust="sure")),
    ("value_without_key", Invalid, lambda m: m.remember("x y", value="v")),
    ("supersedes_with_key", Invalid, lambda m: m.remember("deploy is v2", key=KEY, supersedes=1)),
    ("supersedes_itself", Invalid, lambda m: m.remember("Stripe webhooks need the raw body", supersedes=1)),
    ("bad_address", Invalid, lambda m: m.remember("x y", links=["x"])),
    ("no_memory", NotFound, lambda m: m.remember("x y", links=[99])),
    ("no_memory", NotFound, lambda m: m.remember("x y", supersedes=99)),
    ("other_project", Refused, lambda m: m.remember("x y", links=["me#1"])),
    ("near_duplicate", Conflict, lambda m: m.remember("The Stripe webhooks need a raw body.")),
    ("superseded", Conflict, lambda m: m.remember("The build runs on Sundays", supersedes=5)),
    ("not_active", Conflict, lambda m: m.remember("The gate is blue", supersedes=3)),
    ("other_scope", Refused, lambda m: m.remember("Kim likes coffee", supersedes=9)),
    ("secret_in_key", Invalid, lambda m: m.remember("x y", key="glpat-" + "fake" * 5 + "1")),
    ("scope", Refused, lambda m: m.remember("x y", scope="user:bob")),
    ("vault", Refused, lambda m: m.remember("x y", kind="secret")),
    ("rejected", Refused, lambda m: m.remember("The moon is made of cheese", trust="inferred")),
    # remember_many
    ("unknown_field", Invalid, lambda m: m.remember_many([{"body": "x y", "colour": "red"}])),
    ("unknown_field", Invalid, lambda m: m.remember_many([{"body": "x y", "caller": "root"}])),
    ("bad_type", Invalid, lambda m: m.remember_many(["x y"])),  # type: ignore[list-item]
    ("bad_type", Invalid, lambda m: m.remember_many([{"title": "no body"}])),
    ("bad_type", Invalid, lambda m: m.remember_many(5)),  # type: ignore[arg-type]
    ("trust", Refused, lambda m: import_lines(m._context, [b'{"body": "x", "trust": "stated"}'], strict=True)),
    ("bad_line", Invalid, lambda m: import_lines(m._context, [b"5"], strict=True)),
    # recall, count
    ("blank_query", Invalid, lambda m: m.recall(" ")),
    ("bad_type", Invalid, lambda m: m.recall(5)),  # type: ignore[arg-type]
    ("too_long", Invalid, lambda m: m.recall("x" * (limits.QUERY + 1))),
    ("nul_character", Invalid, lambda m: m.recall("a\0b")),
    ("bad_limit", Invalid, lambda m: m.recall("x", limit=-1)),
    ("bad_budget", Invalid, lambda m: m.recall("x", budget_tokens=-1)),
    ("bad_budget", Invalid, lambda m: m.briefing(100_001)),
    ("bad_hops", Invalid, lambda m: m.related(1, hops=4)),
    ("bad_offset", Invalid, lambda m: show(m._context, [1], offset=10_000)),
    ("bad_address", Invalid, lambda m: show(m._context)),
    ("bad_floor", Invalid, lambda m: m.recall("x", min_evidence=1.1)),
    ("bad_floor", Invalid, lambda m: m.recall("x", min_score=float("nan"))),
    ("bad_order", Invalid, lambda m: m.recall("x", order="best")),
    ("bad_cursor", Invalid, lambda m: m.recall("x", after="nonsense")),
    ("bad_kind", Invalid, lambda m: m.recall("x", kinds=["facts"])),
    ("bad_type", Invalid, lambda m: m.recall("x", tags=[5])),  # type: ignore[list-item]
    ("bad_type", Invalid, lambda m: m.recall("x", tags=[" "])),
    ("bad_type", Invalid, lambda m: m.recall("x", paths=5)),  # type: ignore[arg-type]
    ("nul_character", Invalid, lambda m: m.recall("x", tags=["a\0"])),
    ("too_many", Invalid, lambda m: m.recall("x", tags=[str(at) for at in range(51)])),
    ("bad_time", Invalid, lambda m: m.recall("x", since="soon")),
    ("bad_time", Invalid, lambda m: m.recall("x", since=10**30)),
    ("bad_time", Invalid, lambda m: m.recall("x", as_of="soon")),
    ("bad_period", Invalid, lambda m: m.recall("x", since="2026-02-01", until="2026-01-01")),
    ("bad_scope", Invalid, lambda m: m.recall("x", scope="everyone")),
    ("bad_scope", Invalid, lambda m: m.recall("x", scope=5)),  # type: ignore[arg-type]
    ("scope", Refused, lambda m: m.recall("x", scope="user:bob")),
    ("bad_type", Invalid, lambda m: m.recall("x", session=5)),  # type: ignore[arg-type]
    ("unknown_filter", Invalid, lambda m: m.count(colour="red")),
    ("scope", Refused, lambda m: m.count(scope="user:bob")),
    # get, links, history, why
    ("bad_address", Invalid, lambda m: m.get()),
    ("bad_address", Invalid, lambda m: m.get(1, key=KEY)),
    ("bad_address", Invalid, lambda m: m.get("twelve")),
    ("bad_time", Invalid, lambda m: m.get(1, as_of="soon")),
    ("no_memory", NotFound, lambda m: m.get(99)),
    ("no_memory", NotFound, lambda m: m.get("00000000-0000-7000-8000-000000000000")),
    ("no_memory", NotFound, lambda m: m.get(key="deploy/never")),
    ("no_memory", NotFound, lambda m: m.get(1, known_at="2020-01-01")),
    ("no_project", NotFound, lambda m: m.get("acme/never#1")),
    ("no_memory", NotFound, lambda m: m.links(99)),
    ("no_memory", NotFound, lambda m: m.history(99)),
    ("bad_address", Invalid, lambda m: m.history()),
    ("no_memory", NotFound, lambda m: m.why(99)),
    ("bad_type", Invalid, lambda m: m.why(1, 5)),  # type: ignore[arg-type]
    # update
    ("confirm_and_dispute", Invalid, lambda m: m.update(1, confirm=True, dispute=True)),
    ("superseded", Conflict, lambda m: m.dispute(5)),
    ("not_active", Conflict, lambda m: m.confirm(3)),
    ("nothing_to_change", Invalid, lambda m: m.update(1)),
    ("unknown_field", Invalid, lambda m: m.update(1, speaker="Kim")),
    ("no_memory", NotFound, lambda m: m.update(99, title="T")),
    ("blank", Invalid, lambda m: m.update(1, body="")),
    ("bad_type", Invalid, lambda m: m.update(1, tags=None)),
    ("too_long", Invalid, lambda m: m.update(1, title="x" * 121)),
    ("too_long", Invalid, lambda m: m.update(1, body="x" * (limits.BODY + 1))),
    ("bad_key", Invalid, lambda m: m.update(1, key="A")),
    ("bad_kind", Invalid, lambda m: m.update(1, kind=None)),
    ("bad_importance", Invalid, lambda m: m.update(1, importance=7)),
    ("bad_type", Invalid, lambda m: m.update(1, pinned="yes")),
    ("bad_time", Invalid, lambda m: m.update(1, valid_from=None)),
    ("bad_period", Invalid, lambda m: m.update(1, valid_to="2020-01-01")),
    ("value_without_key", Invalid, lambda m: m.update(1, value="v")),
    ("vault", Refused, lambda m: m.update(1, kind="secret")),
    ("held_key", Conflict, lambda m: m.update(1, key=KEY)),
    ("stale_version", Conflict, lambda m: m.update(1, version=7, title="T")),
    ("not_active", Conflict, lambda m: m.update(3, title="T")),
    ("not_active", Conflict, lambda m: m.update(5, title="T")),
    ("duplicate_text", Conflict, lambda m: m.update(6, body="Stripe webhooks need the raw body")),
    # lifecycle
    ("no_memory", NotFound, lambda m: m.archive(99)),
    ("not_active", Conflict, lambda m: m.archive(4)),
    ("not_active", Conflict, lambda m: m.archive(5)),
    ("no_memory", NotFound, lambda m: m.forget(99)),
    ("empty_filter", Refused, lambda m: m.forget()),
    ("empty_filter", Refused, lambda m: m.forget(tags=[], kinds=(), scope=None)),
    ("empty_filter", Refused, lambda m: m.forget(1, tags=["stripe"])),
    ("unknown_filter", Invalid, lambda m: m.forget(colour="red")),
    ("scope", Refused, lambda m: m.forget(scope="user:bob")),
    ("no_memory", NotFound, lambda m: m.restore(99)),
    ("superseded", Conflict, lambda m: m.restore(5)),
    ("held_key", Conflict, lambda m: m.restore(7)),
    # links
    ("no_memory", NotFound, lambda m: m.link(1, 99)),
    ("links_itself", Invalid, lambda m: m.link(1, "#1")),
    ("links_itself", Invalid, lambda m: m.unlink(1, 1)),
    ("not_active", Conflict, lambda m: m.link(1, 3)),
    ("other_project", Refused, lambda m: m.link(1, "me#1")),
    ("too_long", Invalid, lambda m: m.link(1, 2, note="x" * (limits.NOTE + 1))),
    ("nul_character", Invalid, lambda m: m.link(1, 2, note="\0")),
    ("no_memory", NotFound, lambda m: m.unlink(1, 99)),
    # the ledger
    ("bad_head", Invalid, lambda m: m.verify(since="x")),
    ("other_head", Invalid, lambda m: m.verify(since=f"eunoe-head-1:other:s:1:{'00' * 32}")),
    ("bad_limit", Invalid, lambda m: m.log(limit=-1)),
    ("bad_limit", Invalid, lambda m: m.log(limit=1.5)),  # type: ignore[arg-type]
    ("no_memory", NotFound, lambda m: m.log(target=99)),
    # documents
    ("bad_document", Invalid, lambda m: m.import_({})),
    ("broken_document", Invalid, lambda m: m.import_(broken(m.export()))),
    ("newer_document", Unavailable, lambda m: m.import_({"eunoe": {"format": 99}})),
    ("project_exists", Conflict, lambda m: m.import_(m.export())),
]


@pytest.mark.parametrize(("code", "error", "call"), TABLE, ids=[f"{at}-{row[0]}" for at, row in enumerate(TABLE)])
def test_a_call_that_cannot_work_has_its_code_and_writes_nothing(
    stocked: Memory, code: str, error: type[EunoeError], call: Call
) -> None:
    before = stocked.head()
    with pytest.raises(EunoeError) as caught:
        call(stocked)
    assert (caught.value.code, type(caught.value)) == (code, error)
    assert caught.value.message
    assert stocked.head() == before


def test_an_empty_project_has_codes_of_its_own(m: Memory) -> None:
    calls: list[Callable[[], object]] = [
        lambda: m.get(1),
        lambda: m.history(1),
        lambda: m.why(1),
        lambda: m.links(1),
        lambda: m.export(),
        lambda: m.forget(tags=["x"]),
    ]
    for call in calls:
        with pytest.raises(NotFound) as caught:
            call()
        assert caught.value.code == "no_project"
    for act in (m.archive, m.forget, m.restore):
        with pytest.raises(NotFound) as caught:
            act(1)
        assert caught.value.code in ("no_memory", "no_project")
    assert m.recall("x").total == m.recall(None).total == m.count() == 0
    assert (m.log(), m.head(), m.verify().ok, m.rebuild().events) == ([], (), True, 0)


def test_agents_and_strangers_meet_their_own_codes(opened: Open) -> None:
    kim, agent, bob, nobody = opened(), opened(author="agent"), opened(user="bob"), opened(user=None)
    kim.remember("Kim likes tea", scope="user:kim")
    kim.remember("The moon is made of cheese")
    kim.forget(2)
    cases: list[tuple[str, type[EunoeError], Callable[[], object]]] = [
        ("needs_person", Refused, lambda: agent.restore(2)),
        ("rejected", Refused, lambda: agent.remember("The moon is made of cheese")),
        ("other_users", Refused, lambda: bob.export()),
        ("no_memory", NotFound, lambda: bob.get(1)),
        ("no_user", Invalid, lambda: nobody.get("me#1")),
        ("scope", Refused, lambda: nobody.remember("x y", scope="user:kim")),
    ]
    for code, error, call in cases:
        with pytest.raises(error) as caught:
            call()
        assert caught.value.code == code


def test_every_code_that_a_docstring_of_these_layers_names_is_in_the_table() -> None:
    root = Path(eunoe.__file__).parent
    named: set[str] = set()
    for file in [*(root / "service").glob("*.py"), *(root / "admission").glob("*.py")]:
        for block in re.findall(r"Raises[^\n]*:?(?:\n[^\n\"]+)*", file.read_text(encoding="utf-8")):
            named |= set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", block))
    elsewhere = {
        *("bad_slug", "reserved_slug", "other_users_project"),  # tests/cases/test_reading.py
        *("no_project", "no_user", "needs_person", "other_users"),  # the tests above
        "link_cap",  # tests/cases/test_cap.py
        *("no_model", "reembedding"),  # tests/cases/test_embedding_models.py
        *("newer_event", "newer_schema", "everyone", "remember_many", "not_canonical", "bad_json"),
    }
    words = {"valid_to", "valid_from", "remember", "import_lines"}
    assert named - elsewhere - words <= {code for code, _, _ in TABLE}
    assert len(named) > 25

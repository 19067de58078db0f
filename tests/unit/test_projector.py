"""The projector: one event over the rows that stand gives row changes, and decides nothing."""

from __future__ import annotations

import copy
import inspect
import re
from typing import Any

import pytest

from eunoe.domain.canonical import canonical
from eunoe.domain.postings import term_names
from eunoe.errors import Unavailable
from eunoe.ports.snapshot import Snapshot
from eunoe.projections import closing, lifecycle, recording
from eunoe.projections.changes import EACH, RowChange, passage_row
from eunoe.projections.decided import Decided
from eunoe.projections.project import HANDLERS, check_known, project, touched
from eunoe.stores.sql.rows import FULLTEXT
from eunoe.stores.sql.statements import load

OLD, NEW, OTHER = "m-a", "m-b", "m-c"


def analyse(text: str) -> list[str]:
    return text.lower().split()


def event(kind: str, meta: dict[str, Any], payload: dict[str, Any] | None = None, *, at: int = 100) -> Decided:
    return Decided(
        p=3,
        seq=9,
        id="e-9",
        type=kind,
        v=1,
        origin="{}",
        occurred_at=at - 10,
        recorded_at=at,
        meta=meta,
        payload=payload or {},
    )


META = {
    "memory": NEW,
    "kind": "fact",
    "tier": "ltm",
    "scope": "project",
    "trust": "stated",
    "status": "active",
    "importance": 500,
    "pinned": False,
    "valid_from": 90,
}


def standing(*, links: list[str] | None = None, **changed: Any) -> Snapshot:
    """Return a keyed memory that is believed, with its passage and its links."""
    memory = {
        "p": 3,
        "id": OLD,
        "number": 1,
        "version": 2,
        "tier": "ltm",
        "scope": "project",
        "status": "active",
        "trust": "stated",
        "origin": "{}",
        "session": None,
        "turn": None,
        "expires_at": None,
        "occurrences": 4,
        "first_seen": 20,
        "last_seen": 40,
        "recorded_at": 20,
        "confirmed_at": 30,
        "disputed_at": 35,
        "seq": 1,
        "superseded_by": None,
        "fp": None,
        "words_fp": None,
        "key_fp": "kf",
        "value_fp": "vf",
        **changed,
    }
    version = {
        "p": 3,
        "memory": OLD,
        "version": 2,
        "seq": 2,
        "kind": "fact",
        "title": None,
        "body": "old words",
        "tags": '["t"]',
        "paths": "[]",
        "key": "k",
        "value": None,
        "source": None,
        "speaker": None,
        "importance": 500,
        "pinned": 0,
        "valid_from": 10,
        "valid_to": None,
        "valid_to_at": None,
        "recorded_from": 20,
        "recorded_to": None,
        "tokens_full": 20,
        "tokens_line": 9,
    }
    passage = {
        "rid": 77,
        "p": 3,
        "memory": OLD,
        "version": 2,
        "ordinal": 0,
        "live": 1,
        "scope": "project",
        "session": None,
        "turn": None,
        "length": 2,
        "terms": "\nold 1\nwords 1\n",
        "trust": "stated",
        "valid_from": 10,
        "valid_to": None,
        "expires_at": None,
    }
    keys = [
        {"p": 3, "scope": "project", "key_fp": "kf", "valid_from": 10, "recorded_from": 20, "valid_to": None}
        | {"recorded_to": None, "memory": OLD, "value_fp": "vf"}
    ]
    rows = [
        {"p": 3, "a": min(OLD, other), "b": max(OLD, other), "note": f"to {other}", "made_at": 5}
        for other in links or []
    ]
    return Snapshot(memory=memory, version=version, passage=passage, keys=keys, links=rows)


def changes(decided: Decided, *before: Snapshot, number: int = 2) -> list[RowChange]:
    return project(decided, {each.memory["id"]: each for each in before}, number=number, analyse=analyse)


def named(found: list[RowChange], name: str) -> list[dict[str, Any]]:
    """Return the rows of one kind of change; one that stands for many values gives a row for each."""
    rows: list[dict[str, Any]] = []
    for each, row in found:
        if each == name:
            parameter, values = row.get(EACH, ("", ()))
            kept = {key: value for key, value in row.items() if key != EACH}
            rows += [kept | {parameter: value} for value in values] if parameter else [kept]
    return rows


EVENTS: list[tuple[Decided, list[Snapshot]]] = [
    (event("project.created", {"uuid": "u"}, {"slug": "acme/api"}), []),
    (event("memory.recorded", META, {"body": "new words"}), []),
    (
        event(
            "memory.recorded",
            META
            | {"supersedes": [{"memory": OLD, "valid_to": 90}], "move_links": True, "lifts": [4], "links": [OTHER]},
            {"body": "new words", "key": "k", "key_fp": "kf", "value_fp": "v2", "tags": ["a"], "paths": ["src"]},
        ),
        [standing(links=[OTHER, NEW])],
    ),
    (event("memory.revised", {"memory": OLD, "version": 3, "pinned": True}, {"body": "b"}), [standing(links=[OTHER])]),
    (event("memory.confirmed", {"memory": OLD, "counts_as_confirmation": True}), [standing()]),
    (event("memory.disputed", {"memory": OLD}), [standing()]),
    (event("memory.archived", {"memory": OLD, "by": "person"}), [standing()]),
    (event("memory.forgotten", {"memory": OLD, "by": "agent"}), [standing(fp="fp")]),
    (event("memory.restored", {"memory": OLD, "valid_from": 10, "status": "active"}), [standing(status="archived")]),
    (event("link.made", {"a": OLD, "b": NEW}, {"note": "n"}), []),
    (event("link.cut", {"a": OLD, "b": NEW}), []),
]


@pytest.mark.parametrize(("decided", "before"), EVENTS, ids=lambda value: getattr(value, "type", ""))
def test_the_same_event_over_the_same_rows_gives_the_same_changes_and_changes_neither(
    decided: Decided, before: list[Snapshot]
) -> None:
    kept = copy.deepcopy((decided, before))
    first = changes(decided, *before)
    assert changes(decided, *before) == first
    assert (decided, before) == kept


@pytest.mark.parametrize(("decided", "before"), EVENTS, ids=lambda value: getattr(value, "type", ""))
def test_every_change_is_a_statement_that_gets_all_its_parameters(decided: Decided, before: list[Snapshot]) -> None:
    statements = load("project")
    for name, row in changes(decided, *before):
        assert row["p"] == 3
        if name != FULLTEXT:
            assert set(re.findall(r":(\w+)", statements[name])) <= row.keys() | {row.get(EACH, ("",))[0]}, name


@pytest.mark.parametrize(("decided", "before"), EVENTS, ids=lambda value: getattr(value, "type", ""))
def test_an_event_names_the_memories_it_touches(decided: Decided, before: list[Snapshot]) -> None:
    assert touched(decided.type, decided.meta) == [each.memory["id"] for each in before]


@pytest.mark.parametrize(
    ("kind", "v"),
    [("memory.recorded", 2), ("memory.recorded", 0), ("memory.recorded", -1), ("memory.erased", 1), ("", 1)],
)
def test_an_event_of_a_newer_eunoe_is_refused(kind: str, v: int) -> None:
    with pytest.raises(Unavailable) as caught:
        check_known(kind, v)
    assert caught.value.code == "newer_event"
    assert caught.value.details == {"type": kind, "v": v}


def test_every_event_type_is_in_the_past_tense_and_has_a_handler() -> None:
    for kind, (newest, handler) in HANDLERS.items():
        assert kind.split(".")[1][-2:] in ("ed", "en", "de", "ut")
        assert newest == 1
        assert handler.__module__.startswith("eunoe.projections")


def test_the_projector_knows_neither_clock_nor_chance_nor_store() -> None:
    for module in (closing, lifecycle, recording):
        source = inspect.getsource(module)
        for word in ("import time", "datetime.now", "random", "eunoe.stores", "eunoe.service", "eunoe.admission"):
            assert word not in source, word


def test_a_recorded_memory_is_a_row_a_version_a_passage_and_its_share_of_the_statistics() -> None:
    found = changes(event("memory.recorded", META, {"body": "new words new", "tags": ["T"], "title": "Head"}), number=7)
    assert named(found, "memory_insert")[0]["number"] == 7
    assert named(found, "version_insert")[0]["tags"] == '["T"]'
    (passage,) = named(found, "passage_insert")
    assert (passage["rid"], passage["live"], passage["length"]) == (passage_row(3, 9), 1, 3)
    assert term_names(passage["terms"]) == ["head", "new", "t", "words"]
    assert {row["term"] for row in named(found, "term_weigh")} == {"head", "new", "t", "words"}
    assert named(found, "scope_weigh") == [{"p": 3, "scope": "project", "n": 1, "length": 3}]


def test_what_is_pending_takes_no_key_and_no_part_in_search() -> None:
    payload = {"body": "new words", "key": "k", "key_fp": "kf", "value_fp": "vf"}
    found = changes(event("memory.recorded", META | {"status": "pending"}, payload))
    assert named(found, "passage_insert")[0]["live"] == 0
    assert named(found, "key_insert") == named(found, "term_weigh") == named(found, "scope_weigh") == []


def test_an_erased_recording_leaves_only_its_place() -> None:
    found = changes(event("memory.recorded", META, None))
    assert found == [("subject_insert", {"p": 3, "memory": NEW, "seq": 9})]


def test_a_successor_of_today_ends_what_it_follows() -> None:
    decided = event(
        "memory.recorded",
        META | {"supersedes": [{"memory": OLD, "valid_to": 90}]},
        {"body": "b", "key": "k", "key_fp": "kf", "value_fp": "v2"},
    )
    found = changes(decided, standing())
    assert named(found, "memory_superseded")[0]["status"] == "superseded"
    assert [row["rid"] for row in named(found, "passage_retire")] == [77]
    assert named(found, "version_until")[0] | {"valid_to": 90, "valid_to_at": 100} == named(found, "version_until")[0]
    old_key, new_key = named(found, "key_insert")
    assert (old_key["memory"], old_key["valid_from"], old_key["valid_to"]) == (OLD, 10, 90)
    assert (new_key["memory"], new_key["valid_from"], new_key["valid_to"]) == (NEW, 90, None)
    assert {row["by"] for row in named(found, "term_weigh") if row["term"] == "old"} == {-1}


def test_a_successor_of_tomorrow_leaves_what_it_follows_in_search() -> None:
    decided = event(
        "memory.recorded", META | {"valid_from": 200, "supersedes": [{"memory": OLD, "valid_to": 200}]}, {"body": "b"}
    )
    found = changes(decided, standing())
    assert named(found, "memory_superseded")[0]["status"] == "active"
    assert named(found, "passage_retire") == []


def test_links_move_to_the_successor_and_the_one_between_the_two_goes() -> None:
    decided = event(
        "memory.recorded", META | {"supersedes": [{"memory": OLD, "valid_to": 90}], "move_links": True}, {"body": "b"}
    )
    found = changes(decided, standing(links=[OTHER, NEW]))
    assert {(row["a"], row["b"]) for row in named(found, "link_delete")} == {(OLD, OTHER), (OLD, NEW)}
    (moved,) = named(found, "link_insert")
    assert (moved["a"], moved["b"], moved["note"], moved["made_at"]) == (NEW, OTHER, f"to {OTHER}", 5)


def test_links_stay_where_the_event_does_not_move_them() -> None:
    decided = event("memory.recorded", META | {"supersedes": [{"memory": OLD, "valid_to": 90}]}, {"body": "b"})
    assert named(changes(decided, standing(links=[OTHER])), "link_delete") == []


def test_an_edit_of_the_text_confirms_and_ends_a_dispute_and_other_edits_do_neither() -> None:
    text = changes(event("memory.revised", {"memory": OLD, "version": 3}, {"body": "corrected"}), standing())
    pin = changes(event("memory.revised", {"memory": OLD, "version": 3, "pinned": True}), standing())
    assert (named(text, "memory_revised")[0]["confirmed_at"], named(text, "memory_revised")[0]["disputed_at"]) == (
        100,
        None,
    )
    assert (named(pin, "memory_revised")[0]["confirmed_at"], named(pin, "memory_revised")[0]["disputed_at"]) == (30, 35)


def test_an_edit_keeps_what_it_does_not_name() -> None:
    found = changes(event("memory.revised", {"memory": OLD, "version": 3, "pinned": True}, {"tags": ["x"]}), standing())
    (version,) = named(found, "version_insert")
    assert (version["body"], version["key"], version["importance"]) == ("old words", "k", 500)
    assert (version["tags"], version["pinned"], version["version"]) == (canonical(["x"]), True, 3)
    assert named(found, "key_close") == []


def test_saying_it_again_counts_and_keeps_the_first_time() -> None:
    (row,) = named(changes(event("memory.confirmed", {"memory": OLD}, at=15), standing()), "memory_seen")
    assert (row["occurrences"], row["first_seen"], row["last_seen"]) == (5, 5, 40)
    assert (row["confirmed_at"], row["disputed_at"]) == (30, 35)
    (row,) = named(
        changes(event("memory.confirmed", {"memory": OLD, "counts_as_confirmation": True}), standing()), "memory_seen"
    )
    assert (row["confirmed_at"], row["disputed_at"], row["last_seen"]) == (100, None, 90)


def test_finding_it_true_is_no_saying_and_ends_a_dispute() -> None:
    meta = {"memory": OLD, "how": "explicit", "counts_as_confirmation": True}
    (row,) = named(changes(event("memory.confirmed", meta), standing()), "memory_seen")
    assert (row["occurrences"], row["first_seen"], row["last_seen"]) == (4, 20, 40)
    assert (row["confirmed_at"], row["disputed_at"]) == (100, None)


def test_a_dispute_marks_the_memory_and_changes_nothing_else() -> None:
    found = changes(event("memory.disputed", {"memory": OLD}), standing(disputed_at=None))
    assert [name for name, _ in found] == ["subject_insert", "memory_disputed"]
    assert named(found, "memory_disputed") == [{"p": 3, "id": OLD, "disputed_at": 100}]


@pytest.mark.parametrize(("by", "by_person"), [("person", 1), ("application", 1), ("agent", 0)])
def test_what_was_taken_back_is_rejected_by_text_and_by_value(by: str, by_person: int) -> None:
    found = changes(event("memory.forgotten", {"memory": OLD, "by": by}), standing(fp="fp"))
    assert [(row["match"], row["fp"], row["by_person"]) for row in named(found, "rejection_insert")] == [
        ("text", "fp", by_person),
        ("key_value", "vf", by_person),
    ]
    assert named(found, "key_close")
    assert named(found, "passage_retire")


def test_archiving_rejects_nothing_and_frees_the_key() -> None:
    found = changes(event("memory.archived", {"memory": OLD, "by": "person"}), standing())
    assert named(found, "rejection_insert") == []
    assert [row["recorded_to"] for row in named(found, "key_close")] == [100]
    assert named(found, "memory_status") == [{"p": 3, "id": OLD, "status": "archived"}]


def test_a_restored_memory_is_a_new_version_holds_its_key_and_lifts_its_rejection() -> None:
    before = standing(status="forgotten")
    found = changes(event("memory.restored", {"memory": OLD, "valid_from": 10, "status": "active"}), before)
    assert named(found, "version_insert")[0]["version"] == 3
    assert named(found, "memory_restored")[0]["status"] == "active"
    assert named(found, "rejections_lift_memory") == [{"p": 3, "memory": OLD, "lifted_seq": 9}]
    assert named(found, "key_insert")[0]["memory"] == OLD
    assert named(found, "passage_insert")[0]["live"] == 1


def test_what_waited_when_it_was_put_away_waits_again_when_it_comes_back() -> None:
    decided = event("memory.restored", {"memory": OLD, "valid_from": 10, "status": "pending"})
    found = changes(decided, standing(status="archived"))
    assert named(found, "memory_restored")[0]["status"] == "pending"
    assert named(found, "passage_insert")[0]["live"] == 0
    assert named(found, "key_insert") == []


def test_a_link_is_one_row_whichever_way_it_was_named() -> None:
    for a, b in ((OLD, NEW), (NEW, OLD)):
        (made,) = named(changes(event("link.made", {"a": a, "b": b}, {"note": "n"})), "link_insert")
        assert (made["a"], made["b"], made["note"]) == (OLD, NEW, "n")
        assert named(changes(event("link.cut", {"a": a, "b": b})), "link_delete") == [{"p": 3, "a": OLD, "b": NEW}]


def test_a_project_is_one_block_of_row_numbers_in_the_order_of_its_events() -> None:
    assert passage_row(1, 1) < passage_row(1, 2) < passage_row(1, 2**31 - 1, 4095) < passage_row(2, 1)

"""Keeping a project in order on the real command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.test_cli import Cli


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    work = tmp_path / "work"
    work.mkdir()
    return Cli(tmp_path, work, {"EUNOE_PROJECT": "acme/api"})


def test_a_disputed_memory_is_marked_wherever_it_is_shown_until_it_is_confirmed(cli: Cli) -> None:
    cli("remember", "Stripe webhooks need the raw body")
    printed = cli.text("dispute", "1")
    assert printed.startswith("Disputed #1.\n")
    assert "superseding #1" in printed
    day = cli.json("get", "1")["disputed_at"][:10]
    for command in (("recall", "stripe"), ("recall",), ("get", "1")):
        assert f"⚠ disputed {day}" in cli.text(*command)
    assert cli.json("recall", "stripe")["hits"][0]["disputed_at"].startswith(day)
    assert cli.json("dispute", "1")["action"] == "unchanged"
    assert cli.text("confirm", "#1") == "Confirmed #1.\n"
    for command in (("recall", "stripe"), ("get", "1")):
        assert "⚠" not in cli.text(*command)
    assert [event["type"] for event in cli.json("log", "1")["events"]] == [
        *("memory.confirmed", "memory.disputed", "memory.recorded"),
    ]


def test_an_update_judges_too(cli: Cli) -> None:
    cli("remember", "Stripe webhooks need the raw body")
    cli("update", "1", "--tag", "stripe", "--dispute")
    assert cli.json("get", "1")["disputed_at"] is not None
    cli("update", "1", "--confirm")
    assert cli.json("get", "1")["disputed_at"] is None
    assert cli.error("update", "1", "--confirm", "--dispute", code=2) == "confirm_and_dispute"
    cli("archive", "1")
    assert cli.error("confirm", "1", code=4) == "not_active"


def test_a_review_says_what_to_tidy_in_text_and_in_json(cli: Cli) -> None:
    assert cli.text("review") == "Nothing to tidy in acme/api.\n"
    cli("remember", "Stripe webhooks need the raw body before any JSON parser touches it")
    cli("remember", "Stripe webhooks need the raw body before any JSON parser touches it, please")
    cli("dispute", "1")
    lines = cli.text("review").splitlines()
    assert lines[0].startswith("Disputed (1): ")
    assert lines[1].startswith("  #1 fact · Stripe webhooks")
    answer = cli.json("review")
    assert (answer["project"], answer["cap"]) == ("acme/api", None)
    assert [section["name"] for section in answer["sections"]] == ["disputed", "duplicates", "orphans"]
    (pair,) = answer["sections"][1]["items"]
    assert (pair["one"]["number"], pair["other"]["number"], pair["linked"]) == (1, 2, False)


def test_a_cap_is_shown_enforced_and_named_among_the_settings(cli: Cli) -> None:
    cap = {"EUNOE_MAX_MEMORIES": "2"}
    assert cli.text("remember", "one", **cap) == "Recorded #1.\n"
    printed = cli.text("remember", "two", **cap)
    assert printed == "Recorded #2.\n2/2 memories: archive or supersede what is stale; see review.\n"
    assert cli.error("remember", "three", code=5, **cap) == "cap"
    assert cli.text("review", **cap).startswith("⚠ acme/api: 2/2 memories\n")
    assert cli.json("review", **cap)["cap"] == {"memories": 2, "most": 2}
    assert cli.error("remember", "three", code=2, EUNOE_MAX_MEMORIES="many") == "bad_max_memories"
    rows = cli.json("config", **cap)["settings"]
    assert {"name": "max_memories", "value": "2", "origin": "EUNOE_MAX_MEMORIES"} in rows


def test_projects_are_counted_within_what_the_user_may_read(cli: Cli) -> None:
    kim, lee = {"EUNOE_USER": "kim"}, {"EUNOE_USER": "lee"}
    cli("remember", "for everyone", **kim)
    cli("remember", "as well", "--link", "1", **kim)
    cli("remember", "for kim alone", "--scope", "user:kim", "--link", "1", **kim)
    cli("remember", "over by now", "--valid-from", "2020-01-01", "--valid-to", "2020-01-02", **kim)
    counts = [cli.json("projects", **user)["projects"][0] for user in (kim, lee)]
    assert [(each["active"], each["memories"], each["links"]) for each in counts] == [(3, 4, 2), (2, 3, 1)]

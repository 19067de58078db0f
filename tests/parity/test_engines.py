"""One long script on both engines: every answer, receipt, error and export is the same to the byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from tests.parity.conftest import Both, plain, told
from tests.postgres import Server, schema_of
from tests.property.test_determinism import answers
from tests.strategies import Op, World, budget, histories

from eunoe import Memory
from eunoe.domain.document import dump
from eunoe.service import history, import_lines, show
from eunoe.testing.clock import START_US

pytestmark = pytest.mark.sqlite("both engines in one run")

DAY_US = 86_400_000_000
FACTS = (
    "Stripe webhooks need the raw body",
    "The deploy target is Frankfurt",
    "Retry the payment queue 3 times before paging",
    "Never run the migration without a backup",
    "`GetUser` is case sensitive in the legacy client",
    "日本語の検索はバイグラムで動く",
    "Пароль от сейфа меняем раз в квартал",
    "Le café ferme à midi",
)
TALK = (
    ("Ana", "Did the deploy to Frankfurt work on Friday?"),
    ("Björn", "Yes, after the second try; the raw body was empty at first"),
    ("Ana", "Then note it: ABC-417 is about the empty body"),
    ("Björn", "On 3 May 2025 we had the same with the webhook"),
)
QUESTIONS = (
    *("which deploy target is it", "webhook raw body", "payment queue 3", "payment queue 4", "migration backup"),
    *("検索", "пароль сейф", "cafe midi", "ABC-417", "what did Ana say on 3 May 2025?", "GetUser", "deploy/current"),
    *("nothing of the sort zanzibar", "lemon AND cake* NOT (", "的", "the of and", 'it\'s "quoted" \\ 100% _under_'),
)


def test_one_long_script_is_answered_alike(both: Both) -> None:
    remembering(both)
    conversing(both)
    asking(both)
    correcting(both)
    taking_back(both)
    linking(both)
    keeping_apart(both)
    asking(both)
    paging(both)
    moving_on(both)
    tending(both)
    asking(both)
    moving_house(both)
    assert both.steps >= 150


def remembering(both: Both) -> None:
    say = both.say
    for at, body in enumerate(FACTS):
        say("kim", "remember", body, tags=["infra", f"tag{at % 3}"][: 1 + at % 2], paths=["src/api", "docs"][: at % 3])
        both.advance(s=61)
    say("kim", "remember", "The port is 8081", key="db/port", value="8081", kind="state", importance=0.9)
    say("kim", "remember", "Freeze deploys in May", valid_from="2026-05-01", valid_to="2026-06-01", kind="decision")
    say("kim", "remember", "Ana is on call this week", tier="stm", ttl="7d", pinned=True, title="On call")
    say("kim", "remember", "Read in a page", source="https://example.com/a", trust="external", occurred_at="2025-12-24")
    say("agent", "remember", "An agent guessed that the queue is slow", trust="inferred")
    say("kim", "remember_many", [{"body": f"lemon cake number {at}", "tags": ["cake"]} for at in range(30)])
    say("kim", "remember_many", [{"body": "fine"}, {"body": " "}])
    for body, wrong in (
        ("", {}),
        ("x" * 16_001, {}),
        ("zero\0byte", {}),
        ("ok", {"key": "Not A Key"}),
        ("ok", {"ttl": "1h"}),
    ):
        say("kim", "remember", body, **wrong)
    say("kim", "remember", "Stripe webhooks need the raw  BODY")
    say("kim", "remember", "Stripe webhooks need the raw body, always")
    say("kim", "remember", "Stripe webhooks need the raw body, always", force=True)
    say("kim", "remember", "The token is sk_live_51HZ0abcdefghijklmnopqrstuv")
    say("kim", "remember", "A skill with\n\nseveral parts.\n\n" + "More of it, at length. " * 400, kind="skill")


def conversing(both: Both) -> None:
    for name in ("friday", "monday"):
        for turn, (speaker, body) in enumerate(TALK):
            both.say("kim", "remember", f"{body} ({name})", session=name, turn=turn, speaker=speaker)
            both.advance(s=30)
    both.say("kim", "remember", TALK[0][1] + " (friday)", session="friday", turn=0, speaker="Ana")
    both.say("kim", "remember", "Another turn at a place that is taken", session="friday", turn=0)


def asking(both: Both) -> None:
    say = both.say
    say("kim", "flush")
    for at, question in enumerate(QUESTIONS):
        say("kim", "recall", question, limit=20, explain=bool(at % 2), order=("relevance", "newest", "oldest")[at % 3])
    asked = "deploy webhook lemon body"
    for filters in (
        *({"tags": ["infra"]}, {"any_tags": ["cake", "tag1"]}, {"kinds": ["fact", "state"]}, {"paths": ["src"]}),
        *({"session": "friday"}, {"scope": "project"}, {"since": "2026-01-01T00:02", "until": "2026-01-02"}),
        *({"min_evidence": 0.3}, {"min_score": 0.2}, {"budget_tokens": 300}, {"include_me": True}),
        *({"as_of": "2026-05-10"}, {"known_at": START_US + 200_000_000}, {"as_of": "2025-12-31"}),
    ):
        say("kim", "recall", asked, explain=True, limit=30, **filters)
        say("kim", "recall", None, limit=30, **filters)
    say("kim", "recall", " ")
    say("kim", "recall", asked, tags=["no such"])
    say("bob", "recall", asked, limit=50)
    say("nobody", "recall", asked, limit=50)
    for tokens, aim in ((1500, {}), (400, {"focus": "deploy the webhook", "paths": ["src/api"]}), (30, {})):
        say("kim", "briefing", tokens, **aim)
    say("kim", "count")
    say("kim", "count", tags=["cake"])


def correcting(both: Both) -> None:
    say = both.say
    both.advance(days=1)
    say("kim", "remember", "The port is 8081", key="db/port", value="8081")
    say("kim", "remember", "The port is 9443", key="db/port", value="9443")
    say("kim", "remember", "The port was 7000 back then", key="db/port", value="7000", valid_from="2025-06-01")
    say("kim", "remember", "The port will be 1 in August", key="db/port", value="1", valid_from="2026-08-01")
    say("kim", "remember", "The deploy target is Dublin now", supersedes=2)
    say("kim", "remember", "Of two made one", supersedes=[14, 15])
    say("kim", "remember", "Of one that is gone", supersedes=2)
    say("agent", "remember", "The deploy target is Frankfurt")
    say("kim", "update", 1, body="Stripe webhooks need the raw, unparsed body", tags=["stripe", "infra"])
    say("kim", "update", 1, version=1, title="Late")
    say("kim", "update", 3, title="Retries", importance=1.0, pinned=True, paths=["src/queue.py"], valid_to="2026-12-31")
    say("kim", "update", 4, body="Le café ferme à midi")
    say("kim", "update", 5, key="db/port")
    say("kim", "update", 999, title="Nowhere")
    for target in (1, "#3", 999, "me#1"):
        say("kim", "get", target)
        say("kim", "history", target)
        say("kim", "why", target, "webhook body")
    for when in ("2025-07-01", "2026-01-01T12:00", "2026-02-01", "2026-09-01"):
        say("kim", "get", key="db/port", as_of=when)
    say("kim", "get", key="db/port", known_at=START_US + DAY_US // 2)
    say("kim", "history", key="db/port")


def taking_back(both: Both) -> None:
    say = both.say
    say("kim", "archive", 6)
    say("kim", "archive", 6)
    say("kim", "forget", 7)
    say("agent", "remember", FACTS[6])
    say("agent", "restore", 7)
    say("kim", "forget", tags=["cake"], dry_run=True)
    say("kim", "forget")
    say("kim", "restore", 2)
    say("kim", "restore", 6)
    both.advance(days=2)
    say("kim", "forget", tags=["tag2"])
    say("kim", "restore", 7)
    say("kim", "confirm", 1)
    say("kim", "dispute", 3)
    say("agent", "dispute", 4)
    say("agent", "confirm", 4)
    say("kim", "confirm", 999)
    both.same()


def linking(both: Both) -> None:
    say = both.say
    for a, b, note in (
        (1, 3, "they belong together"),
        (3, 4, None),
        (4, 5, None),
        (1, 3, None),
        (1, 1, None),
        (1, 999, None),
    ):
        say("kim", "link", a, b, note=note)
    say("kim", "unlink", 4, 5)
    say("kim", "unlink", 4, 5)
    say("kim", "links", 1)
    for hops in (1, 2, 3):
        say("kim", "related", 1, hops=hops)
    both.do(lambda side: show.show(side["kim"]._context, [1, 3, 4], budget_tokens=500))
    both.do(lambda side: history.history_text(side["kim"]._context, 1, budget_tokens=300))


def keeping_apart(both: Both) -> None:
    say = both.say
    say("kim", "remember", "Kim wants to leave in May", scope="user:kim", tags=["private"])
    say("bob", "remember", "Kim wants to leave in May")
    say("bob", "remember", "Bob likes lemon cake", scope="user:bob")
    say("bob", "remember", "Not his to say", scope="user:kim")
    say("own", "remember", "I answer mail in the morning", kind="preference")
    say("other", "remember", "Elsewhere the deploy target is Oslo", key="db/port", value="5")
    say("nobody", "remember", "Said by nobody in particular")
    for caller in ("kim", "bob", "nobody", "own", "other"):
        say(caller, "recall", "lemon deploy mail leave May", limit=50, explain=True)
        say(caller, "count")
    say("bob", "get", 999)
    say("kim", "recall", "mail in the morning", include_me=True)


def paging(both: Both) -> None:
    for query, order in (
        ("lemon cake number", "relevance"),
        (None, "relevance"),
        (None, "newest"),
        ("lemon", "oldest"),
    ):
        after = None
        for _ in range(4):
            page = both.say("kim", "recall", query, limit=7, order=order, after=after)
            after = page.next
    both.say("kim", "recall", "lemon", after="no cursor")


def moving_on(both: Both) -> None:
    both.advance(days=120)
    both.say("kim", "review")
    both.say("kim", "briefing", focus="deploy")
    both.do(lambda side: "\n".join(side["kim"].review().lines()))
    both.say("kim", "recall", "who is on call", explain=True)
    both.advance(days=-200)
    both.say("kim", "remember", "Said by a clock that went back")
    both.advance(days=201)


def tending(both: Both) -> None:
    say = both.say
    say("kim", "flush")
    say("kim", "reembed", everything=True)
    say("kim", "verify")
    say("kim", "head")
    say("kim", "verify", since="0:" + "0" * 64)
    say("kim", "log", limit=30)
    say("kim", "log", target=1)
    say("kim", "rebuild", dry_run=True)
    say("kim", "rebuild")
    both.same()


def moving_house(both: Both) -> None:
    for caller in ("kim", "bob", "nobody", "other"):
        both.say(caller, "export")
    both.say("kim", "export", everyone=True)
    document = both.sides[0]["kim"].export(everyone=True)
    both.say("other", "import_", document)
    both.say("other", "import_", "".join(dump(document)))
    both.say("kim", "import_", both.sides[0]["own"].export())
    both.say("kim", "import_", {"format": 99})
    rows: list[dict[str, Any]] = [{"body": f"A line that came in, number {at}", "tags": ["line"]} for at in range(20)]
    lines = [json.dumps(row).encode() for row in rows] + [b"{", b'{"body": 3}', b'{"body": "ok", "more": 1}']
    both.do(lambda side: import_lines.import_lines(side["other"]._context, lines))
    for caller in ("kim", "other"):
        both.say(caller, "flush")
        both.say(caller, "recall", "line number deploy", limit=100, explain=True)
        both.say(caller, "verify")
        both.say(caller, "rebuild", dry_run=True)
        both.say(caller, "export")
    both.same()


@budget(12)
@given(histories(most=14))
def test_any_history_is_answered_alike(places: Any, history: list[Op]) -> None:
    worlds = [World(seed="same", store=store) for store in (":memory:", places.place(":memory:"))]
    for op in history:
        one, other = (told(world.do(op)) for world in worlds)
        assert one == other
    one, other = (plain(answers(world.memory)) for world in worlds)
    assert one == other
    for world in worlds:
        world.memory.close()
    places.release()


def test_texts_are_compared_by_their_bytes_whatever_the_locale_of_the_database(
    postgres_server: Server, postgres_store: str
) -> None:
    Memory.open(postgres_store, project="acme/api").close()
    texts = (
        "select table_name, column_name, collation_name from information_schema.columns "
        f"where table_schema = '{schema_of(postgres_store)}' and data_type = 'text'"
    )
    found = postgres_server.execute(texts)
    assert len(found) > 50
    assert [row for row in found if row[2] != "C"] == []

"""The server that an agent talks to: a real process, the official client, both eras of the protocol."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tests.agents import COMMAND, ERAS, agent, call, environment, failure, process, text_of
from tests.oracle import oracle_tokens

from eunoe import Memory
from eunoe.surfaces.mcp.door import Door
from eunoe.surfaces.mcp.server import FACTS, answer
from eunoe.surfaces.mcp.tools import TOOLS

END_S = 2.0

pytestmark = pytest.mark.anyio


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# ── what is offered ──────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_tools_cost_at_most_1050_tokens_as_emitted(tmp_path: Path, era: str) -> None:
    async with process(tmp_path, era) as client:
        offered = (await client.list_tools()).tools
    emitted = [tool.model_dump(by_alias=True, exclude_none=True) for tool in offered]
    assert oracle_tokens(json.dumps(emitted, separators=(",", ":"), ensure_ascii=False)) <= 1050
    assert [tool.name for tool in offered] == [
        *("briefing", "recall", "get", "remember", "update", "link", "related", "history", "review", "forget"),
        "list_projects",
    ]
    assert all(tool.annotations is not None for tool in offered)
    assert {tool.name for tool in offered if tool.annotations and tool.annotations.destructive_hint} == {"forget"}


async def test_the_instructions_are_short_and_say_what_to_call(tmp_path: Path, era: str) -> None:
    async with process(tmp_path, era) as client:
        told = client.instructions or ""
    assert oracle_tokens(told) <= 80
    assert all(f"`{tool}`" in told for tool in ("briefing", "recall", "remember"))


async def test_no_tool_does_what_needs_a_person(tmp_path: Path) -> None:
    names = {tool.name for tool in TOOLS}
    assert not names & {"approve", "decline", "resolve", "erase", "undo", "restore", "trust", "token", "policy"}


async def test_the_store_is_not_opened_before_it_is_asked(tmp_path: Path, era: str) -> None:
    async with process(tmp_path / "home", era) as client:
        await client.list_tools()
        assert not (tmp_path / "home").exists()
        await call(client, "briefing")
        assert (tmp_path / "home" / "eunoe.sqlite").exists()


# ── what the tools do ────────────────────────────────────────────────────────────────────────────────────────────────


async def test_what_one_session_remembers_the_next_one_knows(tmp_path: Path, era: str) -> None:
    async with process(tmp_path, era) as client:
        text, facts = await call(client, "remember", body="Stripe webhooks need the raw body", kind="gotcha")
        assert (facts["outcome"], facts["number"], text) == ("recorded", 1, "Recorded #1.")
    async with process(tmp_path, era) as client:
        text, facts = await call(client, "briefing", focus="webhook signatures fail")
        assert "Stripe webhooks need the raw body" in text
        text, facts = await call(client, "recall", query="stripe webhook")
        assert [hit["number"] for hit in facts["hits"]] == [1]
        assert "Stripe webhooks need the raw body" in text


async def test_a_new_value_of_a_key_replaces_the_old_one(tmp_path: Path) -> None:
    async with agent() as client:
        await call(client, "remember", body="v1.4", key="deploy/current", kind="state")
        text, facts = await call(client, "remember", body="v1.5", key="deploy/current", kind="state")
        assert (facts["outcome"], facts["replaced"]) == ("replaced", [1])
        text, facts = await call(client, "get", key="deploy/current")
        assert facts["memories"][0]["body"] == "v1.5"
        text, facts = await call(client, "history", key="deploy/current")
        assert "v1.4" in text
        assert "superseded" in text
        assert (await call(client, "recall", query="deploy v1.4 current"))[1]["hits"][0]["number"] == 2


async def test_an_agent_asks_what_was_true_and_what_was_known_then() -> None:
    async with agent() as client:
        await call(client, "remember", body="v1.4", key="deploy/current", valid_from="2026-01-10")
        await call(client, "remember", body="v1.5", key="deploy/current", valid_from="2026-03-01")
        assert (await call(client, "get", key="deploy/current", as_of="2026-02-01"))[1]["memories"][0]["body"] == "v1.4"
        assert (await call(client, "recall", query="v1.4 v1.5", as_of="2026-02-01"))[1]["hits"][0]["number"] == 1
        assert (await call(client, "recall", query="v1.4 v1.5", known_at="2026-02-01"))[1]["hits"] == []
        assert (await failure(client, "get", key="deploy/current", known_at="2026-02-01"))["code"] == "no_memory"


async def test_memories_are_linked_walked_and_cut(tmp_path: Path) -> None:
    async with agent() as client:
        for body in ("The worker drains the queue", "The queue is Redis", "Redis is version 7"):
            await call(client, "remember", body=body)
        await call(client, "link", a="1", b="#2", note="the same queue")
        await call(client, "link", a="2", b="3")
        assert [each["number"] for each in (await call(client, "related", id="1"))[1]["related"]] == [2]
        _text, facts = await call(client, "related", id=1, hops=2)
        assert [(each["number"], each["hops"]) for each in facts["related"]] == [(2, 1), (3, 2)]
        await call(client, "link", a="1", b="2", cut=True)
        assert (await call(client, "related", id="1"))[1]["related"] == []


async def test_update_corrects_clears_and_archives(tmp_path: Path) -> None:
    async with agent() as client:
        await call(client, "remember", body="The port is 8080", key="port", tags=["net"], title="Port")
        await call(client, "update", id="1", body="The port is 9090", clear=["title", "tags"])
        facts = (await call(client, "get", ids=["1"]))[1]["memories"][0]
        assert (facts["body"], facts["tags"], facts["title"]) == ("The port is 9090", [], "The port is 9090")
        assert (await failure(client, "update", id="1", body="x", clear=["body"]))["code"] == "clear_and_set"
        await call(client, "update", id="1", archive=True)
        assert (await call(client, "get", ids=["1"]))[1]["memories"][0]["status"] == "archived"


async def test_memories_of_another_project_are_read_but_not_written(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "eunoe.sqlite", project="me", user="kim") as own:
        own.remember("Kim prefers tabs", kind="preference", tags=["shareable"])
        own.remember("Kim's passport is in the drawer", kind="fact")
    async with agent(tmp_path / "eunoe.sqlite") as client:
        await call(client, "remember", body="The linter wants spaces")
        text, _facts = await call(client, "get", ids=["me#1"])
        assert "me#1 preference · Kim prefers tabs" in text
        assert (await failure(client, "forget", id="me#1"))["code"] == "other_project"
        text, _ = await call(client, "briefing")
        assert "Kim prefers tabs" in text
        assert "passport" not in text
        assert "passport" in (await call(client, "recall", query="passport drawer"))[0]


async def test_who_wrote_is_the_client_and_never_an_argument(tmp_path: Path) -> None:
    async with process(tmp_path, CLAUDE_CODE_SESSION_ID="session-7") as client:
        await call(client, "remember", body="The build needs make")
        assert (await failure(client, "remember", body="x y z", trust="stated"))["code"] == "unknown_argument"
    with Memory.open(tmp_path / "eunoe.sqlite", project="acme/api", user="kim") as memory:
        origin = memory.get(1).origin
    assert origin | {"agent": ""} == {
        "author_type": "agent",
        "surface": "mcp",
        "user": "kim",
        "session": "session-7",
        "agent": "",
    }


async def test_arguments_are_understood_as_models_write_them(tmp_path: Path) -> None:
    async with agent() as client:
        result = await client.call_tool(
            "remember", {"body": "The build needs make", "tags": '["build", "make"]', "pinned": "true", "title": None}
        )
        assert not result.is_error
        facts = (await call(client, "get", ids=1))[1]["memories"][0]
        assert facts["tags"] == ["build", "make"]
        assert (await call(client, "recall", query="make", limit="3"))[1]["total"] == 1


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("remember", {}, "missing_argument"),
        ("remember", {"body": "  "}, "blank"),
        ("remember", {"body": "x", "bod": "y"}, "unknown_argument"),
        ("remember", {"body": {"text": "x"}}, "bad_type"),
        ("remember", {"body": "x", "kind": "secret"}, "vault"),
        ("recall", {"query": "x", "limit": "many"}, "bad_type"),
        ("recall", {"query": "x", "budget_tokens": -1}, "bad_budget"),
        ("get", {"ids": ["99"]}, "no_project"),
        ("related", {"id": "1", "hops": 9}, "bad_hops"),
        ("forget", {}, "empty_filter"),
        ("nosuch", {}, "no_tool"),
    ],
)
async def test_a_mistake_is_an_answer_that_says_what_to_do(
    tmp_path: Path, name: str, arguments: dict[str, Any], code: str
) -> None:
    async with agent() as client:
        assert (await failure(client, name, **arguments))["code"] == code
        await call(client, "list_projects")


async def test_a_long_body_is_read_part_by_part(tmp_path: Path) -> None:
    body = " ".join(f"sentence{at}." for at in range(9000))
    async with agent() as client:
        await call(client, "remember", body=body, kind="note")
        seen, offset = "", 0
        while True:
            text, facts = await call(client, "get", ids=["1"], offset=offset, budget_tokens=8000)
            assert oracle_tokens(text) <= 8000
            seen += text
            if "next_offset" not in facts:
                break
            assert facts["next_offset"] > offset
            offset = facts["next_offset"]
    assert "sentence0." in seen
    assert "sentence8999." in seen
    assert sum(f"sentence{at}." in seen for at in range(9000)) > 8980  # but for those on a cut


async def test_text_stays_the_same_in_a_session_until_the_memory_changes(tmp_path: Path) -> None:
    async with agent() as client:
        await call(client, "remember", body="Stripe webhooks need the raw body", kind="gotcha")
        first = await call(client, "briefing"), await call(client, "recall", query="stripe")
        assert (await call(client, "briefing"), await call(client, "recall", query="stripe")) == first
        await call(client, "remember", body="The queue is Redis")
        assert await call(client, "briefing") != first[0]


# ── the wire ─────────────────────────────────────────────────────────────────────────────────────────────────────────

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}},
}


def exchange(lines: list[Any], env: dict[str, str], *, replies: int) -> tuple[list[str], int, float]:
    """Send lines, read so many, close standard input; return all of standard output, the exit code, seconds to end."""
    process = subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    with process:
        for line in lines:
            process.stdin.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
        process.stdin.flush()
        told = [process.stdout.readline() for _ in range(replies)]
        process.stdin.close()
        closed = time.monotonic()
        told += process.stdout.readlines()
        code = process.wait(timeout=30)
        return told, code, time.monotonic() - closed


def tool_call(ident: int, name: str, arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": ident, "method": "tools/call", "params": params}


BROKEN = {
    "first run": {},
    "debug": {"DEBUG": "1", "PYTHONWARNINGS": "always", "PYTHONDEVMODE": "1"},
    "a warning": {"PYTHONWARNINGS": "default"},
    "a broken setting": {"EUNOE_STORE": "ftp://nowhere"},
    "a broken store": {"EUNOE_STORE": os.devnull},
    "an unhandled error": {"EUNOE_STORE": os.devnull + "/below"},
}


@pytest.mark.parametrize("more", BROKEN.values(), ids=BROKEN.keys())
def test_standard_output_carries_nothing_but_json_rpc(tmp_path: Path, more: dict[str, str]) -> None:
    lines = [
        INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
        tool_call(3, "remember", {"body": "The build needs make"}),
        tool_call(4, "remember", {"bod": 1}),
        tool_call(5, "nosuch", {}),
    ]
    told, code, _ = exchange(lines, environment(tmp_path / "home", **more), replies=5)
    messages = [json.loads(line) for line in told]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    results = {message["id"]: message["result"] for message in messages if "id" in message}
    assert len(results[2]["tools"]) == len(TOOLS)
    assert results[3]["isError"] == ("EUNOE_STORE" in more)
    assert results[4]["isError"]
    assert results[5]["isError"]
    assert code == 0


def test_the_server_ends_when_its_client_goes(tmp_path: Path) -> None:
    _, code, seconds = exchange([INITIALIZE], environment(tmp_path), replies=1)
    assert code == 0
    assert seconds < 5 * END_S  # the bar of 2 s is measured in benchmarks/; this fails when it hangs


def test_rubbish_is_answered_and_the_server_goes_on(tmp_path: Path) -> None:
    lines = [INITIALIZE, "this is no JSON", "[]", tool_call(2, "list_projects", {})]
    told, code, _ = exchange(lines, environment(tmp_path), replies=2)
    answered = [json.loads(line) for line in told if '"id":2' in line.replace(" ", "")]
    assert answered
    assert answered[0]["result"]["isError"] is False
    assert code == 0


# ── which form a client's model reads ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["claude-code", "codex-mcp-client"])
def test_clients_that_show_facts_for_text_get_the_text_alone(name: str) -> None:
    door = Door(store=":memory:", project="acme/api", user=None)
    kept = answer(door, name, "remember", {"body": "The build needs make"})
    assert kept.structured_content is None
    assert text_of(kept) == "Recorded #1."
    assert (kept.meta or {})[FACTS]["number"] == 1
    failed = answer(door, name, "remember", {})
    assert failed.is_error
    assert (failed.meta or {})[FACTS]["error"]["code"] == "missing_argument"
    door.close()


def test_every_other_client_gets_the_text_in_the_structured_form_as_well() -> None:
    door = Door(store=":memory:", project="acme/api", user=None)
    kept = answer(door, "another", "remember", {"body": "The build needs make"})
    assert dict(kept.structured_content or {})["text"] == text_of(kept) == "Recorded #1."
    assert answer(door, None, "recall", {"query": "make"}).structured_content is not None
    door.close()


# ── what review found ────────────────────────────────────────────────────────────────────────────────────────────────


def test_half_a_surrogate_pair_is_an_answer_and_not_silence(tmp_path: Path) -> None:
    sent = json.dumps(tool_call(2, "remember", {"body": "The build needs make BODY"}))
    lines = [INITIALIZE, sent.replace("BODY", "\\ud83d and \\ud83d\\ude00 and \\\\ud83d")]
    told, code, _ = exchange(lines, environment(tmp_path), replies=2)
    assert {message["id"] for message in map(json.loads, told)} == {1, 2}
    assert code == 0
    with Memory.open(tmp_path / "eunoe.sqlite", project="acme/api", user="kim") as memory:
        assert memory.get(1).body == "The build needs make \ufffd and 😀 and \\ud83d"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_the_server(tmp_path: Path, name: str) -> None:
    process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(tmp_path))
    with process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(getattr(signal, name))
        assert process.wait(timeout=20) != 0


def test_a_client_that_no_longer_reads_is_the_end_and_no_error(tmp_path: Path) -> None:
    process = subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(tmp_path)
    )
    with process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(json.dumps(tool_call(2, "list_projects", {})).encode() + b"\n")
        process.stdin.flush()
        assert process.wait(timeout=20) == 0
        assert b"unexpected" not in process.stderr.read()


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("remember", {"body": "x", "pinned": {}}, "bad_type"),
        ("remember", {"body": "x", "pinned": ["a"]}, "bad_type"),
        ("get", {"ids": "1", "offset": "--5"}, "bad_type"),
        ("get", {"ids": "1", "offset": 10**400}, "no_project"),
        ("remember", {"body": "x y z", "tags": "[" * 100_000}, "too_long"),
        ("update", {"id": "1", "clear": ["target"]}, "unknown_field"),
        ("update", {"id": "1", "clear": ["context"]}, "unknown_field"),
        ("remember", {"body": "x y z", "importance": 10**400}, "bad_type"),
        ("n" * 100_000, {}, "no_tool"),
        ("recall", {"query": "x", "project": "acme/typo"}, "no_project"),
        ("briefing", {"project": "acme/typo"}, "no_project"),
    ],
    ids=str,
)
async def test_nonsense_has_its_code(name: str, arguments: dict[str, Any], code: str) -> None:
    async with agent() as client:
        error = await failure(client, name, **arguments)
        assert error["code"] == code
        assert len(error["message"]) < 2000


async def test_the_structured_form_keeps_to_the_budget_as_well() -> None:
    async with agent() as client:
        for at in range(40):
            body = f'Fact "{at}" about the queue:\n\tit has {at} workers and a "name"'
            await call(client, "remember", body=body, title=f"Fact {at}", force=True)
        await call(client, "remember", body="word " * 3000, kind="note", title="Long")
        asked = [
            ("get", {"ids": [str(at) for at in range(1, 41)]}),
            ("get", {"ids": ["41"]}),
            ("recall", {"query": "queue workers", "limit": 40}),
            ("briefing", {"focus": "queue"}),
        ]
        for name, arguments in asked:
            for budget in (60, 200, 500, 3000):
                result = await client.call_tool(name, {**arguments, "budget_tokens": budget})
                form = json.dumps(result.structured_content, ensure_ascii=False)
                if dict(result.structured_content or {})["text"]:
                    assert oracle_tokens(form) <= budget, (name, budget)

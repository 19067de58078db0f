"""Real clients, a scripted model: what one session remembers, the next one recalls."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eunoe.models.tokens import count_tokens
from tests.harness.clients import CLIENTS, SERVER, Client, Session
from tests.harness.sink import Sink
from tests.harness.stubs.server import Call, Say, Turn
from tests.harness.wire import Said, read, watched

FACT = "Stripe webhooks need the raw body, or the signature fails"
TOOLS = frozenset(
    ("briefing", "recall", "get", "remember", "update", "link", "related", "history", "review", "forget")
) | {"list_projects"}

# What a model may look for before it knows any of our tools, and the tool that it needs then.
WORDS = {"memory": "recall", "remember this for later sessions": "remember", "what was decided before": "briefing"}

HOLDING_BACK = [kind for kind in CLIENTS if kind.deferred]

each_client = pytest.mark.parametrize("client", CLIENTS, indirect=True, ids=lambda kind: kind.__name__)


def assert_went_well(session: Session) -> None:
    assert session.ended.code == 0, session.ended
    assert session.left == [], session.ended
    assert session.ended.stragglers == [], "the client left processes behind"


def ours(client: Client, offered: dict[str, Any]) -> dict[str, Any]:
    """Return the definitions of our tools, by the names that they have in the server."""
    return {
        name.removeprefix(client.prefix): definition
        for name, definition in offered.items()
        if name.startswith(client.prefix)
    }


def replies(said: list[Said], method: str) -> list[tuple[Said, Said]]:
    """Return each request of that method, with its reply."""
    asked = {each.message["id"]: each for each in said if each.by_client and each.message.get("method") == method}
    return [
        (asked[each.message["id"]], each) for each in said if not each.by_client and each.message.get("id") in asked
    ]


# ── the story ────────────────────────────────────────────────────────────────────────────────────────────────────────


@each_client
def test_a_new_session_recalls_what_the_one_before_remembered(client: Client, sink: Sink) -> None:
    done = client.setup()
    assert done.code == 0, done
    first = client.play([Call("briefing"), Call("remember", {"body": FACT, "kind": "gotcha"}), Say("Kept.")])
    assert_went_well(first)
    assert not any(FACT in result for result in first.results[:-1]), "nobody has said it yet"

    second = client.play([Call("briefing"), Call("recall", {"query": "webhook signature"}), Say("So it is.")])
    assert_went_well(second)
    briefed, recalled = (result for result in second.results if "tool_reference" not in result)
    assert "acme/parcel" in briefed
    assert FACT in recalled
    assert sink.asked == [], "nothing leaves this machine"


# ── what each client makes of the server ─────────────────────────────────────────────────────────────────────────────


@each_client
def test_every_tool_is_within_the_models_reach(client: Client, tmp_path: Path, seen: Callable[[str], None]) -> None:
    client.connect(watched(SERVER, tmp_path / "wire"))
    session = client.play([Call("briefing"), Say("Thanks.")])
    assert_went_well(session)
    first, said, began = session.asked[0], read(tmp_path / "wire"), session.ended.began
    assert set(ours(client, first.tools)) == (set() if client.deferred else TOOLS)
    seen(
        f"{client.label()}: starts the server after {said[0].at - began:.1f} s, has its answer "
        f"{said[1].at - said[0].at:.1f} s later, asks the model after {first.at - began:.1f} s"
    )
    ((_, listed),) = replies(said, "tools/list")
    assert {tool["name"] for tool in listed.message["result"]["tools"]} == TOOLS


@each_client
def test_the_model_is_told_what_the_memory_is_for(client: Client, tmp_path: Path, seen: Callable[[str], None]) -> None:
    client.connect(watched(SERVER, tmp_path / "wire"))
    first = client.play([Say("Fine.")]).asked[0]
    said = read(tmp_path / "wire")
    assert said[0].by_client
    asked = said[0].message["params"]
    protocol = asked.get("protocolVersion") or asked["_meta"]["io.modelcontextprotocol/protocolVersion"]
    assert protocol == client.protocol
    instructions = said[1].message["result"]["instructions"]
    opening = " ".join(instructions.splitlines()[0].split())
    assert opening in first.words
    where = "system text" if opening in " ".join(first.system.split()) else "a tool's description"
    reached = "all" if " ".join(instructions.split()) in first.words else "the first line"
    seen(f"{client.label()}: {protocol} by {said[0].message['method']}; {reached} of the instructions, in {where}")


@each_client
def test_the_model_reads_what_the_server_wrote_and_nothing_else(client: Client, tmp_path: Path) -> None:
    """A client may hand the structured form of a result on instead of its text, or cut it."""
    client.connect(watched(SERVER, tmp_path / "wire"))
    script: list[Turn] = [
        Call("remember", {"body": FACT}),
        Call("recall", {"query": "webhook"}),
        Call("briefing"),
        Say("Well."),
    ]
    session = client.play(script)
    assert_went_well(session)
    results = [result for result in session.results if "tool_reference" not in result]
    written = [reply.message["result"]["content"] for _, reply in replies(read(tmp_path / "wire"), "tools/call")]
    assert len(written) == len(results) == 3
    for content, result in zip(written, results, strict=True):
        text = "\n".join(part["text"] for part in content)
        assert result.removeprefix(result[: result.find("Output:\n") + 8] if client.binary == "codex" else "") == text


@pytest.mark.parametrize("client", HOLDING_BACK, indirect=True, ids=lambda kind: kind.__name__)
def test_plain_words_find_the_tools_that_a_client_holds_back(client: Client, seen: Callable[[str], None]) -> None:
    client.connect(SERVER)
    for words, wanted in WORDS.items():
        session = client.play([client.search(words), Say("I see.")])
        assert_went_well(session)
        found = [name for name in TOOLS if f"{client.prefix}{name}" in session.asked[-1].tools]
        seen(f"{client.label()}: {words!r} finds {', '.join(sorted(found)) or 'nothing'}")
        assert wanted in found, words


@each_client
def test_what_the_definitions_cost(client: Client, seen: Callable[[str], None]) -> None:
    client.connect(SERVER)
    searching: list[Turn] = [client.search("eunoe")] if client.deferred else []
    session = client.play([*searching, Say("Enough.")])
    assert_went_well(session)
    definitions = ours(client, session.asked[-1].tools)
    assert set(definitions) == TOOLS
    for definition in definitions.values():
        definition.pop("namespace", None)  # the stub's, not the client's
    sent = json.dumps(list(definitions.values()), ensure_ascii=False, separators=(",", ":"))
    seen(f"{client.label()}: {len(definitions)} definitions, {len(sent)} characters, {count_tokens(sent)} o200k tokens")


# ── the bench itself ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_sink_counts_what_would_leave(sink: Sink) -> None:
    through = urllib.request.build_opener(urllib.request.ProxyHandler({"http": sink.url}))
    with pytest.raises(urllib.error.HTTPError):
        through.open("http://example.invalid/", timeout=5)
    assert sink.asked == ["GET http://example.invalid/ HTTP/1.1"]

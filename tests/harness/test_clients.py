"""Real clients, a scripted model: what one session remembers, the next one recalls."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from tests.harness.clients import CLIENTS, SERVER, Client, Session
from tests.harness.sink import Sink
from tests.harness.stubs.server import Call, Say, is_named

FACT = "Stripe webhooks need the raw body, or the signature fails"
TOOLS = (
    "briefing",
    "recall",
    "get",
    "remember",
    "update",
    "link",
    "related",
    "history",
    "review",
    "forget",
    "list_projects",
)

each_client = pytest.mark.parametrize("client", CLIENTS, indirect=True, ids=lambda kind: kind.__name__)


def ours(session: Session) -> dict[str, dict[str, Any]]:
    """Return the definitions of our tools in the session's last request, by the names that the client gives them."""
    return {name: tool for name, tool in session.asked[-1].tools.items() if "eunoe" in name}


def assert_went_well(session: Session) -> None:
    assert session.ended.code == 0, session.ended
    assert session.left == [], f"{session.asked[-1].turn}\n{session.ended}"
    assert session.ended.stragglers == []


@each_client
def test_a_new_session_recalls_what_the_one_before_remembered(client: Client, sink: Sink) -> None:
    done = client.setup()
    assert done.code == 0, done
    first = client.play([Call("briefing"), Call("remember", {"body": FACT, "kind": "gotcha"}), Say("Kept.")])
    assert_went_well(first)
    assert not any(FACT in result for result in first.results[:-1])

    second = client.play([Call("briefing"), Call("recall", {"query": "webhook signature"}), Say("So it is.")])
    assert_went_well(second)
    briefed, recalled = second.results[-2:]
    assert "acme/parcel" in briefed
    assert FACT in recalled
    assert sink.asked == []


@each_client
def test_every_tool_is_within_the_models_reach(client: Client, seen: Callable[[str], None]) -> None:
    client.connect(SERVER)
    session = client.play([Call("briefing"), Say("Thanks.")])
    assert_went_well(session)
    first = session.asked[0]
    named = [tool for tool in TOOLS if any(is_named(name, tool) for name in first.tools)]
    assert named == ([] if client.deferred else list(TOOLS))
    assert "eunoe" in first.system


def test_the_sink_counts_what_would_leave(sink: Sink) -> None:
    through = urllib.request.build_opener(urllib.request.ProxyHandler({"http": sink.url}))
    with pytest.raises(urllib.error.HTTPError):
        through.open("http://example.invalid/", timeout=5)
    assert sink.asked == ["GET http://example.invalid/ HTTP/1.1"]

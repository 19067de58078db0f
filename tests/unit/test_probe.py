"""The exchange by which `doctor` tries an installed server, against servers that go wrong in one way each."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from eunoe.errors import Unavailable
from eunoe.install.parts import Command
from eunoe.install.probe import hand_down, probe

SERVER = """
import json, os, sys
fault, kept = sys.argv[1], []
print("starting with", os.environ.get("EXTRA"), file=sys.stderr, flush=True)
if fault == "start": sys.exit(3)
if fault == "hang": sys.stdin.read()
if not os.environ["EUNOE_STORE"].startswith(os.environ["EUNOE_HOME"]) or os.environ["EUNOE_PROJECT"] != "self-test":
    sys.exit("in the wrong store")
if os.path.realpath(os.getcwd()) != os.path.realpath(os.environ["EUNOE_HOME"]): sys.exit("in the wrong folder")
def say(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
is_ready = False
for line in sys.stdin:
    asked = json.loads(line)
    ident, method, params = asked.get("id"), asked["method"], asked.get("params", {})
    say(method="notifications/message", params={"level": "info"})
    if method == "initialize":
        if params["protocolVersion"] != "2025-06-18": sys.exit("another protocol")
        if fault == "garbage": print("hello", flush=True)
        elif fault == "refuse": say(id=ident, error={"code": -32022, "message": "not this version"})
        else: say(id=ident, result={"serverInfo": {"name": "eunoe", "version": "9.9"}})
    elif method == "notifications/initialized": is_ready = True
    elif not is_ready: sys.exit("a call before the handshake")
    elif params["name"] == "remember":
        kept.append(params["arguments"]["body"])
        failed = fault == "remember"
        say(id=ident, result={"content": [{"type": "text", "text": "disk full"}], "isError": failed})
    else:
        found = kept if fault != "recall" else []
        say(id=ident, result={"content": [{"type": "text", "text": json.dumps(found)}], "isError": False})
"""


@pytest.fixture
def server(tmp_path: Path) -> Path:
    script = tmp_path / "server.py"
    script.write_text(SERVER, encoding="utf-8")
    return script


def command(server: Path, fault: str) -> Command:
    return Command((sys.executable, str(server), fault), {"EXTRA": "from the entry", "EUNOE_STORE": "/never/used"})


def test_a_server_that_finds_what_it_was_told_names_its_version(server: Path) -> None:
    assert probe(command(server, "none"), hand_down(os.environ)) == "9.9"


@pytest.mark.parametrize(
    ("fault", "step"),
    [
        ("start", "initialize"),
        ("hang", "initialize"),
        ("garbage", "initialize"),
        ("refuse", "initialize"),
        ("remember", "remember"),
        ("recall", "recall"),
    ],
)
def test_the_step_that_fails_is_named_with_what_the_server_wrote(server: Path, fault: str, step: str) -> None:
    with pytest.raises(Unavailable) as caught:
        probe(command(server, fault), hand_down(os.environ), limit_s=0.5 if fault == "hang" else 20)
    assert caught.value.code == "client_broken"
    assert caught.value.details == {"step": step, "stderr": "starting with from the entry"}


def test_a_program_that_is_not_there_fails_at_its_start() -> None:
    with pytest.raises(Unavailable) as caught:
        probe(Command(("/nowhere/eunoe", "mcp"), {}), {})
    assert caught.value.details["step"] == "start"


def test_a_client_hands_down_everything_but_settings_of_eunoe() -> None:
    assert hand_down({"PATH": "p", "EUNOE_TOKEN": "t", "HOME": "h"}) == {"PATH": "p", "HOME": "h"}

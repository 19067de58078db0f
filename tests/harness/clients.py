"""The clients: how each is told where its model is, how it is connected, and how it is run without a screen."""

from __future__ import annotations

import json
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.harness.processes import Ended, run
from tests.harness.stubs.anthropic import Messages
from tests.harness.stubs.chat import Chat
from tests.harness.stubs.responses import Responses
from tests.harness.stubs.server import Call, Dialect, Request, Stub, Turn

ROOT = Path(__file__).parents[2]
INSTALLED = ROOT / ".harness" / "node_modules" / ".bin"
SERVER = (sys.executable, "-m", "eunoe", "mcp")


@dataclass(frozen=True)
class Session:
    """One run of a client, from its start to its end, and what its model was asked."""

    ended: Ended
    requests: list[Request]
    left: list[Turn]

    @property
    def asked(self) -> list[Request]:
        """The requests that took a turn of the script."""
        return [request for request in self.requests if request.turn is not None]

    @property
    def results(self) -> list[str]:
        """The tool results that the model had at the end."""
        return self.asked[-1].results if self.asked else []


class Client(ABC):
    """A client in a home and a project of its own, whose model is a stub."""

    name: str  # as `eunoe setup` knows it
    binary: str
    dialect: Dialect
    deferred: bool  # whether the model has to search for our tools before it can call them
    prefix: str  # what the client puts before a tool's name
    protocol: str  # the version of MCP that it speaks

    def __init__(self, home: Path, project: Path, stub: Stub, more: Mapping[str, str]) -> None:
        self.home, self.project, self.stub = home, project, stub
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **more, **self.switches()}
        self.configure()

    @classmethod
    def path(cls) -> Path:
        """Return where the client is installed."""
        return INSTALLED / cls.binary

    def version(self) -> str:
        """Return what the client says its version is."""
        said = run([self.path(), "--version"], env=self.env, cwd=self.project).out
        return next(word for word in said.split() if word[0].isdigit())

    def setup(self, python: Path = Path(sys.executable)) -> Ended:
        """Connect the client as a user does, to the Eunoe that is installed for that interpreter."""
        return run([python, "-m", "eunoe", "setup", self.name, "--yes"], env=self.env, cwd=self.project)

    def play(self, turns: Sequence[Turn]) -> Session:
        """Start the client, let its model take the turns, and wait for its end."""
        self.stub.play(turns)
        ended = run(self.command("Go on."), env=self.env, cwd=self.project)
        return Session(ended, list(self.stub.requests), self.stub.left)

    def search(self, words: str) -> Call:
        """Return the call with which a model finds tools that this client holds back."""
        raise NotImplementedError(f"{self.binary} offers every tool at once")

    def label(self) -> str:
        """Return the client's name, as this suite has it, and its version."""
        return f"{type(self).__name__} {self.version()}"

    @abstractmethod
    def switches(self) -> dict[str, str]:
        """Return the variables that lead to the stub, and that keep the client from asking anybody else."""

    @abstractmethod
    def configure(self) -> None:
        """Write the client's own configuration, as a user has one before Eunoe comes."""

    @abstractmethod
    def connect(self, command: Sequence[str]) -> None:
        """Connect a server with that command by hand, as the client's documentation says."""

    @abstractmethod
    def command(self, prompt: str) -> list[str]:
        """Return the command line of a session without a screen."""


class ClaudeCode(Client):
    """Claude Code; tools are loaded through its ToolSearch."""

    name, binary, dialect, deferred = "claude-code", "claude", Messages(), True
    prefix, protocol = "mcp__eunoe__", "2026-07-28"

    def switches(self) -> dict[str, str]:
        """See `Client.switches`."""
        quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY")
        return {"ANTHROPIC_BASE_URL": self.stub.url, "ANTHROPIC_API_KEY": "none", **dict.fromkeys(quiet, "1")}

    def configure(self) -> None:
        """See `Client.configure`."""
        (self.home / ".claude.json").write_text(json.dumps({"theme": "dark"}))

    def connect(self, command: Sequence[str]) -> None:
        """See `Client.connect`."""
        server = {"type": "stdio", "command": command[0], "args": list(command[1:])}
        (self.home / ".claude.json").write_text(json.dumps({"theme": "dark", "mcpServers": {"eunoe": server}}))

    def command(self, prompt: str) -> list[str]:
        """See `Client.command`."""
        return [str(self.path()), "-p", prompt, "--output-format", "json", "--allowedTools", "mcp__eunoe"]

    def search(self, words: str) -> Call:
        """See `Client.search`."""
        return Call("ToolSearch", {"query": words, "max_results": 20})


class ClaudeCodeAtOnce(ClaudeCode):
    """Claude Code with its tool search off: all definitions are in each request."""

    deferred = False

    def switches(self) -> dict[str, str]:
        """See `Client.switches`."""
        return super().switches() | {"ENABLE_TOOL_SEARCH": "false"}


class Codex(Client):
    """Codex with a model that it knows: tools are found through its tool search."""

    name, binary, dialect, deferred = "codex", "codex", Responses(), True
    prefix, protocol = "mcp__eunoe__", "2025-06-18"
    model = "gpt-5.5"

    def switches(self) -> dict[str, str]:
        """See `Client.switches`."""
        return {"STUB_KEY": "none"}

    def configure(self) -> None:
        """See `Client.configure`."""
        folder = self.home / ".codex"
        folder.mkdir()
        lines = [
            f'model = "{self.model}"',
            'model_provider = "stub"',
            "check_for_update_on_startup = false",
            "",
            "[analytics]",
            "enabled = false",
            "",
            "[features]",
            "plugins = false",
            "apps = false",
            "",
            "[model_providers.stub]",
            'name = "stub"',
            f'base_url = "{self.stub.url}/v1"',
            'wire_api = "responses"',
            'env_key = "STUB_KEY"',
        ]
        (folder / "config.toml").write_text("\n".join(lines) + "\n")

    def connect(self, command: Sequence[str]) -> None:
        """See `Client.connect`. It waits for the server here, however busy the machine is."""
        entry = {"command": command[0], "args": list(command[1:]), "required": True}
        lines = (f"{name} = {json.dumps(value)}\n" for name, value in entry.items())
        with (self.home / ".codex" / "config.toml").open("a") as file:
            file.write("\n[mcp_servers.eunoe]\n" + "".join(lines))

    def command(self, prompt: str) -> list[str]:
        """See `Client.command`."""
        return [str(self.path()), "exec", "--json", prompt]

    def search(self, words: str) -> Call:
        """See `Client.search`."""
        return Call("tool_search", {"query": words, "limit": 20})


class CodexOtherModel(Codex):
    """Codex with a model that it does not know, as with a server of one's own: tools are offered at once."""

    model, deferred = "a-model-of-my-own", False


class OpenCode(Client):
    """OpenCode: all definitions are in each request."""

    name, binary, dialect, deferred = "opencode", "opencode", Chat(), False
    prefix, protocol = "eunoe_", "2025-11-25"

    def switches(self) -> dict[str, str]:
        """See `Client.switches`. npm's own switch is for the package that it installs at each start."""
        quiet = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SHARE", "DEFAULT_PLUGINS")
        return {f"OPENCODE_DISABLE_{name}": "1" for name in quiet} | {"npm_config_offline": "true"}

    def configure(self) -> None:
        """See `Client.configure`."""
        self._file.parent.mkdir(parents=True)
        options = {"baseURL": f"{self.stub.url}/v1", "apiKey": "none"}
        stub = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"stub": {"name": "stub"}}}
        self._file.write_text(json.dumps({"model": "stub/stub", "provider": {"stub": stub}}, indent=2))

    def connect(self, command: Sequence[str]) -> None:
        """See `Client.connect`."""
        settings = json.loads(self._file.read_text())
        settings["mcp"] = {"eunoe": {"type": "local", "command": list(command), "enabled": True}}
        self._file.write_text(json.dumps(settings, indent=2))

    def command(self, prompt: str) -> list[str]:
        """See `Client.command`."""
        return [str(self.path()), "run", "--format", "json", prompt]

    @property
    def _file(self) -> Path:
        return self.home / ".config" / "opencode" / "opencode.json"


CLIENTS: tuple[type[Client], ...] = (ClaudeCode, ClaudeCodeAtOnce, Codex, CodexOtherModel, OpenCode)

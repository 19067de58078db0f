"""The clients: which files each reads, and what goes into them. A client is a value; adding one is adding a function.

Where a client starts the server decides the scope that setup takes by itself. Claude Code, Codex, OpenCode, Gemini CLI
and Zed start it in the folder of the session, so that one entry for the user serves every project. Cursor starts a
user's server in the home folder, and VS Code gives only a project's server a folder: those two get an entry for the
project. Windsurf has one file for everything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from eunoe.install.parts import NAME, Entry, Instruction, JsonEntry, Part, TomlEntry
from eunoe.install.places import Places
from eunoe.install.server import Server

Scope = Literal["user", "project"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

# Zed reads only the first of these that there is.
_ZED_RULES = (
    *(".rules", ".cursorrules", ".windsurfrules", ".clinerules", ".github/copilot-instructions.md"),
    *("AGENT.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md"),
)


class Client(NamedTuple):
    """A program that agents run in.

    Attributes:
        name: The word for it on the command line.
        title: Its name for people.
        programs: Names of its executables; one on the path is a sign of it.
        signs: Files and folders that are a sign of it.
        scope: What setup takes by itself.
        parts: For each scope that it has, what it gets.
        advice: For each scope, what a person has to know or do.
    """

    name: str
    title: str
    programs: tuple[str, ...]
    signs: tuple[Path, ...]
    scope: Scope
    parts: Mapping[Scope, tuple[Part, ...]]
    advice: Mapping[Scope, str]

    def entry(self, scope: Scope) -> Entry | None:
        """Return the part that makes the client start the server."""
        return next((part for part in self.parts.get(scope, ()) if isinstance(part, JsonEntry | TomlEntry)), None)

    def is_there(self, places: Places) -> bool:
        """Return whether there is a sign of it on this machine."""
        return any(sign.exists() for sign in self.signs) or any(map(places.has_program, self.programs))


def all_clients(places: Places, server: Server) -> dict[str, Client]:
    """Return every client by name, in the order in which they are shown."""
    makers: tuple[Callable[[Places, Server], Client], ...] = (
        *(_claude_code, _codex, _opencode, _cursor, _gemini, _windsurf, _vscode, _zed),
    )
    return {client.name: client for client in (make(places, server) for make in makers)}


ALIASES = {"claude": "claude-code", "gemini-cli": "gemini", "code": "vscode", "vs-code": "vscode"}


def _claude_code(places: Places, server: Server) -> Client:
    chosen = places.named("CLAUDE_CONFIG_DIR")
    folder = chosen or places.home / ".claude"
    state = (chosen or places.home) / ".claude.json"
    entry = {"type": "stdio", **_stdio(server)}
    root = places.root
    return Client(
        "claude-code",
        "Claude Code",
        ("claude",),
        (folder, state),
        "user",
        {
            "user": (_json(state, "mcpServers", entry), _instruction(folder / "CLAUDE.md")),
            "project": (
                _json(root / ".mcp.json", "mcpServers", entry),
                # It reads AGENTS.md only where there is no CLAUDE.md.
                _instruction(root / "CLAUDE.md", root / ".claude" / "CLAUDE.md", default=root / "AGENTS.md"),
            ),
        },
        {"project": "Claude Code asks once whether to use the servers of .mcp.json."},
    )


def _codex(places: Places, server: Server) -> Client:
    folder = places.named("CODEX_HOME") or places.home / ".codex"

    def parts(config: Path, docs: Path) -> tuple[Part, ...]:
        return (
            TomlEntry((config,), config, ("mcp_servers", NAME), _stdio(server)),
            _instruction(docs / "AGENTS.override.md", default=docs / "AGENTS.md"),
        )

    return Client(
        "codex",
        "Codex",
        ("codex",),
        (folder,),
        "user",
        {
            "user": parts(folder / "config.toml", folder),
            "project": parts(places.root / ".codex" / "config.toml", places.root),
        },
        {"project": "Codex reads .codex/config.toml only in projects that you have marked as trusted."},
    )


def _opencode(places: Places, server: Server) -> Client:
    folder = places.xdg("opencode")
    chosen = places.named("OPENCODE_CONFIG")
    entry = {"type": "local", "command": list(server.words), "enabled": True}
    if server.env:
        entry["environment"] = dict(server.env)

    def config(place: Path) -> Part:
        return _json(place / "opencode.jsonc", "mcp", entry, default=place / "opencode.json")

    root = places.root
    return Client(
        "opencode",
        "OpenCode",
        ("opencode",),
        (folder, *([chosen] if chosen else [])),
        "user",
        {
            # Without an AGENTS.md it reads CLAUDE.md, which a new AGENTS.md would hide.
            "user": (
                _json(chosen, "mcp", entry) if chosen else config(folder),
                _instruction(folder / "AGENTS.md", places.home / ".claude" / "CLAUDE.md", default=folder / "AGENTS.md"),
            ),
            "project": (
                config(root),
                _instruction(root / "AGENTS.md", root / "CLAUDE.md", default=root / "AGENTS.md"),
            ),
        },
        {},
    )


def _cursor(places: Places, server: Server) -> Client:
    here = server._replace(env={**server.env, "EUNOE_PROJECT": server.project}) if server.project else server
    return Client(
        "cursor",
        "Cursor",
        ("cursor", "cursor-agent"),
        (places.home / ".cursor",),
        "project",
        {
            "user": (_json(places.home / ".cursor" / "mcp.json", "mcpServers", _stdio(server)),),
            "project": (
                _json(places.root / ".cursor" / "mcp.json", "mcpServers", _stdio(here)),
                _instruction(places.root / "AGENTS.md"),
            ),
        },
        {
            "user": "Cursor starts a user's server in your home folder: every repository shares one project. Prefer "
            "--scope project, or name one with --project.",
        },
    )


def _gemini(places: Places, server: Server) -> Client:
    folder = (places.named("GEMINI_CLI_HOME") or places.home) / ".gemini"
    return Client(
        "gemini",
        "Gemini CLI",
        ("gemini",),
        (folder,),
        "user",
        {
            "user": (_json(folder / "settings.json", "mcpServers", _stdio(server)), _instruction(folder / "GEMINI.md")),
            "project": (
                _json(places.root / ".gemini" / "settings.json", "mcpServers", _stdio(server)),
                _instruction(places.root / "GEMINI.md"),
            ),
        },
        {},
    )


def _windsurf(places: Places, server: Server) -> Client:
    folder = places.home / ".codeium" / "windsurf"
    return Client(
        "windsurf",
        "Windsurf",
        ("windsurf",),
        (folder,),
        "user",
        {
            "user": (
                _json(folder / "mcp_config.json", "mcpServers", _stdio(server)),
                _instruction(folder / "memories" / "global_rules.md"),
            )
        },
        {
            "user": "Windsurf has one entry for all folders and does not tell the server which is open: every "
            "repository shares one project. Name it with --project.",
        },
    )


def _vscode(places: Places, server: Server) -> Client:
    portable = places.named("VSCODE_PORTABLE")
    folder = portable / "user-data" if portable else places.application("Code")
    entry = {"type": "stdio", **_stdio(server)}
    # Without it, newer versions start the server in a folder of their own.
    here = {**entry, "cwd": "${workspaceFolder}"}
    return Client(
        "vscode",
        "VS Code",
        ("code",),
        (folder,),
        "project",
        {
            "user": (_json(folder / "User" / "mcp.json", "servers", entry),),
            "project": (
                _json(places.root / ".vscode" / "mcp.json", "servers", here),
                _instruction(places.root / "AGENTS.md"),
            ),
        },
        {
            "user": "VS Code does not start a user's server in the folder that is open: every repository shares one "
            "project. Prefer --scope project, or name one with --project.",
        },
    )


def _zed(places: Places, server: Server) -> Client:
    folder = places.roaming("Zed") if places.is_windows else places.xdg("zed")
    if places.is_mac:
        folder = places.home / ".config" / "zed"
    root = places.root
    rules = tuple(root / name for name in _ZED_RULES)
    return Client(
        "zed",
        "Zed",
        ("zed", "zeditor"),
        (folder,),
        "user",
        {
            "user": (_json(folder / "settings.json", "context_servers", _stdio(server)),),
            "project": (
                _json(root / ".zed" / "settings.json", "context_servers", _stdio(server)),
                _instruction(*rules, default=root / "AGENTS.md"),
            ),
        },
        {"user": "Zed has no instruction file for all projects; --scope project writes one into the repository."},
    )


def _stdio(server: Server) -> dict[str, Any]:
    command, *args = server.words
    return {"command": command, "args": args, **({"env": dict(server.env)} if server.env else {})}


def _json(file: Path, container: str, entry: Mapping[str, Any], *, default: Path | None = None) -> JsonEntry:
    files = (file,) if default is None else (file, default)
    return JsonEntry(files, default or file, (container, NAME), entry)


def _instruction(*files: Path, default: Path | None = None) -> Instruction:
    every = files if default is None or default in files else (*files, default)
    return Instruction(every, default or files[0])

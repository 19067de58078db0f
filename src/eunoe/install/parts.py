"""What a client gets: each part is one kind of change to one file.

A part knows the files it may live in, and how a text looks with it and without it. What it does is a function of texts;
reading and writing is `plan` and `files`. A new kind of change is a new class with the same four methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from eunoe.install import jsonc, marked, toml
from eunoe.install.json_nodes import read
from eunoe.install.text import MalformedError

NAME = "eunoe"
INSTRUCTION = (
    "Memory across sessions (eunoe): call `briefing` before you start to work and `recall` before you explore code;",
    "`remember` what a future session would otherwise have to find out again, one fact per memory.",
)

_REMOTE = ("url", "httpUrl", "serverUrl")


class Part(Protocol):
    """One kind of change to one file."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Return where it may be: the client reads the first of them that exists."""

    @property
    def default(self) -> Path:
        """Return the file to make when none of them exists."""

    def put(self, text: str) -> str:
        """Return the text with this part; a text that has it comes back as it is.

        Raises:
            MalformedError: The text cannot be changed safely.
            TakenError: What is there under our name is not ours to change.
        """

    def drop(self, text: str, before: str | None) -> str:
        """Return the text without this part; a text that lacks it comes back as it is.

        Args:
            text: The file as it is.
            before: As it was before the first change; "" when it was not there, None when that is not known.

        Raises:
            MalformedError: The text cannot be changed safely.
        """

    def is_in(self, text: str) -> bool:
        """Return whether the text has this part, in whatever version. Raises `MalformedError`."""

    def is_blank(self, text: str) -> bool:
        """Return whether a text without this part says nothing. Raises `MalformedError`."""


class TakenError(ValueError):
    """The place that a part needs holds something that is not ours."""


class Command(NamedTuple):
    """What a client runs: the words of the command line, and what it adds to the environment."""

    words: tuple[str, ...]
    env: Mapping[str, str]


class JsonEntry(NamedTuple):
    """The MCP server as a member of a JSON object; `path` leads to it, `entry` is what it must say."""

    files: tuple[Path, ...]
    default: Path
    path: tuple[str, ...]
    entry: Mapping[str, Any]

    def put(self, text: str) -> str:
        """See `Part.put`; other keys of the entry stay, those of its environment too."""
        _check(jsonc.get(text, self.path))
        return jsonc.put(text, self.path, dict(self.entry))

    def drop(self, text: str, before: str | None) -> str:
        """See `Part.drop`."""
        if not self.is_in(text):
            return text
        keep = len(self.path) if before is None else jsonc.depth(before, self.path)
        return jsonc.drop(text, self.path, keep=keep)

    def is_in(self, text: str) -> bool:
        """See `Part.is_in`."""
        return _runs_us(jsonc.get(text, self.path))

    def is_blank(self, text: str) -> bool:
        """See `Part.is_blank`."""
        node = read(text)
        return not text.strip() or (node is not None and node.value == {} and text.strip() == "{}")

    def command(self, text: str) -> Command | None:
        """Return what the client runs, or None when the entry is not there or is no command."""
        return _command(jsonc.get(text, self.path))


class TomlEntry(NamedTuple):
    """The MCP server as a table of a TOML file; `path` leads to it, `entry` is what it must say."""

    files: tuple[Path, ...]
    default: Path
    path: tuple[str, ...]
    entry: Mapping[str, Any]

    def put(self, text: str) -> str:
        """See `Part.put`; other keys of the table stay, those of its environment too."""
        _check(toml.get(text, self.path))
        return toml.put(text, self.path, self.entry)

    def drop(self, text: str, before: str | None) -> str:
        """See `Part.drop`."""
        return toml.drop(text, self.path) if self.is_in(text) else text

    def is_in(self, text: str) -> bool:
        """See `Part.is_in`."""
        return _runs_us(toml.get(text, self.path))

    def is_blank(self, text: str) -> bool:
        """See `Part.is_blank`."""
        return not text.strip()

    def command(self, text: str) -> Command | None:
        """Return what the client runs, or None when the entry is not there or is no command."""
        return _command(toml.get(text, self.path))


class Instruction(NamedTuple):
    """The suggestion to the agent, in the file that the client reads at the start of a session."""

    files: tuple[Path, ...]
    default: Path

    def put(self, text: str) -> str:
        """See `Part.put`."""
        return marked.put(text, INSTRUCTION)

    def drop(self, text: str, before: str | None) -> str:
        """See `Part.drop`."""
        return marked.drop(text)

    def is_in(self, text: str) -> bool:
        """See `Part.is_in`."""
        return marked.find(text) is not None

    def is_blank(self, text: str) -> bool:
        """See `Part.is_blank`."""
        return not text.strip()


Entry = JsonEntry | TomlEntry


def _check(entry: Any) -> None:
    """Refuse what stands under our name and is no command of ours to be brought up to date."""
    if entry is None:
        return
    if not isinstance(entry, dict):
        raise MalformedError(0, f"has something else than a table or an object for {NAME}")
    for name in _REMOTE:
        if name in entry:
            raise TakenError(f"its entry {NAME} names a server by {name}")
    command = _command(entry)
    if command is not None and not _is_ours(command.words):
        raise TakenError(f"its entry {NAME} runs something else: {' '.join(command.words)[:60]}")


def _runs_us(entry: Any) -> bool:
    command = _command(entry)
    return command is not None and _is_ours(command.words)


def _is_ours(words: Sequence[str]) -> bool:
    """Tell whether a command line runs Eunoe in whatever way: by its path, as a module, through a runner."""
    names = (word.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".exe") for word in words)
    return any(name == NAME or name.startswith(f"{NAME}[") for name in names)


def _command(entry: Any) -> Command | None:
    if not isinstance(entry, dict):
        return None
    words, args, env = entry.get("command"), entry.get("args", []), entry.get("env", entry.get("environment", {}))
    words = [words] if isinstance(words, str) else words
    if not isinstance(words, list) or not isinstance(args, list) or not isinstance(env, dict):
        return None
    every = [*words, *args]
    if not every or not all(isinstance(each, str) for each in (*every, *env.values())):
        return None
    return Command(tuple(every), env)

# Loaded at every start, and pathlib costs 18 ms.
"""Whom and what to believe at start-up: folders a person trusted, and whether a person is there at all.

A trusted folder may choose a project through its `.eunoe.toml`, for the one name that the person saw. The guard holds
against files that come with a clone, not against a program that runs with the user's own rights.
"""

from __future__ import annotations

import os

from eunoe.errors import Unavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_FORMAT = 1

# Only variables that a harness sets for the commands it runs, never ones that people export to configure it
# (CODEX_HOME, CLAUDE_CODE_USE_BEDROCK, OPENCODE_CONFIG, AIDER_MODEL, GEMINI_API_KEY): those would lock a person out.
# CURSOR_TRACE_ID and REPL_ID are also set in the editor's own terminal: taken for an agent, because an agent taken for
# a person could approve its own proposals, while a person can unset the variable. Aider marks nothing.
_MARKERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("claude-code", ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT")),
    ("codex", ("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "CODEX_CI")),
    ("cursor", ("CURSOR_AGENT", "CURSOR_TRACE_ID")),
    ("gemini-cli", ("GEMINI_CLI",)),
    ("opencode", ("OPENCODE", "OPENCODE_CLIENT")),
    ("cline", ("CLINE_ACTIVE",)),
    ("windsurf", ("WINDSURF_CASCADE_TERMINAL",)),
    ("amp", ("AMP_CURRENT_THREAD_ID",)),
    ("augment", ("AUGMENT_AGENT",)),
    ("copilot", ("COPILOT_CLI", "COPILOT_AGENT")),
    ("antigravity", ("ANTIGRAVITY_AGENT",)),
    ("trae", ("TRAE_AI_SHELL_ID",)),
    ("replit", ("REPL_ID",)),
)
# These hold the agent's name; EUNOE_AGENT is ours, the others are conventions that several harnesses share.
_NAMING = ("EUNOE_AGENT", "AI_AGENT", "AGENT")
_OFF = frozenset({"", "0", "false", "no", "off"})
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._@-")
_NAME_LIMIT = 64


def find_agent(environ: Mapping[str, str]) -> str | None:
    """Return the name of the agent harness in whose environment this process runs, or None without a sign of one.

    A guess that errs towards an agent. `EUNOE_AGENT` names one outright; then come the harnesses' own variables, then
    the shared `AI_AGENT` and `AGENT`. A variable that is empty, `0`, `false`, `no` or `off` counts as unset.

    Returns:
        A lower-case name such as `claude-code`; `agent` when a variable is set to something that is no name.
    """
    for variable in _NAMING[:1]:
        if _is_on(environ, variable):
            return _agent_name(environ[variable])
    for name, variables in _MARKERS:
        if any(_is_on(environ, variable) for variable in variables):
            return name
    for variable in _NAMING[1:]:
        if _is_on(environ, variable):
            return _agent_name(environ[variable])
    return None


def is_person(environ: Mapping[str, str], *, stdin_isatty: bool, stdout_isatty: bool) -> bool:
    """Return whether a command was typed by a person: on a terminal both ways, outside an agent's environment.

    Both, because harnesses that capture a command's output often leave it the terminal as input.
    """
    return stdin_isatty and stdout_isatty and find_agent(environ) is None


class TrustedFolders:
    """The folders that a person trusted, each for one project name, in one JSON file.

    Folders are compared by their real path. The file is made 0600 in a 0700 folder and replaced as a whole, so that a
    crash leaves the old or the new one; of two people who write at once the later wins. Nothing is read before the
    first question.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def is_trusted(self, folder: str, project: str) -> bool:
        """Return whether a person trusted this folder for exactly this project.

        Raises:
            Unavailable: `bad_trust_file`.
        """
        return self._load().get(os.path.realpath(folder)) == project

    def add(self, folder: str, project: str) -> None:
        """Trust a folder for one project, in place of any earlier one; durable on return.

        Raises:
            Unavailable: `bad_trust_file`, `trust_file_unwritable`.
        """
        self._save({**self._load(), os.path.realpath(folder): project})

    def remove(self, folder: str) -> bool:
        """Trust a folder no more; returns whether it was trusted.

        Raises:
            Unavailable: `bad_trust_file`, `trust_file_unwritable`.
        """
        entries = self._load()
        if entries.pop(os.path.realpath(folder), None) is None:
            return False
        self._save(entries)
        return True

    def entries(self) -> dict[str, str]:
        """Return project by folder, ordered by folder.

        Raises:
            Unavailable: `bad_trust_file`.
        """
        return dict(sorted(self._load().items()))

    def _load(self) -> dict[str, str]:
        import json  # noqa: PLC0415 - 13 ms, needed only where a .eunoe.toml lies

        try:
            with open(self._path, "rb") as stream:
                mode = os.fstat(stream.fileno()).st_mode
                document = json.loads(stream.read())
        except FileNotFoundError:
            return {}
        except OSError as exc:
            raise self._bad(f"cannot be read ({exc.strerror})") from exc
        except (ValueError, RecursionError) as exc:
            raise self._bad("is damaged") from exc
        if os.name == "posix" and mode & 0o022:
            raise self._bad(f"can be written by others (mode {mode & 0o777:04o}); after a look into it run chmod 600")
        if not isinstance(document, dict) or document.get("format") != _FORMAT:
            raise self._bad("has another format")
        folders = document.get("folders")
        if not isinstance(folders, dict) or not all(isinstance(name, str) for name in folders.values()):
            raise self._bad("has another format")
        return folders

    def _bad(self, problem: str) -> Unavailable:
        return Unavailable(
            "bad_trust_file",
            f"{self._path} {problem}. To begin anew remove it and run `eunoe trust` in each folder again",
        )

    def _save(self, entries: dict[str, str]) -> None:
        import json  # noqa: PLC0415 - see _load

        document = {"format": _FORMAT, "folders": dict(sorted(entries.items()))}
        folder = os.path.dirname(os.path.abspath(self._path))
        temporary = f"{self._path}.{os.urandom(4).hex()}.tmp"
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            try:
                _write_durably(temporary, json.dumps(document, indent=1).encode() + b"\n")
                os.replace(temporary, self._path)
            except OSError:
                if os.path.lexists(temporary):
                    os.unlink(temporary)
                raise
            _sync_folder(folder)
        except OSError as exc:
            raise Unavailable(
                "trust_file_unwritable",
                f"{self._path} cannot be written ({exc.strerror}); nothing was changed. Make {folder} writable, or set "
                f"EUNOE_HOME to a folder that is",
            ) from exc


def _is_on(environ: Mapping[str, str], variable: str) -> bool:
    return environ.get(variable, "").strip().lower() not in _OFF


def _agent_name(value: str) -> str:
    name = value.strip().lower()
    is_name = len(name) <= _NAME_LIMIT and name[0].isalpha() and _NAME_CHARACTERS.issuperset(name)
    return name if is_name and name not in ("true", "yes", "on") else "agent"


def _write_durably(path: str, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _sync_folder(folder: str) -> None:
    """Make a rename in `folder` durable; Windows has no such call and needs none."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

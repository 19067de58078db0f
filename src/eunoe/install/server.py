"""The command line that a client runs, and what it must add to the environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from eunoe.domain.redact import find_secrets
from eunoe.errors import Refused


class Server(NamedTuple):
    """The MCP server of this installation.

    Attributes:
        words: The command line, its first word an absolute path.
        env: Settings that a client must pass on, because it does not hand down its own environment.
        project: The name of the project of the folder where setup runs, for clients that start every server elsewhere.
    """

    words: tuple[str, ...]
    env: Mapping[str, str]
    project: str | None = None


def command_of(executable: str = sys.executable) -> tuple[str, ...]:
    """Return the command line of the MCP server in the installation that a Python belongs to.

    The console script beside the interpreter, as pip, pipx and uv make it: an upgrade leaves its path alone. Without
    one, the module; `-P` keeps the folder in which the client starts it, somebody's repository, out of the imports.
    """
    script = Path(executable).with_name("eunoe.exe" if os.name == "nt" else "eunoe")
    return (str(script), "mcp") if script.is_file() else (executable, "-P", "-m", "eunoe", "mcp")


def is_passing(executable: str = sys.executable) -> bool:
    """Return whether this installation is one that a tool runner throws away again (`uvx`, `pipx run`)."""
    parts = Path(executable).parts
    return any(part.startswith("archive-v") for part in parts) or (".cache" in parts and "pipx" in parts)


def lacks(package: str = "mcp") -> bool:
    """Return whether a package is missing without which the server does not start."""
    return find_spec(package) is None


def check_env(env: Mapping[str, str]) -> Mapping[str, str]:
    """Return settings that may stand in the files of clients.

    Raises:
        Refused: `secret_in_setting`: one of them holds a password or a token.
    """
    for name, value in env.items():
        if find_secrets(value):
            raise Refused(
                "secret_in_setting",
                f"{name} holds a secret, which is not written into the files of other programs: leave the secret "
                f"out, or unset the variable for setup",
                details={"setting": name},
            )
    return env

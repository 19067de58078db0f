"""The session behind the server: opened by the first call, kept until the client goes."""

from __future__ import annotations

import os
from threading import Lock

from eunoe import bootstrap
from eunoe.config.trust import find_agent
from eunoe.service.context import Context

_SESSION_VARIABLES = ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID")
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")
_NAME_LIMIT = 64


class Door:
    """Opens the store when something is asked of it, not before: a client waits for the list of tools.

    A setting that is wrong is an error of each call, which the agent can read, and not the end of the server.
    """

    def __init__(self, *, store: str | None, project: str | None, user: str | None) -> None:
        self._store = store
        self._project = project
        self._user = user
        self._opened: bootstrap.Opened | None = None
        self._lock = Lock()

    def context(self, client: str | None) -> Context:
        """Return the session in which the client speaks.

        Args:
            client: How the client calls itself; an agent, whatever it says.

        Raises:
            Invalid, Refused, Unavailable: see `bootstrap.open_session`.
        """
        with self._lock:
            if self._opened is None:
                agent = agent_name(client) or find_agent(os.environ) or "agent"
                named = (os.environ.get(variable) for variable in _SESSION_VARIABLES)
                session = next(filter(None, named), None) or os.urandom(8).hex()
                self._opened = bootstrap.open_session(
                    store=self._store,
                    project=self._project,
                    user=self._user,
                    author="agent",
                    surface="mcp",
                    agent=agent,
                    session=session,
                )
            return self._opened.context

    def close(self) -> None:
        """Close the store, if it was opened."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None


def agent_name(client: str | None) -> str | None:
    """Return a client's name as origins hold it: lower case, hyphens for what is not a letter, digit, dot or hyphen."""
    words = "".join(char if char in _NAME_CHARACTERS else " " for char in (client or "").lower()).split()
    return "-".join(words)[:_NAME_LIMIT].strip("-._") or None

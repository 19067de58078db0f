"""Opens the session of one command, in the name of whoever runs it."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import contextmanager

from eunoe import bootstrap
from eunoe.config.trust import find_agent, is_person
from eunoe.surfaces.cli.terminal import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from eunoe.domain.caller import Author
    from eunoe.surfaces.cli.options import Given


def author() -> Author:
    """Return who runs this: a person at a terminal, an agent, or an application such as a script."""
    if at_terminal():
        return "person"
    return "application" if find_agent(os.environ) is None else "agent"


def at_terminal() -> bool:
    """Return whether a person typed this command."""
    return is_person(os.environ, stdin_isatty=sys.stdin.isatty(), stdout_isatty=sys.stdout.isatty())


@contextmanager
def opened(given: Given, *, fast_model_only: bool = True) -> Iterator[bootstrap.Opened]:
    """Yield a session and close it; tells on standard error when a `.eunoe.toml` was not followed.

    Args:
        given: What was asked on the command line.
        fast_model_only: A command that only searches does not wait for a model that loads slowly.

    Raises:
        Invalid, Refused, Unavailable: see `bootstrap.open_session`.
    """
    # `__main__` stopped the collector for start-up; what is there by now stays for good and is never looked at again.
    gc.freeze()
    gc.enable()
    session = bootstrap.open_session(
        store=given.store,
        project=given.project,
        user=given.user,
        author=author(),
        surface="cli",
        background=False,
        fast_model_only=fast_model_only,
    )
    try:
        if session.resolution is not None and session.resolution.ignored:
            note(session.resolution.ignored)
        yield session
    finally:
        session.close()

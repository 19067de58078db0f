# Loaded at every start, and pathlib costs 18 ms.
"""Environment and arguments become values, each of which knows where it came from.

An argument wins over the environment, the environment over the default; an empty variable is unset. Opens nothing:
only `prepare_home` touches the disk, so that a wrong setting is reported before anything is made.
"""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

from eunoe.domain.project import check_user
from eunoe.errors import Invalid, Unavailable, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

STORE_FILE = "eunoe.sqlite"
_LARGEST_CAP = 1_000_000_000
LINKS = 32
STATES_MB = 2048
QUALITIES = ("best", "light")
MULTIPLIERS = ("importance", "freshness", "trust", "dispute")
_WHOLE = f"must be a whole number from 1 to {_LARGEST_CAP:,}"
STORE_SCHEMES = ("postgresql", "postgres", "https", "http")


class Settings(NamedTuple):
    """Where and as whom this process works.

    Attributes:
        home: Absolute path of the data directory, which need not exist.
        store: Absolute path of a file, `:memory:`, or an address `postgresql://…` or `https://…`. Not in the repr,
            because an address may hold a password.
        project: As it was given, unchecked: what it means depends on the user and the folder (`identity.resolve`).
        user: A checked user id, or None.
        model: `none`, the name of a model, or a folder; None when nothing was set.
        max_memories: The most memories that a project may believe; None is no cap.
        max_links: The most links that a memory may have.
        recall_quality: `best` (token states as well) or `light` (vectors alone: a twentieth of the disk).
        recall_off: Multipliers that are switched off: `importance`, `freshness`, `trust`, `dispute`.
        reranker: Whether the model that reads a question and a text together looks at the best hits once more.
        max_states_mb: How many megabytes of token states a project may have; the oldest go first.
        origins: For each of these `argument`, the name of the variable, or `default`.
    """

    home: str
    store: str
    project: str | None
    user: str | None
    model: str | None
    max_memories: int | None
    max_links: int
    recall_quality: str
    recall_off: tuple[str, ...]
    max_states_mb: int
    reranker: bool
    origins: Mapping[str, str]

    def __repr__(self) -> str:
        """Show everything but the store."""
        return f"Settings(home={self.home!r}, project={self.project!r}, user={self.user!r}, model={self.model!r})"

    def origin(self, name: str) -> str:
        """Return where a value came from: `argument`, the name of its variable, or `default`.

        Raises:
            KeyError: There is no such setting.
        """
        return self.origins[name]


def load_settings(
    environ: Mapping[str, str], *, store: str | None = None, project: str | None = None, user: str | None = None
) -> Settings:
    """Return the settings of this process.

    Args:
        environ: The environment, as a rule `os.environ`; a leading `~` is expanded from its `HOME`.
        store: Argument that wins over `EUNOE_STORE`.
        project: Argument that wins over `EUNOE_PROJECT`.
        user: Argument that wins over `EUNOE_USER`.

    Raises:
        Invalid: `empty_setting` (an argument without content), `bad_user`, `bad_store` (an unknown scheme),
            `bad_max_memories`, `bad_max_links`, `bad_max_states_mb`, `bad_setting`
            (a value that is none of those that a setting may have).
    """
    home, home_origin = _choose(environ, "home", None)
    chosen_store, store_origin = _choose(environ, "store", store)
    chosen_project, project_origin = _choose(environ, "project", project)
    chosen_user, user_origin = _choose(environ, "user", user)
    model, model_origin = _choose(environ, "model", None)
    most, most_origin = _choose(environ, "max_memories", None)
    links, links_origin = _choose(environ, "max_links", None)
    quality, quality_origin = _choose(environ, "recall_quality", None)
    off, off_origin = _choose(environ, "recall_off", None)
    states, states_origin = _choose(environ, "max_states_mb", None)
    reranker, reranker_origin = _choose(environ, "reranker", None)
    home = data_directory(environ) if home is None else _absolute(home, environ)
    return Settings(
        home=home,
        store=os.path.join(home, STORE_FILE) if chosen_store is None else _store(chosen_store, environ),
        project=chosen_project,
        user=None if chosen_user is None else check_user(chosen_user),
        model=model,
        max_memories=None if most is None else _max_memories(most),
        max_links=LINKS if links is None else _max_links(links),
        recall_quality="best" if quality is None else _one_of("EUNOE_RECALL_QUALITY", quality, QUALITIES),
        recall_off=() if off is None else _several_of("EUNOE_RECALL_OFF", off, MULTIPLIERS),
        max_states_mb=STATES_MB if states is None else _max_states(states),
        reranker=reranker is not None and _one_of("EUNOE_RERANKER", reranker, ("on", "off")) == "on",
        origins={
            "home": home_origin,
            "store": store_origin,
            "project": project_origin,
            "user": user_origin,
            "model": model_origin,
            "max_memories": most_origin,
            "max_links": links_origin,
            "recall_quality": quality_origin,
            "recall_off": off_origin,
            "max_states_mb": states_origin,
            "reranker": reranker_origin,
        },
    )


def data_directory(environ: Mapping[str, str], *, platform: str = sys.platform) -> str:
    """Return the platform's place for Eunoe's data: XDG on Linux, Application Support on macOS, Local on Windows."""
    if platform == "win32":
        base = environ.get("LOCALAPPDATA") or os.path.join(_user_folder(environ), "AppData", "Local")
    elif platform == "darwin":
        base = os.path.join(_user_folder(environ), "Library", "Application Support")
    else:
        base = environ.get("XDG_DATA_HOME", "")
        # The XDG specification tells programs to ignore a relative path.
        if not os.path.isabs(base):
            base = os.path.join(_user_folder(environ), ".local", "share")
    return os.path.join(base, "eunoe")


def prepare_home(path: str) -> None:
    """Make the data directory, 0700; one that exists is left as it is.

    Raises:
        Unavailable: `home_unwritable`: it cannot be made, or something else has its name.
    """
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
    except OSError as exc:
        raise Unavailable(
            "home_unwritable",
            f"the data directory {path} cannot be made ({exc.strerror}): set EUNOE_HOME to a folder you may write",
        ) from exc


def _choose(environ: Mapping[str, str], name: str, argument: str | None) -> tuple[str | None, str]:
    """Return a value as it was given, and its origin."""
    if argument is not None:
        if not argument.strip():
            raise Invalid("empty_setting", f"{name} {shown(argument)} is empty: give a value, or leave it out")
        return argument, "argument"
    variable = f"EUNOE_{name.upper()}"
    value = environ.get(variable, "")
    return (value, variable) if value.strip() else (None, "default")


def _max_memories(value: str) -> int:
    if (most := _cap(value)) is None:
        raise Invalid("bad_max_memories", f"EUNOE_MAX_MEMORIES={shown(value)} {_WHOLE}; unset is no cap")
    return most


def _max_links(value: str) -> int:
    if (most := _cap(value)) is None:
        raise Invalid("bad_max_links", f"EUNOE_MAX_LINKS={shown(value)} {_WHOLE}; unset is {LINKS}")
    return most


def _max_states(value: str) -> int:
    if (most := _cap(value)) is None:
        raise Invalid("bad_max_states_mb", f"EUNOE_MAX_STATES_MB={shown(value)} {_WHOLE}; unset is {STATES_MB:,}")
    return most


def _one_of(name: str, value: str, known: tuple[str, ...]) -> str:
    if value.strip() not in known:
        raise Invalid("bad_setting", f"{name}={shown(value)} must be one of {' '.join(known)}")
    return value.strip()


def _several_of(name: str, value: str, known: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_one_of(name, each, known) for each in value.replace(",", " ").split())


def _cap(value: str) -> int | None:
    digits = value.strip()
    is_whole = digits.isascii() and digits.isdigit() and 0 < int(digits) <= _LARGEST_CAP
    return int(digits) if is_whole else None


def _store(value: str, environ: Mapping[str, str]) -> str:
    if value == ":memory:":
        return value
    scheme, found, _ = value.partition("://")
    if not found:
        return _absolute(value, environ)
    if scheme.lower() not in STORE_SCHEMES:
        # Only the scheme is shown: the rest may hold a password.
        raise Invalid(
            "bad_store", f"store {shown(scheme + '://…')}: give a file, ':memory:', postgresql://… or https://…"
        )
    return value


def _absolute(path: str, environ: Mapping[str, str]) -> str:
    """Return a path that a later change of the working directory does not move."""
    if path == "~" or path.startswith(("~/", "~\\")):
        path = os.path.join(_user_folder(environ), path[2:])
    return os.path.abspath(path)


def _user_folder(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or environ.get("USERPROFILE") or os.path.expanduser("~")

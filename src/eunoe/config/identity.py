# Every command and hook starts here, and pathlib costs 18 ms.
"""Finds which project a folder belongs to: the identity of its repository, and what a `.eunoe.toml` asks for.

Reads a few small files and starts no process: `git` may be missing, slow, or told by the folder's own configuration to
run something. All worktrees and subfolders of a repository have one identity, and two repositories never share one
unless both name the same remote. Not here: turning an identity into a stored project, which needs a store.
"""

from __future__ import annotations

import os

from eunoe.domain.project import check_project_name, check_slug, is_windows_path, normalise_remote, slug_for
from eunoe.errors import Invalid, Refused, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final, Literal

    from eunoe.config.trust import TrustedFolders

PROJECT_FILE = ".eunoe.toml"

_PROJECT_FILE_BYTES = 65_536
_GIT_CONFIG_BYTES = 1_048_576
_POINTER_BYTES = 4_096
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


class _Value:
    """Compares and prints by its slots; a dataclass would do it for 17 ms."""

    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(getattr(self, n) == getattr(other, n) for n in self.__slots__)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in self.__slots__))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{n}={getattr(self, n)!r}' for n in self.__slots__)})"


class Identity(_Value):
    """What makes a folder's project that project; never changed after it was made.

    Attributes:
        identity: `host/owner/name` of the remote, else the absolute path of the git common directory, else of the
            folder. Always encodable text, never with a credential.
        root: The working tree (in a bare repository its folder), or the folder itself outside a repository.
        source: Which of the three it is: `remote`, `git` or `path`.
        remote: The name of the remote that was taken, such as `origin`.
        git_dir: The git common directory, shared by all worktrees; the identity that the repository had before it got
            a remote.
    """

    __slots__ = ("git_dir", "identity", "remote", "root", "source")

    def __init__(
        self,
        *,
        identity: str,
        root: str,
        source: Literal["remote", "git", "path"],
        remote: str | None = None,
        git_dir: str | None = None,
    ) -> None:
        self.identity: Final = identity
        self.root: Final = root
        self.source: Final = source
        self.remote: Final = remote
        self.git_dir: Final = git_dir


class ProjectFile(_Value):
    """A `.eunoe.toml`: the folder it lies in, and the slug it names in lower case, or None when it names none."""

    __slots__ = ("folder", "project")

    def __init__(self, *, folder: str, project: str | None) -> None:
        self.folder: Final = folder
        self.project: Final = project


class Resolution(_Value):
    """Which project a command works in, and why.

    Attributes:
        source: What decided: `argument`, `environment`, `file` or `identity`.
        name: The project by name, checked; None when the identity decides.
        identity: The identity of the folder, whatever decided.
        ignored: Why a `.eunoe.toml` was not followed, as a sentence for people that names the fix.
    """

    __slots__ = ("identity", "ignored", "name", "source")

    def __init__(
        self,
        *,
        source: Literal["argument", "environment", "file", "identity"],
        name: str | None,
        identity: Identity,
        ignored: str | None = None,
    ) -> None:
        self.source: Final = source
        self.name: Final = name
        self.identity: Final = identity
        self.ignored: Final = ignored


def resolve(
    path: str, *, argument: str | None, environment: str | None, user: str | None, trust: TrustedFolders
) -> Resolution:
    """Return the project for `path`: the argument, else the environment, else a trusted file, else the identity.

    A `.eunoe.toml` comes with whatever somebody cloned, so that it is followed only when a person trusted its folder
    for that very name. One that names its own repository's project changes nothing and needs no trust: it is resolved
    by identity, never by name, because an unrelated repository may hold the same name.

    Args:
        path: A folder or file, as a rule the working directory; it need not exist.
        argument: `--project` or the argument of the library; None when not given.
        environment: The value of `EUNOE_PROJECT`; None or "" when unset.
        user: The user for whom `me` and `~<user>` are resolved.
        trust: Asked only when there is a `.eunoe.toml`.

    Raises:
        Invalid: `bad_slug`, `reserved_slug`, `no_user`, `bad_user`, `bad_path`, `bad_project_file`, `unknown_setting`.
        Refused: `other_users_project`, `reserved_project_file`.
        Unavailable: `bad_trust_file`.
    """
    identity = find_identity(path)
    if argument is not None:
        return Resolution(source="argument", name=check_project_name(argument, user), identity=identity)
    if environment:
        return Resolution(source="environment", name=check_project_name(environment, user), identity=identity)
    found = read_project_file(path, identity.root)
    if found is None or found.project is None:
        return Resolution(source="identity", name=None, identity=identity)
    if trust.is_trusted(found.folder, found.project):
        return Resolution(source="file", name=found.project, identity=identity)
    ignored = None
    if found.project != slug_for(identity.identity):
        ignored = (
            f"{_shown_path(os.path.join(found.folder, PROJECT_FILE))} names project {shown(found.project)}, which no "
            f"person trusted for this folder: to follow it, run `eunoe trust` there"
        )
    return Resolution(source="identity", name=None, identity=identity, ignored=ignored)


def find_identity(path: str) -> Identity:
    """Return the identity of the folder or file `path`, which need not exist.

    Symbolic links are followed first, so that one folder has one identity. Of several remotes `origin` is taken, then
    `upstream`, then the first by name; one that is only a local path counts as none. A `.git` that is empty, damaged
    or unreadable is passed over, as git does. An absolute Windows path is kept as such on every platform.

    Raises:
        Invalid: `bad_path`, when `path` holds a NUL. Odd content of files never raises.

    Cost: about five `stat` calls for each folder upwards, and two or three small files.
    """
    folder = _folder_of(path)
    checkout = _find_checkout(folder)
    if checkout is None:
        return Identity(identity=_storable(folder), root=folder, source="path")
    root, git_dir = checkout
    remote, address = _find_remote(git_dir)
    if address is None:
        return Identity(identity=_storable(git_dir), root=root, source="git", git_dir=git_dir)
    return Identity(identity=address, root=root, source="remote", remote=remote, git_dir=git_dir)


def read_project_file(path: str, stop_root: str) -> ProjectFile | None:
    """Return the nearest `.eunoe.toml` from `path` upwards, not above `stop_root`; None when there is none.

    Outside `stop_root` only the folder of `path` itself is looked at.

    Raises:
        Invalid: `bad_project_file` (no TOML, over 64 KiB, unreadable, a wrong type or name), `unknown_setting`.
        Refused: `reserved_project_file`: a file must not choose a person's own project or an internal one.
    """
    folder, stop = _folder_of(path), os.path.realpath(stop_root)
    climbs = folder.startswith(stop.rstrip(os.sep) + os.sep)
    while not os.path.isfile(os.path.join(folder, PROJECT_FILE)):
        if not climbs or folder == stop:
            return None
        folder = os.path.dirname(folder)
    return _load_project_file(folder)


def _load_project_file(folder: str) -> ProjectFile:
    import tomllib  # noqa: PLC0415 - 28 ms, needed only where such a file lies

    file = os.path.join(folder, PROJECT_FILE)
    text = ""
    try:
        with open(file, "rb") as stream:
            raw = stream.read(_PROJECT_FILE_BYTES + 1)
        text = raw.decode("utf-8-sig")
        settings = tomllib.loads(text)
    except OSError as exc:
        raise _bad_file(file, f"cannot be read ({exc.strerror})", 0) from exc
    except UnicodeDecodeError as exc:
        raise _bad_file(file, "is not UTF-8", raw.count(b"\n", 0, exc.start) + 1) from exc
    except (tomllib.TOMLDecodeError, RecursionError) as exc:
        raise _bad_file(file, f"is not TOML: {exc}", 0) from exc
    if len(raw) > _PROJECT_FILE_BYTES:
        raise _bad_file(file, f"is larger than {_PROJECT_FILE_BYTES} bytes", 0)
    for key in settings:
        if key != "project":
            raise Invalid(
                "unknown_setting",
                f"{_shown_path(file)}, line {_line_of(text, key)}: {shown(key)} is no setting; the only one is "
                f'`project = "acme/api"`, so remove the line',
                details={"file": _storable(file), "line": _line_of(text, key), "setting": _storable(key)},
            )
    project = settings.get("project")
    return ProjectFile(folder=folder, project=None if project is None else _file_slug(file, text, project))


def _file_slug(file: str, text: str, project: object) -> str:
    line = _line_of(text, "project")
    if not isinstance(project, str):
        raise _bad_file(file, f"gives project the value {shown(project)}, which is no text", line)
    try:
        return check_slug(project.lower())
    except Invalid as exc:
        if exc.code != "reserved_slug":
            raise _bad_file(file, f"holds a wrong name: {exc.message}", line) from exc
        raise Refused(
            "reserved_project_file",
            f"{_shown_path(file)}, line {line}: {exc.message}. A file may not choose {shown(project)}: give --project "
            f"or set EUNOE_PROJECT instead",
            details={"file": _storable(file), "line": line},
        ) from exc


def _bad_file(file: str, problem: str, line: int) -> Invalid:
    where = f", line {line}," if line else ""
    return Invalid(
        "bad_project_file",
        f'{_shown_path(file)}{where} {problem}. Write `project = "acme/api"` or remove the file',
        details={"file": _storable(file), "line": line or None},
    )


def _line_of(text: str, key: str) -> int:
    """Return the first line that begins with `key`, from 1; 1 when it is written in an unusual way."""
    lines = enumerate(text.split("\n"), start=1)
    return next((n for n, line in lines if line.lstrip(" \t\"'[").startswith(key)), 1)


def _folder_of(path: str) -> str:
    """Return the real folder of `path`; a Windows path on another platform only gets one spelling."""
    if "\0" in path:
        raise Invalid("bad_path", f"path {shown(path)} holds a NUL character")
    if os.name != "nt" and is_windows_path(path):
        return path[0].upper() + path[1:].replace("/", "\\").rstrip("\\")
    real = os.path.realpath(path)
    return os.path.dirname(real) if os.path.isfile(real) else real


def _find_checkout(folder: str) -> tuple[str, str] | None:
    """Return the root and the git common directory of the nearest repository around `folder`."""
    while True:
        dot_git = os.path.join(folder, ".git")
        target = _pointed_to(dot_git) if os.path.isfile(dot_git) else dot_git
        common = _common_dir(target) if target else None
        if common is not None:
            return folder, common
        common = _common_dir(folder)  # a bare repository, or a folder inside `.git`
        if common is not None:
            return (os.path.dirname(folder) if os.path.basename(folder) == ".git" else folder), common
        parent = os.path.dirname(folder)
        if parent == folder or not parent:
            return None
        folder = parent


def _pointed_to(dot_git: str) -> str | None:
    """Return the git directory that a `.git` file names (worktrees, submodules); relative to the file."""
    text = _read_text(dot_git, _POINTER_BYTES)
    if not text.startswith("gitdir:"):
        return None
    return os.path.join(os.path.dirname(dot_git), text.removeprefix("gitdir:").strip())


def _common_dir(git_dir: str) -> str | None:
    """Return the real common directory of `git_dir`, or None when it is no git directory."""
    if not os.path.lexists(os.path.join(git_dir, "HEAD")):
        return None
    shared = _read_text(os.path.join(git_dir, "commondir"), _POINTER_BYTES).strip()
    common = os.path.realpath(os.path.join(git_dir, shared))
    is_whole = all(os.path.isdir(os.path.join(common, name)) for name in ("objects", "refs"))
    return common if is_whole else None


def _find_remote(git_dir: str) -> tuple[str | None, str | None]:
    """Return the name and the normalised address of the remote that identifies the repository."""
    addresses: dict[str, str] = {}
    for name, url in _remote_urls(_read_text(os.path.join(git_dir, "config"), _GIT_CONFIG_BYTES)):
        address = normalise_remote(url)
        if address is not None:
            addresses.setdefault(name, address)
    for name in ("origin", "upstream", *sorted(addresses)):
        if name in addresses:
            return _storable(name), addresses[name]
    return None, None


def _remote_urls(config: str) -> Iterator[tuple[str, str]]:
    """Yield remote name and url in the order of a git configuration; what it cannot read it passes over.

    Knows quotes, escapes, comments and continued lines. Includes and `insteadOf` are not followed: they depend on the
    machine, and an identity must not.
    """
    lines = iter(config.split("\n"))
    remote = None
    for line in lines:
        rest = line.strip()
        if rest.startswith("["):
            remote, rest = _remote_header(rest)
        key, equals, raw = rest.partition("=")
        if not equals or key.startswith(("#", ";")):
            continue
        while _continues(raw):
            raw = raw[:-1] + next(lines, "").rstrip()
        if remote is not None and key.strip().lower() == "url":
            yield remote, _config_value(raw)


def _remote_header(line: str) -> tuple[str | None, str]:
    """Read `[remote "name"] rest`; None for the name in any other section."""
    head, _, tail = line.partition('"')
    if "".join(head.lower().split()) != "[remote":
        return None, ""
    name: list[str] = []
    characters = iter(tail)
    for character in characters:
        if character == '"':
            return "".join(name), "".join(characters).partition("]")[2].strip()
        name.append(next(characters, "") if character == "\\" else character)
    return None, ""


def _continues(raw: str) -> bool:
    """Return whether a line goes on in the next one: it ends in a backslash that is not itself escaped."""
    return (len(raw) - len(raw.rstrip("\\"))) % 2 == 1


def _config_value(raw: str) -> str:
    """Return a value without its quotes, escapes and comment."""
    value: list[str] = []
    is_quoted = False
    characters = iter(raw.strip())
    for character in characters:
        if character == "\\":
            following = next(characters, "")
            value.append(_ESCAPES.get(following, following))
        elif character == '"':
            is_quoted = not is_quoted
        elif character in "#;" and not is_quoted:
            break
        else:
            value.append(character)
    return "".join(value).strip()


def _read_text(file: str, limit_bytes: int) -> str:
    """Return the text of a regular file up to a limit, without NUL; "" when it cannot be read."""
    if not os.path.isfile(file):  # opening a named pipe would wait for ever
        return ""
    try:
        with open(file, "rb") as stream:
            return os.fsdecode(stream.read(limit_bytes)).removeprefix("\ufeff").replace("\0", "")
    except OSError:
        return ""


def _storable(text: str) -> str:
    """Return `text` with the bytes of a file name that is no UTF-8 written out; databases and JSON refuse them."""
    return text.encode("utf-8", "backslashreplace").decode()


def _shown_path(path: str) -> str:
    return path if path.isprintable() else ascii(path)

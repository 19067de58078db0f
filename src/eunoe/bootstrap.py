"""The composition root: settings in, a running session out. The only module that knows concrete adapters."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from eunoe import meaning
from eunoe.config.identity import Identity, Resolution, find_identity, resolve
from eunoe.config.secret import SECRET_BYTES as STORE_SECRET_BYTES
from eunoe.config.secret import read_secret, secret_file
from eunoe.config.settings import Settings, load_settings, prepare_home
from eunoe.config.trust import TrustedFolders
from eunoe.domain.analyse import Analyser
from eunoe.domain.caller import Author, Caller
from eunoe.domain.ids import ID_BYTES, SECRET_BYTES, next_id
from eunoe.domain.instants import from_us
from eunoe.domain.project import check_project_name, check_user, numbered, own_project, slug_for
from eunoe.domain.session import AgentSession
from eunoe.errors import Invalid, shown
from eunoe.models.stemmer import english_stemmer
from eunoe.ports.clock import Clock, Entropy
from eunoe.ports.lane import Lane
from eunoe.ports.projects import Projects
from eunoe.ports.store import REGISTRATION, Store
from eunoe.retrieval.lanes.key import KeyLane
from eunoe.retrieval.lanes.keyword import KeywordLane
from eunoe.retrieval.lanes.time import TimeLane
from eunoe.retrieval.lanes.vector import VectorLane
from eunoe.retrieval.recipes import DEFAULT
from eunoe.service.context import Context
from eunoe.service.worker import Worker
from eunoe.stores.sql.store import SqlStore
from eunoe.storing import open_engine

TRUST_FILE = "trusted-folders.json"
DURABILITIES = ("process", "power")


class SystemClock:
    """The time of this machine."""

    def now_us(self) -> int:
        """See `Clock.now_us`."""
        return time.time_ns() // 1000


class SystemEntropy:
    """Randomness of the operating system."""

    def random_bytes(self, size: int) -> bytes:
        """See `Entropy.random_bytes`."""
        return os.urandom(size)


class Opened(NamedTuple):
    """A running session: its context, the settings it came from, and how the project was found."""

    context: Context
    settings: Settings
    resolution: Resolution | None
    worker: Worker | None = None

    def close(self) -> None:
        """End the work on the queue, and close the store."""
        if self.worker is not None:
            self.worker.stop()
        if self.context.embedding is not None:
            self.context.embedding.release()
        self.context.store.close()


def open_session(
    *,
    store: str | os.PathLike[str] | None = None,
    project: str | None = None,
    user: str | None = None,
    folder: str | None = None,
    author: Author = "application",
    surface: str = "library",
    agent: str | None = None,
    session: str | None = None,
    durability: str = "process",
    environ: Mapping[str, str] | None = None,
    clock: Clock | None = None,
    entropy: Entropy | None = None,
    background: bool = True,
    fast_model_only: bool = False,
) -> Opened:
    """Open a store and settle which project this session is about.

    Args:
        store: A path, `:memory:`, or None for `EUNOE_STORE` or the default store.
        project: Its name; `me` for the user's own. None: `EUNOE_PROJECT`, a trusted `.eunoe.toml`, or the folder.
        user: The authenticated user; default `EUNOE_USER`.
        folder: Where the session works; default the current directory.
        author, surface, agent: What speaks; goes into the origin of every event.
        session: The harness's name of the session; default the day.
        durability: `process`, or `power` to survive a loss of power, too (each write then waits for the disk).
        environ: Default the process's environment.
        clock, entropy: Default those of the system.
        background: Embed what is written in a thread; False for a process that ends after one use case.
        fast_model_only: Use only a model that loads fast.

    Raises:
        Invalid, Refused, Unavailable: with the code of the setting that cannot be used.
    """
    environ = os.environ if environ is None else environ
    clock, entropy = clock or SystemClock(), entropy or SystemEntropy()
    settings = load_settings(environ, store=None if store is None else os.fspath(store), project=project, user=user)
    if durability not in DURABILITIES:
        raise Invalid("bad_durability", f"durability={shown(durability)} must be one of {' '.join(DURABILITIES)}")
    opened = open_store(settings, durability=durability, clock=clock, entropy=entropy)
    try:
        slug, identity, resolution = _settle(settings, opened, folder or os.getcwd(), environ, clock, entropy)  # noqa: PTH109
    except BaseException:
        opened.close()
        raise
    found = meaning.start(opened, settings, environ, clock, entropy, background=background, fast_only=fast_model_only)
    caller = Caller(user=settings.user, author=author, surface=surface, details=_details(agent, session))
    told = _agent_session(settings, opened.uuid, session, clock, entropy)
    context = _context(opened, settings, caller, told, clock, entropy)
    context = context._replace(
        slug=slug,
        identity=identity,
        semantics=found.semantics,
        embedding=found.embedding,
        reranking=found.reranking,
        wake=found.wake,
    )
    return Opened(context=context, settings=settings, resolution=resolution, worker=found.worker)


def _context(
    store: Store, settings: Settings, caller: Caller, session: AgentSession, clock: Clock, entropy: Entropy
) -> Context:
    """Return a session that has no project and no model yet."""
    return Context(
        store=store,
        slug="",
        caller=caller,
        clock=clock,
        entropy=entropy,
        analyser=Analyser(english_stemmer()),
        lanes=lanes(),
        known={},
        tokens=_count_tokens,
        session=session,
        max_memories=settings.max_memories,
        max_links=settings.max_links,
        recipe=DEFAULT.without(*settings.recall_off),
    )


def _details(agent: str | None, session: str | None) -> dict[str, str]:
    return {name: value for name, value in (("agent", agent), ("session", session)) if value is not None}


def _agent_session(settings: Settings, store: str, name: str | None, clock: Clock, entropy: Entropy) -> AgentSession:
    began_at = clock.now_us()

    @cache
    def secret() -> bytes:
        if settings.store == ":memory:":
            return entropy.random_bytes(STORE_SECRET_BYTES)
        if "://" in settings.store:
            prepare_home(settings.home)
        return read_secret(secret_file(settings.store, settings.home, store), entropy.random_bytes)

    return AgentSession(id=name or f"{from_us(began_at):%Y-%m-%d}", began_at=began_at, secret=secret)


def _count_tokens(text: str) -> int:
    """Count with the counter that is loaded at the first count: most commands never count."""
    from eunoe.models.tokens import count_tokens  # noqa: PLC0415 - 5 ms

    return count_tokens(text)


def lanes() -> dict[str, Lane]:
    """Return the lanes that recipes may name."""
    return {lane.name: lane for lane in (KeywordLane(), VectorLane(), KeyLane(), TimeLane())}


def open_store(settings: Settings, *, durability: str, clock: Clock, entropy: Entropy) -> Store:
    """Open the store that the settings name.

    Raises:
        Invalid: `unsupported_store`: an engine that this version does not have. Unavailable: see `open_engine`.
    """
    engine = open_engine(settings, durability=durability, clock=clock)
    try:
        return SqlStore(engine, clock=clock, entropy=entropy)
    except BaseException:
        engine.close()
        raise


def trusted_folders(settings: Settings) -> TrustedFolders:
    """Return the folders whose `.eunoe.toml` a person trusted."""
    return TrustedFolders(os.path.join(settings.home, TRUST_FILE))  # noqa: PTH118


def resolve_project(path: str | os.PathLike[str], store: str | os.PathLike[str] | None = None) -> str:
    """Return the slug that a folder's project has in a store. Two repositories never share one.

    The name is kept for the folder's identity (its remote, else its git common directory, else its path), so that
    worktrees and subfolders give the same answer, today and later. `EUNOE_PROJECT` and arguments are not consulted.
    """
    clock, entropy = SystemClock(), SystemEntropy()
    settings = load_settings(os.environ, store=None if store is None else os.fspath(store))
    opened = open_store(settings, durability="process", clock=clock, entropy=entropy)
    try:
        return slug_of(opened, find_identity(os.fspath(path)), clock=clock, entropy=entropy)
    finally:
        opened.close()


def slug_of(store: Store, identity: Identity, *, clock: Clock, entropy: Entropy) -> str:
    """Return the slug of a folder's project in a store, registering it when it is new.

    A folder that got a remote, or became a repository, keeps the project that it had before. A project that was only
    named so far belongs to the first folder whose own name it is.
    """
    name = identity.identity
    with store.reading() as view:
        known = view.projects.find_identity(name)
    if known is not None:
        return known.slug
    with store.writing() as tx:
        tx.lock(REGISTRATION)
        projects = tx.projects
        known = projects.find_identity(name)
        if known is not None:
            return known.slug
        for earlier in filter(None, (identity.git_dir, identity.root)):
            known = projects.find_identity(earlier)
            if known is not None:
                return projects.rebind(known, name).slug
        named = projects.find(slug_for(name))
        if named is not None and named.identity is None:
            return projects.rebind(named, name).slug
        return projects.register(
            uuid=next_id(clock.now_us(), entropy.random_bytes(ID_BYTES)),
            slug=_free_slug(projects, name),
            identity=name,
            secret=entropy.random_bytes(SECRET_BYTES),
            now=clock.now_us(),
        ).slug


def expected_slug(settings: Settings, identity: Identity) -> str:
    """Return the slug that `slug_of` would give a folder, registering nothing and making no store."""
    name = identity.identity
    if "://" in settings.store or not os.path.isfile(settings.store):  # noqa: PTH113
        return slug_for(name)
    opened = open_store(settings, durability="process", clock=SystemClock(), entropy=SystemEntropy())
    try:
        with opened.reading() as view:
            places = filter(None, (name, identity.git_dir, identity.root))
            known = next(filter(None, map(view.projects.find_identity, places)), None)
            named = view.projects.find(slug_for(name))
            if known is not None:
                return known.slug
            return named.slug if named is not None and named.identity is None else _free_slug(view.projects, name)
    finally:
        opened.close()


def _free_slug(projects: Projects, identity: str) -> str:
    wanted = slug = slug_for(identity)
    n = 1
    while projects.find(slug) is not None:
        n += 1
        slug = numbered(wanted, n)
    return slug


def _settle(
    settings: Settings, store: Store, folder: str, environ: Mapping[str, str], clock: Clock, entropy: Entropy
) -> tuple[str, str | None, Resolution | None]:
    """Return the project's slug, the identity it was found by, and how."""
    user = None if settings.user is None else check_user(settings.user)
    named: dict[str, Any] = {"argument": None, "environment": None}
    if settings.project is not None:
        named["argument" if settings.origin("project") == "argument" else "environment"] = settings.project
    resolution = resolve(folder, user=user, trust=trusted_folders(settings), **named)
    if resolution.name is None:
        slug = slug_of(store, resolution.identity, clock=clock, entropy=entropy)
        return slug, resolution.identity.identity, resolution
    name = check_project_name(resolution.name, user)
    if name == "me":
        name = own_project(check_user(user or ""))
    return name, None, resolution

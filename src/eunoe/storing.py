"""Which engine a store's address means: opening it, moving it, and letting others use it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from eunoe.config.settings import Settings, prepare_home
from eunoe.errors import Invalid, NotFound, Unavailable
from eunoe.ports.clock import Clock, Entropy
from eunoe.stores.sql.connection import Engine
from eunoe.stores.sql.store import SqlStore
from eunoe.stores.sqlite.engine import SqliteEngine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eunoe.stores.postgres.engine import PostgresEngine
    from eunoe.stores.sql.moving import Moved

Progress = Callable[[int, int], None]

_POSTGRES = ("postgresql", "postgres")


def open_engine(settings: Settings, *, durability: str, clock: Clock) -> Engine:
    """Open the database that the settings name.

    Raises:
        Invalid: `unsupported_store`: an engine that this version does not have.
        Unavailable: `missing_extra`, and those of `SqliteEngine` and `PostgresEngine`.
    """
    scheme = _scheme(settings)
    if scheme in _POSTGRES:
        return _postgres(settings.store, clock)
    if scheme:
        what = f"store={scheme}://… is not supported by this version; give a file path or postgresql://…"
        raise Invalid("unsupported_store", what)
    if settings.origin("store") == "default":
        prepare_home(settings.home)
    return SqliteEngine(settings.store, durability=durability, now_us=clock.now_us)


def move_store(
    source: Settings, target: Settings, *, clock: Clock, entropy: Entropy, progress: Progress | None = None
) -> Moved:
    """Copy a store into another, empty one, of the same engine or another, and verify every chain there.

    The old store stays as it is; writers of it wait meanwhile. What was interrupted is continued by running it again.

    Args:
        source, target: Name the stores.
        clock, entropy: Of the session.
        progress: Called with (rows done, rows in all).

    Raises:
        NotFound: `no_store`: the old one is not there. Invalid: `same_store`, `bad_store`. Conflict: `other_store`.
        Unavailable: `broken_chain`, and those of the engines.
    """
    from eunoe.stores.sql.moving import Move  # noqa: PLC0415 - start-up, for those who move only

    if source.store == target.store:
        raise Invalid("same_store", "the old store and the new one are the same; name two")
    if "://" not in source.store and not os.path.isfile(source.store):  # noqa: PTH113
        raise NotFound("no_store", f"there is no store at {source.store!r}; name the one to move")
    engines: list[Engine] = []
    try:
        for settings in (source, target):
            engines.append(open_engine(settings, durability="process", clock=clock))
            SqlStore(engines[-1], clock=clock, entropy=entropy)  # a new one gets its uuid
        return Move(engines[0], engines[1], progress).run()
    finally:
        for engine in engines:
            engine.close()


def grant_store(settings: Settings, role: str, *, kind: str = "service", clock: Clock) -> str:
    """Let a role of a PostgreSQL server use a store that this one owns; return the store's address without password.

    Args:
        settings: Name the store.
        role: Of the server; it must be there.
        kind: `service` reads and writes, but of the ledger only adds to it, and clears or re-encodes payloads; `reader`
            only reads; `auditor` reads the ledger alone.
        clock: Of the session.

    Raises:
        Invalid: `no_server_store`: the store is a file. Unavailable: as the engine.
    """
    if _scheme(settings) not in _POSTGRES:
        raise Invalid("no_server_store", "roles are granted a store on a server; set EUNOE_STORE=postgresql://…")
    engine = _postgres(settings.store, clock)
    try:
        engine.grant(role, kind)
        return str(engine.describe()["path"])
    finally:
        engine.close()


def _scheme(settings: Settings) -> str:
    """Return what a store's address begins with; empty for a file."""
    return settings.store.partition("://")[0] if "://" in settings.store else ""


def _postgres(url: str, clock: Clock) -> PostgresEngine:
    try:
        from eunoe.stores.postgres.engine import PostgresEngine  # noqa: PLC0415 - an extra, and 100 ms
    except ImportError as exc:
        what = f"store=postgresql://… needs the extra `postgres` ({exc}): pip install 'eunoe[postgres]'"
        raise Unavailable("missing_extra", what) from exc

    @contextmanager
    def scratch() -> Iterator[Engine]:
        """A rebuild grows in a file of this machine; the shared statements are the same."""
        import tempfile  # noqa: PLC0415 - start-up, for those who rebuild only

        with tempfile.TemporaryDirectory(prefix="eunoe-rebuild-") as folder:
            engine = SqliteEngine(os.path.join(folder, "scratch.sqlite"), now_us=clock.now_us)  # noqa: PTH118
            try:
                yield engine
            finally:
                engine.close()

    return PostgresEngine(url, now_us=clock.now_us, scratch=scratch)

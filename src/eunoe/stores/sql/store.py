"""The port `Store` over an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from eunoe.ports.clock import Clock, Entropy
from eunoe.ports.snapshot import Snapshot
from eunoe.stores.sql.connection import Connection, Engine
from eunoe.stores.sql.ledger import SqlLedger
from eunoe.stores.sql.memories import SqlBeliefs, SqlMemories
from eunoe.stores.sql.projects import SqlProjects
from eunoe.stores.sql.rows import apply_changes, snapshots
from eunoe.stores.sql.signals import SqlSignals
from eunoe.stores.sql.statements import load
from eunoe.stores.sql.text_index import SqlTextIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eunoe.ports.vectors import Model
    from eunoe.stores.sql.rebuild import SqlRebuilding
    from eunoe.stores.sql.survey import SqlSurvey
    from eunoe.stores.sql.upkeep import SqlUpkeep
    from eunoe.stores.sql.vectors import SqlJobs, SqlModels, SqlVectors

_SQL = load("projects")


class SqlView:
    """Implements `eunoe.ports.store.View`, and `Writing` inside a write transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.projects = SqlProjects(connection)

    def ledger(self, p: int) -> SqlLedger:
        """See `View.ledger`."""
        return SqlLedger(self._connection, p)

    def beliefs(self, p: int) -> SqlBeliefs:
        """See `View.beliefs`."""
        return SqlBeliefs(self._connection, p)

    def memories(self, p: int) -> SqlMemories:
        """See `View.memories`."""
        return SqlMemories(self._connection, p)

    def index(self, p: int) -> SqlTextIndex:
        """See `View.index`."""
        return SqlTextIndex(self._connection, p)

    def survey(self, p: int) -> SqlSurvey:
        """See `View.survey`."""
        from eunoe.stores.sql.survey import SqlSurvey  # noqa: PLC0415 - start-up, for briefings only

        return SqlSurvey(self._connection, p)

    def upkeep(self, p: int) -> SqlUpkeep:
        """See `View.upkeep`."""
        from eunoe.stores.sql.upkeep import SqlUpkeep  # noqa: PLC0415 - start-up, for reviews and caps only

        return SqlUpkeep(self._connection, p)

    @property
    def models(self) -> SqlModels:
        """See `View.models`."""
        from eunoe.stores.sql.vectors import SqlModels  # noqa: PLC0415 - start-up, for meaning only

        return SqlModels(self._connection)

    @property
    def jobs(self) -> SqlJobs:
        """See `View.jobs`."""
        from eunoe.stores.sql.vectors import SqlJobs  # noqa: PLC0415 - start-up, for meaning only

        return SqlJobs(self._connection)

    def vectors(self, p: int, model: int) -> SqlVectors:
        """See `View.vectors`, and `Writing.vectors`."""
        from eunoe.stores.sql.vectors import SqlVectors  # noqa: PLC0415 - start-up, for meaning only

        return SqlVectors(self._connection, p, model)

    def snapshots(self, p: int, idents: Sequence[str], *, whole: bool = True) -> dict[str, Snapshot]:
        """See `View.snapshots`."""
        return snapshots(self._connection, p, idents, whole=whole)

    def lock(self, p: int) -> None:
        """See `Writing.lock`."""
        self._connection.lock(p)

    def apply(self, changes: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """See `Writing.apply`."""
        apply_changes(self._connection, changes)


class SqlStore:
    """Implements `eunoe.ports.store.Store`."""

    def __init__(self, engine: Engine, *, clock: Clock, entropy: Entropy) -> None:
        """Take an open engine, and give the database its uuid when it has none."""
        self._engine = engine
        with engine.reading() as connection:
            rows = connection.run(_SQL["store_uuid"])
        if not rows:
            with engine.writing() as connection:
                uuid = _random_uuid(entropy)
                connection.run(_SQL["store_insert"], {"uuid": uuid, "now": clock.now_us()})
                rows = connection.run(_SQL["store_uuid"])
        self._uuid: str = rows[0][0]
        self._wakes: list[Callable[[], None]] = []
        self._signals = SqlSignals(engine)

    @property
    def uuid(self) -> str:
        """See `Store.uuid`."""
        return self._uuid

    @property
    def signals(self) -> SqlSignals:
        """See `Store.signals`."""
        return self._signals

    @contextmanager
    def reading(self) -> Iterator[SqlView]:
        """See `Store.reading`."""
        with self._engine.reading() as connection:
            yield SqlView(connection)

    @contextmanager
    def writing(self) -> Iterator[SqlView]:
        """See `Store.writing`."""
        with self._engine.writing() as connection:
            yield SqlView(connection)
        for wake in self._wakes:
            wake()

    @contextmanager
    def rebuilding(self, p: int) -> Iterator[SqlRebuilding]:
        """See `Store.rebuilding`."""
        from eunoe.stores.sql.rebuild import SqlRebuilding  # noqa: PLC0415 - start-up, for those who rebuild only

        with self._engine.scratch() as scratch, scratch.writing() as connection:
            yield SqlRebuilding(self._engine, connection, p)

    def watch(self, wake: Callable[[], None]) -> None:
        """See `Store.watch`."""
        self._wakes.append(wake)
        self._engine.watch(wake)

    @property
    def tends_vectors(self) -> bool:
        """See `Store.tends_vectors`."""
        return self._engine.tends_vectors

    def tend_vectors(self, p: int, model: Model) -> None:
        """See `Store.tend_vectors`."""
        self._engine.tend_vectors(p, model.id, model.dim)

    def describe(self) -> dict[str, Any]:
        """See `Store.describe`."""
        return {"uuid": self._uuid, **self._engine.describe()}

    def close(self) -> None:
        """See `Store.close`."""
        self._signals.flush()
        self._engine.close()


def _random_uuid(entropy: Entropy) -> str:
    digits = entropy.random_bytes(16).hex()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:]}"

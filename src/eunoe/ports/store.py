"""The store: transactions over everything that one database holds."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, Protocol

    from eunoe.ports.ledger import Ledger
    from eunoe.ports.memories import Beliefs, Memories
    from eunoe.ports.projects import Projects
    from eunoe.ports.signals import Signals
    from eunoe.ports.snapshot import Snapshot
    from eunoe.ports.survey import Survey
    from eunoe.ports.text_index import TextIndex
    from eunoe.ports.upkeep import Upkeep
    from eunoe.ports.vectors import Jobs, Model, Models, Vectors, WritableVectors
else:
    Protocol = object  # Protocols are for the type checker; making them costs every command several milliseconds


REGISTRATION = 0  # in place of a project's number, which is at least 1


class View(Protocol):
    """One consistent state of the store."""

    @property
    def projects(self) -> Projects:
        """Return the projects."""

    def ledger(self, p: int) -> Ledger:
        """Return a project's ledger."""

    def beliefs(self, p: int) -> Beliefs:
        """Return what the gate asks."""

    def memories(self, p: int) -> Memories:
        """Return a project's memories."""

    def index(self, p: int) -> TextIndex:
        """Return a project's text index."""

    def survey(self, p: int) -> Survey:
        """Return what a project holds as a whole."""

    def upkeep(self, p: int) -> Upkeep:
        """Return what a review asks."""

    @property
    def models(self) -> Models:
        """Return the models that the store knows."""

    @property
    def jobs(self) -> Jobs:
        """Return the queue of what is to be embedded."""

    def vectors(self, p: int, model: int) -> Vectors:
        """Return what a model made of a project's texts."""

    def snapshots(self, p: int, idents: Sequence[str], *, whole: bool = True) -> dict[str, Snapshot]:
        """Return the rows of memories as they stand; without `whole` only the memories' own rows."""


class Writing(View, Protocol):
    """A write transaction: everything in it becomes true together, or nothing does."""

    def vectors(self, p: int, model: int) -> WritableVectors:
        """Return what a model made of a project's texts, to be written to as well."""

    def lock(self, p: int) -> None:
        """Hold off other writers of a project until the transaction ends; `REGISTRATION`: whoever registers projects.

        What is read afterwards is the newest. Whoever writes to a project begins with this; registration comes first.
        """

    def apply(self, changes: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Make row changes in order; see `eunoe.projections.changes`."""


class Store(Protocol):
    """One database, embedded or served."""

    @property
    def uuid(self) -> str:
        """Return the store's uuid: the stream of every event written here."""

    @property
    def signals(self) -> Signals:
        """Return what is noted beside the ledger."""

    def reading(self) -> AbstractContextManager[View]:
        """Yield one consistent state; several threads may read at once."""

    def writing(self) -> AbstractContextManager[Writing]:
        """Yield a write transaction; writers of one project, in all processes, take turns.

        Raises:
            Unavailable: locked, read-only, full, or migrated by a newer Eunoe; nothing was written. `serialization`:
                two transactions waited for each other, and this one was given up.
        """

    def rebuilding(self, p: int) -> AbstractContextManager[Rebuilding]:
        """Yield empty projections of one project beside the old ones."""

    def watch(self, wake: Callable[[], None]) -> None:
        """Call `wake` after each write transaction of this process, and of others where the engine can tell.

        It must return at once; it may be called in vain, from any thread.
        """

    @property
    def tends_vectors(self) -> bool:
        """Tell whether searching many vectors needs what `tend_vectors` makes."""

    def tend_vectors(self, p: int, model: Model) -> None:
        """Make what searching a project's many vectors needs; may take minutes, and holds nobody up."""

    def describe(self) -> dict[str, Any]:
        """Return what `doctor` shows."""

    def close(self) -> None:
        """Write the signals, if that is possible at once, and release everything. Closing twice is allowed."""


class Rebuilding(Protocol):
    """Projections that grow beside the old ones, are compared with them, and take their place."""

    def snapshots(self, p: int, idents: Sequence[str], *, whole: bool = True) -> dict[str, Snapshot]:
        """See `View.snapshots`, of the new rows."""

    def apply(self, changes: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """See `Writing.apply`, to the new rows; may be delayed until the next read."""

    def locked(self) -> AbstractContextManager[Ledger]:
        """Hold every writer off, so that the last events can be caught up; yields the ledger."""

    def differences(self) -> dict[str, int]:
        """Return table → rows in only one of old and new (full text: 1), where they differ. Needs `locked`."""

    def swap(self) -> None:
        """Put the new rows in place of the old ones. Needs `locked`."""

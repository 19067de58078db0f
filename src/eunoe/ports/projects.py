"""The projects of a store."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol
else:
    Protocol = object  # Protocols are for the type checker; making them costs every command several milliseconds


class Project(NamedTuple):
    """A project as this store knows it.

    Attributes:
        p: Its number in this store; leads every key.
        uuid: The same everywhere; part of every event's hash.
        slug: Its display name in this store, unique.
        identity: What a folder must have to belong to it, or None.
        secret: Keys its fingerprints.
    """

    p: int
    uuid: str
    slug: str
    identity: str | None
    secret: bytes


class ProjectCount(NamedTuple):
    """A project with how much it holds: memories believed or scheduled, all memories, events, links."""

    project: Project
    active: int
    memories: int
    events: int
    links: int


class Projects(Protocol):
    """Finds and registers projects. Registering is no event: a project's first event follows with its first write."""

    def find(self, slug: str) -> Project | None:
        """Return the project of that display name."""

    def find_identity(self, identity: str) -> Project | None:
        """Return the project that an identity belongs to."""

    def find_uuid(self, uuid: str) -> Project | None:
        """Return the project with that uuid."""

    def counts(self, scopes: Sequence[str], *, now: int) -> list[ProjectCount]:
        """Return all projects by slug, with how much they hold in the given scopes; events are counted in all.

        What has expired or ended by `now` is not active; a link counts where both its ends are in the scopes.
        """

    def numbers(self) -> list[int]:
        """Return the numbers of all projects, ascending."""

    def register(self, *, uuid: str, slug: str, identity: str | None, secret: bytes, now: int) -> Project:
        """Add a project. Raises `Conflict` (`slug_taken`) when the name or identity is another's."""

    def rebind(self, project: Project, identity: str) -> Project:
        """Let a project be found by another identity from now on: its folder got a remote, or became a repository."""

    def adopt(self, project: Project, *, uuid: str, secret: bytes) -> Project:
        """Give a project without events the uuid and secret of an exported one."""

"""The port `Projects` over one connection."""

from __future__ import annotations

from collections.abc import Sequence

from eunoe.domain.ids import NIL
from eunoe.errors import Conflict, shown
from eunoe.ports.projects import Project, ProjectCount
from eunoe.stores.sql.connection import Connection, Row
from eunoe.stores.sql.filters import names, values
from eunoe.stores.sql.statements import load

_SQL = load("projects")


class SqlProjects:
    """Implements `eunoe.ports.projects.Projects`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, slug: str) -> Project | None:
        """See `Projects.find`."""
        return self._one("by_slug", slug=slug)

    def find_identity(self, identity: str) -> Project | None:
        """See `Projects.find_identity`."""
        return self._one("by_identity", identity=identity)

    def find_uuid(self, uuid: str) -> Project | None:
        """See `Projects.find_uuid`."""
        return self._one("by_uuid", uuid=uuid)

    def counts(self, scopes: Sequence[str], *, now: int) -> list[ProjectCount]:
        """See `Projects.counts`."""
        sql = _SQL["counts"].format(scopes=names("scope", scopes))
        rows = self._connection.run(sql, {"now": now, **values("scope", scopes)})
        return [
            ProjectCount(project=_project(row[:5]), active=row[5], memories=row[6], events=row[7], links=row[8])
            for row in rows
        ]

    def numbers(self) -> list[int]:
        """See `Projects.numbers`."""
        return [p for (p,) in self._connection.run(_SQL["numbers"])]

    def register(self, *, uuid: str, slug: str, identity: str | None, secret: bytes, now: int) -> Project:
        """See `Projects.register`."""
        if self.find(slug) or (identity is not None and self.find_identity(identity)):
            raise Conflict("slug_taken", f"the project {shown(slug)} is another's already; name it otherwise")
        row = {"uuid": uuid, "slug": slug, "identity": identity, "now": now}
        p = self._connection.run(_SQL["register"], row)[0][0]
        self._connection.run(_SQL["secret_set"], {"p": p, "secret": secret})
        self._connection.run(_SQL["counters_begin"], {"p": p, "nil": NIL})
        return Project(p=p, uuid=uuid, slug=slug, identity=identity, secret=secret)

    def rebind(self, project: Project, identity: str) -> Project:
        """See `Projects.rebind`."""
        self._connection.run(_SQL["rebind"], {"p": project.p, "identity": identity})
        return project._replace(identity=identity)

    def adopt(self, project: Project, *, uuid: str, secret: bytes) -> Project:
        """See `Projects.adopt`."""
        self._connection.run(_SQL["adopt"], {"p": project.p, "uuid": uuid})
        self._connection.run(_SQL["secret_set"], {"p": project.p, "secret": secret})
        return Project(p=project.p, uuid=uuid, slug=project.slug, identity=project.identity, secret=secret)

    def _one(self, name: str, **params: str) -> Project | None:
        rows = self._connection.run(_SQL[name], params)
        return _project(rows[0]) if rows else None


def _project(row: Row) -> Project:
    p, uuid, slug, identity, secret = row
    return Project(p=p, uuid=uuid, slug=slug, identity=identity, secret=bytes(secret))

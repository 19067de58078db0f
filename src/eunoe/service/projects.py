"""The projects of the store."""

from __future__ import annotations

from typing import NamedTuple

from eunoe.service.context import Context


class ProjectRow(NamedTuple):
    """One project: what is believed in it, all that was ever recorded, and how it is found."""

    slug: str
    identity: str | None
    active: int
    memories: int
    links: int
    events: int
    current: bool


def list_projects(context: Context) -> list[ProjectRow]:
    """Return the projects of the store by name; other users' own projects are not among them."""
    own = f"~{context.caller.user}" if context.caller.user else None
    with context.store.reading() as view:
        return [
            ProjectRow(
                slug=each.project.slug,
                identity=each.project.identity,
                active=each.active,
                memories=each.memories,
                links=each.links,
                events=each.events,
                current=each.project.slug == context.slug,
            )
            for each in view.projects.counts(context.scopes(), now=context.clock.now_us())
            if not each.project.slug.startswith(("~", "_")) or each.project.slug == own
        ]

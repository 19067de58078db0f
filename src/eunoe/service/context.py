"""What a use case works with: the store, the project, the caller, and everything that is chosen at start-up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from eunoe.domain.analyse import Analyser
from eunoe.domain.caller import PROJECT_SCOPE, Caller
from eunoe.domain.project import check_project_name, own_project
from eunoe.domain.session import AgentSession
from eunoe.errors import Invalid, NotFound, Refused, shown
from eunoe.ports.clock import Clock, Entropy
from eunoe.ports.lane import Lane
from eunoe.ports.projects import Project
from eunoe.ports.signals import Signals
from eunoe.ports.store import Store, View
from eunoe.retrieval.recipes import DEFAULT, Recipe
from eunoe.retrieval.semantics import Semantics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eunoe.service.embedding import Embedding
    from eunoe.service.reranking import Reranking


def _nobody() -> None:
    return


class Context(NamedTuple):
    """One session's view of Eunoe.

    Attributes:
        slug: The project's name, resolved; its first event comes with its first write.
        identity: What the folder is known by, when the project was found by it.
        tokens: Counts the o200k tokens of a text.
        session: What must stay the same in all that this session is shown.
        known: Projects that have events: from then on what is known of them never changes, so it is read once.
        max_memories: The cap of each project; None is no cap.
        max_links: How many links a memory may have.
        semantics: The model, where there is one.
        embedding: This process's work on the queue of what is to be embedded; None where nothing embeds.
        reranking: A second look at the best hits, where that was asked for.
        wake: Tells whoever embeds that there is something to do.
    """

    store: Store
    slug: str
    caller: Caller
    clock: Clock
    entropy: Entropy
    analyser: Analyser
    lanes: Mapping[str, Lane]
    known: dict[str, Project]
    tokens: Callable[[str], int]
    session: AgentSession
    identity: str | None = None
    recipe: Recipe = DEFAULT
    max_memories: int | None = None
    max_links: int = 32
    semantics: Semantics = Semantics()
    embedding: Embedding | None = None
    reranking: Reranking | None = None
    wake: Callable[[], None] = _nobody

    @property
    def signals(self) -> Signals:
        """Return what is noted beside the ledger."""
        return self.store.signals

    def project(self, view: View) -> Project | None:
        """Return the project, or None as long as nothing was written to it."""
        return self.known.get(self.slug) or view.projects.find(self.slug)

    def existing(self, view: View) -> Project:
        """Return the project. Raises `NotFound` (`no_project`) while it is not there."""
        found = self.project(view)
        if found is None:
            raise NotFound("no_project", f"the project {shown(self.slug)} holds nothing yet; remember something first")
        return found

    def moment(self, view: View, *projects: Project | None) -> int:
        """Return the instant to read at: now, and never before the last thing that was recorded.

        So a clock that was set back hides nothing that was acknowledged.
        """
        return max(self.clock.now_us(), self.recorded_at(view, projects))

    def recorded_at(self, view: View, projects: Iterable[Project | None]) -> int:
        """Return when something was last recorded in any of the projects; 0 for never."""
        ledgers = (view.ledger(each.p) for each in projects if each is not None)
        return max((ledger.position(self.store.uuid).recorded_at for ledger in ledgers), default=0)

    def scopes(self, scope: str | None = None) -> tuple[str, ...]:
        """Return the scopes to read: all that the caller may, or the one asked for.

        Raises:
            Invalid: `bad_scope`. Refused: `scope`.
        """
        if scope is None:
            return self.caller.scopes
        if not isinstance(scope, str) or (scope != PROJECT_SCOPE and not scope.startswith("user:")):
            raise Invalid("bad_scope", f"scope={shown(scope)} is neither `project` nor `user:<id>`")
        if scope not in self.caller.scopes:
            raise Refused("scope", f"scope={shown(scope)} belongs to another user")
        return (scope,)

    def own(self) -> Context:
        """Return the same session in the user's own project, which is called `me`."""
        if self.caller.user is None:
            raise Invalid("no_user", "`me` needs a user: set EUNOE_USER, or open with user=…")
        return self._replace(slug=own_project(self.caller.user), identity=None)

    def own_beside(self) -> Context | None:
        """Return the session in the user's own project; None when there is no user, or the session is there."""
        if self.caller.user is None:
            return None
        own = self.own()
        return None if own.slug == self.slug else own

    def named(self, project: str | None) -> Context:
        """Return the session in the project that an address names.

        Raises:
            Invalid: `bad_slug`, `reserved_slug`, `no_user`. Refused: `other_users_project`.
        """
        if project is None:
            return self
        slug = check_project_name(project, self.caller.user)
        return self if slug == self.slug else self._replace(slug=slug, identity=None)

"""The briefing: what a session should know before it starts, within a budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from eunoe.domain.instants import DAY_US, from_us
from eunoe.domain.memory import Memory
from eunoe.domain.skill import applies_to
from eunoe.errors import Invalid, shown
from eunoe.ports.projects import Project
from eunoe.ports.store import View
from eunoe.ports.survey import Standing
from eunoe.ports.text_index import Filter
from eunoe.retrieval.freshness import ranked
from eunoe.retrieval.pack import BODIES_SHARE, MORE, Entry, Section
from eunoe.service.asking import Asked, ask
from eunoe.service.cap import standing
from eunoe.service.context import Context
from eunoe.service.filters import check_budget, check_query, to_filter
from eunoe.service.overview import believed_in, overview
from eunoe.service.presenting import Presenter, whole
from eunoe.service.recent import DAYS, Change, recent

DEFAULT_TOKENS = 1500

# Where the full text of each part may stop, in shares of the budget, counted from the beginning: so what matches the
# task gets at least 30 %, however much is pinned.
_USER_SHARE = 0.15
_PINNED_SHARE = 0.5
_MATCHES_SHARE = 0.8

_POOL = 200  # memories that are ranked: the most important and the newest
_MATCHES = 30
_RECENT = 30
_RECENT_TOKENS = 150  # of the budget for each line on what changed, so that there is room for what is known
_DISPUTED = 50
_SHAREABLE = 10
_LINE_TOKENS = 16  # hardly any line costs less
_BODY_TOKENS = 24  # nor any full text
_ADDRESS_TOKENS = 2
_LEFT_OFF_DAYS = 14

_ABOUT_USER = "About the user:\n"
_PINNED = "Pinned:\n"
_MATCHING = "Relevant to focus:\n"
_LEFT_OFF = "Where you left off:\n"
_GENERAL = "Known:\n"
_SKILLS = "Skills:\n"
_RECENTLY = f"Recent ({DAYS}d):\n"

_ORDER = (_SKILLS, _RECENTLY, MORE)


class Briefing(NamedTuple):
    """What to know before starting.

    Attributes:
        project: The project it is about.
        text: Fenced, within the budget; the same in a session until the memory changes.
        tokens: What the text costs.
        full: Ids of what is shown in full.
        lines: Ids of what is shown as a line.
        omitted: How many believed memories it does not show.
    """

    project: str
    text: str
    tokens: int
    full: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    omitted: int = 0


def briefing(
    context: Context,
    *,
    budget_tokens: int = DEFAULT_TOKENS,
    focus: str | None = None,
    paths: Sequence[str] = (),
    surface: str | None = None,
) -> Briefing:
    """Return what a session should know before it starts.

    In this order: what is known of the user and may be shared, what is pinned, what bears on the task, where work was
    left off, and the rest by importance and freshness; then lines for skills, for what changed in the last seven days,
    and for more. Costs the same however much the project holds, but for the search for the focus.

    Args:
        context: The session.
        budget_tokens: What the text may cost, 0 to 100,000.
        focus: The task, in any words: what matches comes right after what is pinned.
        paths: Files or folders that the task is about.
        surface: Where the session runs; skills that are meant for other surfaces are left out.

    Raises:
        Invalid: `bad_budget`, `blank_query`, `bad_type`. Unavailable: the engine failed.
    """
    budget = check_budget(budget_tokens)
    query = None if focus is None else check_query(focus)
    if surface is not None and not isinstance(surface, str):
        raise Invalid("bad_type", f"surface={shown(surface)} must be a text")
    asked = None if query is None else ask(context, query)
    with context.store.reading() as view:
        project = context.project(view)
        beside = context.own_beside()
        own = None if beside is None else beside.project(view)
        now = context.moment(view, project, own)
        to_filter(context, now=now, paths=paths)
        if project is None or not context.recorded_at(view, [project]):
            return _empty(context, budget)
        survey = _Survey(context, view, project, own, now, budget, asked, tuple(paths), surface)
        found = survey.told()
    context.signals.note_reads(project.p, filter(survey.has_read, found.full), context.clock.now_us())
    return found


def _empty(context: Context, budget: int) -> Briefing:
    text = f"Nothing is remembered in {context.slug} yet. Remember what a later session would have to find out again."
    return Briefing(context.slug, *whole(text, budget=budget, count=context.tokens))


class _Survey:
    """One briefing in the making."""

    def __init__(
        self,
        context: Context,
        view: View,
        project: Project,
        own: Project | None,
        now: int,
        budget: int,
        asked: Asked | None,
        paths: tuple[str, ...],
        surface: str | None,
    ) -> None:
        self._context = context
        self._view = view
        self._project = project
        self._own = own
        self._now = now
        self._budget = budget
        self._paths = paths
        self._surface = surface
        self._accept = Filter(scopes=context.scopes(), now=now)
        self._asked = asked
        terms = context.analyser.query(asked.text) if asked else []
        self._presenter = Presenter(context, view, now=now, budget=budget, terms=terms)
        self._read: dict[str, Memory] = {}
        self._room = float(budget)  # for full texts that are still to be chosen
        self._elsewhere = 0  # skills that are meant for other surfaces
        self._most = budget // _LINE_TOKENS + 1
        self._lately = min(_RECENT, budget // _RECENT_TOKENS)

    def told(self) -> Briefing:
        """Return the briefing."""
        survey = self._view.survey(self._project.p)
        pool = {each.id: each for each in survey.foremost(self._accept, limit=_POOL)}
        pool |= {each.id: each for each in survey.newest(self._accept, limit=_POOL)}
        began_at = self._context.session.began_at
        order = ranked(list(pool.values()), now=began_at, trust=self._context.recipe.trust)
        scopes = self._accept.scopes
        lately = recent(self._view, self._project.p, scopes, now=began_at)
        labels = survey.labels(scopes, now=self._now)
        sections = self._sections(order, lately.changes)
        listed = {entry.id for section in sections for entry in section.entries}
        holding = [memory for memory in self._read.values() if memory.holds_at(from_us(self._now))]
        beyond = believed_in(labels) - sum(memory.id in listed for memory in holding) - self._elsewhere
        head = overview(
            self._context,
            labels=labels,
            last_at=lately.last_at,
            room=standing(self._context, self._view, self._project.p),
            disputed=survey.disputed(self._accept, limit=_DISPUTED),
            read=holding,
        )
        packed = self._presenter.fenced(sections, budget=self._budget, head=head, order=_ORDER, beyond=max(beyond, 0))
        return Briefing(self._context.slug, packed.text, packed.tokens, packed.full, packed.lines, packed.omitted)

    def has_read(self, ident: str) -> bool:
        """Tell whether a memory is of this project, not of the user's own."""
        return ident in self._read

    def _sections(self, order: Sequence[Standing], lately: dict[str, Change]) -> list[Section]:
        matches = self._matches()
        pinned_share = _PINNED_SHARE if matches else BODIES_SHARE
        pinned = self._fitting([each for each in order if each.pinned], pinned_share)
        rest = self._fitting([each for each in order if not each.pinned and each.kind not in ("message", "skill")])
        skills = [each.id for each in order if each.kind == "skill"][: self._most]
        left_off = self._left_off(order)
        changed = list(lately)[: self._lately]
        retired = self._retired(changed, lately)
        new = [ident for ident in changed if ident not in {*rest, *skills} and self._is_shown(ident)]
        return [
            Section(_ABOUT_USER, self._shareable(), _USER_SHARE),
            Section(_PINNED, self._entries(pinned, lately), pinned_share),
            Section(_MATCHING, self._entries(matches, lately), _MATCHES_SHARE),
            Section(_LEFT_OFF, self._entries(left_off, lately)),
            Section("", self._skills(skills)),
            Section("", retired),
            Section(_GENERAL, self._entries([*rest, *new], lately)),
        ]

    def _fitting(self, order: Sequence[Standing], share: float = 1.0) -> list[str]:
        """Return the ids of as many as could be shown: those whose full text fits, and lines for the room behind it.

        By their stored counts, so that what cannot be shown is not read. What fits into the share of the budget is
        taken from the room of those that come later.
        """
        room = min(self._room, share * self._budget)
        lines = int((1 - BODIES_SHARE) * self._budget) // _LINE_TOKENS + 2
        taken = 0.0
        for at, each in enumerate(order):
            cost = self._presenter.cost(each.tokens_full or _BODY_TOKENS) + _ADDRESS_TOKENS
            if taken + cost > room:
                self._room -= taken
                return [each.id for each in order[: at + lines]]
            taken += cost
        self._room -= taken
        return [each.id for each in order]

    def _entries(self, idents: Sequence[str], lately: dict[str, Change]) -> list[Entry]:
        entries = []
        for memory in self._memories(idents):
            change = lately.get(memory.id)
            heading, mark = (MORE, "") if change is None else (_RECENTLY, self._mark(change))
            entries.append(self._presenter.entry(memory, self._project, heading=heading, mark=mark))
        return entries

    def _retired(self, idents: Sequence[str], lately: dict[str, Change]) -> list[Entry]:
        """Return what was believed until lately, as lines."""
        return [
            Entry(memory.id, self._presenter.line(memory, mark=self._mark(lately[memory.id])), None, _RECENTLY)
            for memory in self._memories(idents)
            if memory.status in ("archived", "superseded") and memory.kind != "message"
        ]

    def _is_shown(self, ident: str) -> bool:
        """Tell whether a memory that changed lately is believed, and no turn of a conversation."""
        found = self._memories([ident])
        return bool(found) and found[0].holds_at(from_us(self._now)) and found[0].kind != "message"

    def _skills(self, idents: Sequence[str]) -> list[Entry]:
        entries = []
        for memory in self._memories(idents):
            surfaces = applies_to(memory.body)
            if surfaces is None or (self._surface is None and surfaces) or self._surface in surfaces:
                entries.append(Entry(memory.id, self._presenter.line(memory), None, _SKILLS))
            else:
                self._elsewhere += 1
        return entries

    def _matches(self) -> list[str]:
        """Return the ids of what bears on the focus, best first, then of what is about the paths."""
        index = self._view.index(self._project.p)
        found: dict[str, None] = {}
        if self._asked is not None:
            hits = self._asked.put(self._context, self._view, self._project, self._accept).hits
            found |= dict.fromkeys(hit.passage.memory for hit in hits[:_MATCHES])
        if self._paths:
            about = to_filter(self._context, now=self._now, paths=self._paths)
            places = index.browse(about, order="relevance", after=None, limit=_MATCHES)
            found |= dict.fromkeys(passage.memory for passage, _ in places)
        return list(found)[: self._most]

    def _left_off(self, order: Sequence[Standing]) -> list[str]:
        """Return the newest summary or activity of the last fortnight."""
        since = self._context.session.began_at - _LEFT_OFF_DAYS * DAY_US
        told = [each for each in order if each.kind in ("summary", "activity") and each.confirmed_at >= since]
        return [max(told, key=lambda each: (each.confirmed_at, each.id)).id] if told else []

    def _shareable(self) -> list[Entry]:
        """Return what the user's own project lets every project know: preferences and identity tagged `shareable`."""
        project = self._own
        if project is None:
            return []
        scopes = self._accept.scopes
        accept = Filter(scopes=scopes, now=self._now, kinds=("preference", "identity"), tags=("shareable",))
        found = self._view.survey(project.p).foremost(accept, limit=_SHAREABLE)
        memories = self._view.memories(project.p).read([each.id for each in found], now=self._now)
        return [self._presenter.entry(memories[each.id], project) for each in found]

    def _memories(self, idents: Iterable[str]) -> list[Memory]:
        """Return memories in order, of those that the caller may read."""
        wanted = list(idents)
        missing = [ident for ident in wanted if ident not in self._read]
        found = self._view.memories(self._project.p).read(missing, now=self._now)
        self._read |= {ident: memory for ident, memory in found.items() if memory.scope in self._accept.scopes}
        return [self._read[ident] for ident in wanted if ident in self._read]

    def _mark(self, change: Change) -> str:
        if change.by is None:
            return change.word
        successor = next((memory for memory in self._memories([change.by]) if memory.status == "active"), None)
        return f"superseded by {self._presenter.address(successor)}" if successor else change.word

"""The briefing: what a session should know before it starts, within a budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from eunoe.domain.instants import DAY_US, from_us
from eunoe.domain.memory import Memory
from eunoe.domain.rendering import harmless
from eunoe.domain.skill import applies_to
from eunoe.errors import Invalid, shown
from eunoe.ports.projects import Project
from eunoe.ports.store import View
from eunoe.ports.survey import Standing
from eunoe.ports.text_index import Filter
from eunoe.retrieval.freshness import ranked
from eunoe.retrieval.pack import BODIES_SHARE, MORE, Entry, Section
from eunoe.retrieval.pipeline import search
from eunoe.service.cap import FIX, standing
from eunoe.service.context import Context
from eunoe.service.contradictions import contradictions
from eunoe.service.filters import check_budget, check_query, to_filter
from eunoe.service.presenting import Presenter
from eunoe.service.recent import DAYS, Change, changes

DEFAULT_TOKENS = 1500

# Where the full text of each part may stop, in shares of the budget, counted from the beginning: so what matches the
# task gets at least 30 %, however much is pinned.
_USER_SHARE = 0.15
_PINNED_SHARE = 0.5
_MATCHES_SHARE = 0.8

_POOL = 200  # memories that are ranked: the most important and the newest
_MATCHES = 30
_RECENT = 30
_RECENT_TOKENS = 100  # of the budget for each line on what changed, so that there is room for what is known
_DISPUTED = 50
_SHAREABLE = 10
_LINE_TOKENS = 16  # hardly any line costs less
_BODY_TOKENS = 24  # nor any full text
_ADDRESS_TOKENS = 2
_LABELS = 8
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
    with context.store.reading() as view:
        project = context.project(view)
        own = _own(context, view)
        now = context.moment(view, project, own)
        to_filter(context, now=now, paths=paths)
        if project is None or not view.ledger(project.p).count():
            return _empty(context, budget)
        found = _Survey(context, view, project, own, now, budget, query, tuple(paths), surface).told()
        memories, scopes = view.memories(project.p), context.scopes()
        read = [ident for ident in found.full if memories.find_id(ident=ident, scopes=scopes)]  # not those of `me`
    context.signals.note_reads(project.p, read, context.clock.now_us())
    return found


def _own(context: Context, view: View) -> Project | None:
    """Return the user's own project, unless the briefing is about it."""
    if context.caller.user is None or context.own().slug == context.slug:
        return None
    return context.own().project(view)


def _empty(context: Context, budget: int) -> Briefing:
    text = f"Nothing is remembered in {context.slug} yet. Remember what a later session would have to find out again."
    tokens = context.tokens(text)
    return Briefing(context.slug, text, tokens) if tokens <= budget else Briefing(context.slug, "", 0)


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
        query: str | None,
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
        self._terms = context.analyser.query(query) if query else []
        self._presenter = Presenter(context, view, now=now, budget=budget, terms=self._terms)
        self._read: dict[str, Memory] = {}
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
        recent = changes(self._view.ledger(self._project.p), now=began_at)
        labels = survey.labels(self._accept.scopes)
        believed = sum(n for label, n in labels.items() if label.startswith("kind:"))
        sections = self._sections(order, recent)
        listed = {entry.id for section in sections for entry in section.entries}
        beyond = max(believed - len(listed & self._believed()) - self._elsewhere, 0)
        head = self._head(labels, believed, survey.disputed(self._accept, limit=_DISPUTED))
        packed = self._presenter.fenced(sections, budget=self._budget, head=head, order=_ORDER, beyond=beyond)
        return Briefing(self._context.slug, packed.text, packed.tokens, packed.full, packed.lines, packed.omitted)

    def _sections(self, order: Sequence[Standing], recent: dict[str, Change]) -> list[Section]:
        matches = self._matches()
        pinned = self._fitting([each for each in order if each.pinned])
        rest = self._fitting([each for each in order if not each.pinned and each.kind not in ("message", "skill")])
        skills = [each.id for each in order if each.kind == "skill"][: self._most]
        left_off = self._left_off(order)
        changed = list(recent)[: self._lately]
        retired = self._retired(changed, recent)
        new = [ident for ident in changed if ident not in {*rest, *skills} and self._is_shown(ident)]
        pinned_share = _PINNED_SHARE if matches else BODIES_SHARE
        return [
            Section(_ABOUT_USER, self._shareable(), _USER_SHARE),
            Section(_PINNED, self._entries(pinned, recent), pinned_share),
            Section(_MATCHING, self._entries(matches, recent), _MATCHES_SHARE),
            Section(_LEFT_OFF, self._entries(left_off, recent)),
            Section("", self._skills(skills)),
            Section("", retired),
            Section(_GENERAL, self._entries([*rest, *new], recent)),
        ]

    def _fitting(self, order: Sequence[Standing]) -> list[str]:
        """Return the ids of as many as could be shown: those whose full text fits, and lines for the room behind it.

        By their stored counts, so that what cannot be shown is not read.
        """
        room, lines = float(self._budget), int((1 - BODIES_SHARE) * self._budget) // _LINE_TOKENS + 2
        for at, each in enumerate(order):
            room -= self._presenter.cost(each.tokens_full or _BODY_TOKENS) + _ADDRESS_TOKENS
            if room < 0:
                return [each.id for each in order[: at + lines]]
        return [each.id for each in order]

    def _entries(self, idents: Sequence[str], recent: dict[str, Change]) -> list[Entry]:
        entries = []
        for memory in self._memories(idents):
            change = recent.get(memory.id)
            heading, mark = (MORE, "") if change is None else (_RECENTLY, self._mark(change))
            entries.append(self._presenter.entry(memory, self._project, heading=heading, mark=mark))
        return entries

    def _retired(self, idents: Sequence[str], recent: dict[str, Change]) -> list[Entry]:
        """Return what was believed until lately, as lines."""
        return [
            Entry(memory.id, self._presenter.line(memory, mark=self._mark(recent[memory.id])), None, _RECENTLY)
            for memory in self._memories(idents)
            if memory.status in ("archived", "superseded") and memory.kind != "message"
        ]

    def _is_shown(self, ident: str) -> bool:
        """Tell whether a memory that changed lately is believed, and no turn of a conversation."""
        found = self._memories([ident])
        return bool(found) and found[0].status == "active" and found[0].kind != "message"

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
        if self._terms:
            context = self._context
            hits = search(self._terms, index, self._accept, lanes=context.lanes, recipe=context.recipe).hits
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

    def _head(self, labels: dict[str, int], believed: int, disputed: Sequence[int]) -> str:
        """Return what the project holds, and what in it needs care."""
        last = self._context.recorded_at(self._view, [self._project])
        plural = "memory" if believed == 1 else "memories"
        lines = [f"{self._context.slug} · {believed:,} {plural} · last write {from_us(last):%Y-%m-%d}"]
        counted = {"kinds": _top(labels, "kind:"), "tags": _top(labels, "tag:")}
        overview = [f"{name}: {counts}" for name, counts in counted.items() if counts]
        lines += [" · ".join(overview)] if overview else []
        room = standing(self._context, self._view, self._project.p)
        if room is not None and room.is_near:
            lines.append(f"⚠ {room.text}: {FIX}")
        if disputed:
            names = ", ".join(f"#{number}" for number in disputed[:_LABELS])
            more = f", +{len(disputed) - _LABELS}" if len(disputed) > _LABELS else ""
            what = "memory" if len(disputed) == 1 else "memories"
            lines.append(f"⚠ {len(disputed)} disputed {what} ({names}{more}): confirm, correct or archive")
        for later, earlier in contradictions(self._read.values(), self._context.analyser.terms)[:_LABELS]:
            dates = f"{_dated(later)} and {_dated(earlier)}"
            lines.append(f"⚠ {dates} differ only in a number, name or negation: which one holds?")
        return "".join(f"{line}\n" for line in lines)

    def _memories(self, idents: Iterable[str]) -> list[Memory]:
        wanted = list(idents)
        missing = [ident for ident in wanted if ident not in self._read]
        self._read |= self._view.memories(self._project.p).read(missing, now=self._now)
        scopes = self._accept.scopes
        return [memory for ident in wanted if (memory := self._read.get(ident)) and memory.scope in scopes]

    def _believed(self) -> set[str]:
        return {memory.id for memory in self._read.values() if memory.status == "active"}

    def _mark(self, change: Change) -> str:
        if change.by is None:
            return change.word
        successor = self._memories([change.by])
        return f"superseded by {self._presenter.address(successor[0])}" if successor else change.word


def _dated(memory: Memory) -> str:
    return f"{memory.address} ({memory.confirmed_at:%Y-%m-%d})"


def _top(labels: dict[str, int], prefix: str) -> str:
    """Return the most frequent labels of one sort with their counts, and how many more there are."""
    found = sorted(((-n, label.removeprefix(prefix)) for label, n in labels.items() if label.startswith(prefix)))
    shown_ = ", ".join(f"{harmless(name)} {-n:,}" for n, name in found[:_LABELS])
    return shown_ + (f", +{len(found) - _LABELS}" if len(found) > _LABELS else "")

"""Recall: what is known that bears on a query; or, without one, what there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from eunoe.domain import limits
from eunoe.domain.memory import Memory
from eunoe.errors import Invalid, shown
from eunoe.ports.projects import Project
from eunoe.ports.store import View
from eunoe.ports.text_index import Filter
from eunoe.retrieval.judge import judges
from eunoe.retrieval.pack import Section
from eunoe.retrieval.pipeline import Ranked, Searched
from eunoe.service.asking import VECTOR, Asked, ask
from eunoe.service.context import Context
from eunoe.service.cursor import Cursor, new_cursor, read_cursor
from eunoe.service.filters import check_budget, check_query, to_filter
from eunoe.service.reranking import RERANKER


class Place(NamedTuple):
    """One project that is looked into, what may be returned of it, and when the last thing was recorded in it."""

    context: Context
    project: Project
    accept: Filter
    recorded_at: int


Places = Sequence[Place]

NO_WORD = "The query has no word to look for."
ORDERS = ("relevance", "newest", "oldest")
DEFAULT_LIMIT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that was found.

    Attributes:
        evidence: 0 to 1: the probability that it bears on the query, as fitted on labelled questions
            (`Recalled.calibrated`); 0 when browsing.
        score: Evidence times the multipliers, 0 to 1; hits are ordered by it.
        explanation: Lanes with ranks and numbers, what the judge went by, multipliers, source; empty unless asked for.
        excerpt: Of a long body that was found by meaning: the part that is nearest; else None.
    """

    memory: Memory
    evidence: float
    score: float
    explanation: Mapping[str, Any]
    excerpt: str | None = None

    def __getattr__(self, name: str) -> Any:
        """Give the fields of the memory as the hit's own: `hit.number`, `hit.body`, …"""
        if name == "memory" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.memory, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """The answer to a recall.

    Attributes:
        hits: Best first; ties by id. Iterating over the answer gives them.
        total: How many there are in all; with a query, among the candidates that were scored.
        omitted: How many of them this page and the ones before it do not hold.
        next: The cursor of the next page, or None at the end.
        degraded: Lanes that failed, as `"name: reason"`; empty when the answer is whole.
        notes: Sentences for the reader, such as why nothing could be looked for.
        calibrated: Whether evidence is a probability that was fitted for the model in use.
        rank_signal: What the order went by last: `words`, `vector`, or `reranker`; empty when browsing.
        hidden: How many candidates a floor left out.
        waiting: How many memories are not embedded yet, and are found by words and keys alone.
        text: With a budget: the hits as an agent reads them, within it (empty where it holds not even one line).
            None without a budget.
        tokens: What the text costs.
        shown: Ids of the hits that the text shows, in full or as a line.
        weak: True when nothing fits well: what was found shares a word or two with the query, not what it is about.
    """

    hits: tuple[Hit, ...]
    total: int
    omitted: int
    next: str | None = None
    degraded: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    calibrated: bool = False
    rank_signal: str = ""
    hidden: int = 0
    waiting: int = 0
    text: str | None = None
    tokens: int = 0
    shown: tuple[str, ...] = ()
    weak: bool = False

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


def recall(
    context: Context,
    query: str | None = None,
    *,
    limit: int = DEFAULT_LIMIT,
    budget_tokens: int | None = None,
    min_evidence: float = 0.0,
    min_score: float = 0.0,
    order: str = "relevance",
    after: str | None = None,
    include_me: bool = False,
    explain: bool = False,
    **filters: Any,
) -> Recalled:
    """Return what bears on the query, best first; without a query, what there is, in order.

    Args:
        context: The session.
        query: Any text; no character of it is grammar. None browses.
        limit: Hits at most, 0 to 1,000.
        budget_tokens: Fill `Recalled.text`: the best hits in full, the others as lines, never more than this.
        min_evidence, min_score: Floors, 0 to 1, each for its own number.
        order: `relevance` (without a query: pinned, then importance, then newest), `newest` or `oldest`.
        after: The `next` of the page before, with the same query and filters.
        include_me: Also look into the user's own project; hits of both are merged by score.
        explain: Fill `Hit.explanation`.
        **filters: kinds, tags (all), any_tags, paths, since, until, scope, session, as_of, known_at.

    Raises:
        Invalid: `blank_query`, `bad_limit`, `bad_floor`, `bad_order`, `bad_cursor`, `unknown_filter`, ….
        Unavailable: the engine failed; this never looks like "no memories".
    """
    text = None if query is None else check_query(query)
    _check_numbers(limit, min_evidence, min_score, order)
    budget = None if budget_tokens is None else check_budget(budget_tokens)
    question = _question(context, text, order, include_me, filters)
    cursor = read_cursor(after, question=question) if after else None
    asked = None if text is None else ask(context, text)
    with context.store.reading() as view:
        found_in = _projects(context, view, include_me)
        now = cursor.now if cursor else context.moment(view, *(project for _, project in found_in))
        places = [_place(each, project, view, now, cursor, filters) for each, project in found_in]
        to_filter(context, now=now, **filters)  # what is wrong with it is told where nothing is there yet, too
        page = _Page(context, limit, order, min_evidence, min_score, explain, cursor, now)
        found = page.browse(view, places) if asked is None else page.search(view, places, asked)
        answer = found.answer(question)
        if text is not None and answer.hits and max(hit.evidence for hit in answer.hits) < context.recipe.weak:
            answer = replace(answer, weak=True)
        delivered = {hit.memory.id for hit in answer.hits}
        if budget is not None:
            answer, delivered = _with_text(answer, context, view, places, now, budget, text)
    for _, project in found_in:
        read = [hit.memory.id for hit in answer.hits if hit.memory.project == project.slug]
        context.signals.note_reads(project.p, filter(delivered.__contains__, read), context.clock.now_us())
    if answer.waiting:
        context.wake()
    return answer


def _with_text(
    answer: Recalled, context: Context, view: View, places: Places, now: int, budget: int, query: str | None
) -> tuple[Recalled, set[str]]:
    """Return the answer with the text that an agent reads, and the ids of what it shows in full."""
    from eunoe.service.presenting import Presenter, whole  # noqa: PLC0415 - hooks pack by themselves

    terms = context.analyser.query(query) if query else ()
    presenter = Presenter(context, view, now=now, budget=budget, terms=terms)
    projects = {place.project.slug: place.project for place in places}
    entries = [presenter.entry(hit.memory, projects[hit.memory.project], part=hit.excerpt) for hit in answer.hits]
    head = "".join(f"Not everything was searched: {reason}.\n" for reason in answer.degraded)
    if not entries:
        told = head + (NO_WORD if NO_WORD in answer.notes else f"Nothing in {context.slug} bears on this.")
        unfenced, tokens = whole(told, budget=budget, count=presenter.count)
        return replace(answer, text=unfenced, tokens=tokens), set()
    if answer.weak:
        head += "Nothing fits well; the nearest by words:\n"
    shown = presenter.fenced([Section("", entries)], budget=budget, head=head)
    ids = (*shown.full, *shown.lines)
    told_of = replace(answer, text=shown.text, tokens=shown.tokens, shown=ids, omitted=answer.omitted + shown.omitted)
    return told_of, set(shown.full)


def count(context: Context, **filters: Any) -> int:
    """Return how many memories pass the filters of `recall`; without any, how many are believed now."""
    with context.store.reading() as view:
        project = context.project(view)
        accept = to_filter(context, now=context.moment(view, project), **filters)
        return 0 if project is None else view.index(project.p).count(accept)


def _check_numbers(limit: object, min_evidence: object, min_score: object, order: object) -> None:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 <= limit <= limits.RESULTS:
        raise Invalid("bad_limit", f"limit={shown(limit)} must be a whole number from 0 to {limits.RESULTS:,}")
    for name, floor in (("min_evidence", min_evidence), ("min_score", min_score)):
        if isinstance(floor, bool) or not isinstance(floor, int | float) or not 0 <= floor <= 1:
            raise Invalid("bad_floor", f"{name}={shown(floor)} must be a number from 0 to 1")
    if order not in ORDERS:
        raise Invalid("bad_order", f"order={shown(order)} must be one of {' '.join(ORDERS)}")


def _projects(context: Context, view: View, include_me: bool) -> list[tuple[Context, Project]]:
    """Return the projects to look into; one that holds nothing yet is none."""
    contexts = [context]
    if include_me and (beside := context.own_beside()) is not None:
        contexts.append(beside)
    found = ((each, each.project(view)) for each in contexts)
    return [(each, project) for each, project in found if project is not None]


def _place(
    context: Context, project: Project, view: View, now: int, cursor: Cursor | None, filters: Mapping[str, Any]
) -> Place:
    """Return where to look; pages after the first look at what the first one knew, if more was recorded since."""
    recorded_at = context.recorded_at(view, [project])
    accept = to_filter(context, now=now, **filters)
    if cursor is None:
        return Place(context, project, accept, recorded_at)
    known = cursor.known.get(project.slug, 0)
    if accept.known_at is None and recorded_at > known:
        accept.known_at = known
    return Place(context, project, accept, known)


def _question(context: Context, *parts: Any) -> str:
    return repr((context.slug, context.caller.user, *parts))


class _Found(NamedTuple):
    hits: list[Hit]
    total: int
    seen: int
    cursor: Callable[[str], str] | None
    facts: Mapping[str, Any] = MappingProxyType({})

    def answer(self, question: str) -> Recalled:
        omitted = max(self.total - self.seen - len(self.hits), 0)
        following = self.cursor(question) if self.cursor is not None and omitted and self.hits else None
        return Recalled(hits=tuple(self.hits), total=self.total, omitted=omitted, next=following, **self.facts)


class _Page(NamedTuple):
    """One page of an answer."""

    context: Context
    limit: int
    order: str
    min_evidence: float
    min_score: float
    explain: bool
    cursor: Cursor | None
    now: int

    def search(self, view: View, places: Places, asked: Asked) -> _Found:
        if asked.meaning is None and not self.context.analyser.query(asked.text):
            return _Found([], 0, 0, None, {"notes": (NO_WORD,)})
        ranked: list[tuple[Ranked, Place]] = []
        told = _Told(self.context)
        for place in places:
            searched = asked.put(
                place.context,
                view,
                place.project,
                place.accept,
                min_evidence=self.min_evidence,
                min_score=self.min_score,
                explain=self.explain,
            )
            ranked += [(hit, place) for hit in searched.hits]
            told.add(view, place, searched)
        if len(places) > 1:  # of one place they are in order
            ranked.sort(key=lambda pair: (-pair[0].score, -pair[0].evidence, pair[0].passage.memory))
        if self.order != "relevance":
            ranked.sort(key=lambda pair: pair[0].passage.memory, reverse=self.order == "newest")
        seen = set(self.cursor.seen) if self.cursor else set()
        fresh = [pair for pair in ranked if pair[0].passage.memory not in seen]
        hits = self._hydrate(view, fresh[: self.limit])
        shown_before = [*(self.cursor.seen if self.cursor else ()), *(hit.memory.id for hit in hits)]
        known = _known(places)
        return _Found(
            hits,
            len(seen) + len(fresh),
            len(seen),
            lambda question: new_cursor(question, self.now, known, seen=shown_before),
            told.facts(),
        )

    def browse(self, view: View, places: Places) -> _Found:
        rows: list[tuple[Ranked, Place, dict[str, Any]]] = []
        total = 0
        after = self.cursor.place if self.cursor else None
        for place in places:
            index = view.index(place.project.p)
            total += index.count(place.accept)
            for passage, at in index.browse(place.accept, order=self.order, after=after, limit=self.limit):
                rows.append((Ranked(passage, 0.0, 0.0), place, at))
        rows.sort(key=lambda row: tuple(row[2].values()), reverse=self.order != "oldest")
        rows = rows[: self.limit]
        hits = self._hydrate(view, [(ranked, place) for ranked, place, _ in rows])
        seen = self.cursor.returned if self.cursor else 0
        last, known, returned = (rows[-1][2] if rows else None), _known(places), seen + len(hits)
        return _Found(
            hits, total, seen, lambda question: new_cursor(question, self.now, known, place=last, returned=returned)
        )

    def _hydrate(self, view: View, pairs: Sequence[tuple[Ranked, Place]]) -> list[Hit]:
        hits = []
        wanted: dict[int, list[str]] = {}
        for ranked, place in pairs:
            wanted.setdefault(place.project.p, []).append(ranked.passage.memory)
        accepts = {place.project.p: place.accept for _, place in pairs}
        read = {
            p: view.memories(p).read(idents, now=accepts[p].now, known_at=accepts[p].known_at)
            for p, idents in wanted.items()
        }
        for ranked, (_, project, _, _) in pairs:
            memory = read[project.p].get(ranked.passage.memory)
            if memory is None:
                continue
            explanation = ranked.explanation | _source(memory) if self.explain else {}
            excerpt = memory.body[slice(*ranked.span)] if ranked.span else None
            hits.append(
                Hit(
                    memory=memory,
                    evidence=ranked.evidence,
                    score=ranked.score,
                    explanation=explanation,
                    excerpt=excerpt,
                )
            )
        return hits


class _Told:
    """What an answer says of itself, gathered over projects."""

    def __init__(self, context: Context) -> None:
        self._semantics = context.semantics
        self._failures: dict[str, str] = {}
        self._notes: list[str] = []
        self._hidden = self._waiting = 0
        self._fitted = True
        self._signal = "words"

    def add(self, view: View, place: Place, searched: Searched) -> None:
        """Take in what one project answered."""
        for name, exc in searched.failures.items():
            self._failures.setdefault(name, exc.code)
            if name == VECTOR and exc.message not in self._notes:
                self._notes.append(exc.message)
        self._hidden += searched.hidden
        if searched.is_reranked or (searched.embedder and self._signal == "words"):
            self._signal = RERANKER if searched.is_reranked else VECTOR
        self._fitted = self._fitted and judges(searched.embedder).fitted
        if self._semantics.wanted and VECTOR not in self._failures:
            self._waiting += sum(view.jobs.counts(place.project.p)[:2])

    def facts(self) -> dict[str, Any]:
        """Return them as fields of `Recalled`."""
        absent = self._semantics.say_absent()
        return {
            "degraded": tuple(f"{name}: {code}" for name, code in self._failures.items()),
            "notes": (*self._notes, *((absent,) if absent else ())),
            "calibrated": self._fitted,
            "rank_signal": self._signal,
            "hidden": self._hidden,
            "waiting": self._waiting,
        }


def _known(places: Places) -> dict[str, int]:
    return {place.project.slug: place.recorded_at for place in places}


def _source(memory: Memory) -> dict[str, Any]:
    return {
        "source": {
            "event": memory.event,
            "session": memory.session,
            "turn": memory.turn,
            "speaker": memory.speaker,
            "origin": memory.origin,
        }
    }

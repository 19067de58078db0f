"""Random histories: what can be done to a memory, as plain values, and how it is done.

Histories draw from small sets of texts, keys and times on purpose: things must meet for rules to act.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from eunoe import Memory
from eunoe.domain.memory import Memory as Believed
from eunoe.errors import EunoeError, NotFound, Unavailable
from eunoe.testing.clock import START_US, ManualClock, SeededEntropy
from tests.engines import IS_POSTGRES

DAY_US = 86_400_000_000
HOUR_US = 3_600_000_000
FEWER = 10  # examples on PostgreSQL
SOAK = os.environ.get("EUNOE_HYPOTHESIS") == "soak"

Op = tuple[str, dict[str, Any]]

BODIES = (
    "The deploy target is Frankfurt and nothing else",
    "the deploy target is  frankfurt and NOTHING else",
    "The deploy target is Dublin and nothing else",
    "Retry the payment queue 3 times before paging",
    "Retry the payment queue 4 times before paging",
    "Never run the migration without a backup",
    "Run the migration with a backup",
    "`GetUser` is case sensitive in the legacy client",
    "日本語の検索はバイグラムで動く",
    "Lemon cake needs butter, sugar and patience",
)
KEYS = ("deploy/current", "queue:retries")
SESSIONS = ("morning", "evening")
SCOPES = (None, "project", "user:kim")


def budget(examples: int) -> settings:
    """Return settings for so many examples; `EUNOE_HYPOTHESIS=soak` takes twenty times as many, at random.

    A server takes several times as long for each, and needs fewer: what is tested there is the engine.
    """
    most = examples * (20 if SOAK else 1)
    return settings(
        max_examples=-(-most // FEWER) if IS_POSTGRES else most,
        deadline=None,
        derandomize=not SOAK,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )


class Failed(NamedTuple):
    """An error on purpose, as an outcome."""

    error: str
    code: str


class World:
    """A memory with the clock that its test moves."""

    def __init__(
        self,
        *,
        seed: str = "world",
        store: str = ":memory:",
        project: str = "acme/api",
        clock: ManualClock | None = None,
    ) -> None:
        self.clock = ManualClock() if clock is None else clock
        self.others = 0
        self.seed = seed
        self.store = store
        self.project = project
        self.memory = self.fresh(store)

    def fresh(self, store: str = ":memory:") -> Memory:
        """Return an empty memory on the same clock."""
        self.seed += "+"
        return Memory.open(store, project=self.project, user="kim", clock=self.clock, entropy=SeededEntropy(self.seed))

    def run(self, history: Sequence[Op]) -> list[Any]:
        """Do everything in order and return what came of it."""
        return [self.do(op) for op in history]

    def do(self, op: Op) -> Any:
        """Do one thing. An error on purpose is an outcome; an engine's error or any other exception is a failure."""
        name, given = op
        act = getattr(self, f"_{name}", None) or getattr(self.memory, name)
        try:
            return act(**self._addressed(given))
        except Unavailable:
            raise
        except EunoeError as exc:
            return Failed(type(exc).__name__, exc.code)

    def _addressed(self, given: dict[str, Any]) -> dict[str, Any]:
        """Turn places counted back from the newest memory into numbers."""
        last = last_number(self.memory)

        def number(back: int) -> int:
            return 999 if back == 0 or last == 0 else last - (back - 1) % last

        found = {name: number(back) for name, back in given.items() if name in ("target", "a", "b", "supersedes")}
        if "links" in given:
            found["links"] = [number(back) for back in given["links"]]
        if "items" in given:
            found["items"] = [self._addressed(item) for item in given["items"]]
        return given | found

    def _tick(self, us: int) -> None:
        self.clock.advance(us=us)

    def _many(self, items: list[dict[str, Any]]) -> Any:
        return self.memory.remember_many(items)

    def _sweep(self, tags: Sequence[str]) -> Any:
        return self.memory.forget(tags=tags)

    def _restate(self, target: int) -> Any:
        known = self.memory.get(target)
        said = {"key": known.key, "value": known.value, "scope": known.scope, "session": known.session}
        return self.memory.remember(known.body, **said, turn=known.turn)

    def _move(self) -> None:
        """Go on in another store, which adopted everything."""
        document = self.memory.export()
        self.memory.close()
        self.memory = self.fresh()
        self.memory.import_(document)

    def _merge(self, history: list[Op]) -> Any:
        """Take in what happened to another memory."""
        self.others += 1
        other = World(seed=f"{self.seed} other {self.others}", project="acme/other", clock=self.clock)
        other.memory.remember("Something that only the other one holds")
        other.run(history)
        document = other.memory.export()
        other.memory.close()
        return self.memory.import_(document)


def last_number(memory: Memory) -> int:
    """Return the number of the newest memory, 0 when there is none."""
    context = memory._context
    with context.store.reading() as view:
        project = context.project(view)
        return 0 if project is None else view.ledger(project.p).position(context.store.uuid).number


def everything(memory: Memory) -> list[Believed]:
    """Return every memory of the project that may be read, whatever its status, by number."""
    found = []
    for number in range(1, last_number(memory) + 1):
        with contextlib.suppress(NotFound):
            found.append(memory.get(number))
    return found


def sibling(memory: Memory, **changes: str) -> Memory:
    """Return the same open store as another `user` or `project` sees it."""
    context = memory._context
    if "user" in changes:
        context = changed(context, caller=changed(context.caller, user=changes["user"]))
    if "project" in changes:
        context = changed(context, slug=changes["project"], identity=None)
    return reopened(memory, context)


def reopened(memory: Memory, context: Any) -> Memory:
    """Return the same open store in another context."""
    return Memory(changed(memory._opened, context=context))


def changed(value: Any, **fields: Any) -> Any:
    """Return a frozen value with other fields."""
    return value._replace(**fields) if hasattr(value, "_replace") else replace(value, **fields)


def moments(*days: int) -> st.SearchStrategy[int]:
    """Return one of a few instants around the start of the clock, so that some coincide."""
    return st.sampled_from(days or (-20, -10, -3, -2, -1, 0, 1, 2, 3, 10, 20)).map(lambda day: START_US + day * DAY_US)


# Which memory: counted back from the newest, so that most of them are there; 0 is one that is not.
NUMBERS = st.integers(0, 15)

_SAID = {
    "title": st.sampled_from(("A title", "Another title")),
    "kind": st.sampled_from(("fact", "gotcha", "decision", "note", "message")),
    "tags": st.lists(st.sampled_from(("infra", "cake", "日本")), unique=True, max_size=2),
    "paths": st.lists(st.sampled_from(("src/api", "src/api/hooks.py", "docs")), unique=True, max_size=2),
    "importance": st.sampled_from((0.0, 0.25, 1.0)),
    "pinned": st.booleans(),
    "scope": st.sampled_from(SCOPES),
    "valid_from": moments(),
    "valid_to": moments(-5, 0, 1, 2, 5, 15, 30),
    "occurred_at": moments(),
    "trust": st.sampled_from(("inferred", "imported", "external")),
    "force": st.booleans(),
    "links": st.lists(NUMBERS, max_size=2),
    "supersedes": NUMBERS,
    "source": st.just("https://example.com/page"),
    "speaker": st.sampled_from(("Ana", "Björn")),
}


@st.composite
def statements(draw: st.DrawFn) -> dict[str, Any]:
    """Return what `remember` takes: a few of its fields."""
    given: dict[str, Any] = {"body": draw(st.sampled_from(BODIES))}
    for name in draw(st.lists(st.sampled_from(sorted(_SAID)), unique=True, max_size=3)):
        given[name] = draw(_SAID[name])
    shape = draw(st.sampled_from(("plain", "plain", "key", "key", "key", "value", "stm", "stm key", "said")))
    if shape in ("key", "value", "stm key"):
        given["key"] = draw(st.sampled_from(KEYS))
        given["valid_from"] = draw(st.none() | moments())
    if shape == "value":
        given["value"] = draw(st.sampled_from(("one", "two", "ONE", "3")))
    elif shape in ("stm", "stm key"):
        given |= {"tier": "stm", "ttl": draw(st.sampled_from(("1h", "2d", "30d")))}
    elif shape == "said":
        given["session"] = draw(st.sampled_from(SESSIONS))
        given["turn"] = draw(st.none() | st.integers(0, 4))
    return given


_CHANGES = {
    "body": st.sampled_from(BODIES),
    "title": st.sampled_from((None, "A title", "A new title")),
    "key": st.sampled_from((None, *KEYS)),
    "value": st.sampled_from((None, "one", "two")),
    "tags": _SAID["tags"],
    "paths": _SAID["paths"],
    "kind": _SAID["kind"],
    "importance": _SAID["importance"],
    "pinned": st.booleans(),
    "valid_from": moments(),
    "valid_to": st.none() | moments(-5, 0, 1, 2, 5, 15, 30),
    "version": st.integers(1, 2),
    "confirm": st.booleans(),
    "dispute": st.booleans(),
}


@st.composite
def changes(draw: st.DrawFn) -> dict[str, Any]:
    """Return what `update` takes."""
    names = draw(st.lists(st.sampled_from(sorted(_CHANGES)), unique=True, min_size=1, max_size=3))
    return {"target": draw(NUMBERS)} | {name: draw(_CHANGES[name]) for name in names}


TICKS = st.sampled_from((1, HOUR_US, DAY_US, DAY_US, 3 * DAY_US, 20 * DAY_US, -1, -DAY_US, -10 * DAY_US))

_GIVEN: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "remember": statements(),
    "many": st.fixed_dictionaries({"items": st.lists(statements(), max_size=3)}),
    "restate": st.fixed_dictionaries({"target": NUMBERS}),
    "update": changes(),
    "confirm": st.fixed_dictionaries({"target": NUMBERS}),
    "dispute": st.fixed_dictionaries({"target": NUMBERS}),
    "archive": st.fixed_dictionaries({"target": NUMBERS}),
    "restore": st.fixed_dictionaries({"target": NUMBERS}),
    "forget": st.fixed_dictionaries({"target": NUMBERS}),
    "sweep": st.fixed_dictionaries({"tags": st.sampled_from((("infra",), ("cake",)))}),
    "link": st.fixed_dictionaries(
        {"a": NUMBERS, "b": NUMBERS, "note": st.sampled_from((None, "they belong together"))}
    ),
    "unlink": st.fixed_dictionaries({"a": NUMBERS, "b": NUMBERS}),
    "tick": st.fixed_dictionaries({"us": TICKS}),
    "move": st.just({}),
}
_OFTEN = (
    *("remember",) * 9,
    *("tick",) * 4,
    *("many", "restate", "restate", "update", "update", "archive", "archive", "restore", "restore"),
    *("forget", "sweep", "link", "link", "unlink", "confirm", "dispute", "dispute"),
)


def _ops(names: Sequence[str], **more: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[Op]:
    return st.sampled_from(names).flatmap(lambda name: st.tuples(st.just(name), {**_GIVEN, **more}[name]))


def histories(*, least: int = 6, most: int = 16, moving: bool = False) -> st.SearchStrategy[list[Op]]:
    """Return histories; `moving` ones also change their store and merge another history."""
    simple = st.lists(_ops(_OFTEN), min_size=least, max_size=most)
    if not moving:
        return simple
    merged = st.fixed_dictionaries({"history": st.lists(_ops(_OFTEN), min_size=2, max_size=6)})
    return st.lists(_ops((*_OFTEN, "move", "merge", "merge"), merge=merged), min_size=least, max_size=most)

"""Promises 7 and 8: restating confirms, and a key has one value at a time, checked against a simple model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe import Memory
from eunoe.domain.fingerprint import folded
from eunoe.domain.instants import from_us, to_us
from eunoe.errors import Conflict, NotFound
from tests.strategies import BODIES, DAY_US, KEYS, START_US, Op, World, budget, everything, histories

KEY = "deploy/current"
WORDS = ("amber", "basalt", "cobalt", "dolomite", "ebony")
DAYS = (-20, -10, -3, -1, 0, 1, 3, 10, 20)

Period = tuple[int, str, int, int | None]


@dataclass
class Timeline:
    """What a key should say at any moment: statements in the order in which they were made.

    A value that was withdrawn before its day counts as never stated; one withdrawn later leaves a gap.
    """

    done: list[tuple[str, Period]] = field(default_factory=list)
    count: int = 0

    def state(self, word: str, start: int, end: int | None) -> int | None:
        """Return the number of the new period, or None when this was said already."""
        if self.at(start) == word:
            return None
        self.count += 1
        self.done.append(("state", (self.count, word, start, end)))
        return self.count

    def withdraw(self, number: int, now: int) -> None:
        """Take a period back."""
        stated = next(period for what, period in self.done if what == "state" and period[0] == number)
        if stated[2] > now:
            self.done.remove(("state", stated))
        else:
            self.done.append(("withdraw", stated))

    def periods(self) -> list[Period]:
        """Return the periods in force, by their start."""
        periods: list[Period] = []
        for what, (number, word, start, end) in self.done:
            if what == "withdraw":
                periods = [each for each in periods if each[0] != number]
                continue
            following = min((each[2] for each in periods if each[2] > start), default=None)
            if following is not None and (end is None or following < end):
                end = following
            periods = [_cut(each, start) for each in periods if each[2] != start]
            periods = sorted([*periods, (number, word, start, end)], key=lambda each: each[2])
        return periods

    def at(self, instant: int) -> str | None:
        """Return the value at an instant."""
        for _, word, start, end in self.periods():
            if start <= instant and (end is None or instant < end):
                return word
        return None


def _cut(period: Period, start: int) -> Period:
    number, word, begin, end = period
    return (number, word, begin, start) if begin < start and (end is None or end > start) else period


STATE = st.tuples(st.just("state"), st.sampled_from(WORDS), st.none() | st.sampled_from(DAYS), st.none() | st.just(4))
STEPS = st.lists(
    st.one_of(
        STATE,
        STATE,
        STATE,
        st.tuples(st.just("tick"), st.sampled_from((DAY_US // 2, DAY_US, 4 * DAY_US, -2 * DAY_US))),
        st.tuples(st.sampled_from(("archive", "forget")), st.integers(1, 6)),
    ),
    min_size=3,
    max_size=14,
)


class Keyed:
    """One key of a memory beside the model of it."""

    def __init__(self) -> None:
        self.world = World()
        self.memory.remember("There is something")
        self.model = Timeline()
        self.numbers: dict[int, int] = {}
        self.said: set[str] = set()

    @property
    def memory(self) -> Memory:
        return self.world.memory

    def now(self) -> int:
        """Return the moment of reading: the clock, and never before the last thing that was recorded."""
        return max(self.world.clock.now, self.recorded())

    def recorded(self) -> int:
        """Return when something was recorded last."""
        return to_us(self.memory.log(limit=1)[0].recorded_at, setting="recorded_at")

    def state(self, word: str, day: int | None, length: int | None) -> None:
        start = max(self.world.clock.now, self.recorded() + 1) if day is None else START_US + day * DAY_US
        end = None if length is None else start + length * DAY_US
        given_from = None if day is None else start
        before = {each.id: each.occurrences for each in everything(self.memory)}
        receipt = self.memory.remember(f"the {word} one", key=KEY, value=word, valid_from=given_from, valid_to=end)
        self.said.add(word)
        period = self.model.state(word, start, end)
        if period is None:
            assert receipt.outcome == "confirmed"
            assert self.memory.get(receipt.id).occurrences == before[receipt.id] + 1
        else:
            assert receipt.outcome != "confirmed"
            assert receipt.id not in before
            self.numbers[period] = receipt.number

    def withdraw(self, how: str, period: int) -> None:
        if period not in self.numbers:
            return
        number, now = self.numbers[period], self.now()
        if how == "archive" and self.memory.get(number).status == "superseded":
            with pytest.raises(Conflict):
                self.memory.archive(number)
            return
        if self.memory.get(number).status == "superseded":
            return  # forgetting what is history already says nothing about the present
        getattr(self.memory, how)(number)
        self.model.withdraw(period, now)
        del self.numbers[period]

    def check(self, instants: list[int]) -> None:
        for instant in instants:
            assert self.value(instant) == self.model.at(instant), f"day {(instant - START_US) / DAY_US}"

    def value(self, instant: int | None) -> str | None:
        try:
            return self.memory.get(key=KEY, as_of=instant).value
        except NotFound:
            return None

    def check_recall(self) -> None:
        current = self.model.at(self.now())
        assert self.value(None) == current
        for word in WORDS:
            found = {hit.value for hit in self.memory.recall(word, limit=50).hits}
            assert found == ({word} if word == current else set())


def instants() -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(-25 * 4, 30 * 4).map(lambda n: START_US + n * DAY_US // 4), min_size=3, max_size=8)


@budget(150)
@given(STEPS, instants())
def test_a_key_says_at_every_instant_what_the_model_says(steps: list[tuple[object, ...]], at: list[int]) -> None:
    keyed = Keyed()
    edges = [START_US + day * DAY_US + by for day in DAYS for by in (-1, 0)]
    for name, *rest in steps:
        if name == "tick":
            keyed.world.clock.advance(us=rest[0])
        elif name == "state":
            keyed.state(*rest)
        else:
            keyed.withdraw(name, *rest)
        keyed.check_recall()
    keyed.check([*at, *edges])
    rebuilt = keyed.memory.rebuild(dry_run=True)
    assert rebuilt.differences == {}


@budget(40)
@given(st.lists(STATE, min_size=1, max_size=8))
def test_the_history_of_a_key_keeps_every_value_ever_stated(steps: list[tuple[object, ...]]) -> None:
    keyed = Keyed()
    keyed.state("amber", -30, None)
    for _, *rest in steps:
        keyed.state(*rest)
        keyed.world.clock.advance(us=DAY_US)
    if keyed.value(None) is None:
        return
    told = {step.version.value for step in keyed.memory.history(key=KEY) if step.version is not None}
    assert told == keyed.said


def test_the_history_of_a_key_keeps_what_was_archived() -> None:
    keyed = Keyed()
    keyed.state("amber", None, None)
    keyed.withdraw("archive", 1)
    keyed.state("basalt", None, None)
    told = {step.version.value for step in keyed.memory.history(key=KEY) if step.version is not None}
    assert told == {"amber", "basalt"}


def test_withdrawing_a_scheduled_value_gives_the_one_before_its_own_end_again() -> None:
    keyed = Keyed()
    keyed.state("amber", 0, 10)
    keyed.state("basalt", 5, None)
    keyed.withdraw("archive", 2)
    keyed.check([START_US + day * DAY_US for day in (0, 5, 9, 10, 20)])


def test_withdrawing_one_of_two_scheduled_values_leaves_the_later_one_scheduled() -> None:
    keyed = Keyed()
    keyed.state("amber", 0, None)
    keyed.state("basalt", 5, None)
    keyed.state("cobalt", 10, None)
    keyed.withdraw("archive", 2)
    keyed.check([START_US + day * DAY_US for day in (0, 5, 9, 10, 20)])


def test_a_value_stated_for_the_very_instant_of_another_takes_its_place() -> None:
    keyed = Keyed()
    keyed.state("amber", -1, None)
    keyed.state("basalt", -1, None)
    keyed.check([START_US + day * DAY_US for day in (-2, -1, 0, 5)])
    keyed.check_recall()


def test_a_short_term_value_cannot_begin_after_it_expired() -> None:
    late = {"body": "later", "key": KEY, "tier": "stm", "ttl": "1h", "valid_from": START_US + DAY_US}
    assert World().do(("remember", late)) == ("Invalid", "bad_period")


@pytest.mark.parametrize("named", [{}, {"key": KEY}])
def test_what_ends_before_it_begins_is_invalid(named: dict[str, str]) -> None:
    world = World()
    for given_ in ({"valid_to": START_US - DAY_US}, {"valid_from": START_US, "valid_to": START_US}):
        outcome = world.do(("remember", {"body": "Already over", **named, **given_}))
        assert outcome == ("Invalid", "bad_period")


# Not all capitals: those are taken for an identifier, which is a hard token.
DRESSES = st.sampled_from((str.lower, str.title, str.capitalize, str.casefold))
PLAIN = st.lists(st.sampled_from(("butter", "lemon", "deploy", "queue", "straße", "ключ")), min_size=1, max_size=8)


@budget(50)
@given(PLAIN, DRESSES, st.sampled_from((" ", "  ", "\n", " \t ")))
def test_a_text_in_other_case_and_white_space_confirms(words: list[str], dress: Callable[[str], str], gap: str) -> None:
    text = " ".join(words)
    memory = World().memory
    first = memory.remember(text)
    again = memory.remember(gap + gap.join(dress(word) for word in words) + gap)
    assert (again.outcome, again.id) == ("confirmed", first.id)
    assert memory.get(first.id).occurrences == 2
    assert memory.count() == 1


@budget(80)
@given(histories(most=12))
def test_restating_anything_that_is_believed_now_confirms_it(history: list[Op]) -> None:
    world = World()
    world.memory.remember("There is something")
    world.run(history)
    believed = {hit.id: hit.memory for hit in world.memory.recall(None, limit=50).hits}
    for each in believed.values():
        if each.key is not None or each.session is not None:
            continue  # a turn of a conversation that is said again happened again
        receipt = world.memory.remember(each.body, scope=each.scope)
        assert receipt.outcome == "confirmed"
        assert folded(believed[receipt.id].body) == folded(each.body)  # restoring can leave two of a text
        assert world.memory.get(receipt.id).occurrences > believed[receipt.id].occurrences
    assert world.memory.count() == len(believed)


@budget(80)
@given(histories(most=12))
def test_restating_the_value_of_a_key_confirms_it_and_never_leaves_it_empty(history: list[Op]) -> None:
    world = World()
    world.memory.remember("There is something")
    world.run(history)
    for key in KEYS:
        try:
            held = world.memory.get(key=key)
        except NotFound:
            continue
        receipt = world.memory.remember(held.body, key=key, value=held.value, scope=held.scope)
        assert (receipt.outcome, receipt.id) == ("confirmed", held.id)
        now = world.memory.get(key=key)
        assert (now.id, now.value, now.occurrences) == (held.id, held.value, held.occurrences + 1)


@budget(80)
@given(histories(most=12, moving=True))
def test_intervals_of_a_key_never_overlap(history: list[Op]) -> None:
    world = World()
    world.memory.remember("There is something")
    world.run(history)
    context = world.memory._context
    with context.store.reading() as view:
        project = context.existing(view)
        snapshots = view.snapshots(project.p, [each.id for each in everything(world.memory)])
    rows = [row for snapshot in snapshots.values() for row in snapshot.keys]
    for row in rows:
        assert row["valid_to"] is None or row["valid_from"] < row["valid_to"]
        for other in rows:
            if other is not row and (row["scope"], row["key_fp"]) == (other["scope"], other["key_fp"]):
                first, second = sorted((row, other), key=lambda each: each["valid_from"])
                assert first["valid_to"] is not None
                assert first["valid_to"] <= second["valid_from"]


@budget(40)
@given(st.sampled_from(BODIES), st.sampled_from((None, *DAYS)))
def test_what_is_stated_now_is_found_by_the_next_recall(body: str, scheduled: int | None) -> None:
    world = World()
    if scheduled is not None:
        world.memory.remember(body, valid_from=START_US + scheduled * DAY_US)
    receipt = world.memory.remember(body)
    assert receipt.id in {hit.id for hit in world.memory.recall(body).hits}
    assert world.memory.get(receipt.id).valid_from <= from_us(world.clock.now + 10)

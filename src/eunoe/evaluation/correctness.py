"""What memory must never get wrong, tried many times over with made-up facts. Each check has a positive control.

A control proves that the check can fail: what must be absent from one answer is there in another, what must be first is
second for the opposite question. An instance passes only with its control. All instances of a check live in one
project, so that each has the others as distractors; a check writes, waits until all is searchable, then asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from itertools import product
from typing import Any, NamedTuple

from eunoe.domain.instants import from_us
from eunoe.evaluation.answering import settled
from eunoe.service.context import Context
from eunoe.service.recall import count, recall
from eunoe.service.remember import remember, remember_many
from eunoe.testing.clock import ManualClock

EVERYTHING = 1000
NEAR = 10  # "found" is: among the first so many
SHOWN = 5

_SERVICES = ("billing", "search", "checkout", "mailer", "gateway", "reports")
_PROPERTIES = ("port", "region", "owner", "timeout", "queue", "image", "quota", "schedule")
_VALUES = {
    "port": ("8081", "9443"),
    "region": ("Frankfurt", "Dublin"),
    "owner": ("Mira Holt", "Jonas Reed"),
    "timeout": ("12 seconds", "45 seconds"),
    "queue": ("rabbit-main", "kafka-events"),
    "image": ("alpine", "debian"),
    "quota": ("500 requests", "2000 requests"),
    "schedule": ("hourly", "nightly"),
}
_PEOPLE = ("Ada", "Bela", "Chen", "Dora", "Emil", "Farah")
_HABITS = ("allergic to", "afraid of", "fond of", "tired of", "curious about", "in charge of", "learning", "saving for")
_THINGS = ("walnuts", "elevators", "jazz records", "commuting", "beekeeping", "payroll", "Portuguese", "a sailboat")
_PLACES = ("warehouse", "lobby", "rooftop", "basement", "workshop", "garage")
_NEWS = ("closed", "flooded", "repainted", "rented out", "without power", "under repair", "full", "quarantined")
_TOKENS = (
    ("error E1041", "error E1042"),
    ("version 3.11.4", "version 3.11.9"),
    ("port 5432", "port 5433"),
    ("HTTP 502", "HTTP 503"),
    ("ticket OPS-118", "ticket OPS-181"),
    ("flag --dry-run", "flag --dry-merge"),
    ("2026-02-03", "2026-03-02"),
    ("node_count", "node_limit"),
)


class Failure(NamedTuple):
    """An instance that failed: which, and what did not hold."""

    instance: str
    reason: str


class Check(NamedTuple):
    """What came of one check.

    Attributes:
        controls: Of how many instances the positive control held.
        failures: The first five, for people.
    """

    name: str
    instances: int
    passed: int
    controls: int
    failures: tuple[Failure, ...]

    @property
    def ok(self) -> bool:
        """Tell whether every instance passed, and every control held."""
        return self.passed == self.controls == self.instances


class Outcome(NamedTuple):
    """One instance: what had to hold and whether it did, and the same for its control."""

    instance: str
    claims: dict[str, bool]
    control: bool


Try = Callable[[Context, ManualClock], Iterable[Outcome]]


def run_checks(
    context: Context, clock: ManualClock, *, progress: Callable[[int, int], None] | None = None
) -> list[Check]:
    """Run all checks, each in projects of its own.

    Args:
        context: A session in a store that may be written to; its user is not used.
        clock: The session's clock; it is moved on.
        progress: Called with how many checks are done, and how many there are.
    """
    found = []
    for done, name in enumerate(CHECKS, 1):
        found.append(run_check(name, context, clock))
        if progress is not None:
            progress(done, len(CHECKS))
    return found


def run_check(name: str, context: Context, clock: ManualClock) -> Check:
    """Run one check of `CHECKS` in projects of its own."""
    instances = list(CHECKS[name](context, clock))
    failures = [
        Failure(each.instance, claim)
        for each in instances
        for claim, holds in (*each.claims.items(), ("its control", each.control))
        if not holds
    ]
    passed = sum(all(each.claims.values()) and each.control for each in instances)
    controls = sum(each.control for each in instances)
    return Check(name, len(instances), passed, controls, tuple(failures[:SHOWN]))


def _restatement(context: Context, clock: ManualClock) -> Iterator[Outcome]:
    """A value stated again confirms the memory; the control, another value's memory, is one more."""
    here = _in(context, "restatement")
    facts = list(_facts())
    first = {key: remember(here, old, key=key, value=value).id for _, key, value, old, _, _ in facts}
    clock.advance(days=1)
    again = {key: remember(here, old, key=key, value=value) for _, key, value, old, _, _ in facts}
    is_one_each = count(here) == len(facts)
    other = {key: remember(here, new, key=f"{key}/next", value=value).id for _, key, _, _, value, new in facts}
    settled(here)
    for question, key, *_ in facts:
        hits = [hit for hit in recall(here, question, limit=NEAR).hits if hit.memory.id == first[key]]
        claims = {
            "the receipt confirms the first memory": (again[key].outcome, again[key].id) == ("confirmed", first[key]),
            "there is still one memory for each fact": is_one_each,
            "it is found": bool(hits),
            "it was said twice": all(hit.memory.occurrences == 2 for hit in hits),
        }
        yield Outcome(key, claims, control=other[key] != first[key])


def _supersession(context: Context, clock: ManualClock) -> Iterator[Outcome]:
    """A new value of a key is found, the old one is in no answer; the control is that it was, before."""
    here = _in(context, "supersession")
    facts = list(_facts())
    old = {key: remember(here, body, key=key, value=value).id for _, key, value, body, _, _ in facts}
    settled(here)
    before = {key: _found(here, question, limit=NEAR) for question, key, *_ in facts}
    clock.advance(days=1)
    new = {key: remember(here, body, key=key, value=value).id for _, key, _, _, value, body in facts}
    settled(here)
    for question, key, _, body, *_ in facts:
        claims = {
            "the new value is found": new[key] in _found(here, question, limit=NEAR),
            "the old value is not, asked by its question": old[key] not in _found(here, question),
            "the old value is not, asked by its own words": old[key] not in _found(here, body),
        }
        yield Outcome(key, claims, control=old[key] in before[key])


def _scope_leak(context: Context, clock: ManualClock) -> Iterator[Outcome]:
    """What one user keeps to themselves is in no answer to another; the control is that its owner finds it."""
    del clock
    owner, other = (_as(_in(context, "scopes"), user) for user in ("ada", "bela"))
    bodies = [
        f"{who} is {habit} {thing}" for who, (habit, thing) in product(_PEOPLE, zip(_HABITS, _THINGS, strict=True))
    ]
    receipts = remember_many(owner, [{"body": body, "scope": "user:ada"} for body in bodies])
    remember_many(other, [{"body": f"{body}, says the whole team"} for body in bodies])
    settled(owner)
    listed = _browsed(other)
    for body, receipt in zip(bodies, receipts, strict=True):
        answers = (_found(other, body), _found(_as(other, None), body), listed)
        claims = {"nobody else is shown it": all(receipt.id not in answer for answer in answers)}
        yield Outcome(body, claims, control=receipt.id in _found(owner, body, limit=NEAR))


def _project_leak(context: Context, clock: ManualClock) -> Iterator[Outcome]:
    """What one project holds is in no answer of another; the control is that it finds it itself."""
    del clock
    one, other = _in(context, "north"), _in(context, "south")
    bodies = [f"The {place} is {news}" for place, news in product(_PLACES, _NEWS)]
    receipts = remember_many(one, [{"body": body} for body in bodies])
    theirs = {each.id for each in remember_many(other, [{"body": f"{body} until Monday"} for body in bodies])}
    settled(one)
    listed = _browsed(other)
    for body, receipt in zip(bodies, receipts, strict=True):
        answer = _found(other, body)
        claims = {
            "the other project does not show it": receipt.id not in answer and receipt.id not in listed,
            "the other project shows what is its own": bool(answer) and theirs.issuperset(answer),
        }
        yield Outcome(body, claims, control=receipt.id in _found(one, body, limit=NEAR))


def _stale_value(context: Context, clock: ManualClock) -> Iterator[Outcome]:
    """What ended or expired is in no answer, and in one as of an earlier day; the control is that it was found then."""
    here = _in(context, "stale")
    bodies = [f"The {place} is {news} this week" for place, news in product(_PLACES, _NEWS)]
    then = from_us(clock.now_us())
    lives: tuple[dict[str, Any], ...] = ({"valid_to": then + timedelta(days=7)}, {"tier": "stm", "ttl": "7d"})
    receipts = remember_many(here, [{"body": body, **lives[at % 2]} for at, body in enumerate(bodies)])
    settled(here)
    clock.advance(days=1)
    before = {body: _found(here, body, limit=NEAR) for body in bodies}
    clock.advance(days=9)
    listed = _browsed(here)
    for at, (body, receipt) in enumerate(zip(bodies, receipts, strict=True)):
        claims = {
            "it is not found": receipt.id not in _found(here, body),
            "it is not listed": receipt.id not in listed,
            "it is found as of a day on which it was true": receipt.id
            in _found(here, body, limit=NEAR, as_of=then + timedelta(days=1)),
        }
        label = f"{'expired' if at % 2 else 'ended'}: {body}"
        yield Outcome(label, claims, control=receipt.id in before[body])


def _twins(context: Context, clock: ManualClock) -> Iterator[Outcome]:
    """Facts that differ in one hard token are two; the named one comes first. The control asks for the other."""
    del clock
    here = _in(context, "twins")
    pairs = [
        tuple((f"The {service} runbook for {token} is kept by {who}", f"{service} runbook {token}") for token in tokens)
        for (service, who), tokens in product(zip(_SERVICES, _PEOPLE, strict=True), _TOKENS)
    ]
    bodies = [body for pair in pairs for body, _ in pair]
    ids = dict(zip(bodies, (each.id for each in remember_many(here, [{"body": body} for body in bodies])), strict=True))
    settled(here)
    for (one, asks_one), (two, asks_two) in pairs:
        answer, opposite = _found(here, asks_one), _found(here, asks_two)
        claims = {
            "both are recorded": ids[one] != ids[two],
            "both are found": {ids[one], ids[two]} <= set(answer),
            "the one that is named comes first": answer[:1] == [ids[one]],
        }
        yield Outcome(asks_one, claims, control=opposite[:1] == [ids[two]])


CHECKS: dict[str, Try] = {
    "restatement": _restatement,
    "supersession": _supersession,
    "scope leak": _scope_leak,
    "project leak": _project_leak,
    "stale value": _stale_value,
    "twins": _twins,
}


class _Fact(NamedTuple):
    """A question, a key, a value with a sentence, and another value with another sentence."""

    question: str
    key: str
    value: str
    body: str
    new_value: str
    new_body: str


def _facts() -> Iterator[_Fact]:
    for service, name in product(_SERVICES, _PROPERTIES):
        old, new = _VALUES[name]
        yield _Fact(
            f"{name} of the {service} service",
            f"{service}/{name}",
            old,
            f"The {name} of the {service} service is {old}",
            new,
            f"Since the move, the {service} service has {new} as its {name}",
        )


def _in(context: Context, name: str) -> Context:
    return context._replace(slug=f"check/{name}", identity=None, caller=context.caller._replace(user=None))


def _as(context: Context, user: str | None) -> Context:
    return context._replace(caller=context.caller._replace(user=user))


def _found(context: Context, question: str, *, limit: int = EVERYTHING, **filters: Any) -> list[str]:
    return [hit.memory.id for hit in recall(context, question, limit=limit, **filters).hits]


def _browsed(context: Context) -> set[str]:
    return {hit.memory.id for hit in recall(context, limit=EVERYTHING).hits}

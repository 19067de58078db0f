"""The gate: what a statement means, decided over what is believed, in the order that DESIGN §6 gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from eunoe.admission.admit import Circumstances, admit
from eunoe.admission.decision import Confirm, Decision, Record
from eunoe.admission.draft import Draft, draft
from eunoe.domain.caller import Author, Caller
from eunoe.domain.fingerprint import key_fingerprint, text_fingerprint, value_fingerprint, words_fingerprint
from eunoe.domain.hard_tokens import hard_tokens
from eunoe.errors import Conflict, EunoeError, Invalid, Refused
from eunoe.ports.memories import Interval, Rejection, Stand

SECRET = bytes(32)
NOW = 1_000_000
DAY = 86_400_000_000
BODY = "Stripe webhooks need the raw body"


class Known:
    """`Beliefs` over plain dicts; remembers what it was asked."""

    def __init__(self) -> None:
        self.stands: dict[str, Stand] = {}
        self.keys: dict[tuple[str, str], list[Interval]] = {}
        self.rejected: list[tuple[str, Rejection]] = []
        self.asked: list[str] = []

    def stand(self, ident: str) -> Stand | None:
        return self.stands.get(ident)

    def same_text(self, scope: str, fp: str) -> list[Stand]:
        self.asked.append("same_text")
        return [stand for stand in reversed(self.stands.values()) if (stand.scope, stand.fp) == (scope, fp)]

    def alike(self, scope: str, fp: str, words_fp: str | None) -> tuple[list[Stand], list[Stand]]:
        self.asked.append("alike")
        found = (
            stand for stand in reversed(self.stands.values()) if (stand.scope, stand.words_fp) == (scope, words_fp)
        )
        words = [stand for stand in found if words_fp is not None and stand.status == "active"]
        return [stand for stand in reversed(self.stands.values()) if (stand.scope, stand.fp) == (scope, fp)], words

    def pending_value(self, scope: str, value_fp: str) -> Stand | None:
        self.asked.append("pending_value")
        waiting = (stand for stand in self.stands.values() if stand.status == "pending")
        return next((stand for stand in waiting if (stand.scope, stand.value_fp) == (scope, value_fp)), None)

    def intervals(self, scope: str, key_fp: str) -> list[Interval]:
        self.asked.append("intervals")
        return self.keys.get((scope, key_fp), [])

    def rejections(self, scope: str, fps: Sequence[str]) -> list[Rejection]:
        self.asked.append("rejections")
        return [rejection for fp, rejection in self.rejected if fp in fps]

    def add(self, body: str = BODY, **changed: Any) -> Stand:
        """Believe an unkeyed memory."""
        number = len(self.stands) + 1
        words = words_fingerprint(SECRET, "project", analyse(body), hard_tokens(body))
        stand = Stand(
            id=f"m{number}",
            number=number,
            version=1,
            status="active",
            tier="ltm",
            scope="project",
            trust="stated",
            expires_at=None,
            valid_from=0,
            valid_to=None,
            superseded_by=None,
            key=None,
            key_fp=None,
            value_fp=None,
            fp=text_fingerprint(SECRET, "project", body),
            words_fp=words if len(set(analyse(body))) > 2 else None,
            pinned=False,
            by_person=True,
        )
        self.stands[stand.id] = stand._replace(**changed)
        return self.stands[stand.id]

    def hold(self, key: str, value: str, start: int = 0, end: int | None = None) -> Stand:
        """Let a memory hold a key."""
        key_fp = key_fingerprint(SECRET, "project", key)
        value_fp = value_fingerprint(SECRET, "project", key, value)
        stand = self.add(value, key=key, key_fp=key_fp, value_fp=value_fp, fp=None, words_fp=None, valid_from=start)
        held = Interval(memory=stand.id, value_fp=value_fp, valid_from=start, valid_to=end)
        row = self.keys.setdefault(("project", key_fp), [])
        row.append(held)
        row.sort(key=lambda each: each.valid_from)
        return stand

    def reject(self, fp: str, *, by_person: bool = True) -> None:
        seq = len(self.rejected) + 1
        self.rejected.append((fp, Rejection(seq=seq, match="text", memory="m0", by_person=by_person)))


def analyse(text: str) -> list[str]:
    words = (word.strip(".,:").lower() for word in text.split())
    return [word for word in words if word not in ("a", "the")]


def statement(body: str = BODY, *, supersedes: Sequence[Stand] = (), author: Author = "person", **fields: Any) -> Draft:
    taken = draft(Caller(user="kim", author=author), body, **fields)
    return taken._replace(supersedes=tuple(stand.id for stand in supersedes))


def judged(known: Known, said: Draft, *, author: Author = "person", single: bool = True) -> Decision:
    by = Circumstances(
        beliefs=known,
        secret=SECRET,
        analyse=analyse,
        caller=Caller(user="kim", author=author),
        now=NOW,
        single=single,
    )
    return admit(said, by)


def recorded(known: Known, said: Draft, **how: Any) -> Record:
    decision = judged(known, said, **how)
    assert isinstance(decision, Record)
    return decision


def refused(known: Known, said: Draft, error: type[EunoeError], **how: Any) -> str:
    with pytest.raises(error) as caught:
        judged(known, said, **how)
    return caught.value.code


@pytest.fixture
def known() -> Known:
    return Known()


# ── Unkeyed ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_new_is_recorded_from_now_on(known: Known) -> None:
    decision = recorded(known, statement(tags=["stripe"]))
    assert decision.outcome == "recorded"
    assert decision.meta["status"] == "active"
    assert decision.meta["valid_from"] == NOW
    assert decision.payload["body"] == BODY
    assert decision.payload["tags"] == ["stripe"]
    assert decision.payload["fp"] == text_fingerprint(SECRET, "project", BODY)


def test_no_free_text_gets_into_the_meta(known: Known) -> None:
    said = statement(title="T1TLE", tags=["TAG1"], paths=["PATH1"], source="S0URCE", speaker="SPE4KER", session="SE55")
    decision = recorded(known, said)
    for word in ("T1TLE", "TAG1", "PATH1", "S0URCE", "SPE4KER", "SE55", "Stripe"):
        assert word not in repr(decision.meta)


@pytest.mark.parametrize("status", ["active", "pending"])
def test_what_is_known_is_confirmed_by_one_question(known: Known, status: str) -> None:
    stand = known.add(status=status)
    decision = judged(known, statement("stripe  webhooks need the raw body"))
    assert isinstance(decision, Confirm)
    assert decision.memory == stand
    assert decision.outcome == ("confirmed" if status == "active" else "pending")
    assert known.asked == ["alike"]


@pytest.mark.parametrize(
    "changed",
    [{"status": "superseded"}, {"status": "archived"}, {"expires_at": NOW}, {"valid_to": NOW}, {"scope": "user:kim"}],
    ids=str,
)
def test_what_is_no_longer_believed_does_not_swallow_a_statement(known: Known, changed: dict[str, Any]) -> None:
    known.add(**changed)
    decision = recorded(known, statement(force=True))
    assert decision.outcome == "recorded"
    assert any("#1" in note for note in decision.notes) == (changed.get("status") == "archived")


def test_a_value_that_is_only_scheduled_does_not_swallow_what_is_true_today(known: Known) -> None:
    known.add(valid_from=NOW + DAY)
    assert isinstance(judged(known, statement(force=True)), Record)


def test_fields_that_a_confirmation_does_not_apply_are_named(known: Known) -> None:
    known.add()
    decision = judged(known, statement(title="Webhooks", tags=["stripe"], importance=0.9))
    assert isinstance(decision, Confirm)
    assert all(name in " ".join(decision.notes) for name in ("title", "tags", "importance"))


def test_a_near_duplicate_is_refused_and_named_on_a_single_call(known: Known) -> None:
    stand = known.add()
    with pytest.raises(Conflict) as caught:
        judged(known, statement("The Stripe webhooks need a raw body."))
    assert caught.value.code == "near_duplicate"
    assert caught.value.details == {"twins": [1], "ids": [stand.id]}


@pytest.mark.parametrize("how", ["force", "batch"])
def test_a_near_duplicate_is_flagged_when_forced_and_in_batches(known: Known, how: str) -> None:
    stand = known.add()
    said = statement("The Stripe webhooks need a raw body.", force=how == "force")
    decision = recorded(known, said, single=how != "batch")
    assert decision.twins == (stand,)
    assert "#1" in " ".join(decision.notes)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The visa appointment is on 4 March", "On 5 March is the visa appointment"),
        ("Likes the lemon tart at Odile", "Likes the plum tart at Odile"),
        ("we always use the cache here", "we never use the cache here"),
        ("yes we can", "can we"),
        ("Ann pays Ben on Fridays", "Ben pays Ann on Fridays"),
        ("writer 1 notes thing 2", "writer 2 notes thing 1"),
    ],
)
def test_a_pair_that_differs_in_a_word_a_hard_token_or_their_order_is_never_a_twin(
    known: Known, one: str, other: str
) -> None:
    known.add(one)
    assert recorded(known, statement(other)).twins == ()


def test_a_turn_of_a_conversation_is_neither_a_twin_nor_a_restatement_of_another(known: Known) -> None:
    known.add("yes I think so too")
    assert recorded(known, statement("yes I think so too", session="s", turn=1)).twins == ()


def test_the_same_turn_is_a_restatement(known: Known) -> None:
    first = recorded(known, statement("yes I think so", session="s", turn=1))
    known.add(fp=first.payload["fp"], words_fp=None)
    assert isinstance(judged(known, statement("yes I think so", session="s", turn=1)), Confirm)
    assert isinstance(judged(known, statement("yes I think so", session="s", turn=2)), Record)
    assert isinstance(judged(known, statement("yes I think so", session="t", turn=1)), Record)


def test_sessions_whose_names_differ_in_letter_case_are_different(known: Known) -> None:
    first = recorded(known, statement("yes I think so", session="sess-a", turn=1))
    known.add(fp=first.payload["fp"], words_fp=None)
    assert isinstance(judged(known, statement("yes I think so", session="sess-A", turn=1)), Record)


def test_a_text_that_reads_like_a_session_and_a_turn_is_not_taken_for_one(known: Known) -> None:
    known.add("notes 1 yes I think so")
    assert isinstance(judged(known, statement("yes I think so", session="notes", turn=1)), Record)


def test_a_turn_is_only_what_was_given(known: Known) -> None:
    assert "turn" not in recorded(known, statement(session="s")).payload
    assert recorded(known, statement(session="s", turn=0)).payload["turn"] == 0


# ── Rejections and trust ─────────────────────────────────────────────────────────────────────────────────────────────

FP = text_fingerprint(SECRET, "project", BODY)


@pytest.mark.parametrize(
    ("by_person", "author", "trust", "returns"),
    [
        (True, "person", None, True),
        (True, "application", None, True),
        (True, "agent", None, False),
        (True, "import", None, False),
        (False, "person", None, True),
        (False, "agent", None, True),
        (False, "import", None, False),
        (True, "person", "inferred", False),
        (False, "agent", "observed", False),
        (False, "agent", "external", False),
    ],
)
def test_what_was_taken_back_returns_only_by_those_who_may(
    known: Known, by_person: bool, author: Author, trust: str | None, returns: bool
) -> None:
    known.reject(FP, by_person=by_person)
    said = statement(author=author, trust=trust)
    if returns:
        assert recorded(known, said, author=author).meta["lifts"] == [1]
    else:
        assert refused(known, said, Refused, author=author) == "rejected"


def test_every_rejection_is_asked_about(known: Known) -> None:
    known.reject(FP, by_person=False)
    known.reject(FP, by_person=True)
    assert refused(known, statement(author="agent"), Refused, author="agent") == "rejected"
    assert recorded(known, statement()).meta["lifts"] == [1, 2]


def test_a_rejected_value_of_a_key_does_not_return(known: Known) -> None:
    known.reject(value_fingerprint(SECRET, "project", "deploy/current", "v1"))
    said = statement("v1", key="deploy/current", author="agent")
    assert refused(known, said, Refused, author="agent") == "rejected"
    assert isinstance(judged(known, statement("v1", key="deploy/next", author="agent"), author="agent"), Record)


def test_what_is_believed_is_confirmed_before_rejections_are_asked(known: Known) -> None:
    known.add()
    known.reject(FP)
    assert isinstance(judged(known, statement(author="agent"), author="agent"), Confirm)
    assert "rejections" not in known.asked


def test_a_rejection_comes_before_twins(known: Known) -> None:
    known.add("the raw body: Stripe webhooks need")
    known.reject(FP)
    assert refused(known, statement(author="agent"), Refused, author="agent") == "rejected"


def test_what_came_from_outside_waits_for_a_person_and_replaces_nothing(known: Known) -> None:
    old = known.add("Stripe webhooks need parsed JSON")
    decision = recorded(known, statement(trust="external", supersedes=[old]))
    assert decision.outcome == "pending"
    assert decision.meta["status"] == "pending"
    assert "supersedes" not in decision.meta
    assert decision.replaced == ()


def test_a_keyed_value_from_outside_waits_and_ends_nothing(known: Known) -> None:
    known.hold("deploy/current", "v1")
    decision = recorded(known, statement("v2", key="deploy/current", trust="external"))
    assert decision.outcome == "pending"
    assert "supersedes" not in decision.meta
    assert decision.replaced == ()


# ── Keyed ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_values_of_a_key_are_compared_before_anything_else(known: Known) -> None:
    stand = known.hold("deploy/current", "v1")
    known.reject(value_fingerprint(SECRET, "project", "deploy/current", "v1"))
    decision = judged(known, statement(" V1".lower(), key="deploy/current"))
    assert isinstance(decision, Confirm)
    assert decision.memory == stand
    assert known.asked == ["intervals"]


def test_the_value_and_not_the_sentence_around_it_is_compared(known: Known) -> None:
    known.hold("deploy/current", "v1")
    said = statement("We are on version one, says Odile", key="deploy/current", value="v1")
    assert isinstance(judged(known, said), Confirm)


def test_a_keyed_statement_is_never_refused_as_a_twin(known: Known) -> None:
    known.add(BODY)
    assert recorded(known, statement(BODY, key="stripe/webhooks")).outcome == "recorded"
    assert "alike" not in known.asked


def test_a_new_value_replaces_the_old_one_from_now_on(known: Known) -> None:
    old = known.hold("deploy/current", "v1")
    decision = recorded(known, statement("v2", key="deploy/current"))
    assert decision.outcome == "replaced"
    assert decision.replaced == (old,)
    assert decision.meta["supersedes"] == [{"memory": old.id, "valid_to": NOW}]
    assert decision.meta["move_links"] is True


def test_a_future_value_is_scheduled_and_moves_no_link_yet(known: Known) -> None:
    old = known.hold("deploy/current", "v1")
    decision = recorded(known, statement("v2", key="deploy/current", valid_from=NOW + DAY))
    assert decision.outcome == "scheduled"
    assert decision.meta["supersedes"] == [{"memory": old.id, "valid_to": NOW + DAY}]
    assert decision.meta["move_links"] is False


def test_a_late_older_value_goes_into_history(known: Known) -> None:
    current = known.hold("deploy/current", "v2", start=500)
    decision = recorded(known, statement("v1", key="deploy/current", valid_from=100))
    assert decision.outcome == "recorded"
    assert (decision.meta["valid_from"], decision.meta["valid_to"]) == (100, 500)
    assert decision.meta["superseded_by"] == current.id
    assert decision.replaced == ()
    assert decision.notes


def test_when_it_happened_is_when_it_becomes_true(known: Known) -> None:
    assert recorded(known, statement(occurred_at=5)).meta["valid_from"] == 5
    assert recorded(known, statement(occurred_at=0)).meta["valid_from"] == 0
    assert recorded(known, statement(occurred_at=5, valid_from=0)).meta["valid_from"] == 0


@pytest.mark.parametrize("key", [None, "deploy/current"])
def test_what_ended_before_it_would_begin_is_refused_and_ends_nothing(known: Known, key: str | None) -> None:
    known.hold("deploy/current", "v1")
    assert refused(known, statement("v0 of old", key=key, valid_to=NOW - 1), Invalid) == "bad_period"


def test_a_key_of_a_short_term_memory_is_free_when_it_expires(known: Known) -> None:
    decision = recorded(known, statement("v1", key="deploy/current", tier="stm", ttl=60))
    assert decision.meta["expires_at"] == decision.meta["valid_to"] == NOW + 60_000_000


# ── Supersedes ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_successor_replaces_and_takes_the_links(known: Known) -> None:
    old = known.add("Stripe webhooks need parsed JSON")
    decision = recorded(known, statement(supersedes=[old]))
    assert decision.outcome == "replaced"
    assert decision.meta["supersedes"] == [{"memory": old.id, "valid_to": NOW}]
    assert decision.meta["move_links"] is True


def test_a_successor_may_say_it_in_nearly_the_same_words(known: Known) -> None:
    old = known.add()
    assert recorded(known, statement("The Stripe webhooks need a raw body.", supersedes=[old])).twins == ()


def test_a_successor_without_a_key_carries_the_key_on(known: Known) -> None:
    old = known.hold("deploy/current", "v1")
    decision = recorded(known, statement("v2", supersedes=[old]))
    assert decision.payload["key"] == "deploy/current"
    assert decision.replaced == (old,)


def test_another_memory_cannot_be_superseded_alongside_a_key(known: Known) -> None:
    known.hold("deploy/current", "v1")
    other = known.add("something else altogether")
    assert refused(known, statement("v2", key="deploy/current", supersedes=[other]), Invalid) == "supersedes_with_key"


def test_the_holder_itself_may_be_named_alongside_its_key(known: Known) -> None:
    old = known.hold("deploy/current", "v1")
    assert recorded(known, statement("v2", key="deploy/current", supersedes=[old])).outcome == "replaced"


def test_what_says_the_same_supersedes_nothing(known: Known) -> None:
    old = known.add()
    assert refused(known, statement(supersedes=[old]), Invalid) == "supersedes_itself"


@pytest.mark.parametrize("status", ["archived", "forgotten", "pending"])
def test_only_what_is_believed_can_be_superseded(known: Known, status: str) -> None:
    old = known.add("something else altogether", status=status)
    assert refused(known, statement(supersedes=[old]), Conflict) == "not_active"


def test_what_has_a_successor_cannot_be_superseded_again(known: Known) -> None:
    old = known.add("something else altogether", superseded_by="m9")
    assert refused(known, statement(supersedes=[old]), Conflict) == "superseded"


def test_an_end_that_is_known_is_not_put_off_by_a_successor(known: Known) -> None:
    old = known.add("something else altogether", valid_to=NOW - 10)
    decision = recorded(known, statement(supersedes=[old]))
    assert decision.meta["supersedes"] == [{"memory": old.id, "valid_to": NOW - 10, "own_end": NOW - 10}]

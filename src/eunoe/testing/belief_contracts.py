"""The contract suites of `eunoe.ports.memories`; see `eunoe.testing.contracts`."""

from __future__ import annotations

from eunoe.domain.ids import NIL
from eunoe.ports.store import Store
from eunoe.testing.clock import START_US
from eunoe.testing.contracts import BOTH, LATER_US, SHARED, now_filter
from eunoe.testing.records import Recorder


class BeliefsContract:
    """`eunoe.ports.memories.Beliefs`."""

    def test_a_stand_tells_what_was_recorded(self, store: Store) -> None:
        recorder = Recorder(store)
        ident = recorder.remember("one", key="k", key_fp="kf", value_fp="vf", pinned=True, tier="stm", expires_at=99)
        with store.reading() as view:
            stand = view.beliefs(recorder.p).stand(ident)
            assert view.beliefs(recorder.p).stand(NIL) is None
        assert stand is not None
        assert (stand.number, stand.status, stand.tier, stand.scope, stand.expires_at) == (
            1,
            "active",
            "stm",
            "project",
            99,
        )
        assert (stand.key, stand.key_fp, stand.value_fp, stand.fp, stand.pinned) == ("k", "kf", "vf", None, True)

    def test_the_same_text_is_found_in_its_scope_only_newest_first(self, store: Store) -> None:
        recorder = Recorder(store)
        first, second = recorder.remember("one"), recorder.remember("one")
        recorder.remember("one", scope="user:kim")
        recorder.remember("other")
        with store.reading() as view:
            found = view.beliefs(recorder.p).same_text("project", "fp one")
            assert [stand.id for stand in found] == [second, first]
            assert view.beliefs(recorder.p).same_text("project", "fp none") == []

    def test_the_same_words_are_found_among_active_memories_only(self, store: Store) -> None:
        recorder = Recorder(store)
        kept, gone = recorder.remember("one"), recorder.remember("one")
        recorder.record("memory.archived", {"memory": gone, "by": "application"})
        with store.reading() as view:
            same_text, same_words = view.beliefs(recorder.p).alike("project", "fp one", "words one")
            assert [stand.id for stand in same_text] == [gone, kept]
            assert [stand.id for stand in same_words] == [kept]
            assert view.beliefs(recorder.p).alike("project", "fp none", None) == ([], [])

    def test_intervals_of_a_key_are_those_recorded_now_by_their_beginning(self, store: Store) -> None:
        recorder = Recorder(store)
        named = {"key": "k", "key_fp": "kf"}
        late = recorder.remember("late", **named, value_fp="2", valid_from=START_US + 50, valid_to=START_US + 90)
        early = recorder.remember("early", **named, value_fp="1", valid_from=START_US, valid_to=START_US + 50)
        gone = recorder.remember("gone", **named, value_fp="3", valid_from=START_US + 90)
        recorder.record("memory.archived", {"memory": gone, "by": "application"})
        with store.reading() as view:
            found = view.beliefs(recorder.p).intervals("project", "kf")
            assert view.beliefs(recorder.p).intervals("user:kim", "kf") == []
        assert [(each.memory, each.value_fp) for each in found] == [(early, "1"), (late, "2")]
        assert [(each.valid_from, each.valid_to) for each in found] == [
            (START_US, START_US + 50),
            (START_US + 50, START_US + 90),
        ]

    def test_a_forgotten_text_is_rejected_until_it_is_restored(self, store: Store) -> None:
        recorder = Recorder(store)
        ident = recorder.remember("one")
        recorder.record("memory.forgotten", {"memory": ident, "by": "agent"})
        with store.reading() as view:
            beliefs = view.beliefs(recorder.p)
            (rejection,) = beliefs.rejections("project", ["fp one"])
            assert (rejection.memory, rejection.match, rejection.by_person) == (ident, "text", False)
            assert beliefs.rejections("user:kim", ["fp one"]) == beliefs.rejections("project", ["fp two"]) == []
        recorder.record("memory.restored", {"memory": ident, "status": "active", "valid_from": START_US})
        with store.reading() as view:
            assert view.beliefs(recorder.p).rejections("project", ["fp one"]) == []


class MemoriesContract:
    """`eunoe.ports.memories.Memories`."""

    def test_a_memory_is_found_by_number_and_id_within_the_scopes(self, store: Store) -> None:
        recorder = Recorder(store)
        shared, private = recorder.remember("one"), recorder.remember("two", scope="user:kim")
        with store.reading() as view:
            memories = view.memories(recorder.p)
            assert memories.find_id(number=1, scopes=SHARED) == memories.find_id(ident=shared, scopes=SHARED) == shared
            assert memories.find_id(number=2, scopes=BOTH) == private
            assert memories.find_id(number=2, scopes=SHARED) is memories.find_id(ident=private, scopes=SHARED) is None
            assert memories.find_id(number=3, scopes=BOTH) is None

    def test_the_holder_of_a_key_depends_on_the_instant_and_on_what_was_known(self, store: Store) -> None:
        recorder = Recorder(store)
        named = {"key": "k", "key_fp": "kf"}
        old = recorder.remember("old", **named, value_fp="1", valid_from=START_US)
        known = recorder.now
        supersedes = [{"memory": old, "valid_to": START_US + 50}]
        new = recorder.remember("new", **named, value_fp="2", valid_from=START_US + 50, supersedes=supersedes)
        prints = {"project": "kf", "user:kim": "kf"}
        with store.reading() as view:
            holders = view.memories(recorder.p).holders
            assert holders(BOTH, prints, at=START_US + 49) == [old]
            assert holders(BOTH, prints, at=START_US + 50) == [new]
            assert holders(BOTH, prints, at=LATER_US, known_at=known) == [old]
            assert holders(BOTH, prints, at=START_US - 1) == []
            assert holders(("user:kim",), prints, at=LATER_US) == []
            assert sorted(holders(BOTH, prints)) == sorted([old, new])

    def test_versions_and_what_was_known_of_them(self, store: Store) -> None:
        recorder = Recorder(store)
        ident = recorder.remember("before", tags=["a"])
        known = recorder.now
        recorder.record("memory.revised", {"memory": ident, "version": 2}, {"body": "after", "tags": ["b"]})
        with store.reading() as view:
            memories = view.memories(recorder.p)
            assert [each.body for each in memories.versions(ident, now=LATER_US)] == ["before", "after"]
            assert memories.read([ident], now=LATER_US)[ident].tags == ("b",)
            assert memories.read([ident], now=LATER_US, known_at=known)[ident].body == "before"
            assert memories.read([ident], now=LATER_US, known_at=known - 1) == {}
            assert memories.read([NIL], now=LATER_US) == {}

    def test_links_are_seen_from_both_ends_within_the_scopes(self, store: Store) -> None:
        recorder = Recorder(store)
        one = recorder.remember("one")
        recorder.remember("two", links=[one])
        recorder.remember("three", links=[one], scope="user:kim")
        with store.reading() as view:
            memories = view.memories(recorder.p)
            assert [each.number for each in memories.links(one, BOTH)] == [2, 3]
            assert [each.number for each in memories.links(one, SHARED)] == [2]

    def test_selecting_and_counting_by_kind_and_status(self, store: Store) -> None:
        recorder = Recorder(store)
        one, two = recorder.remember("one"), recorder.remember("two", kind="gotcha")
        recorder.remember("three", scope="user:kim")
        recorder.record("memory.archived", {"memory": two, "by": "application"})
        with store.reading() as view:
            memories = view.memories(recorder.p)
            assert memories.select(now_filter(), limit=9) == [one]
            assert len(memories.select(now_filter(BOTH), limit=1)) == 1
            assert memories.tally(SHARED) == {"fact": {"active": 1}, "gotcha": {"archived": 1}}

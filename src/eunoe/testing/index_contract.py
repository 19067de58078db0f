"""The contract suite of the text index; see `eunoe.testing.contracts`."""

from __future__ import annotations

from typing import Any

from eunoe.domain.turns import shape
from eunoe.ports.store import Store
from eunoe.testing.clock import START_US
from eunoe.testing.contracts import BOTH, LATER_US, SECOND_US, SHARED, now_filter
from eunoe.testing.records import Recorder

ORDERS = ("relevance", "newest", "oldest")


def candidates(recorder: Recorder, terms: list[str], *, limit: int = 200, **given: Any) -> list[str]:
    """Return the memories that the index gives for terms."""
    with recorder.store.reading() as view:
        found = view.index(recorder.p).candidates(terms, now_filter(**given), limit=limit)
        return [passage.memory for passage in found]


def rid_of(recorder: Recorder, ident: str) -> int:
    """Return the row number of a memory's passage."""
    with recorder.store.reading() as view:
        passage = view.snapshots(recorder.p, [ident])[ident].passage
    assert passage is not None
    rid: int = passage["rid"]
    return rid


class TextIndexContract:
    """`eunoe.ports.text_index.TextIndex`."""

    def test_statistics_count_live_passages_within_the_scopes(self, store: Store) -> None:
        recorder = Recorder(store)
        recorder.remember("apple pie")
        gone = recorder.remember("apple tart with cream")
        recorder.remember("apple cider", scope="user:kim")
        Recorder(store, slug="acme/other").remember("apple")
        recorder.record("memory.archived", {"memory": gone, "by": "application"})
        with store.reading() as view:
            shared = view.index(recorder.p).statistics(["apple", "plum"], SHARED)
            both = view.index(recorder.p).statistics(["apple", "cider"], BOTH)
            none = view.index(recorder.p).statistics([], SHARED)
        assert (shared.documents, shared.length, shared.df) == (1, 2, {"apple": 1})
        assert (both.documents, both.length, both.df) == (2, 4, {"apple": 2, "cider": 1})
        assert (none.documents, none.df) == (1, {})

    def test_candidates_are_all_that_hold_any_term_when_they_are_few(self, store: Store) -> None:
        recorder = Recorder(store)
        one, two = recorder.remember("apple pie"), recorder.remember("plum pie")
        three = recorder.remember("pear", tags=["apple"], title="a b", paths=["plum"])
        recorder.remember("neither")
        assert set(candidates(recorder, ["apple", "plum"])) == {one, two, three}
        assert candidates(recorder, ["cherry"]) == candidates(recorder, []) == []
        assert len(candidates(recorder, ["apple", "plum"], limit=2)) == 2
        assert candidates(recorder, ["apple"], limit=0) == []

    def test_what_does_not_pass_takes_no_place_of_what_does(self, store: Store) -> None:
        recorder = Recorder(store)
        wanted = recorder.remember("apple among many other words that make it the weakest match", tags=["t"])
        for n in range(8):
            recorder.remember("apple", title=f"apple {n}")
        for n in range(8):
            recorder.remember("apple apple", scope="user:kim", title=f"apple {n}")
        assert candidates(recorder, ["apple"], limit=3, tags=("t",)) == [wanted]
        assert len(candidates(recorder, ["apple"], limit=9)) == 9

    def test_no_character_of_a_term_is_grammar(self, store: Store) -> None:
        recorder = Recorder(store)
        for term in ("*", "a*", "own:apple", "NOT", "(", "apple)", "^apple", "a-b", "ä", "日本", "%", "\\"):
            recorder.remember("apple pie")
            assert candidates(recorder, [term]) == []
            ident = recorder.remember(f"x {term} y")
            assert candidates(recorder, [term.lower()]) == [ident]
            recorder.record("memory.archived", {"memory": ident, "by": "application"})

    def test_filters_hold_together(self, store: Store) -> None:
        recorder = Recorder(store)
        one = recorder.remember("apple", kind="gotcha", tags=["a", "b"], paths=["src/api/x.py"])
        two = recorder.remember("apple", tags=["a"], paths=["src/apis"])
        three = recorder.remember("apple", session="s", turn=1)
        for given, expected in (
            ({"kinds": ("gotcha",)}, {one}),
            ({"tags": ("a", "b")}, {one}),
            ({"any_tags": ("a", "b")}, {one, two}),
            ({"paths": ("src/api",)}, {one}),
            ({"paths": ("src",)}, {one, two}),
            ({"paths": ("src/%",)}, set()),
            ({"session": "s"}, {three}),
            ({"tags": ("a",), "kinds": ("fact",)}, {two}),
            ({"since": START_US + 2_000_000, "until": START_US + 3_000_000}, {two}),
        ):
            assert set(candidates(recorder, ["apple"], **given)) == expected
            with store.reading() as view:
                assert view.index(recorder.p).count(now_filter(**given)) == len(expected)

    def test_what_is_not_believed_at_the_instant_is_no_candidate(self, store: Store) -> None:
        recorder = Recorder(store)
        recorder.remember("apple", status="pending")
        recorder.remember("apple", valid_from=LATER_US + 1)
        recorder.remember("apple", valid_to=LATER_US)
        recorder.remember("apple", tier="stm", expires_at=LATER_US)
        last = recorder.remember("apple", valid_to=LATER_US + 1)
        assert candidates(recorder, ["apple"]) == [last]

    def test_what_was_known_then_is_answered_by_the_versions_of_then(self, store: Store) -> None:
        recorder = Recorder(store)
        ident = recorder.remember("apple")
        known = recorder.now
        recorder.record("memory.revised", {"memory": ident, "version": 2}, {"body": "plum"})
        assert candidates(recorder, ["apple"]) == []
        assert candidates(recorder, ["plum"]) == [ident]
        assert candidates(recorder, ["apple"], known_at=known) == [ident]
        assert candidates(recorder, ["plum"], known_at=known) == []
        assert candidates(recorder, ["apple"], known_at=known - 1) == []

    def test_neighbours_are_readable_passages_in_the_ranges_of_turns(self, store: Store) -> None:
        recorder = Recorder(store)
        turns = [recorder.remember(f"turn {n}", session="s", turn=n, tags=["t"] * (n == 2)) for n in range(6)]
        recorder.remember("hidden", session="s", turn=2, scope="user:kim")
        recorder.remember("elsewhere", session="other", turn=2)
        with store.reading() as view:
            index = view.index(recorder.p)
            found = index.neighbours([("s", 1, 2), ("s", 4, 9)], now_filter(tags=("t",)))
            assert index.neighbours([("none", 0, 9)], now_filter()) == []
        assert {(each.memory, each.visible) for each in found} == {
            (turns[1], False),
            (turns[2], True),
            (turns[4], False),
            (turns[5], False),
        }

    def test_passages_are_the_readable_ones_by_number(self, store: Store) -> None:
        recorder = Recorder(store)
        one, two = recorder.remember("one", tags=["t"]), recorder.remember("two", session="s", turn=4, speaker="Ana")
        private = recorder.remember("private", scope="user:kim")
        gone = recorder.remember("gone")
        recorder.record("memory.archived", {"memory": gone, "by": "application"})
        rids = [rid_of(recorder, ident) for ident in (gone, private, two, one)]
        with store.reading() as view:
            index = view.index(recorder.p)
            found = index.passages([*rids, 4096 * 999], now_filter(tags=("t",)))
            assert [each.memory for each in index.passages(rids, now_filter(BOTH))] == [one, two, private]
            assert index.passages([], now_filter()) == []
            assert len(index.passages(rids * 400, now_filter())) >= 2
        assert [(each.memory, each.visible) for each in found] == [(one, True), (two, False)]
        assert [each.rid for each in found] == rids[:1:-1]
        assert [(each.session, each.turn, each.speaker) for each in found] == [(None, None, None), ("s", 4, "Ana")]
        assert found[0].said_at <= found[1].said_at

    def test_a_turn_says_what_kind_of_sentence_it_is(self, store: Store) -> None:
        recorder = Recorder(store)
        bodies = ("Where is it?", "It is in the shed.")
        said = [recorder.remember(body, session="s", turn=at) for at, body in enumerate(bodies)]
        recorder.remember("Where is it?")
        with store.reading() as view:
            found = {
                each.memory: each.shape for each in view.index(recorder.p).candidates(["is"], now_filter(), limit=9)
            }
        assert [found.pop(ident) for ident in said] == [shape(body) for body in bodies]
        assert list(found.values()) == [0]

    def test_rows_are_those_of_all_that_passes(self, store: Store) -> None:
        recorder = Recorder(store)
        one, two = recorder.remember("one", tags=["t"]), recorder.remember("two")
        private = recorder.remember("private", scope="user:kim")
        recorder.remember("waits", status="pending")
        with store.reading() as view:
            index = view.index(recorder.p)
            for accept, idents in (
                (now_filter(), (one, two)),
                (now_filter(BOTH), (one, two, private)),
                (now_filter(tags=("t",)), (one,)),
                (now_filter(tags=("u",)), ()),
                (now_filter(known_at=START_US), ()),
            ):
                assert index.rows(accept) == [rid_of(recorder, ident) for ident in idents]

    def test_what_was_said_in_a_span_comes_latest_first(self, store: Store) -> None:
        recorder = Recorder(store)
        one, two, three = (recorder.remember(f"at {at}", valid_from=START_US + at) for at in (10, 30, 20))
        recorder.remember("private", valid_from=START_US + 20, scope="user:kim")
        with store.reading() as view:
            index = view.index(recorder.p)

            def said(first: int, last: int, limit: int = 9) -> list[str]:
                found = index.said_between(START_US + first, START_US + last, now_filter(), limit=limit)
                assert all(each.visible for each in found)
                return [each.memory for each in found]

            assert said(10, 31) == [two, three, one]
            assert said(10, 30) == [three, one]
            assert said(11, 21) == [three]
            assert said(10, 31, limit=2) == [two, three]
            assert said(31, 99) == said(20, 20) == []

    def test_standing_tells_what_a_passage_is_worth(self, store: Store) -> None:
        recorder = Recorder(store)
        one = recorder.remember("one", kind="gotcha", importance=900)
        two = recorder.remember("two", importance=100)
        recorded = recorder.now
        recorder.record("memory.disputed", {"memory": two})
        disputed = recorder.now
        recorder.record("memory.confirmed", {"memory": one, "how": "explicit", "counts_as_confirmation": True})
        confirmed = recorder.now
        rids = [rid_of(recorder, ident) for ident in (one, two)]
        with store.reading() as view:
            found = view.index(recorder.p).standing([*rids[::-1], 4096 * 999])
            assert view.index(recorder.p).standing([]) == []
        assert found == [
            (rids[0], "gotcha", 900, confirmed, None, recorded - SECOND_US),
            (rids[1], "fact", 100, recorded, disputed, recorded),
        ]

    def test_browsing_is_ordered_and_continues_after_any_place(self, store: Store) -> None:
        recorder = Recorder(store)
        low = recorder.remember("low", importance=100)
        high = recorder.remember("high", importance=900)
        pinned = recorder.remember("pinned", importance=0, pinned=True)
        twin = recorder.remember("high too", importance=900)
        recorder.remember("private", scope="user:kim")
        expected = {
            "relevance": [pinned, twin, high, low],
            "newest": [twin, pinned, high, low],
            "oldest": [low, high, pinned, twin],
        }
        for order in ORDERS:
            with store.reading() as view:
                index = view.index(recorder.p)
                whole = index.browse(now_filter(), order=order, after=None, limit=9)
                assert [passage.memory for passage, _ in whole] == expected[order]
                for at, (_, place) in enumerate(whole):
                    rest = index.browse(now_filter(), order=order, after=place, limit=2)
                    assert [passage.memory for passage, _ in rest] == expected[order][at + 1 : at + 3]

    def test_another_project_moves_no_answer(self, store: Store) -> None:
        recorder = Recorder(store)
        ident = recorder.remember("apple pie", session="s", turn=1)
        other = Recorder(store, slug="acme/other")
        for n in range(5):
            other.remember("apple pie", session="s", turn=n)
        with store.reading() as view:
            index = view.index(recorder.p)
            assert index.statistics(["apple"], SHARED).df == {"apple": 1}
            assert [each.memory for each in index.candidates(["apple"], now_filter(), limit=3)] == [ident]
            assert [each.memory for each in index.neighbours([("s", 0, 9)], now_filter())] == [ident]
            assert index.count(now_filter()) == 1

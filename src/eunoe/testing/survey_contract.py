"""The contract suite of `eunoe.ports.survey`; see `eunoe.testing.contracts`."""

from __future__ import annotations

from eunoe.ports.store import Store
from eunoe.ports.survey import Standing
from eunoe.testing.contracts import BOTH, LATER_US, now_filter
from eunoe.testing.records import Recorder


def names(found: list[Standing]) -> list[str]:
    """Return the ids of what was found."""
    return [each.id for each in found]


class SurveyContract:
    """`eunoe.ports.survey.Survey`."""

    def test_the_foremost_are_pinned_then_important_then_new(self, store: Store) -> None:
        recorder = Recorder(store)
        low = recorder.remember("something", importance=100)
        high = recorder.remember("something", importance=900)
        pinned = recorder.remember("something", importance=0, pinned=True)
        newer = recorder.remember("something", importance=900)
        with store.reading() as view:
            survey = view.survey(recorder.p)
            assert names(survey.foremost(now_filter(), limit=9)) == [pinned, newer, high, low]
            assert names(survey.foremost(now_filter(), limit=2)) == [pinned, newer]
            assert names(survey.newest(now_filter(), limit=9)) == [newer, pinned, high, low]
            assert survey.foremost(now_filter(), limit=1)[0].pinned

    def test_what_is_not_believed_or_not_readable_is_not_surveyed(self, store: Store) -> None:
        recorder = Recorder(store)
        kept = recorder.remember("something")
        gone = recorder.remember("something")
        private = recorder.remember("something", scope="user:kim")
        recorder.record("memory.archived", {"memory": gone})
        with store.reading() as view:
            survey = view.survey(recorder.p)
            for read in (survey.foremost, survey.newest):
                assert names(read(now_filter(), limit=9)) == [kept]
                assert set(names(read(now_filter(scopes=BOTH), limit=9))) == {kept, private}
            assert names(view.survey(recorder.p + 1).newest(now_filter(), limit=9)) == []

    def test_labels_count_kinds_and_tags_of_what_is_believed(self, store: Store) -> None:
        recorder = Recorder(store)
        recorder.remember("something", kind="gotcha", tags=["a", "b"])
        gone = recorder.remember("something", kind="gotcha", tags=["a"])
        recorder.remember("something", kind="state", tags=["c"], scope="user:kim")
        with store.reading() as view:
            survey = view.survey(recorder.p)
            assert survey.labels(("project",), now=LATER_US) == {"kind:gotcha": 2, "tag:a": 2, "tag:b": 1}
            assert survey.labels(BOTH, now=LATER_US) == {
                "kind:gotcha": 2,
                "kind:state": 1,
                "tag:a": 2,
                "tag:b": 1,
                "tag:c": 1,
            }
        recorder.record("memory.archived", {"memory": gone})
        with store.reading() as view:
            assert view.survey(recorder.p).labels(("project",), now=LATER_US) == {
                "kind:gotcha": 1,
                "tag:a": 1,
                "tag:b": 1,
            }

    def test_what_is_scheduled_or_has_ended_is_not_counted(self, store: Store) -> None:
        recorder = Recorder(store)
        recorder.remember("something", tags=["a"])
        recorder.remember("something", tags=["a"], valid_to=LATER_US - 1)
        recorder.remember("something", tags=["b"], expires_at=LATER_US)
        recorder.remember("something", tags=["c"], valid_from=LATER_US + 1)
        with store.reading() as view:
            survey = view.survey(recorder.p)
            assert survey.labels(("project",), now=LATER_US) == {"kind:fact": 1, "tag:a": 1}
            assert survey.labels(("project",), now=LATER_US - 2) == {"kind:fact": 3, "tag:a": 2, "tag:b": 1}

    def test_the_disputed_are_named_by_number(self, store: Store) -> None:
        recorder = Recorder(store)
        first, _, third = recorder.remember("something"), recorder.remember("something"), recorder.remember("something")
        with store.reading() as view:
            assert view.survey(recorder.p).disputed(now_filter(), limit=9) == []
        for ident in (third, first):
            recorder.record("memory.disputed", {"memory": ident})
        with store.reading() as view:
            survey = view.survey(recorder.p)
            assert survey.disputed(now_filter(), limit=9) == [1, 3]
            assert survey.disputed(now_filter(), limit=1) == [1]
            assert [each.disputed for each in survey.newest(now_filter(), limit=9)] == [True, False, True]

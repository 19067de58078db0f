"""The cap on memories: what takes no more room is always admitted, and nothing passes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cases.conftest import Open
from tests.strategies import changed, reopened

from eunoe import Invalid, Memory, Refused
from eunoe.config.settings import load_settings

FRUIT = ("apple", "banana", "cherry", "damson", "elder", "fig", "grape", "hazel", "iris", "jujube", "kiwi", "lemon")


def capped(m: Memory, most: int | None, *, holding: int = 0) -> Memory:
    if holding:
        m.remember_many([{"body": f"A note about {name}"} for name in FRUIT[:holding]])
    return reopened(m, changed(m._context, max_memories=most))


def refused(call: Callable[[], object]) -> Refused:
    with pytest.raises(Refused) as caught:
        call()
    assert caught.value.code == "cap"
    return caught.value


def test_unset_is_no_cap_and_a_cap_says_what_to_do(m: Memory) -> None:
    full = capped(m, 3, holding=3)
    error = refused(lambda: full.remember("One more"))
    assert error.details == {"memories": 3, "cap": 3}
    assert "archive or supersede" in error.message
    assert full.count() == 3
    assert capped(m, None).remember("One more").outcome == "recorded"


def test_what_takes_no_more_room_is_admitted_at_the_cap(m: Memory) -> None:
    m.remember("Heroku", key="deploy/target")
    full = capped(m, 4, holding=3)
    assert full.remember("Fly", key="deploy/target").outcome == "replaced"
    assert full.remember("A note about apple").outcome == "confirmed"
    assert full.remember("A note about quince", supersedes=2).outcome == "replaced"
    assert full.remember("read on a page", trust="external").outcome == "pending"
    assert full.count() == 4
    refused(lambda: full.remember("Fly", key="deploy/other"))


def test_archiving_makes_room_and_coming_back_takes_it(m: Memory) -> None:
    full = capped(m, 3, holding=3)
    full.archive(1)
    assert full.remember("One more").outcome == "recorded"
    refused(lambda: full.restore(1))
    assert full.get(1).status == "archived"
    full.forget(2)
    assert full.restore(1).action == "restored"


def test_what_expired_takes_no_room(opened: Open, clock: object) -> None:
    full = capped(opened(at=":memory:"), 2)
    full.remember("for an hour", tier="stm", ttl="1h")
    full.remember("for good")
    refused(lambda: full.remember("One more"))
    full._context.clock.advance(days=1)  # type: ignore[attr-defined]
    assert full.remember("One more").outcome == "recorded"


def test_a_batch_over_the_cap_is_rolled_back_whole(m: Memory) -> None:
    full = capped(m, 3, holding=2)
    error = refused(lambda: full.remember_many([{"body": "third"}, {"body": "fourth"}]))
    assert error.details["item"] == 1
    assert full.count() == 2
    assert len(full.remember_many([{"body": "third"}, {"body": "third"}])) == 2


def test_receipts_note_it_from_90_percent_on_and_not_below(m: Memory) -> None:
    near = capped(m, 10, holding=7)
    assert near.remember("the eighth").notes == ()
    note = "9/10 memories: archive or supersede what is stale; see review."
    assert near.remember("the ninth").notes == (note,)
    assert note in near.remember("the ninth").text


def test_it_counts_the_memories_of_all_scopes_and_of_one_project(opened: Open) -> None:
    kim, lee = opened(user="kim"), opened(user="lee")
    kim.remember("mine alone", scope="user:kim")
    kim.remember("for everyone")
    opened("acme/other", user="kim").remember("elsewhere")
    refused(lambda: capped(lee, 2).remember("One more"))
    assert capped(lee, 3).remember("One more").outcome == "recorded"


@pytest.mark.parametrize("beside", [False, True])
def test_an_import_over_it_is_refused_and_writes_nothing(opened: Open, beside: bool) -> None:
    there = opened("acme/there", at=":memory:")
    there.remember_many([{"body": f"A note about {name}"} for name in FRUIT[:4]])
    there.archive(1)
    document = there.export()
    here = opened("acme/here", at=":memory:")
    if beside:
        here.remember("Something is here already")
    refused(lambda: capped(here, 2 + beside).import_(document))
    assert here.count() == beside
    assert capped(here, 3 + beside).import_(document).memories == 4
    assert here.count() == 3 + beside
    assert here.remember("and it goes on").outcome == "recorded"


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5", "٣", "9" * 20])
def test_a_cap_that_is_no_number_is_refused(value: str) -> None:
    with pytest.raises(Invalid) as caught:
        load_settings({"EUNOE_MAX_MEMORIES": value})
    assert caught.value.code == "bad_max_memories"


def test_the_setting_reaches_the_session(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings({}).max_memories is None
    monkeypatch.setenv("EUNOE_MAX_MEMORIES", "1")
    with Memory.open(store_path, project="acme/api") as memory:
        memory.remember("one")
        refused(lambda: memory.remember("two"))
        cap = memory.review().cap
        assert cap is not None
        assert (cap.memories, cap.most) == (1, 1)


# ── links (inventory row 315) ────────────────────────────────────────────────────────────────────────────────────────


def test_a_memory_has_no_more_links_than_the_cap(m: Memory) -> None:
    few = reopened(m, changed(m._context, max_links=2))
    for at in range(4):
        few.remember(f"Fact number {at} about the queue", force=True)
    few.link(1, 2)
    few.link(1, 3)
    before = few.head()
    for act in (lambda: few.link(1, 4), lambda: few.link(4, 1), lambda: few.remember("One more of it", links=[1])):
        with pytest.raises(Refused) as caught:
            act()
        assert caught.value.code == "link_cap"
    assert few.head() == before
    few.link(1, 2)  # it is linked already
    few.unlink(1, 2)
    few.link(1, 4)


def test_the_cap_of_links_is_a_setting_of_32(m: Memory) -> None:
    assert load_settings({}).max_links == 32
    assert load_settings({"EUNOE_MAX_LINKS": "7"}).max_links == 7
    with pytest.raises(Invalid) as caught:
        load_settings({"EUNOE_MAX_LINKS": "none"})
    assert caught.value.code == "bad_max_links"

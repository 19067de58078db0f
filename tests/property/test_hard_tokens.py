"""Promise 10: facts that differ in a hard token are two facts, on every path."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from eunoe.errors import Conflict
from tests.strategies import World, budget

Pair = tuple[str, str]

_NUMBERS = st.integers(0, 10**6).map(str)
_DATES = st.dates().map(lambda day: day.isoformat())
_DAYS = st.tuples(st.integers(1, 28), st.sampled_from(("January", "March", "May"))).map(lambda d: f"{d[0]} {d[1]}")
_VERSIONS = st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 9)).map(lambda v: f"v{v[0]}.{v[1]}.{v[2]}")
_UNITS = st.sampled_from(("10ms", "10s", "10GB", "10MB", "10GiB", "10%", "10°C", "10kg", "10€", "10"))
_FLAGS = st.sampled_from(("-v", "-V", "--force", "--force-with-lease", "--no-verify", "--verify", "-r", "-R"))
_IDENTIFIERS = st.sampled_from(
    ("getUser", "getuser", "GetUser", "USER_ID", "user_id", "HTTPServer", "HttpServer", "iOS", "IOS", "MiB", "Mib")
)
_FRAMES = (
    "The nightly job uses {} on every machine of the cluster",
    "{} is what the loader expects",
    "we settled on {}",
    "In the end it was `{}`, whatever the ticket says",
    "wir nehmen {} für den Import",
    "客户端要求 {} 才能启动",
)
_NEGATED = (
    ("Run the migration {}before the release", "", "not "),
    ("The cache is {}shared between workers", "", "never "),
    ("Deploy {}a backup of the ledger", "with ", "without "),
    ("The client {}retry on its own", "does ", "doesn't "),
    ("The client {}follow redirects", "can ", "cannot "),
    ("{}of the replicas accepts writes", "Each ", "None "),
)


@st.composite
def framed(draw: st.DrawFn) -> Pair:
    """Return two texts that differ in one number, date, version, unit, flag or identifier, and in nothing else."""
    tokens = draw(st.sampled_from((_NUMBERS, _DATES, _DAYS, _VERSIONS, _UNITS, _FLAGS, _IDENTIFIERS)))
    one, other = draw(st.lists(tokens, min_size=2, max_size=2, unique=True))
    frame = draw(st.sampled_from(_FRAMES))
    return frame.format(one), frame.format(other)


def negated() -> st.SearchStrategy[Pair]:
    """Return a text and its opposite."""
    return st.sampled_from(_NEGATED).map(lambda row: (row[0].format(row[1]), row[0].format(row[2])))


def swapped() -> st.SearchStrategy[Pair]:
    """Return two texts in which two numbers changed places."""
    frame = "from {} to {} seconds, after {} tries"
    numbers = st.lists(st.integers(0, 99), min_size=3, max_size=3, unique=True)
    return numbers.map(lambda n: (frame.format(*n), frame.format(n[1], n[0], n[2])))


def cased() -> st.SearchStrategy[Pair]:
    """Return two texts whose only difference is the case of a flag or an identifier."""
    twins = st.sampled_from((("-v", "-V"), ("getUser", "getuser"), ("MiB", "Mib"), ("iOS", "IOS")))
    return st.tuples(twins, st.sampled_from(_FRAMES)).map(
        lambda row: (row[1].format(row[0][0]), row[1].format(row[0][1]))
    )


def _either_way(pairs: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    return pairs.flatmap(lambda pair: st.sampled_from((pair, pair[::-1])))


UNLIKE = _either_way(st.one_of(framed(), framed(), cased(), negated()))
SWAPPED = _either_way(swapped())
PAIRS = st.one_of(UNLIKE, UNLIKE, UNLIKE, SWAPPED)


@budget(150)
@given(UNLIKE)
def test_the_second_of_a_pair_is_recorded_without_further_ado(pair: Pair) -> None:
    memory = World().memory
    first = memory.remember(pair[0])
    second = memory.remember(pair[1])
    assert second.outcome == "recorded"
    assert second.id != first.id
    assert memory.get(first.id).occurrences == 1


@budget(30)
@given(SWAPPED)
def test_two_numbers_that_changed_places_are_at_most_called_nearly_the_same(pair: Pair) -> None:
    memory = World().memory
    first = memory.remember(pair[0])
    try:
        assert memory.remember(pair[1]).outcome == "recorded"
    except Conflict as conflict:
        assert conflict.code == "near_duplicate"
    assert memory.get(first.id).occurrences == 1


@budget(80)
@given(PAIRS)
def test_both_of_a_pair_are_kept_and_found(pair: Pair) -> None:
    memory = World().memory
    first = memory.remember(pair[0])
    second = memory.remember(pair[1], force=True)
    for receipt, text in ((first, pair[0]), (second, pair[1])):
        assert memory.get(receipt.id).body == text
        assert receipt.id in {hit.id for hit in memory.recall(text, limit=10).hits}
    assert memory.count() == 2


@budget(60)
@given(st.lists(PAIRS, min_size=1, max_size=4))
def test_pairs_in_one_batch_are_all_recorded(pairs: list[Pair]) -> None:
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    assume(len({text.casefold() for text in texts}) == len(texts))
    memory = World().memory
    receipts = memory.remember_many([{"body": text} for text in texts])
    assert [receipt.outcome for receipt in receipts] == ["recorded"] * len(texts)
    assert {hit.body for hit in memory.recall(None, limit=50).hits} == set(texts)


@budget(60)
@given(PAIRS)
def test_under_a_key_the_second_of_a_pair_replaces_the_first(pair: Pair) -> None:
    memory = World().memory
    first = memory.remember(pair[0], key="k")
    second = memory.remember(pair[1], key="k")
    assert second.outcome == "replaced"
    assert [each.id for each in second.replaced] == [first.id]
    assert memory.get(key="k").body == pair[1]
    assert memory.get(first.id).body == pair[0]


@budget(40)
@given(PAIRS)
def test_a_correction_by_update_is_no_duplicate(pair: Pair) -> None:
    memory = World().memory
    memory.remember(pair[0])
    assert memory.update(1, body=pair[1]).action == "updated"
    assert memory.get(1).body == pair[1]


@budget(40)
@given(PAIRS)
def test_what_differs_from_a_forgotten_text_is_not_rejected_with_it(pair: Pair) -> None:
    memory = World().memory
    memory.remember(pair[0])
    memory.forget(1)
    receipt = memory.remember(pair[1], trust="inferred")
    assert receipt.outcome == "recorded"

"""Packing: bodies in order, then lines, then what is left over turns lines into bodies; the rest is counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eunoe.domain.rendering import Piece
from eunoe.retrieval.pack import MORE, Entry, Section, pack


def count(text: str) -> int:
    """One token a word; headings and the note on what is missing are counted like this."""
    return len(text.split())


def piece(name: str, words: int) -> Piece:
    return Piece(f"{name} " * words + "\n", words)


def entry(name: str, *, full: int | None = 10, line: int = 2, heading: str = MORE) -> Entry:
    whole = None if full is None else piece(name.upper(), full)
    return Entry(name, piece(name, line), whole, heading)


def test_what_fits_is_shown_in_full_and_in_order() -> None:
    packed = pack([Section("", [entry("a"), entry("b")])], budget=20, count=count)
    assert (packed.full, packed.lines, packed.omitted, packed.tokens) == (("a", "b"), (), 0, 20)
    assert packed.text.index("A") < packed.text.index("B")


def test_bodies_stop_at_their_share_and_the_rest_becomes_lines() -> None:
    packed = pack([Section("", [entry(name) for name in "abcdef"])], budget=40, count=count)
    assert packed.full == ("a", "b")  # 4 for "… n more, not shown"; 85 % of 40 leaves room for two
    assert packed.lines == ("c", "d", "e", "f")
    assert packed.text.count(MORE) == 1
    assert packed.omitted == 0


def test_one_that_is_too_long_does_not_stop_those_behind_it() -> None:
    packed = pack([Section("", [entry("a", full=90), entry("b"), entry("c")])], budget=40, count=count)
    assert packed.full == ("b", "c")
    assert packed.lines == ("a",)


def test_what_is_left_over_turns_lines_into_bodies() -> None:
    # Bodies stop at 50 %, so b is a line at first; nothing else wants the room.
    packed = pack([Section("", [entry("a"), entry("b", full=12), entry("c", full=90)], 0.5)], budget=40, count=count)
    assert packed.full == ("a", "b")
    assert packed.lines == ("c",)


def test_what_is_shown_nowhere_is_counted_and_told() -> None:
    packed = pack([Section("", [entry(name, full=30, line=6) for name in "abcdefgh"])], budget=24, count=count)
    assert packed.omitted == 8 - len(packed.full) - len(packed.lines) > 0
    assert packed.text.endswith(f"… {packed.omitted} more, not shown\n")
    more = pack([Section("", [entry("a")])], budget=24, count=count, beyond=1234)
    assert more.text.endswith("… 1,234 more, not shown\n")


def test_pinned_ones_cannot_take_the_share_of_what_matches() -> None:
    pinned = Section("Pinned:\n", [entry(f"p{at}") for at in range(20)], 0.5)
    matches = Section("Focus:\n", [entry(f"m{at}") for at in range(20)], 0.8)
    packed = pack([pinned, matches], budget=200, count=count)
    spent = {name: sum(10 for ident in packed.full if ident[0] == name) for name in "pm"}
    assert spent["p"] <= 100
    assert spent["m"] >= 60  # 30 % at least


def test_an_entry_in_two_sections_is_shown_once_where_it_comes_first() -> None:
    packed = pack(
        [Section("One:\n", [entry("a")]), Section("Two:\n", [entry("a"), entry("b")])], budget=90, count=count
    )
    assert packed.full == ("a", "b")
    assert packed.text.count("A ") == 10


def test_lines_stand_below_their_headings_in_the_given_order() -> None:
    entries = [entry("a", full=None), entry("b", full=None, heading="Recent:\n"), entry("c", full=None)]
    packed = pack([Section("", entries)], budget=90, count=count, order=("Recent:\n", MORE))
    assert [line.split()[0] for line in packed.text.splitlines()] == ["Recent:", "b", "More:", "a", "c"]


def test_a_budget_for_nothing_gives_nothing_and_counts_everything() -> None:
    assert pack([Section("", [entry("a"), entry("b")])], budget=1, count=count) == ("", 0, (), (), 2)
    assert pack([], budget=0, count=count).text == ""


_SIZES = st.tuples(st.integers(0, 60) | st.none(), st.integers(1, 9), st.sampled_from((MORE, "Recent:\n")))


@given(
    st.lists(st.tuples(st.lists(_SIZES, max_size=12), st.floats(0, 1)), max_size=4),
    st.integers(0, 300),
    st.integers(0, 2000),
)
def test_a_text_costs_what_it_says_and_never_more_than_the_budget(
    shapes: list[tuple[list[tuple[int | None, int, str]], float]], budget: int, beyond: int
) -> None:
    sections = [
        Section(
            f"S{at}:\n", [entry(f"e{at}x{i}", full=f, line=n, heading=h) for i, (f, n, h) in enumerate(sizes)], share
        )
        for at, (sizes, share) in enumerate(shapes)
    ]
    packed = pack(sections, budget=budget, count=count, order=("Recent:\n", MORE), beyond=beyond)
    assert count(packed.text) <= packed.tokens <= budget
    total = sum(len(section.entries) for section in sections) + beyond
    assert len(packed.full) + len(packed.lines) + packed.omitted == total
    assert not set(packed.full) & set(packed.lines)

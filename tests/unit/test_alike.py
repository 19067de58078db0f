"""Likeness by words: what each text has and the other lacks makes two facts, what only one has a longer wording."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import budget

from eunoe.domain.alike import SKETCH_TERMS, likeness, sketch
from eunoe.domain.postings import pack


class Equal(dict[str, float]):
    def __missing__(self, term: str) -> float:
        return 1.0


def alike(one: str, other: str, worth: dict[str, float] | None = None) -> float:
    first, second = (sketch(pack((text.split(), (), (), ()))) for text in (one, other))
    return likeness(first, second, Equal() if worth is None else worth)


def test_a_sketch_counts_body_and_title_and_leaves_tags_and_paths_out() -> None:
    assert sketch(pack((["a", "b", "a"], ["b", "c"], ["t"], ["p"]))) == {"a": 2, "b": 2, "c": 1}


def test_equal_texts_are_alike_and_texts_without_a_shared_word_are_not() -> None:
    assert alike("deploy from main", "main from deploy") == 1.0
    assert alike("lemon cake", "plum tart") == alike("", "") == alike("", "plum") == 0.0


def test_a_longer_wording_is_more_alike_than_another_fact() -> None:
    text = "retry the payment queue before paging anybody"
    assert alike(text, f"{text} at night please") > 0.9
    assert alike(text, text.replace("payment", "mail")) < 0.75


def test_a_rare_word_tells_more_than_a_common_one() -> None:
    worth = Equal(rare=5.0, common=0.2)
    assert alike("a b c rare", "a b c other", worth) < alike("a b c common", "a b c other", worth)


def test_a_text_is_not_its_own_repetition() -> None:
    assert alike("a b", "a b a b a b") < 1.0


WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=12).map(" ".join)


@budget(100)
@given(WORDS, WORDS)
def test_likeness_is_symmetric_and_between_0_and_1(one: str, other: str) -> None:
    assert alike(one, other) == alike(other, one)
    assert 0.0 <= alike(one, other) <= 1.0
    assert alike(one, one) == (1.0 if one else 0.0)


def test_of_long_texts_the_same_terms_are_compared() -> None:
    words = [f"word{at}" for at in range(2000)]
    one, other = (sketch(pack((text, (), (), ()))) for text in (words, [*words[20:], "more"]))
    assert len(one) == SKETCH_TERMS
    assert likeness(one, other, Equal()) > 0.95

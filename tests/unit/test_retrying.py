"""What was given up for another's transaction is run anew; nothing else is."""

from __future__ import annotations

import pytest

from eunoe.errors import Conflict, EunoeError, Unavailable
from eunoe.service.retrying import ATTEMPTS, retried

GIVEN_UP = Unavailable("serialization", "two waited for each other", retryable=True)


class UseCase:
    """Fails so often, and counts how often it was run."""

    def __init__(self, error: EunoeError, failures: int) -> None:
        self.runs = 0
        self._error = error
        self._failures = failures

    def __call__(self, answer: str) -> str:
        self.runs += 1
        if self.runs <= self._failures:
            raise self._error
        return answer


def run(use_case: UseCase) -> str:
    @retried
    def called(answer: str) -> str:
        return use_case(answer)

    return called("done")


def test_it_is_run_until_it_succeeds() -> None:
    use_case = UseCase(GIVEN_UP, ATTEMPTS - 1)
    assert run(use_case) == "done"
    assert use_case.runs == ATTEMPTS


def test_in_the_end_the_error_is_told() -> None:
    use_case = UseCase(GIVEN_UP, ATTEMPTS)
    with pytest.raises(Unavailable) as caught:
        run(use_case)
    assert caught.value is GIVEN_UP
    assert use_case.runs == ATTEMPTS


@pytest.mark.parametrize(
    "error",
    [
        Unavailable("locked", "another one writes", retryable=True),
        Unavailable("connection_lost", "it may have been written", retryable=True),
        Conflict("held_key", "the key is another's"),
    ],
    ids=lambda error: error.code,
)
def test_nothing_else_is_tried_again(error: EunoeError) -> None:
    use_case = UseCase(error, 1)
    with pytest.raises(type(error)):
        run(use_case)
    assert use_case.runs == 1

"""A use case whose transaction was given up so that another's could go on is run anew: nothing of it was written."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from eunoe.errors import Unavailable

ATTEMPTS = 5
_PAUSE_S = 0.01

P = ParamSpec("P")
R = TypeVar("R")


def retried(use_case: Callable[P, R]) -> Callable[P, R]:
    """Run a use case again, up to five times in all, when the store gave its transaction up (`serialization`).

    For use cases that are one transaction and change nothing outside of it.
    """

    @wraps(use_case)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        for attempt in range(1, ATTEMPTS):
            try:
                return use_case(*args, **kwargs)
            except Unavailable as exc:
                if exc.code != "serialization":
                    raise
                time.sleep(_PAUSE_S * 2**attempt)
        return use_case(*args, **kwargs)

    return run

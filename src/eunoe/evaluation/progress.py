"""How far a section is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]


class Steps:
    """Counts what is done, and tells it to whoever watches."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        """Begin with none of `total` done."""
        self._done = 0
        self._total = total
        self._progress = progress

    def step(self) -> None:
        """One more is done."""
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)

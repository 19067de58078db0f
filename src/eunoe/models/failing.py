"""Libraries of others raise whatever they like; callers get one error that says what to do."""

from __future__ import annotations

from types import TracebackType

from eunoe.errors import EunoeError, Unavailable

_SHOWN = 200


class Blamed:
    """A block in which a foreign library works: its exception becomes `model_failed`.

    The tokenizers raise bare `Exception`, the runtime a dozen classes without a common base, the engines `OSError`: so
    what is translated is told by where it happens. What is no `Exception` passes, and so do errors of this package.
    """

    __slots__ = ("_doing", "_fix")

    def __init__(self, doing: str, fix: str) -> None:
        self._doing = doing
        self._fix = fix

    def __enter__(self) -> None:
        """Begin; nothing is prepared."""

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Translate. Raises `Unavailable` (`model_failed`)."""
        if isinstance(exc, Exception) and not isinstance(exc, EunoeError):
            raise Unavailable("model_failed", f"{self._doing}: {said(exc)}; {self._fix}") from exc


def said(exc: BaseException) -> str:
    """Return the first line of an exception's message, short, or its class when it has none."""
    lines = str(exc).strip().splitlines()
    return lines[0][:_SHOWN] if lines else type(exc).__name__

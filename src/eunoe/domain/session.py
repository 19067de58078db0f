"""The session of an agent: what must stay the same in everything that it is shown. Lean."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_FENCE_DIGITS = 8


class AgentSession(NamedTuple):
    """One session.

    Attributes:
        id: As the harness names it; where nothing names it, the day.
        began_at: Microseconds; ages are told as of its day, so that text that was shown once stays the same.
        secret: Returns the store's secret, which no text in a memory can know.
    """

    id: str
    began_at: int
    secret: Callable[[], bytes]

    @property
    def fence(self) -> str:
        """Return what the fence around recalled text is called in this session: 8 hexadecimal digits."""
        from hashlib import sha256  # noqa: PLC0415 - 3 ms, for sessions that are shown something
        from hmac import new  # noqa: PLC0415

        return new(self.secret(), b"fence " + self.id.encode(), sha256).hexdigest()[:_FENCE_DIGITS]

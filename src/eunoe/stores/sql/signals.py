"""The port `Signals` over an engine. Lean: each command opens it, few write through it."""

from __future__ import annotations

import threading

from eunoe.domain.instants import DAY_US
from eunoe.errors import Unavailable
from eunoe.stores.sql.statements import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from eunoe.stores.sql.connection import Engine

# Written when so many memories wait, or the first of them so long: a process that reads all day loses half a minute at
# most, and a read in hundreds pays for the writing (about a millisecond).
_MANY = 500
_OLD_US = 30_000_000
# More than this many never wait: while a store cannot be written, noting must not eat the process's memory.
_MOST = 10_000

_Key = tuple[int, str, int]


class SqlSignals:
    """Implements `eunoe.ports.signals.Signals`; threads may share it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._waiting: dict[_Key, int] = {}
        self._since = 0
        self._many = _MANY

    def note_reads(self, p: int, memories: Iterable[str], at: int) -> None:
        """See `Signals.note_reads`."""
        day = at - at % DAY_US
        with self._lock:
            if not self._waiting:
                self._since, self._many = at, _MANY
            for memory in memories:
                key = (p, memory, day)
                if key in self._waiting or len(self._waiting) < _MOST:
                    self._waiting[key] = self._waiting.get(key, 0) + 1
            due = len(self._waiting) >= self._many or not 0 <= at - self._since < _OLD_US
            if due:  # should it fail, the next attempt comes with time alone, not with each read
                self._since, self._many = at, _MOST + 1
        if due:
            self.flush()

    def flush(self) -> bool:
        """See `Signals.flush`."""
        with self._lock:
            taken, self._waiting = self._waiting, {}
        if not taken:
            return True
        rows = [{"p": p, "memory": memory, "at": at, "n": n} for (p, memory, at), n in taken.items()]
        try:
            with self._engine.writing(patient=False) as connection:
                connection.many(load("signals")["access_add"], rows)
        except Unavailable:
            with self._lock:
                for key, n in taken.items():
                    self._waiting[key] = self._waiting.get(key, 0) + n
            return False
        return True

    def last_reads(self, p: int, memories: Sequence[str]) -> dict[str, int]:
        """See `Signals.last_reads`."""
        sql, found = load("signals")["last_read"], {}
        with self._engine.reading() as connection:
            for memory in memories:
                ((at,),) = connection.run(sql, {"p": p, "memory": memory})
                if at is not None:
                    found[memory] = at
        wanted = set(memories)
        with self._lock:
            for project, memory, at in self._waiting:
                if project == p and memory in wanted:
                    found[memory] = max(found.get(memory, at), at)
        return found

    def since(self, p: int) -> int:
        """See `Signals.since`."""
        with self._engine.reading() as connection:
            rows = connection.run(load("signals")["since"], {"p": p})
        return max(rows[0]) if rows else 0

"""The port `Ledger` over one connection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eunoe.domain.event import GENESIS, Event
from eunoe.domain.ids import NIL
from eunoe.errors import Conflict, Unavailable
from eunoe.ports.ledger import Head, Position
from eunoe.stores.sql.connection import Connection, Row
from eunoe.stores.sql.statements import load

_SQL = load("ledger")


class SqlLedger:
    """Implements `eunoe.ports.ledger.Ledger` for the project `p`."""

    def __init__(self, connection: Connection, p: int) -> None:
        self._connection = connection
        self._p = p

    def position(self, stream: str) -> Position:
        """See `Ledger.position`."""
        rows = self._connection.run(_SQL["position"], {"p": self._p, "stream": stream})
        if not rows:
            return Position(seq=0, id=NIL, recorded_at=0, number=0, n=0, hash=GENESIS)
        seq, ident, recorded_at, number, n, head = rows[0]
        return Position(seq=seq, id=ident, recorded_at=recorded_at, number=number, n=n, hash=head or GENESIS)

    def append(self, event: Event, *, number: int) -> None:
        """See `Ledger.append`."""
        run, p = self._connection.run, self._p
        try:
            run(_SQL["event_insert"], _params(p, event))
        except Unavailable as exc:
            if exc.code != "constraint":
                raise
            raise duplicate_event(str(exc)) from exc
        run(_SQL["head_set"], {"p": p, "stream": event.stream, "n": event.n, "hash": event.hash})
        counters = {"p": p, "seq": event.seq, "id": event.id, "recorded_at": event.recorded_at, "number": number}
        run(_SQL["counters_set"], counters)

    def events(self, *, after: int = 0, memory: str | None = None, newest_first: bool = False) -> Iterator[Event]:
        """See `Ledger.events`."""
        if memory:
            name = "events_of_memory_newest" if newest_first else "events_of_memory"
        else:
            name = "events_newest" if newest_first else "events_after"
        params: dict[str, Any] = {"p": self._p, "after": after}
        if memory:
            params["memory"] = memory
        return map(_event, self._connection.stream(_SQL[name], params))

    def find(self, *, ident: str | None = None, seq: int | None = None, dedupe_key: str | None = None) -> Event | None:
        """See `Ledger.find`."""
        if ident is not None:
            rows = self._connection.run(_SQL["event_by_id"], {"p": self._p, "id": ident})
        elif seq is not None:
            rows = self._connection.run(_SQL["event_by_seq"], {"p": self._p, "seq": seq})
        else:
            rows = self._connection.run(_SQL["event_by_dedupe_key"], {"p": self._p, "dedupe_key": dedupe_key})
        return _event(rows[0]) if rows else None

    def heads(self) -> list[Head]:
        """See `Ledger.heads`."""
        rows = self._connection.run(_SQL["heads"], {"p": self._p})
        return [Head(stream=stream, n=n, hash=head) for stream, n, head in rows]

    def stored(self, *, after_seq: int = 0) -> Iterator[tuple[Any, ...]]:
        """See `Ledger.stored`."""
        return self._connection.stream(_SQL["stored"], {"p": self._p, "after": after_seq})

    def count(self) -> int:
        """See `Ledger.count`."""
        total: int = self._connection.run(_SQL["event_count"], {"p": self._p})[0][0]
        return total


def duplicate_event(told: str) -> Conflict:
    """Return the error of an event whose id, place or dedupe key is another's."""
    return Conflict("duplicate_event", f"an event of this id or dedupe key is in the ledger already: {told}")


def _event(row: Row) -> Event:
    """Return the event of a row; the statements name its columns in the order of its fields."""
    return Event._make(row)


def _params(p: int, event: Event) -> dict[str, Any]:
    return {
        "p": p,
        "seq": event.seq,
        "id": event.id,
        "stream": event.stream,
        "n": event.n,
        "type": event.type,
        "v": event.v,
        "origin": event.origin,
        "occurred_at": event.occurred_at,
        "recorded_at": event.recorded_at,
        "received_at": event.received_at,
        "dedupe_key": event.dedupe_key,
        "meta": event.meta,
        "payload": event.payload,
        "payload_key": event.payload_key,
        "payload_hash": event.payload_hash,
        "prev_hash": event.prev_hash,
        "hash": event.hash,
    }

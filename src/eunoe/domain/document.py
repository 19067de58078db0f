"""The export document: a project's whole ledger as JSON, complete, verifiable, and the same bytes for the same ledger.

Everything else is a projection, so nothing else is in it. `exported_at` is the time of the last event, never the time
of exporting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from eunoe.domain.canonical import canonical, canonical_bytes, parse
from eunoe.domain.chain import ChainChecker
from eunoe.domain.event import Event
from eunoe.domain.event_content import check_content, is_integer
from eunoe.domain.ids import check_id
from eunoe.errors import Invalid, Unavailable, shown

FORMAT = 1

LEFT_OUT = (
    "text indexes and statistics: rebuilt by the import",
    "project name and folder of this store: an import keeps those of its own",
)

_COPIED = ("id", "stream", "seq", "n", "type", "v", "occurred_at", "recorded_at", "received_at", "dedupe_key")


def event_to_json(event: Event) -> dict[str, Any]:
    """Return an event as the document holds it: meta, origin and payload as objects, hashes in hexadecimal."""
    row = {name: getattr(event, name) for name in _COPIED}
    return row | {
        "origin": parse(event.origin),
        "meta": parse(event.meta),
        "payload": None if event.payload is None else parse(event.payload),
        "payload_hash": None if event.payload_hash is None else event.payload_hash.hex(),
        "prev_hash": event.prev_hash.hex(),
        "hash": event.hash.hex(),
    }


def event_from_json(row: Mapping[str, Any]) -> Event:
    """Return the event of an entry; its bytes are canonical again. Raises `Invalid` (`bad_document`)."""
    try:
        payload, payload_hash = row["payload"], row["payload_hash"]
        event = Event(
            **{name: row[name] for name in _COPIED},
            origin=canonical(row["origin"]),
            meta=canonical(row["meta"]),
            payload=None if payload is None else canonical_bytes(payload),
            payload_key=None,
            payload_hash=None if payload_hash is None else bytes.fromhex(payload_hash),
            prev_hash=bytes.fromhex(row["prev_hash"]),
            hash=bytes.fromhex(row["hash"]),
        )
        check_id(event.id)
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        raise Invalid("bad_document", f"events[{shown(row)}]: {exc}") from exc
    numbers = (event.seq, event.n, event.v, event.occurred_at, event.recorded_at, event.received_at)
    texts = (event.stream, event.type, event.dedupe_key or "")
    if (
        not all(is_integer(number) for number in numbers)
        or not all(isinstance(text, str) for text in texts)
        or not isinstance(row["meta"], dict)
        or not isinstance(payload, dict | None)
    ):
        raise Invalid("bad_document", f"the event {shown(event.id)} has a field of the wrong type")
    return event


def stored_row(event: Event) -> tuple[Any, ...]:
    """Return an event as `Ledger.stored` gives it."""
    return (
        event.seq,
        event.id.encode(),
        event.stream.encode(),
        event.n,
        event.type.encode(),
        event.v,
        event.origin.encode(),
        event.occurred_at,
        event.recorded_at,
        None if event.dedupe_key is None else event.dedupe_key.encode(),
        event.meta.encode(),
        event.payload,
        event.payload_key,
        event.payload_hash,
        event.prev_hash,
        event.hash,
    )


class Document:
    """A document that was read: its project, its events in order, and nothing unchecked.

    Attributes:
        uuid, slug: Of the project.
        secret: Keys its fingerprints, which are in the events.
        events: By `seq`; the chain is whole.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        """Check a document.

        Raises:
            Invalid: `bad_document`: a field is missing or of the wrong type, or an event holds what none can hold;
            `broken_document`: its chain does not hold. Unavailable: `newer_document`.
        """
        version = _field(_field(document, "eunoe", dict), "format", int)
        if version != FORMAT:
            raise Unavailable(
                "newer_document", f"the document has format {version}, this Eunoe reads {FORMAT}: upgrade Eunoe"
            )
        project = _field(document, "project", dict)
        self.uuid = check_id(_field(project, "uuid", str))
        self.slug = _field(project, "slug", str)
        try:
            self.secret = bytes.fromhex(_field(project, "secret", str))
        except ValueError as exc:
            raise Invalid("bad_document", "project.secret is not hexadecimal") from exc
        rows = _field(document, "events", list)
        self.events = [event_from_json(row) for row in rows]
        self._check_chain(_field(document, "heads", list))
        recorded: set[str] = set()
        for event, row in zip(self.events, rows, strict=True):
            check_content(event, row["meta"], row["payload"] or {}, recorded)

    def _check_chain(self, heads: list[Any]) -> None:
        checker = ChainChecker(self.uuid)
        fault = checker.run(stored_row(event) for event in self.events)
        try:
            ends = [(_field(head, "stream", str), head["n"], bytes.fromhex(head["hash"])) for head in heads]
        except (KeyError, TypeError, ValueError) as exc:
            raise Invalid("bad_document", f"heads: {exc}") from exc
        fault = fault or checker.finish(ends)
        if fault is not None:
            raise Invalid(
                "broken_document",
                f"the document was changed after it was exported: {fault.message}",
                details={"fault": fault.code, "seq": fault.seq},
            )


def dump(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the text of a document in pieces: canonical JSON, one event a line, so that two exports can be compared."""
    head = {name: value for name, value in document.items() if name != "events"}
    yield canonical(head)[:-1] + ',"events":[\n'
    last = len(document["events"]) - 1
    for at, row in enumerate(document["events"]):
        yield canonical(row) + (",\n" if at < last else "\n")
    yield "]}\n"


def _field(mapping: Mapping[str, Any], name: str, kind: type) -> Any:
    value = mapping.get(name) if isinstance(mapping, Mapping) else None
    if not isinstance(value, kind):
        raise Invalid("bad_document", f"{name} is missing or no {kind.__name__}; this is no export of Eunoe")
    return value

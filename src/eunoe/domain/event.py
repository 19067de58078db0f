"""One entry of the ledger.

An event is an envelope, a `meta` (canonical JSON of structure only) and a `payload` (canonical bytes of the content of
exactly one subject, with a random salt, so that equal contents have unequal hashes and an erased one cannot be
guessed). The hash covers the envelope, `meta` and the *hash* of the payload: erasing a payload leaves the chain whole.
No JSON library takes part in hashing or verifying: stored bytes are hashed as they are stored.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from eunoe.domain.canonical import parse

GENESIS = bytes(32)  # prev_hash of the first event of a stream


class Event(NamedTuple):
    """An immutable entry as it is stored.

    Attributes:
        seq: Arrival order in this store and project, gapless from 1. Not hashed: other stores order differently.
        id: UUIDv7, greater than every id of the project before it; the replay order.
        stream: The uuid of the store where it was written; one hash chain per stream.
        n: Place in its stream, from 1.
        type: Past tense, such as `memory.recorded`; `v` is the version of that type's shape.
        origin: Canonical JSON: who and what produced it, set by the runtime.
        occurred_at, recorded_at, received_at: Microseconds since 1970 UTC: when it happened, when it was written down
            (strictly increasing in a project), when this store got it (not hashed).
        dedupe_key: Unique in the project, or None.
        meta: Canonical JSON of structure; no free text.
        payload: Canonical JSON bytes with a salt, or None (never had one, or erased).
        payload_hash: SHA-256 of the plain payload, or None.
    """

    seq: int
    id: str
    stream: str
    n: int
    type: str
    v: int
    origin: str
    occurred_at: int
    recorded_at: int
    received_at: int
    dedupe_key: str | None
    meta: str
    payload: bytes | None
    payload_key: str | None
    payload_hash: bytes | None
    prev_hash: bytes
    hash: bytes

    def read_meta(self) -> dict[str, Any]:
        """Return `meta` as a dict of its own."""
        value: dict[str, Any] = parse(self.meta)
        return value

    def read_payload(self) -> dict[str, Any]:
        """Return the payload as a dict of its own, without the salt; empty where there is none."""
        if self.payload is None:
            return {}
        value: dict[str, Any] = parse(self.payload)
        value.pop("salt", None)
        return value

    def read_origin(self) -> dict[str, Any]:
        """Return `origin` as a dict of its own."""
        value: dict[str, Any] = parse(self.origin)
        return value

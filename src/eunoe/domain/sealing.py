"""Sealing an event: its canonical bytes, and the hash that freezes it.

No JSON library takes part in hashing or verifying: stored bytes are hashed as they are stored.
"""

from __future__ import annotations

from hashlib import sha256
from struct import Struct
from typing import Any

from eunoe.domain.canonical import canonical, canonical_bytes
from eunoe.domain.event import Event

DOMAIN_TAG = b"eunoe.event.1"
SALT_BYTES = 16

_LENGTH = tuple(size.to_bytes(4, "big") for size in range(8192))
_DIGEST_LENGTH = _LENGTH[32]
_NO_DEDUPE_KEY = _NO_PAYLOAD = _LENGTH[0]
_integer = Struct(">Iq").pack
_two_integers = Struct(">IqIq").pack


def seal_payload(content: dict[str, Any], salt: bytes) -> bytes:
    """Return the canonical payload bytes of one subject's content, with its salt."""
    return canonical_bytes({**content, "salt": salt.hex()})


def seal_meta(meta: dict[str, Any]) -> str:
    """Return the canonical text of a meta."""
    return canonical(meta)


def payload_digest(payload: bytes) -> bytes:
    """Return the SHA-256 that the envelope keeps of a plain payload."""
    return sha256(payload).digest()


def seal(
    *,
    project: str,
    seq: int,
    stream: str,
    n: int,
    prev_hash: bytes,
    ident: str,
    kind: str,
    v: int,
    origin: str,
    occurred_at: int,
    recorded_at: int,
    dedupe_key: str | None,
    meta: dict[str, Any],
    payload: dict[str, Any] | None,
    salt: bytes,
) -> Event:
    """Return the event that is written at a place of a project and a stream: its bytes canonical, its hash taken."""
    text = seal_meta(meta)
    sealed = None if payload is None else seal_payload(payload, salt)
    digest = None if sealed is None else payload_digest(sealed)
    own = chain_hash(
        ident.encode(),
        stream.encode(),
        n,
        project.encode(),
        kind.encode(),
        v,
        origin.encode(),
        occurred_at,
        recorded_at,
        None if dedupe_key is None else dedupe_key.encode(),
        text.encode(),
        digest,
        prev_hash,
    )
    return Event(
        seq=seq,
        id=ident,
        stream=stream,
        n=n,
        type=kind,
        v=v,
        origin=origin,
        occurred_at=occurred_at,
        recorded_at=recorded_at,
        received_at=recorded_at,
        dedupe_key=dedupe_key,
        meta=text,
        payload=sealed,
        payload_key=None,
        payload_hash=digest,
        prev_hash=prev_hash,
        hash=own,
    )


def chain_hash(
    ident: bytes,
    stream: bytes,
    n: int,
    project: bytes,
    kind: bytes,
    v: int,
    origin: bytes,
    occurred_at: int,
    recorded_at: int,
    dedupe_key: bytes | None,
    meta: bytes,
    payload_hash: bytes | None,
    prev_hash: bytes,
) -> bytes:
    """Return the hash of an event over the bytes of its hashed fields, in the order of the parameters.

    Every field is preceded by its length in four bytes (big-endian), so that no two different events share an input;
    integers are eight bytes, signed. An absent `dedupe_key` or `payload_hash` counts as empty: neither can be empty
    when present. Positional, because `verify` calls it once an event.

    Cost: about 2 µs.
    """
    size = _LENGTH
    try:
        return sha256(
            b"".join(
                (
                    DOMAIN_TAG,
                    size[len(ident)],
                    ident,
                    size[len(stream)],
                    stream,
                    _integer(8, n),
                    size[len(project)],
                    project,
                    size[len(kind)],
                    kind,
                    _integer(8, v),
                    size[len(origin)],
                    origin,
                    _two_integers(8, occurred_at, 8, recorded_at),
                    _NO_DEDUPE_KEY if dedupe_key is None else size[len(dedupe_key)] + dedupe_key,
                    size[len(meta)],
                    meta,
                    _NO_PAYLOAD if payload_hash is None else _DIGEST_LENGTH + payload_hash,
                    _DIGEST_LENGTH,
                    prev_hash,
                )
            )
        ).digest()
    except IndexError:
        return _chain_hash_of_long_fields(
            *(ident, stream, n, project, kind, v, origin, occurred_at, recorded_at, dedupe_key or b""),
            *(meta, payload_hash or b"", prev_hash),
        )


def _chain_hash_of_long_fields(*fields: bytes | int) -> bytes:
    parts = (_integer(8, each) if isinstance(each, int) else len(each).to_bytes(4, "big") + each for each in fields)
    return sha256(DOMAIN_TAG + b"".join(parts)).digest()

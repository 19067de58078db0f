"""The hash that fits an event: whoever has read the program can make a chain whole again, and so can the tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eunoe.domain.sealing import chain_hash


def hash_of(event: Mapping[str, Any], uuid: str) -> bytes:
    """Return the hash that fits an event of the project `uuid`, given by its fields."""
    dedupe = event["dedupe_key"]
    return chain_hash(
        event["id"].encode(),
        event["stream"].encode(),
        event["n"],
        uuid.encode(),
        event["type"].encode(),
        event["v"],
        event["origin"].encode(),
        event["occurred_at"],
        event["recorded_at"],
        None if dedupe is None else dedupe.encode(),
        event["meta"].encode(),
        event["payload_hash"],
        event["prev_hash"],
    )

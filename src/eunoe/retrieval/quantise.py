"""Vectors as bytes and back: int8 to search by, f16 to be exact."""

from __future__ import annotations

from typing import Any

import numpy as np

_LARGEST = 127.0


def quantised(rows: Any) -> tuple[Any, Any]:
    """Return (int8 rows, float32 scales) of float rows; a row is about its int8 numbers times its scale."""
    scales = np.maximum(np.abs(rows).max(axis=-1), 1e-12) / _LARGEST
    return np.rint(rows / scales[..., None]).astype(np.int8), scales.astype(np.float32)


def halves(vector: Any) -> bytes:
    """Return a vector's numbers as f16, little-endian."""
    packed: bytes = np.asarray(vector, "<f2").tobytes()
    return packed


def pack_states(states: Any) -> bytes:
    """Return token states as int8 rows, followed by their f16 scales."""
    rows, scales = quantised(states)
    packed: bytes = rows.tobytes() + scales.astype("<f2").tobytes()
    return packed


def unpack_states(packed: bytes, tokens: int) -> tuple[Any, Any]:
    """Return (int8 rows, float32 scales) of packed states."""
    size = len(packed) - 2 * tokens
    rows = np.frombuffer(packed, np.int8, size).reshape(tokens, -1)
    return rows, np.frombuffer(packed, "<f2", tokens, size).astype(np.float32)


def dots(one: Any, many: Any) -> Any:
    """Return float32 [len(one), len(many)]: dot products of int8 rows, exactly."""
    if _CDIST is None:
        product = one.astype(np.float32) @ many.astype(np.float32).T
    else:
        product = np.asarray(_CDIST(one, many, "dot"), dtype=np.float32)
    return product.reshape(len(one), len(many))


def _find_cdist() -> Any:
    """NumKong scans int8 rows as they lie, at a fifth of the price; NumPy, which everybody has, gives the same."""
    try:
        from numkong import cdist  # noqa: PLC0415 - optional
    except ImportError:
        return None
    return cdist


_CDIST = _find_cdist()

"""Row changes as values: the name of a statement and its parameters.

The names are those of `stores/sql/queries/project.sql`, one statement each, written once for both engines; only
`fulltext_insert` is the engine's own. A change that is made once for each of many values names them under `EACH`.
"""

from __future__ import annotations

from typing import Any

RowChange = tuple[str, dict[str, Any]]

EACH = "each"  # (parameter, values)

ORDINAL_BITS = 12
SEQ_BITS = 31


def passage_row(p: int, seq: int, ordinal: int = 0) -> int:
    """Return a passage's row number: a project is one block of them, and an event opens at most one version."""
    return (p << SEQ_BITS | seq) << ORDINAL_BITS | ordinal

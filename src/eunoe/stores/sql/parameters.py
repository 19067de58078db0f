"""Statements with `:named` parameters as a driver binds them: by place. Lean."""

from __future__ import annotations

from operator import itemgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Pick = Callable[[Mapping[str, Any]], tuple[Any, ...]]


def by_place(sql: str, mark: Callable[[int], str], *, once: bool) -> tuple[str, Pick]:
    """Return a statement with marks for its names, and what turns named values into a row for them.

    Args:
        sql: A statement; a colon begins a name wherever it stands.
        mark: What stands for the n-th value, from 1.
        once: A name that stands twice is one value, and its mark stands twice.
    """
    text, *parts = sql.split(":")
    wanted: list[str] = []
    for part in parts:
        name = part[: next((at for at, char in enumerate(part) if not (char.isalnum() or char == "_")), len(part))]
        if not (once and name in wanted):
            wanted.append(name)
        text += mark(wanted.index(name) + 1 if once else len(wanted)) + part[len(name) :]
    if not wanted:
        return text, lambda row: ()
    pick = itemgetter(*wanted)
    return text, pick if len(wanted) > 1 else lambda row: (row[wanted[0]],)

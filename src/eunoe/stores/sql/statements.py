"""Statements by name, out of `.sql` files. Lean: the recall path of hooks loads its statements through it.

A block begins with `-- name: the_name`; parameters are `:named`. Why no library: aiosql costs 55 ms to import, more
than a whole command may cost (docs/decisions/0003).
"""

from __future__ import annotations

import os.path  # pathlib costs 12 ms, and hooks load this module

FOLDER = os.path.join(os.path.dirname(__file__), "queries")

_MARK = "-- name: "


def load(name: str) -> dict[str, str]:
    """Return the statements of `queries/<name>.sql` by name.

    Raises:
        ValueError: a name stands twice, or a block is empty: a mistake in Eunoe itself.
    """
    with open(os.path.join(FOLDER, f"{name}.sql"), encoding="utf-8") as file:
        return parse(file.read())


def parse(text: str) -> dict[str, str]:
    """Return the statements of a file's text by name."""
    statements: dict[str, str] = {}
    for block in text.split(_MARK)[1:]:
        head, _, body = block.partition("\n")
        statement = "\n".join(line for line in body.splitlines() if not line.startswith("--")).strip()
        if head in statements or not statement:
            raise ValueError(f"statement {head!r} is empty or stands twice")
        statements[head.strip()] = statement
    return statements

"""The shared statements in PostgreSQL's words.

What the engines share is written as SQLite reads it. Five things are said otherwise here: parameters (`$1`), the types
of columns, a join whose order is meant (`cross join … on`; this planner has statistics and chooses), a list of many
values (one array), and a text's bytes.
"""

from __future__ import annotations

import re
from functools import cache

from eunoe.stores.sql.parameters import by_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eunoe.stores.sql.parameters import Pick

# Texts are compared by their bytes, as SQLite does, whatever the database's locale.
_TYPES = {"integer": "bigint", "text": 'text collate "C"', "blob": "bytea", "real": "double precision"}
_TYPE = re.compile(rf"\b({'|'.join(_TYPES)})\b(?!')")
_BYTES = re.compile(r"cast\((\w+) as blob\)")
ARRAY = "array"
_AMONG = re.compile(rf"\bin \({ARRAY} (cast\(:\w+ as \w+\[\]\))\)")
_COMMENT = re.compile(r"--[^\n]*")


@cache
def statement(sql: str) -> tuple[str, Pick]:
    """Return a shared statement as PostgreSQL takes it, and what turns named values into its row."""
    words = _BYTES.sub(r"convert_to(\1, 'UTF8')", sql.replace("cross join", "join"))
    words = _AMONG.sub(r"= any(\1)", words)
    return by_place(words, lambda n: f"${n}", once=True)


@cache
def returns_rows(sql: str) -> bool:
    """Tell whether a statement answers with rows."""
    return sql.lstrip().lower().startswith(("select", "with ")) or "returning " in sql


def schema(sql: str) -> str:
    """Return the statements of a migration with PostgreSQL's types."""
    return _TYPE.sub(lambda found: _TYPES[found.group(1)], _COMMENT.sub("", sql)).replace("cross join", "join")

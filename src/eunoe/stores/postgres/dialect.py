"""The shared statements in PostgreSQL's words.

What the engines share is written as SQLite reads it. Said otherwise here: parameters (`$1`), the types of columns, what
guides SQLite's planner (`cross join … on`, and a plus that keeps it from an index; this planner has statistics), a list
of many values (one array), and a text's bytes.
"""

from __future__ import annotations

import re
from functools import cache

from eunoe.stores.sql.parameters import by_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from eunoe.stores.sql.parameters import Pick

# Texts are compared by their bytes, as SQLite does, whatever the database's locale.
_TYPES = {"integer": "bigint", "text": 'text collate "C"', "blob": "bytea", "real": "double precision"}
_TYPE = re.compile(rf"\b({'|'.join(_TYPES)})\b(?!')")
_BYTES = re.compile(r"cast\((\w+) as blob\)")
ARRAY = "array"
_AMONG = re.compile(rf"\bin \({ARRAY} (cast\(:\w+ as \w+\[\]\))\)")
_INSERT = re.compile(
    r"\s*(?P<head>insert into \w+ \((?P<columns>[\w,\s]+)\)\s*)"
    r"values \((?P<values>:\w+(?:,\s*:\w+)*)\)(?P<rest>[^:]*)\Z"
)
_NAMES = re.compile(r",\s*")
_KEY = re.compile(r"on conflict \((?P<key>[\w,\s]+)\)")
_KINDS = ((int, "bigint"), (float, "double precision"), (bytes, "bytea"), (str, "text"))
_PLUS = re.compile(r"(?<=\s)\+(?=\w+\.\w+)")
_COMMENT = re.compile(r"--[^\n]*")


@cache
def statement(sql: str) -> tuple[str, Pick]:
    """Return a shared statement as PostgreSQL takes it, and what turns named values into its row."""
    words = _PLUS.sub("", sql.replace("cross join", "join"))
    words = _BYTES.sub(r"convert_to(\1, 'UTF8')", words)
    words = _AMONG.sub(r"= any(\1)", words)
    return by_place(words, lambda n: f"${n}", once=True)


@cache
def returns_rows(sql: str) -> bool:
    """Tell whether a statement answers with rows."""
    return sql.lstrip().lower().startswith(("select", "with ")) or "returning " in sql


def in_one(sql: str, rows: Sequence[Mapping[str, Any]]) -> tuple[str, tuple[list[Any], ...]] | None:
    """Return the insertion of one row as the insertion of many, which travel as one array a column.

    None for any other statement, and for rows that would change one another (`on conflict … do update`).
    """
    found = _INSERT.match(sql)
    if found is None:
        return None
    columns, names = (_NAMES.split(found[part]) for part in ("columns", "values"))
    if "do update" in found["rest"]:
        key = [names[columns.index(column)] for column in _NAMES.split(_KEY.search(found["rest"])["key"])]  # type: ignore[index]
        if len({tuple(row[name[1:]] for name in key) for row in rows}) < len(rows):
            return None
    picked, arrays, kinds = [], [], []
    for name in names:
        column = [row[name[1:]] for row in rows]
        value = next((value for value in column if value is not None), None)
        if value is None:
            picked.append("null")
            continue
        arrays.append(column)
        kinds.append(f"cast(${len(arrays)} as {next(kind for python, kind in _KINDS if isinstance(value, python))}[])")
        picked.append(f"c{len(arrays)}")
    given = f"unnest({', '.join(kinds)}) as given ({', '.join(f'c{at}' for at in range(1, len(arrays) + 1))})"
    return f"{found['head']}select {', '.join(picked)} from {given}{found['rest']}", tuple(arrays)  # noqa: S608 - ours


def schema(sql: str) -> str:
    """Return the statements of a migration with PostgreSQL's types."""
    return _TYPE.sub(lambda found: _TYPES[found.group(1)], _COMMENT.sub("", sql)).replace("cross join", "join")

"""No statement spans projects: each table in it is bound to the project that is asked for.

So a store can be spread over servers by project (docs/explanation/scale.md), and one project never pays for another.
What names no project is listed here by name: reference tables, and the upkeep of a store as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from eunoe.ports.text_index import Filter
from eunoe.stores.postgres import connection as postgres
from eunoe.stores.postgres import fulltext, nearest
from eunoe.stores.postgres.dialect import ARRAY
from eunoe.stores.sql.filters import condition
from eunoe.stores.sql.memories import BELIEVED
from eunoe.stores.sql.statements import FOLDER, load

# Tables without a project, or which every server holds whole.
REFERENCE = {"store", "projects", "data_keys", "migrations", "models", "leases", "pg_class", "pg_index", "scope_names"}
# Statements about a store as a whole: which projects there are, one worker's queue, one upkeep of an index.
WHOLE_STORE = {
    "projects.counts",
    "vectors.jobs_due",
    "vectors.jobs_counted",
    "vectors.jobs_revive",
    "nearest._LEFT",
}

_FILTER = Filter(scopes=("project",), now=1, known_at=2, kinds=("fact",), tags=("a",), any_tags=("b",), paths=("c",))
_WHERE = condition(_FILTER)
_PARTS = {
    "visible": _WHERE.sql,
    "other": _WHERE.sql.replace("pa.", "o."),
    "where": f" and ({_WHERE.sql})",
    "joins": _WHERE.joins,
    "believed": BELIEVED,
    "readable": _WHERE.sql,
    "ranked": "select rid, place from passages_fts where p = :p",
    "wanted": "values (:session0, :first0, :last0)",
    "after": "",
    "order": "v.memory",
    "pick": "v.version = m.version",
    "columns": "p",
    "weights": "'{1}'",
    "dim": "3",
    "p": "5",
    "model": "2",
    "name": "an_index",
} | dict.fromkeys(("rids", "ids", "scopes", "terms", "tokens"), ":x")


def statements() -> Iterator[tuple[str, str]]:
    for file in sorted(Path(FOLDER).glob("*.sql")):
        for name, sql in load(file.stem).items():
            table = "projects" if name == "read_all" else "events"  # all of a table is read of reference tables alone
            yield f"{file.stem}.{name}", sql.format(table=table, **_PARTS)
    for module in (fulltext, nearest, postgres):
        for name, value in vars(module).items():
            if isinstance(value, str) and value.lstrip().lower().startswith(("select", "insert", "delete", "with ")):
                where = {"where": _WHERE.sql} if module is nearest else {"joins": _PASSAGES + _WHERE.joins}
                where = _PARTS | where
                yield f"{module.__name__.rpartition('.')[2]}.{name}", value.format(**where)


_PASSAGES = "\njoin passages pa on pa.p = f.p and pa.rid = f.rid"
STATEMENTS = dict(statements())


@pytest.mark.parametrize("name", sorted(STATEMENTS.keys() - WHOLE_STORE))
def test_every_table_is_bound_to_the_project(name: str) -> None:
    assert unbound(parsed(STATEMENTS[name])) == []


@pytest.mark.parametrize("name", sorted(WHOLE_STORE))
def test_what_is_listed_spans_projects_indeed(name: str) -> None:
    assert unbound(parsed(STATEMENTS[name]))


@pytest.mark.parametrize(
    ("sql", "free"),
    [
        ("select id from memories where id = :id", ["memories"]),
        ("select m.id from memories m join links l on l.a = m.id where m.p = :p", ["links"]),
        (
            "select m.id from memories m where m.p = :p and exists (select 1 from tags t where t.memory = m.id)",
            ["tags"],
        ),
        ("select m.id from memories m where m.p = :p or m.id = :id", ["memories"]),
        ("delete from memories where id = :id", ["memories"]),
        ("update memories set status = :status where id = :id", ["memories"]),
        ("insert into tags (tag, memory) values (:tag, :memory)", ["tags"]),
        ("insert into tags (p, tag, memory) select p, 'x', id from memories", ["memories"]),
        ("with few as (select memory from tags) select 1 from few join memories m on m.p = :p", ["tags"]),
        ("select m.id from memories m join tags t on t.p = m.p where m.p = :p", []),
    ],
)
def test_the_check_itself_finds_what_spans_projects(sql: str, free: list[str]) -> None:
    assert unbound(parsed(sql)) == free


def parsed(sql: str) -> exp.Expression:
    words = sql.replace("cross join", "join").replace(f"in ({ARRAY} ", "in (")
    for operator in ("<#>", "<@>"):  # of extensions, which the parser does not know
        words = words.replace(operator, "+")
    return sqlglot.parse_one(words, dialect="postgres")


def unbound(tree: exp.Expression, outer: frozenset[str] = frozenset()) -> list[str]:
    """Return the tables of a statement that nothing binds to a project."""
    if isinstance(tree, exp.Insert):
        return _of_insert(tree, outer)
    if isinstance(tree, exp.Union):
        return [table for side in (tree.left, tree.right) for table in unbound(side, outer)] + _of_ctes(tree, outer)
    excused = REFERENCE | {cte.alias for cte in tree.root().find_all(exp.CTE)}  # what `with` names is a relation
    tables = {table.alias_or_name: table.name for table in _own(tree, exp.Table)}
    bound = set(outer) | {each.alias for each in _own(tree, exp.Subquery) if each.alias and not unbound(each.this)}
    pairs = list(_equalities(tree, next(iter(tables), "")))
    grew = True
    while grew:
        fresh = {one for a, b in pairs for one, other in ((a, b), (b, a)) if other == "" or other in bound} - bound
        grew = bool(fresh - {""})
        bound |= fresh
    found = [name for alias, name in tables.items() if alias not in bound and name not in excused]
    for inner in _own(tree, exp.Query):
        found += unbound(inner, frozenset(bound))
    return found


def _of_insert(tree: exp.Insert, outer: frozenset[str]) -> list[str]:
    target = tree.this
    columns = {column.name for column in target.expressions} if isinstance(target, exp.Schema) else set()
    name = target.find(exp.Table).name
    found = [] if "p" in columns or name in REFERENCE else [name]
    source = tree.expression
    return found + (unbound(source, outer) if isinstance(source, exp.Query) else [])


def _of_ctes(tree: exp.Expression, outer: frozenset[str]) -> list[str]:
    return [table for cte in tree.ctes for table in unbound(cte.this, outer)]


def _own(tree: exp.Expression, kind: type) -> Iterator[exp.Expression]:
    """Yield what belongs to a statement itself, and not to a query inside it; of queries the outermost."""
    for child in tree.iter_expressions():
        if isinstance(child, exp.Query):
            if isinstance(child, kind):
                yield child  # type: ignore[misc]
            continue
        if isinstance(child, kind):
            yield child  # type: ignore[misc]
        yield from _own(child, kind)


def _equalities(tree: exp.Expression, sole: str) -> Iterator[tuple[str, str]]:
    """Yield (alias, alias) that share their project, and (alias, "") of one that is bound to the one asked for.

    Only what must hold: an alternative (`or`) binds nothing.
    """
    for equal in _own(tree, exp.EQ):
        if equal.find_ancestor(exp.Or, exp.Query) is not None and isinstance(
            equal.find_ancestor(exp.Or, exp.Query), exp.Or
        ):
            continue
        sides = [_project_of(side, sole) for side in (equal.left, equal.right)]
        if None not in sides:
            yield sides[0], sides[1]  # type: ignore[misc]


def _project_of(side: exp.Expression, sole: str) -> str | None:
    """Return whose project a side names: an alias, "" for the one asked for, None for anything else."""
    if isinstance(side, exp.Placeholder) and side.name == "p":
        return ""
    if isinstance(side, exp.Literal) and side.name == _PARTS["p"]:
        return ""
    if isinstance(side, exp.Column) and side.name == "p":
        return side.table or sole
    return None

"""The shared statements in PostgreSQL's words."""

from __future__ import annotations

import pytest

pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")

from eunoe.stores.postgres.dialect import in_one, returns_rows, schema, statement


def test_parameters_are_numbered_and_one_name_is_one_value() -> None:
    text, pick = statement("select :b, :a from t where x = :b")
    assert text == "select $1, $2 from t where x = $1"
    assert pick({"a": 1, "b": 2, "other": 3}) == (2, 1)


@pytest.mark.parametrize(
    ("shared", "own"),
    [
        ("select 1 from a cross join b on b.p = a.p", "select 1 from a join b on b.p = a.p"),
        ("select 1 from a where +a.p = :p order by +a.n", "select 1 from a where a.p = $1 order by a.n"),
        ("select a.n + b.n from a, b", "select a.n + b.n from a, b"),
        ("select cast(id as blob) from t", "select convert_to(id, 'UTF8') from t"),
        ("select 1 from t where x in (array cast(:xs as text[]))", "select 1 from t where x = any(cast($1 as text[]))"),
        ("select 1 from t where x in ('array')", "select 1 from t where x in ('array')"),
    ],
)
def test_what_is_said_otherwise(shared: str, own: str) -> None:
    assert statement(shared)[0] == own


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("select 1", True),
        ("\nwith a as (select 1) select * from a", True),
        ("insert into t (a) values (:a) returning a", True),
        ("insert into t (a) values (:a)", False),
        ("update t set a = :a", False),
        ("commit", False),
    ],
)
def test_which_statements_answer(sql: str, rows: bool) -> None:
    assert returns_rows(sql) is rows


def test_types_of_columns_are_the_server_s_and_texts_are_compared_by_bytes() -> None:
    made = schema("create table t ( -- an integer\n  p integer primary key, a text not null, b blob, c real\n);")
    assert "p bigint primary key" in made
    assert 'a text collate "C" not null, b bytea, c double precision' in made
    assert "an integer" not in made


INSERT = "insert into t (p, a, b) values (:p, :one, :two)"


def test_many_rows_travel_as_one_array_a_column() -> None:
    rows = [{"p": 1, "one": "x", "two": None}, {"p": 1, "one": None, "two": b"y"}]
    text, arrays = in_one(INSERT, rows) or ("", ())
    kinds = "cast($1 as bigint[]), cast($2 as text[]), cast($3 as bytea[])"
    assert text == f"insert into t (p, a, b) select c1, c2, c3 from unnest({kinds}) as given (c1, c2, c3)"
    assert arrays == ([1, 1], ["x", None], [None, b"y"])


def test_a_column_without_a_value_has_no_type() -> None:
    text, arrays = in_one(INSERT, [{"p": 1, "one": None, "two": 2.5}] * 2) or ("", ())
    assert "select c1, null, c2 from unnest(cast($1 as bigint[]), cast($2 as double precision[]))" in text
    assert arrays == ([1, 1], [2.5, 2.5])


def test_rows_that_would_change_one_another_go_one_by_one() -> None:
    sql = f"{INSERT}\non conflict (p, a) do update set b = t.b + excluded.b"
    apart = [{"p": 1, "one": "x", "two": 1}, {"p": 1, "one": "y", "two": 1}]
    assert in_one(sql, apart) is not None
    assert in_one(sql, [*apart, apart[0]]) is None
    assert in_one(f"{INSERT} on conflict (p, a) do nothing", [*apart, apart[0]]) is not None


@pytest.mark.parametrize(
    "sql",
    [
        "delete from t where p = :p",
        "update t set a = :one where p = :p",
        "insert into t (p, a) values (:p, cast(:one as tsvector))",
        "insert into t (p) select p from u where p = :p",
        "insert into t (p) values (:p) on conflict (p) do update set a = :one",
    ],
)
def test_other_statements_stay_what_they_are(sql: str) -> None:
    assert in_one(sql, [{"p": 1, "one": "x"}] * 2) is None

"""Statements in `.sql` files: found by name, whole, and each bound to a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from eunoe.stores.sql.statements import FOLDER, load, parse
from eunoe.stores.sql.tables import TABLES

FILES = sorted(path.stem for path in Path(FOLDER).glob("*.sql"))


def test_blocks_are_found_by_name_without_their_comments() -> None:
    text = "-- About.\n\n-- name: one\nselect 1\n-- why\nfrom a\n\n-- Next.\n-- name: two\nselect 2\n"
    assert parse(text) == {"one": "select 1\nfrom a", "two": "select 2"}


@pytest.mark.parametrize(
    "text", ["-- name: a\nselect 1\n-- name: a\nselect 2\n", "-- name: a\n-- only a comment\n", "-- name: a"]
)
def test_a_name_that_stands_twice_or_stands_for_nothing_is_a_mistake(text: str) -> None:
    with pytest.raises(ValueError, match="empty or stands twice"):
        parse(text)


@pytest.mark.parametrize("file", FILES)
def test_every_file_loads(file: str) -> None:
    assert load(file)


def test_every_table_that_rebuild_copies_leads_with_its_project() -> None:
    assert all("p" in columns for columns in TABLES.values())


@pytest.mark.parametrize("file", FILES)
def test_no_statement_ends_another_or_holds_a_literal_text_of_a_caller(file: str) -> None:
    for name, statement in load(file).items():
        assert ";" not in statement, name
        assert "%s" not in statement, name
        assert "?" not in statement, name

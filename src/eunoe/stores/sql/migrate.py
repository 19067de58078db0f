"""Schema migrations: forward only, numbered without gaps, checksummed; all pending ones in one exclusive transaction.

A migration is `NNNN_name.sql`, shared by the engines, and optionally `NNNN_name.<dialect>.sql`, run after it. Editing
one that has been applied is an error. A database made by a newer Eunoe is refused and left untouched.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from eunoe.errors import Unavailable
from eunoe.stores.sql.connection import Connection

FOLDER = os.path.join(os.path.dirname(__file__), "migrations")

TABLE = """
create table if not exists migrations (
  no integer primary key, name text not null, checksum text not null, applied_at integer not null
)"""


class Migration(NamedTuple):
    """One step of the schema: its number, its name, and its statements for one dialect."""

    no: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """Return the SHA-256 of the statements."""
        from hashlib import sha256  # noqa: PLC0415 - 3 ms of start-up, for stores that are migrated only

        return sha256(self.sql.encode()).hexdigest()


def load_migrations(dialect: str, folder: str = FOLDER) -> list[Migration]:
    """Return all migrations for a dialect, by number."""
    texts: dict[str, str] = {}
    for file in sorted(os.listdir(folder), key=lambda file: (file.split(".")[0], file.count("."))):
        stem, _, rest = file.partition(".")
        if rest in ("sql", f"{dialect}.sql"):
            with open(os.path.join(folder, file), encoding="utf-8") as opened:
                texts[stem] = texts.get(stem, "") + opened.read()
    migrations = [Migration(int(stem[:4]), stem[5:], text) for stem, text in texts.items()]
    if [each.no for each in migrations] != list(range(1, len(migrations) + 1)):
        raise ValueError(f"migrations are not numbered without gaps: {[each.no for each in migrations]}")
    return migrations


def check_applied(connection: Connection, migrations: Sequence[Migration], place: str) -> list[Migration]:
    """Return the migrations that are still to be applied, by what the table of migrations says.

    Raises:
        Unavailable: `newer_schema`: the database knows migrations that we do not; `edited_migration`: one that was
            applied reads differently now.
    """
    applied = connection.run("select no, name, checksum from migrations order by no")
    known = {each.no: each for each in migrations}
    for no, name, checksum in applied:
        if no not in known:
            raise newer_schema(place, no, len(migrations))
        if known[no].checksum != checksum:
            raise Unavailable(
                "edited_migration",
                f"the store {place!r}: migration {no} ({name}) was applied in another wording; reinstall Eunoe",
                details={"store": place, "migration": no},
            )
    return [each for each in migrations if each.no > len(applied)]


def apply(connection: Connection, pending: Sequence[Migration], *, now: int, execute: Callable[[str], object]) -> None:
    """Apply migrations inside the caller's exclusive transaction, each with the record that it ran.

    Args:
        connection: Of the transaction.
        pending: What to apply, by number.
        now: The time, for the record.
        execute: Runs the statements of a migration in the same transaction.
    """
    for each in pending:
        execute(each.sql)
        connection.run(
            "insert into migrations (no, name, checksum, applied_at) values (:no, :name, :checksum, :now)",
            {"no": each.no, "name": each.name, "checksum": each.checksum, "now": now},
        )


def older_schema(place: str, found: int, known: int) -> Unavailable:
    """Return the error for a store that this process may not migrate."""
    return Unavailable(
        "older_schema",
        f"the store {place!r} has schema {found}, this Eunoe needs {known}; run `eunoe doctor` to bring it there",
        details={"store": place, "found": found, "known": known},
    )


def newer_schema(place: str, found: int, known: int) -> Unavailable:
    """Return the error for a store that a newer Eunoe has migrated."""
    return Unavailable(
        "newer_schema",
        f"the store {place!r} has schema {found}, this Eunoe knows up to {known}: upgrade Eunoe; it was left untouched",
        details={"store": place, "found": found, "known": known},
    )

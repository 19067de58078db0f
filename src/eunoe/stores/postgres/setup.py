"""A server before it holds a store: whether it is fit, and making or migrating the schema."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import psycopg
from psycopg import sql

from eunoe.errors import Unavailable
from eunoe.stores.postgres.address import Address
from eunoe.stores.postgres.connection import PostgresConnection
from eunoe.stores.postgres.dialect import schema as in_dialect
from eunoe.stores.sql.connection import Row
from eunoe.stores.sql.migrate import TABLE, Migration, apply, check_applied, older_schema

LEAST_SERVER = 140_000
LEAST_VECTOR = (0, 8)  # iterative scans, without which a filtered search loses most of what it should find

# A statement that waits or runs so long has met something that a person must look at. What the address, the role, the
# database or the server's file says goes before.
_TIMEOUTS = {"statement_timeout": "60s", "lock_timeout": "10s", "idle_in_transaction_session_timeout": "5min"}
_SETTINGS = {
    "jit": "off",
    # A plan for any list of rows reads the whole project for a list of twenty; planning anew costs half a millisecond.
    "plan_cache_mode": "force_custom_plan",
    # A client whose machine fails amid a write holds its project no longer than these. (To the server a pipeline that
    # waits for its client is not idle.)
    "tcp_keepalives_idle": "60",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
    "hnsw.ef_search": "200",
    "hnsw.iterative_scan": "relaxed_order",
}


class Server(NamedTuple):
    """What a server is and has.

    Attributes:
        version: Of PostgreSQL.
        vector: The version of pgvector; empty where it is not in this database.
        has_textsearch: Whether pg_textsearch is in this database: what is written can be found by it.
        has_bm25: Whether the store has an index by it: candidates are selected by it.
        is_replica: Whether it can only be read.
    """

    version: str
    vector: str
    has_textsearch: bool
    has_bm25: bool
    is_replica: bool


def inspect(db: psycopg.Connection[Row], place: str) -> Server:
    """Return what a server is and has.

    Raises:
        Unavailable: `old_server`, `unfit_database`, `old_extension`.
    """
    if db.info.server_version < LEAST_SERVER:
        raise unusable(
            "old_server", place, f"PostgreSQL {db.info.server_version // 10_000} is too old: 14 is the least"
        )
    row = db.execute(
        """select current_setting('server_version'), current_setting('server_encoding'), pg_is_in_recovery(),
             (select extversion from pg_extension where extname = 'vector'),
             (select count(*) from pg_extension where extname = 'pg_textsearch'),
             (select count(*) from pg_class where relname = 'passages_bm25'
              and relnamespace = to_regnamespace(current_schema()))"""
    ).fetchone()
    assert row is not None  # noqa: S101 - a select without a table
    version, encoding, is_replica, vector, textsearch, index = row
    if encoding != "UTF8":
        raise unusable("unfit_database", place, f"its encoding is {encoding}; create a database with encoding UTF8")
    if vector and tuple(int(part) for part in vector.split(".")[:2]) < LEAST_VECTOR:
        least = ".".join(map(str, LEAST_VECTOR))
        fix = f"install pgvector {least} or later on the server, then run `alter extension vector update`"
        raise unusable("old_extension", place, f"pgvector {vector} is too old; {fix}")
    return Server(version.split(" ")[0], vector or "", bool(textsearch), bool(index), bool(is_replica))


def configure(db: psycopg.Connection[Any], schema: str) -> None:
    """Let a connection work in a schema, and the way the shared statements expect."""
    found = db.execute(
        "select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace "
        "where e.extname in ('vector', 'pg_textsearch')"
    ).fetchall()
    path = [schema, *dict.fromkeys(name for (name,) in found)]
    settings = {"search_path": ", ".join(f'"{name}"' for name in path), **_SETTINGS}
    db.execute("select " + ", ".join(["set_config(%s, %s, false)"] * len(settings)), [*sum(settings.items(), ())])
    db.execute(
        "select set_config(s.name, t.value, false) from pg_settings s "
        "join unnest(%s::text[], %s::text[]) as t (name, value) using (name) where s.source = 'default'",
        [list(_TIMEOUTS), list(_TIMEOUTS.values())],
    )


def set_up(
    connection: PostgresConnection,
    db: psycopg.Connection[Row],
    address: Address,
    migrations: Sequence[Migration],
    *,
    now: int,
    allowed: bool,
    server: Server,
) -> None:
    """Bring the schema to the given migrations, all of them in one transaction; one process at a time.

    Raises:
        Unavailable: `missing_extension`, `foreign_schema`, `newer_schema`, `older_schema`, `edited_migration`,
            `forbidden`, `read_only`.
    """
    there = _is_there(db, address.schema)
    is_whole = there and server.vector and not check_applied(connection, migrations, address.place)
    may_index = allowed and server.has_textsearch and not server.is_replica
    if is_whole and not (may_index and _lacks_bm25(db)):
        return
    if server.is_replica:
        fix = "point EUNOE_STORE at the primary once, so that it is brought there"
        raise unusable("read_only", address.place, f"it is a read replica without a store of this version; {fix}")
    db.execute("begin")
    try:
        _wait_for_others(db, address)
        there = _is_there(db, address.schema)
        if there and not allowed and (pending := check_applied(connection, migrations, address.place)):
            raise older_schema(address.place, len(migrations) - len(pending), len(migrations))
        if not there:
            _make(db, address)
        _need_vector(db, address)
        configure(db, address.schema)
        pending = check_applied(connection, migrations, address.place)
        apply(connection, pending, now=now, execute=lambda text: db.execute(in_dialect(text).encode()))
        _index_by_bm25(db)
        db.execute("commit")
    except BaseException:
        if not db.closed:
            db.execute("rollback")
        raise


def grants(schema: str, role: str, kind: str, tables: Sequence[str], *, can_maintain: bool) -> list[sql.Composed]:
    """Return the statements that let a role use a store in one of the ways of `GRANTED`, and in no other.

    Args:
        schema, role: Their names.
        kind: `service`, `reader` or `auditor`.
        tables: Those of the schema.
        can_maintain: Whether the server knows the right to analyse and reindex what one does not own (from 17 on).
    """
    named = {"schema": sql.Identifier(schema), "role": sql.Identifier(role)}
    texts = ["revoke all on all tables in schema {schema} from {role}", "grant usage on schema {schema} to {role}"]
    for table in tables:
        rights = GRANTED[kind](table)
        if rights and kind == "service" and can_maintain:
            rights += ", maintain"
        if rights:
            texts.append(f"grant {rights} on {{schema}}.{{{table}}} to {{role}}")
    names = {table: sql.Identifier(table) for table in tables}
    return [sql.SQL(text).format(**named, **names) for text in texts]


_ONLY_ADDED_TO = {"events": "select, insert, update (payload, payload_key)", "store": "select", "migrations": "select"}
_AUDITED = {"events", "heads", "counters", "projects", "data_keys", "migrations", "store"}

# What a role is for → the rights on a table: to serve agents, to answer and never write, to verify ledgers.
GRANTED: dict[str, Callable[[str], str]] = {
    "service": lambda table: _ONLY_ADDED_TO.get(table, "select, insert, update, delete"),
    "reader": lambda _: "select",
    "auditor": lambda table: "select" if table in _AUDITED else "",
}


def _wait_for_others(db: psycopg.Connection[Row], address: Address) -> None:
    db.execute("set local lock_timeout = 0")
    db.execute("set local statement_timeout = 0")  # neither waiting for one that migrates nor migrating has a limit
    db.execute("select pg_advisory_xact_lock(hashtext(%s))", [f"eunoe sets up {address.schema}"])


def _is_there(db: psycopg.Connection[Row], schema: str) -> bool:
    found = db.execute("select 1 from pg_tables where schemaname = %s and tablename = 'migrations'", [schema])
    return found.fetchone() is not None


def _make(db: psycopg.Connection[Row], address: Address) -> None:
    """Make the schema and its table of migrations. Raises `foreign_schema` where other tables are in it."""
    if db.execute("select 1 from pg_tables where schemaname = %s", [address.schema]).fetchone():
        what = f"the schema {address.schema} holds other tables and was left untouched"
        raise unusable("foreign_schema", address.place, f"{what}; name another one with ?schema= in EUNOE_STORE")
    name = sql.Identifier(address.schema)
    if not db.execute("select 1 from pg_namespace where nspname = %s", [address.schema]).fetchone():
        db.execute(sql.SQL("create schema {}").format(name))
    db.execute(in_dialect(TABLE).encode())


def _need_vector(db: psycopg.Connection[Row], address: Address) -> None:
    """Have pgvector in the database. Raises `missing_extension`, `old_extension`."""
    try:
        db.execute("savepoint extension")
        # Not in this store's schema: dropped with it, it would take the vectors of the other stores along.
        db.execute("create extension if not exists vector schema public")
        db.execute("release savepoint extension")
    except psycopg.Error as exc:
        fix = "install pgvector on the server, and let an administrator run `create extension vector` in this database"
        told = exc.diag.message_primary or str(exc)
        raise unusable("missing_extension", address.place, f"it needs the extension pgvector: {told}; {fix}") from exc
    inspect(db, address.place)


def _index_by_bm25(db: psycopg.Connection[Row]) -> None:
    """Use pg_textsearch where it is in the database."""
    if db.execute("select 1 from pg_extension where extname = 'pg_textsearch'").fetchone() and _lacks_bm25(db):
        db.execute("create index passages_bm25 on passages_fts using bm25 (words) with (text_config = 'simple')")


def _lacks_bm25(db: psycopg.Connection[Row]) -> bool:
    """Tell whether an index by pg_textsearch can be made: as long as it would not find everything, there is none."""
    found = db.execute(
        """select 1 from pg_class c
           where c.relname = 'passages_fts' and c.relnamespace = cast(current_schema() as regnamespace)
             and pg_has_role(c.relowner, 'usage') and to_regclass(current_schema() || '.passages_bm25') is null
             and not exists (select 1 from passages_fts where words is null)"""
    )
    return found.fetchone() is not None


def unusable(code: str, place: str, what: str) -> Unavailable:
    """Return the error of a server or database that cannot hold a store as it is."""
    return Unavailable(code, f"the store {place}: {what}", details={"store": place})

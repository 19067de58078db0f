"""What the server or the way to it says, as errors that name the setting and the fix."""

from __future__ import annotations

import psycopg

from eunoe.errors import EunoeError, Invalid, Unavailable
from eunoe.stores.sql.ledger import duplicate_event

# SQLSTATE, or the beginning of one → code, fix, whether trying again may help. The first that fits counts.
_STATES: tuple[tuple[str, str, str, bool], ...] = (
    ("25006", "read_only", "it is a read replica, or set to read only: point EUNOE_STORE at the primary", False),
    ("25P0", "connection_lost", "the transaction lay idle for longer than the server allows: try again", True),
    ("40", "serialization", "another write came between: try again", True),
    ("55P03", "locked", "another process keeps it locked for longer than lock_timeout: try again", True),
    ("57014", "timeout", "it took longer than statement_timeout allows: ask for less, or raise it for the role", True),
    ("57P01", "connection_lost", "the server is being stopped: try again when it is back", True),
    ("57P02", "connection_lost", "the server ended: try again when it is back", True),
    ("57P03", "no_server", "the server is starting: try again", True),
    ("08", "connection_lost", "check the server and the network, and try again", True),
    ("53100", "disk_full", "free some space on the server; nothing was written", True),
    ("53300", "too_many_connections", "raise max_connections, or put a pooler in between", True),
    ("53", "engine_error", "the server is out of resources: try again", True),
    ("42501", "forbidden", "the role in EUNOE_STORE may not do this; see `eunoe grant-store`", False),
    ("42P01", "damaged", "a table of the store is missing: restore a backup", False),
    ("23", "constraint", "it clashes with what is there; run `eunoe doctor`", False),
    ("P0001", "constraint", "the ledger only grows", False),
    ("XX001", "damaged", "restore a backup, or export what can be read", False),
)
# What a failed connection says: libpq gives no SQLSTATE for it.
_CONNECTING: tuple[tuple[str, str, str, bool], ...] = (
    ("no password supplied", "bad_password", "give a password in EUNOE_STORE, or in ~/.pgpass", False),
    ("authentication failed", "bad_password", "correct user and password in EUNOE_STORE", False),
    ("pg_hba.conf", "bad_password", "the server admits no such user from here: see its pg_hba.conf", False),
    ("too many clients", "too_many_connections", "raise max_connections, or put a pooler in between", True),
    ("remaining connection slots", "too_many_connections", "raise max_connections, or use a pooler", True),
    ("too many connections for", "too_many_connections", "raise its connection limit, or use a pooler", True),
    ("the database system is shutting", "no_server", "the server is stopping: try again when it is back", True),
    ("the database system is", "no_server", "the server is starting: try again", True),
    ("permission denied for database", "forbidden", "the role in EUNOE_STORE may not connect to it", False),
    ('role "', "bad_password", "EUNOE_STORE names a role that the server does not admit", False),
    ('database "', "no_database", "create the database, or correct its name in EUNOE_STORE", False),
    ("SSL", "no_server", "the server and EUNOE_STORE disagree about TLS: see sslmode", False),
)
_LEDGER = ("events_pkey", "events_id", "events_chain", "events_dedupe")


def translated(exc: psycopg.Error, place: str) -> EunoeError:
    """Return an error of the driver as one of Eunoe's, with the address of the store and the fix."""
    told = exc.diag.message_primary or str(exc).strip() or type(exc).__name__
    if exc.diag.constraint_name in _LEDGER:
        return duplicate_event(told)
    state = exc.sqlstate
    if state is None and isinstance(exc, (psycopg.OperationalError, psycopg.InterfaceError)):
        return _unavailable(
            place, told, "connection_lost", "what was not acknowledged may not be written: try again", True
        )
    for start, code, fix, retryable in _STATES:
        if state is not None and state.startswith(start):
            return _unavailable(place, told, code, fix, retryable)
    return _unavailable(place, f"{told} ({state})", "engine_error", "run `eunoe doctor`", False)


def unreachable(exc: psycopg.Error, place: str) -> EunoeError:
    """Return the error of a connection that could not be made."""
    told = str(exc).strip()
    for words, code, fix, retryable in _CONNECTING:
        if words in told:
            return _unavailable(place, _reason(told), code, fix, retryable)
    if "invalid " in told:
        return Invalid("bad_store", f"the store {place}: {_reason(told)}; correct the address in EUNOE_STORE")
    fix = "start the server, or correct the address in EUNOE_STORE"
    return _unavailable(place, _reason(told), "no_server", fix, True)


def _reason(told: str) -> str:
    """Return the last line of what libpq says: it tries each address of a host, and says so each time."""
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    line = next((line for line in lines if "FATAL" in line or "failed" in line), lines[0] if lines else "no answer")
    return line.removeprefix("connection failed: ")


def _unavailable(place: str, told: str, code: str, fix: str, retryable: bool) -> Unavailable:
    return Unavailable(code, f"the store {place}: {told}; {fix}", retryable=retryable, details={"store": place})

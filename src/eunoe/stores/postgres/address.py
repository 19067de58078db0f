"""What `EUNOE_STORE=postgresql://…` says: where the server is, and in which schema the store lives."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from eunoe.errors import Invalid, shown

SCHEMA = "eunoe"
_OURS = "schema="
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}\Z")


class Address(NamedTuple):
    """A store on a server.

    Attributes:
        conninfo: What libpq connects to; may hold a password.
        schema: The schema that holds the store's tables; one database may hold several stores.
        place: The same for messages: without a password.
    """

    conninfo: str
    schema: str
    place: str


def read_address(url: str) -> Address:
    """Return what an address says.

    Args:
        url: `postgresql://[user[:password]@][host][:port]/database[?schema=name&…]`; other parameters are libpq's.

    Raises:
        Invalid: `bad_store`.
    """
    base, _, query = url.partition("?")
    asked = [part for part in query.split("&") if part]  # left as it is: libpq reads it in its own way
    schema = next((unquote(part[len(_OURS) :]) for part in asked if part.startswith(_OURS)), SCHEMA)
    if not _NAME.match(schema):
        raise Invalid(
            "bad_store", f"store: schema={shown(schema)} is no name of a schema; use a-z, 0-9 and _, 63 at most"
        )
    conninfo = "?".join(filter(None, (base, "&".join(part for part in asked if not part.startswith(_OURS)))))
    try:
        told = conninfo_to_dict(conninfo)
    except psycopg.ProgrammingError as exc:
        what = str(exc).partition('"')[0].strip(" :")  # what it quotes may be the password
        raise Invalid(
            "bad_store", f"store: EUNOE_STORE is no address that libpq reads: {what}; see docs/howto/postgres.md"
        ) from None
    user = f"{told['user']}@" if told.get("user") else ""
    port = f":{told['port']}" if told.get("port") else ""
    name = f"?schema={schema}" if schema != SCHEMA else ""
    place = f"postgresql://{user}{told.get('host') or ''}{port}/{told.get('dbname') or ''}{name}"
    return Address(conninfo=conninfo, schema=schema, place=place)

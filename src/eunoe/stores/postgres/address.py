"""What `EUNOE_STORE=postgresql://…` says: where the server is, and in which schema the store lives."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict

from eunoe.errors import Invalid, shown

SCHEMA = "eunoe"
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
    parts = urlsplit(url)
    asked = parse_qsl(parts.query, keep_blank_values=True)
    schema = next((value for name, value in asked if name == "schema"), SCHEMA)
    if not _NAME.match(schema):
        raise Invalid(
            "bad_store", f"store: schema={shown(schema)} is no name of a schema; use a-z, 0-9 and _, 63 at most"
        )
    rest = urlencode([(name, value) for name, value in asked if name != "schema"])
    conninfo = urlunsplit(parts._replace(query=rest))
    try:
        told = conninfo_to_dict(conninfo)
    except psycopg.ProgrammingError as exc:
        raise Invalid("bad_store", f"store: {str(exc).strip()}; see docs/howto/postgres.md") from exc
    user = f"{told['user']}@" if told.get("user") else ""
    port = f":{told['port']}" if told.get("port") else ""
    name = f"?schema={schema}" if schema != SCHEMA else ""
    place = f"postgresql://{user}{told.get('host') or ''}{port}/{told.get('dbname') or ''}{name}"
    return Address(conninfo=conninfo, schema=schema, place=place)

"""Make `src/eunoe/models/data/o200k.sqlite` out of the vocabulary that the package bpe-openai carries.

The vocabulary never changes, so this runs once; it is kept so that the file can be checked and made again.
"""

from __future__ import annotations

import base64
import gzip
import sys
from importlib.resources import files
from pathlib import Path

import apsw

PLACE = Path(__file__).parents[1] / "src/eunoe/models/data/o200k.sqlite"


def vocabulary() -> list[tuple[bytes, int]]:
    """Return every token with its rank, by token."""
    packed = (files("bpe_openai.data") / "o200k_base.tiktoken.gz").read_bytes()
    lines = (line.split() for line in gzip.decompress(packed).splitlines())
    return sorted((base64.b64decode(token), int(rank)) for token, rank in lines)


def main() -> int:
    PLACE.unlink(missing_ok=True)
    connection = apsw.Connection(str(PLACE))
    connection.execute("create table ranks (token blob primary key, rank integer not null) without rowid")
    with connection:
        connection.executemany("insert into ranks values (?, ?)", vocabulary())
    connection.execute("vacuum")
    connection.close()
    print(f"{PLACE.name}: {PLACE.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())

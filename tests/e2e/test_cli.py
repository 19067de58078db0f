"""The real command line, each command in a process of its own."""

from __future__ import annotations

import json
import os
import pty
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from eunoe.service.catalog import CATALOG

COMMANDS = (*(row.name for row in CATALOG), "setup", "uninstall", "trust", "config", "doctor", "completion", "demo")
PROGRAM = (sys.executable, "-m", "eunoe")
KEPT = ("PATH", "SYSTEMROOT", "TEMP", "TMPDIR", "COVERAGE_PROCESS_CONFIG")


@dataclass
class Cli:
    """Runs `eunoe` with a home of its own, and nothing of the environment that could decide something."""

    home: Path
    cwd: Path
    env: dict[str, str] = field(default_factory=dict)

    def environ(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        return {**kept, "HOME": str(self.home), "EUNOE_HOME": str(self.home / "data"), **self.env, **more}

    def __call__(
        self, *args: str, code: int = 0, stdin: bytes = b"", cwd: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(
            [*PROGRAM, *args],
            input=stdin,
            capture_output=True,
            cwd=cwd or self.cwd,
            env=self.environ(**env),
            timeout=60,
            check=False,
        )
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        assert done.returncode == code, (args, done.stdout.decode(), done.stderr.decode())
        return done

    def text(self, *args: str, **settings: Any) -> str:
        return self(*args, **settings).stdout.decode()

    def json(self, *args: str, **settings: Any) -> Any:
        return json.loads(self("--json", *args, **settings).stdout)

    def error(self, *args: str, **settings: Any) -> str:
        """Return the code of the error, as both forms of the answer give it."""
        done = self("--json", *args, **settings)
        error: dict[str, Any] = json.loads(done.stdout)["error"]
        assert done.stderr.startswith((b"error: ", b"note: "))
        return str(error["code"])

    def on_terminal(self, *args: str, cwd: Path | None = None, **env: str) -> tuple[int, str]:
        """Run as a person does: with a terminal on every side."""
        ours, theirs = pty.openpty()
        running = subprocess.Popen(
            [*PROGRAM, *args],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=cwd or self.cwd,
            env=self.environ(TERM="xterm", **env),
        )
        os.close(theirs)
        seen = b""
        try:
            while chunk := os.read(ours, 65536):
                seen += chunk
        except OSError:
            pass  # how Linux says that the other side has closed
        os.close(ours)
        return running.wait(60), seen.decode()

    @property
    def store(self) -> Path:
        return self.home / "data" / "eunoe.sqlite"


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    work = tmp_path / "work"
    work.mkdir()
    return Cli(tmp_path, work, {"EUNOE_PROJECT": "acme/api"})


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """A store with a few memories, for tests that only read."""
    home = tmp_path_factory.mktemp("filled")
    cli = Cli(home, home, {"EUNOE_PROJECT": "acme/api"})
    lines = (
        {"body": "Stripe webhooks need the raw body", "kind": "gotcha", "tags": ["stripe"], "paths": ["src/hooks.py"]},
        {"body": "The API is deployed from the tag v1", "key": "deploy/current"},
        {"body": "The API is deployed from the tag v2", "key": "deploy/current"},
    )
    cli("import", "-", stdin="\n".join(map(json.dumps, lines)).encode())
    return cli


def test_a_memory_is_remembered_found_shown_corrected_and_its_history_kept(cli: Cli) -> None:
    said = cli.json("remember", "Stripe webhooks need the raw body", "--kind", "gotcha", "--tag", "a", "--tag", "b")
    assert (said["number"], said["outcome"]) == (1, "recorded")
    assert [hit["number"] for hit in cli.json("recall", "webhook body")["hits"]] == [1]
    assert cli.json("get", "1")["tags"] == ["a", "b"]
    assert cli.json("update", "#1", "--body", "Stripe webhooks need the raw bytes", "--pinned")["action"] == "updated"
    assert cli.json("get", said["id"])["pinned"] is True
    cli("update", "1", "--no-pinned", "--tag", "")
    shown = cli.json("get", "1")
    assert (shown["body"], shown["pinned"], shown["tags"]) == ("Stripe webhooks need the raw bytes", False, [])
    steps = cli.json("history", "1")["steps"]
    assert [step["version"]["version"] for step in steps] == [1, 2, 3]
    assert steps[0]["recorded_at"].endswith("Z")
    assert cli.json("why", "1", "raw bytes")["found"] is True


def test_memories_are_linked_put_away_and_brought_back(cli: Cli) -> None:
    cli("remember", "The webhook handler is in hooks.py")
    cli("remember", "Signatures are checked before parsing", "--link", "1")
    assert [each["number"] for each in cli.json("get", "1")["links"]] == [2]
    assert cli.json("unlink", "1", "2")["action"] == "unlinked"
    assert cli.json("link", "2", "1", "--note", "same file")["action"] == "linked"
    assert cli.json("archive", "1")["action"] == "archived"
    assert cli.json("restore", "1")["action"] == "restored"
    assert cli.json("forget", "--kind", "fact", "--dry-run")["memories"] == [1, 2]
    assert cli.json("forget", "2")["action"] == "forgotten"
    assert cli.json("count")["count"] == 1


def test_the_ledger_is_listed_anchored_verified_and_rebuilt(filled: Cli) -> None:
    assert [row["slug"] for row in filled.json("projects")["projects"]] == ["acme/api"]
    assert len(filled.json("log", "--limit", "2")["events"]) == 2
    (head,) = filled.json("head")["heads"]
    assert filled.text("head").strip() == head
    assert filled.json("verify", "--since", head)["ok"] is True
    assert filled.json("verify", "--all")["projects"][0]["project"] == "acme/api"
    assert filled.json("rebuild")["differences"] == {}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(filled: Cli, name: str) -> None:
    assert filled.text(name, "--help").startswith(f"Usage: eunoe {name}")


def test_the_help_lists_every_command_and_imports_none_of_them(filled: Cli) -> None:
    script = (
        "import sys\n"
        "from eunoe.surfaces.cli.main import main\n"
        "main(['--help'])\n"
        "heavy = ('eunoe.bootstrap', 'eunoe.stores', 'eunoe.retrieval', 'eunoe.domain', 'apsw', 'rich')\n"
        "print('LOADED', [name for name in sys.modules if name.startswith(heavy)])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, env=filled.environ(), check=True, encoding="utf-8"
    )
    listed = {line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ") and line.strip()}
    assert set(COMMANDS) <= listed
    assert "LOADED []" in done.stdout


def test_rich_is_loaded_for_no_output_but_tables_on_a_terminal(filled: Cli) -> None:
    script = (
        "import sys\n"
        "from eunoe.surfaces.cli.main import main\n"
        "main(['recall', 'webhook']); main(['projects'])\n"
        "print('LOADED', [name for name in sys.modules if name.startswith('rich')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, env=filled.environ(), check=True, encoding="utf-8"
    )
    assert "LOADED []" in done.stdout


@pytest.mark.parametrize(
    ("args", "exit_code", "code"),
    [
        (("recall", " "), 2, "blank_query"),
        (("recall", "x", "--limit", "-1"), 2, "bad_limit"),
        (("recall", "x", "--limit", "many"), 2, "usage"),
        (("recall", "x", "--since", "yesterday"), 2, "bad_time"),
        (("remember", "x", "--kind", "nonsense"), 2, "usage"),
        (("recall", "--no-such-option"), 2, "usage"),
        (("no-such-command",), 2, "usage"),
        (("get", "99"), 3, "no_memory"),
        (("import", "no-such-file"), 3, "no_file"),
        (("update", "1", "--version", "7", "--title", "x"), 4, "stale_version"),
        (("forget",), 5, "empty_filter"),
        (("trust",), 5, "needs_person"),
        (("recall", "x", "--scope", "user:someone"), 5, "scope"),
        (("verify", "--all", "--since", "x"), 2, "since_with_all"),
    ],
)
def test_each_class_of_error_has_its_exit_code(filled: Cli, args: tuple[str, ...], exit_code: int, code: str) -> None:
    assert filled.error(*args, code=exit_code) == code


def test_an_error_for_people_is_on_standard_error_alone(filled: Cli) -> None:
    done = filled("get", "99", code=3)
    assert done.stdout == b""
    first, second = done.stderr.decode().splitlines()
    assert first.startswith("error: ")
    assert second == "code: no_memory"


def test_a_file_that_is_no_store_is_refused_and_left_alone(cli: Cli, tmp_path: Path) -> None:
    foreign = tmp_path / "notes.txt"
    foreign.write_bytes(b"my notes\n" * 100)
    assert cli.error("recall", "x", "--store", str(foreign), code=1) == "foreign_file"
    assert foreign.read_bytes() == b"my notes\n" * 100


def test_a_store_that_lost_its_end_is_refused(filled: Cli, tmp_path: Path) -> None:
    cut = tmp_path / "cut.sqlite"
    cut.write_bytes(filled.store.read_bytes()[:-8192])
    assert filled.error("recall", "x", "--store", str(cut), code=1) == "truncated_file"
    report = filled.json("doctor", "--store", str(cut), code=1)
    assert report["failed"] == ["store"]


def test_a_store_of_a_newer_schema_is_refused_and_left_alone(filled: Cli, tmp_path: Path) -> None:
    newer = tmp_path / "newer.sqlite"
    shutil.copy(filled.store, newer)
    with sqlite3.connect(newer) as db:
        db.execute("pragma journal_mode = delete")
        db.execute("pragma user_version = 9999")
    db.close()
    before = newer.read_bytes()
    assert filled.error("recall", "x", "--store", str(newer), code=1) == "newer_schema"
    assert newer.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_store_that_may_not_be_written_says_so(filled: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    shutil.copy(filled.store, folder / "s.sqlite")
    (folder / "s.sqlite").chmod(0o400)
    folder.chmod(0o500)
    assert filled.error("remember", "x", "--store", str(folder / "s.sqlite"), code=1) == "read_only"


def test_a_store_in_a_place_that_cannot_be_is_an_error_with_a_code(filled: Cli) -> None:
    assert filled.error("recall", "x", "--store", f"{filled.store}/below.sqlite", code=1) == "cannot_open"


def test_verify_names_a_changed_event_and_fails(filled: Cli, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    shutil.copy(filled.store, copy)
    with sqlite3.connect(copy) as db:
        for (trigger,) in db.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            db.execute(f"drop trigger {trigger}")
        changed = db.execute("update events set payload = cast(replace(payload, 'raw', 'RAW') as blob) where seq = 2")
        assert changed.rowcount == 1
    db.close()
    result = filled.json("verify", "--store", str(copy), code=1)
    assert (result["fault"]["code"], result["fault"]["seq"]) == ("payload_replaced", 2)
    assert "payload_replaced" in filled.text("verify", "--store", str(copy), code=1)
    assert filled.json("doctor", "--store", str(copy), code=1)["failed"] == ["ledger"]


def test_options_stand_before_the_command_or_after_it_and_the_later_wins(cli: Cli, tmp_path: Path) -> None:
    store = str(tmp_path / "other.sqlite")
    cli("--store", store, "--project", "b/c", "remember", "one thing")
    assert cli.json("count", "--store", store, "--project", "b/c")["count"] == 1
    assert cli.json("--project", "nothing/here", "count", "--store", store, "--project", "b/c")["count"] == 1
    assert not cli.store.exists()


def test_a_body_is_read_from_standard_input(cli: Cli) -> None:
    cli("remember", "-", stdin="Привет → 🎉\nsecond line\n".encode())
    assert cli.json("get", "1")["body"].splitlines() == ["Привет → 🎉", "second line"]
    cli("update", "1", "--body", "-", stdin=b"corrected")
    assert cli.json("get", "1")["body"] == "corrected"
    assert cli.error("remember", "-", stdin=b"caf\xe9", code=2) == "not_utf8"


@pytest.mark.parametrize("env", [{"PYTHONIOENCODING": "cp1252"}, {"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
def test_any_console_is_given_utf_8(cli: Cli, env: dict[str, str]) -> None:
    cli("remember", "Привет → 🎉", **env)
    assert "Привет → 🎉" in cli.text("recall", **env)
    assert cli.json("recall", "привет", **env)["hits"][0]["body"] == "Привет → 🎉"


def test_half_of_a_surrogate_pair_stores_and_prints_as_utf_8(cli: Cli) -> None:
    done = cli("import", "-", stdin=b'{"body": "ok \\ud83d end"}')
    assert done.returncode == 0
    assert cli.json("recall", "end")["total"] == 1
    cli.text("get", "1")


def test_control_characters_of_a_memory_never_reach_the_screen(cli: Cli) -> None:
    cli("remember", "-", stdin="red \x1b[31m bell \a turn \u202e back".encode(), EUNOE_USER="kim")
    for args in (("recall",), ("recall", "bell"), ("get", "1"), ("history", "1"), ("why", "1"), ("recall", "--json")):
        shown = cli.text(*args)
        assert not {"\x1b", "\a", "\u202e"} & set(shown), args
        assert "x1b" in shown.lower() or "u001b" in shown


def test_colours_are_for_terminals_that_want_them(filled: Cli) -> None:
    for args in (("recall", "webhook"), ("projects",), ("doctor",)):
        assert "\x1b[" in filled.on_terminal(*args)[1], args
        assert "\x1b[" not in filled.on_terminal(*args, NO_COLOR="1")[1], args
        assert "\x1b[" not in filled.text(*args), args


def test_lines_of_recall_fit_the_terminal(filled: Cli) -> None:
    code, shown = filled.on_terminal("recall", "--explain", "deployed webhook", NO_COLOR="1", COLUMNS="50")
    assert code == 0
    assert max(map(len, shown.splitlines())) <= 50


def test_recall_looks_into_ones_own_project_unless_told_not_to(cli: Cli) -> None:
    cli("remember", "I prefer short answers", "--project", "me", "--user", "kim")
    assert [hit["project"] for hit in cli.json("recall", "answers", "--user", "kim")["hits"]] == ["~kim"]
    assert "me#1" in cli.text("recall", "answers", "--user", "kim")
    assert cli.json("get", "me#1", "--user", "kim")["body"] == "I prefer short answers"
    assert cli.json("recall", "answers", "--user", "kim", "--no-me")["hits"] == []
    assert cli.json("recall", "answers")["hits"] == []


def test_a_page_ends_with_the_cursor_of_the_next(filled: Cli) -> None:
    first = filled.json("recall", "--limit", "1")
    second = filled.json("recall", "--limit", "1", "--after", first["next"])
    assert second["hits"][0]["number"] != first["hits"][0]["number"]
    note = filled("recall", "--limit", "1").stderr.decode()
    assert filled.json("recall", "--limit", "1", "--after", note.split()[-1])["hits"] == second["hits"]


def test_doctor_makes_nothing_and_finds_nothing_wrong_with_a_new_home(cli: Cli) -> None:
    report = cli.json("doctor")
    assert report["ok"] is True
    assert not cli.store.exists()
    assert {check["layer"] for check in report["checks"]} >= {"runtime", "store", "project", "ledger", "self-test"}


def test_doctor_registers_no_project(cli: Cli) -> None:
    cli("remember", "something")
    cli("doctor", EUNOE_PROJECT="")
    assert len(cli.json("projects")["projects"]) == 1


def test_doctor_tells_who_is_taken_for_an_agent(cli: Cli) -> None:
    checks = {check["layer"]: check for check in cli.json("doctor", CLAUDECODE="1")["checks"]}
    assert checks["caller"]["facts"] == {"author": "agent", "agent": "claude-code"}


def test_the_author_of_what_is_typed_at_a_terminal_is_a_person(cli: Cli) -> None:
    assert cli.on_terminal("remember", "typed by hand")[0] == 0
    cli("remember", "run by a harness", CLAUDECODE="1")
    cli("remember", "called by a script")
    authors = [cli.json("get", number)["origin"]["author_type"] for number in ("1", "2", "3")]
    assert authors == ["person", "agent", "application"]


def test_config_shows_where_each_setting_comes_from(cli: Cli) -> None:
    rows = cli.json("config", "show", "--user", "kim")["settings"]
    origins = {row["name"]: row["origin"] for row in rows}
    assert origins["user"] == "argument"
    assert origins["project"] == "EUNOE_PROJECT"
    assert origins["store"] == "default"
    assert b"FAKE-PASSWORD" not in cli("config", "show", "--store", "postgresql://u:FAKE-PASSWORD@h/d").stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed(filled: Cli, shell: str) -> None:
    assert "_EUNOE_COMPLETE" in filled.text("completion", shell)


def test_names_of_commands_are_completed(filled: Cli) -> None:
    found = filled.text(_EUNOE_COMPLETE="bash_complete", COMP_WORDS="eunoe rec", COMP_CWORD="1")
    assert found.split() == ["plain,recall"]


def test_a_group_without_a_command_shows_what_it_has(filled: Cli) -> None:
    assert "recall" in filled.text()
    assert filled.json("config") == filled.json("config", "show")


def test_the_version_is_told(filled: Cli) -> None:
    assert filled.text("--version").startswith("eunoe ")


def test_an_error_that_nobody_expected_is_one_line_and_a_traceback_only_on_request(cli: Cli, tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from eunoe.surfaces.cli import run\n"
        "def broken(*_): raise RuntimeError('broken \\x1b[31m')\n"
        "run.use_case = broken\n"
        "from eunoe.surfaces.cli.main import main\n"
        "sys.exit(main(['count']))\n"
    )

    def call(**env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            env=cli.environ(**env),
            check=False,
            encoding="utf-8",
        )

    quiet, loud = call(), call(EUNOE_DEBUG="1")
    assert quiet.returncode == loud.returncode == 1
    assert "Traceback" not in quiet.stderr
    assert "\x1b" not in quiet.stderr
    assert "Traceback" in loud.stderr


def test_an_interrupt_ends_with_130_and_without_a_traceback(cli: Cli) -> None:
    script = (
        "import sys\n"
        "class Interrupted:\n"
        "    def read(self): raise KeyboardInterrupt\n"
        "class Stdin:\n"
        "    buffer = Interrupted()\n"
        "    isatty = staticmethod(lambda: False)\n"
        "sys.stdin = Stdin()\n"
        "from eunoe.surfaces.cli.main import main\n"
        "sys.exit(main(['remember', '-']))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, env=cli.environ(), check=False)
    assert done.returncode == 130
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("args", [("recall",), ("export",), ("--json", "no-such-command")])
def test_a_reader_that_goes_away_is_no_reason_to_complain(filled: Cli, args: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*PROGRAM, *args], stdout=writing, stderr=subprocess.PIPE, env=filled.environ(), check=False)
    os.close(writing)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr

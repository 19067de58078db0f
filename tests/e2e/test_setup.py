"""`eunoe setup` and `eunoe uninstall`, each as a process, on files that look as people's files do."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from eunoe._version import __version__
from eunoe.install.server import command_of

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "setup"
CLIENTS = ("claude-code", "codex", "opencode", "cursor", "gemini", "windsurf", "vscode", "zed")
KEPT = ("SYSTEMROOT", "TEMP", "TMPDIR", "COVERAGE_PROCESS_CONFIG")
KEEP = ".keep"  # git stores no empty folder

Tree = dict[str, bytes | str | None]


def tree(folder: Path) -> Tree:
    """Return what a folder holds: bytes of files, targets of links, None for folders."""
    found: Tree = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = str(path.readlink())
        elif path.is_dir():
            found[name] = None
        elif path.name != KEEP:
            found[name] = path.read_bytes()
    return {name: content for name, content in found.items() if "/.git/" not in name}


@dataclass
class Machine:
    """A home and a repository of their own; nothing of this machine's environment decides anything."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def environ(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        path = {"PATH": "/nowhere"}
        return {**kept, **path, "HOME": str(self.home), "EUNOE_HOME": str(self.folder / "data"), **self.env, **more}

    def __call__(
        self, *args: str, code: int = 0, cwd: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(
            [sys.executable, "-m", "eunoe", *args],
            input=b"",
            capture_output=True,
            cwd=cwd or self.work,
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

    def error(self, *args: str, **settings: Any) -> dict[str, Any]:
        error: dict[str, Any] = self.json(*args, **settings)["error"]
        return error

    def on_terminal(self, *args: str, answer: str = "", **env: str) -> tuple[int, str]:
        """Run as a person does, who answers what is asked."""
        ours, theirs = pty.openpty()
        running = subprocess.Popen(
            [sys.executable, "-m", "eunoe", *args],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=self.work,
            env=self.environ(TERM="xterm", **env),
        )
        os.close(theirs)
        os.write(ours, answer.encode())
        seen = b""
        try:
            while chunk := os.read(ours, 65536):
                seen += chunk
        except OSError:
            pass  # how Linux says that the other side has closed
        os.close(ours)
        return running.wait(60), seen.decode()

    def file(self, name: str, content: str | bytes = "") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def tree(self) -> Tree:
        return {name: content for name, content in tree(self.folder).items() if name.split("/")[0] != "data"}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    for name in ("home", "work/.git"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "work/.git/HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (tmp_path / "work/.git/config").write_text(
        '[remote "origin"]\n\turl = https://example.com/acme/shop.git\n', encoding="utf-8"
    )
    for name in ("objects", "refs"):
        (tmp_path / "work/.git" / name).mkdir()
    return Machine(tmp_path)


def furnish(machine: Machine, client: str) -> None:
    shutil.copytree(GOLDEN / client / "before", machine.folder, dirs_exist_ok=True)
    for keep in machine.folder.rglob(KEEP):
        keep.unlink()


def entry(command: dict[str, Any]) -> dict[str, Any]:
    words = list(command_of())
    return {"command": words[0], "args": words[1:], **command}


# ── golden files ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_gets_its_entry_and_everything_else_stays(machine: Machine, client: str) -> None:
    furnish(machine, client)
    machine("setup", client, "--yes")
    first, *rest = command_of()
    words = {b"@FIRST@": first, b"@REST@": json.dumps(rest), b"@HOME@": str(machine.folder / "data")}
    got = machine.tree()
    for name, content in got.items():
        if isinstance(content, bytes):
            for mark, word in words.items():
                content = content.replace(word.encode(), mark)
            got[name] = content
    backups = {name for name in got if name.endswith(".bak")}
    if os.environ.get("WRITE_GOLDEN"):
        write_golden(client, {name: content for name, content in got.items() if name not in backups})
    wanted = {name: content for name, content in tree(GOLDEN / client / "after").items() if content is not None}
    assert {name: each for name, each in got.items() if each is not None and name not in backups} == wanted
    before = tree(GOLDEN / client / "before")
    changed = {name for name, each in before.items() if each is not None and wanted[name] != each}
    assert changed, "the golden files show no change"
    assert backups == {f"{name}.bak" for name in changed}
    assert {name: got[f"{name}.bak"] for name in changed} == {name: before[name] for name in changed}


def write_golden(client: str, content: Tree) -> None:
    folder = GOLDEN / client / "after"
    shutil.rmtree(folder, ignore_errors=True)
    for name, each in content.items():
        if isinstance(each, bytes):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(each)


@pytest.mark.parametrize("client", CLIENTS)
def test_uninstall_brings_back_every_byte_and_every_folder(machine: Machine, client: str) -> None:
    furnish(machine, client)
    before = machine.tree()
    machine("setup", client, "--yes")
    assert machine.tree() != before
    machine("setup", client, "--yes")
    machine("uninstall", client, "--yes")
    assert machine.tree() == before
    assert not (machine.folder / "data").exists()


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_without_any_file_gets_them_and_loses_them_again(machine: Machine, client: str) -> None:
    before = machine.tree()
    machine("setup", client, "--yes")
    assert machine.tree() != before
    machine("uninstall", client, "--yes")
    assert machine.tree() == before


@pytest.mark.parametrize("client", [client for client in CLIENTS if client != "windsurf"])
def test_a_client_is_set_up_for_one_project(machine: Machine, client: str) -> None:
    before = machine.tree()
    machine("setup", client, "--yes", "--scope", "project")
    made = {name for name, content in machine.tree().items() if content is not None} - before.keys()
    assert made
    assert all(name.startswith("work/") for name in made)
    machine("uninstall", "--yes")
    assert machine.tree() == before


@pytest.mark.parametrize("client", CLIENTS)
def test_a_second_run_changes_nothing_and_says_so(machine: Machine, client: str) -> None:
    furnish(machine, client)
    assert machine.json("setup", client, "--yes")["applied"] is True
    once = machine.tree()
    again = machine.json("setup", client, "--yes")
    assert (again["applied"], again["files"]) == (False, [])
    assert "Nothing to change" in machine.text("setup", client)
    assert machine.tree() == once
    assert machine.json("uninstall", client, "--yes")["applied"] is True
    assert machine.json("uninstall", client, "--yes")["files"] == []


# ── asking ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_a_terminal_and_without_yes_nothing_is_changed(machine: Machine) -> None:
    furnish(machine, "codex")
    before = machine.tree()
    assert b"--yes" in machine("setup", "codex", code=2).stderr
    assert machine.error("setup", "codex", code=2)["code"] == "needs_yes"
    assert machine.tree() == before
    assert not (machine.folder / "data").exists()
    machine("setup", "codex", "--yes")
    assert machine.error("uninstall", "codex", code=2)["code"] == "needs_yes"


@pytest.mark.parametrize("command", ["setup", "uninstall"])
def test_a_dry_run_shows_the_diff_and_changes_nothing(machine: Machine, command: str) -> None:
    furnish(machine, "codex")
    if command == "uninstall":
        machine("setup", "codex", "--yes")
    before = machine.tree()
    shown = machine.text(command, "codex", "--dry-run")
    assert f"--- {machine.home}/.codex/config.toml" in shown
    assert f"{'+' if command == 'setup' else '-'}[mcp_servers.eunoe]" in shown
    assert "model =" not in shown.replace(" model", "")  # far away from the change
    report = machine.json(command, "codex", "--dry-run")
    assert report["applied"] is False
    assert [Path(each["file"]).name for each in report["files"]] == ["config.toml", "AGENTS.override.md"]
    assert machine.tree() == before


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs patch")
def test_the_diff_is_exactly_the_change(machine: Machine, tmp_path: Path) -> None:
    names = ("claude-code", "opencode", "windsurf", "vscode")  # patch reads no mark of byte order and no CR LF
    for client in names:
        furnish(machine, client)
    shown = machine.text("setup", *names, "--dry-run")
    copy = tmp_path / "copy"
    for name in ("home", "work"):
        shutil.copytree(machine.folder / name, copy / name, symlinks=True)
    headers = shown.replace(f"--- {machine.folder}/", "--- ").replace(f"+++ {machine.folder}/", "+++ ")
    subprocess.run(["patch", "-p0"], cwd=copy, input=headers.encode(), capture_output=True, check=True)
    machine("setup", *names, "--yes")
    made = {name: each for name, each in machine.tree().items() if not name.endswith(".bak")}
    assert tree(copy) == {name: each for name, each in made.items() if not name.startswith("copy")}


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1)])
def test_a_person_is_asked_once_and_only_a_yes_changes_anything(machine: Machine, answer: str, code: int) -> None:
    furnish(machine, "codex")
    before = machine.tree()
    got, shown = machine.on_terminal("setup", "codex", answer=answer)
    assert got == code, shown
    assert shown.count("[y/N]") == 1
    assert (machine.tree() != before) is (code == 0)
    assert "\x1b[32m+[mcp_servers.eunoe]" in shown
    assert shown.index("+[mcp_servers.eunoe]") < shown.index("[y/N]")


def test_the_diff_has_no_colours_where_they_are_not_wanted(machine: Machine) -> None:
    assert "\x1b[3" not in machine.on_terminal("setup", "codex", "--yes", NO_COLOR="1")[1]
    assert "\x1b[3" in machine.on_terminal("uninstall", "codex", "--yes")[1]


# ── which clients ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_clients_are_found_by_their_folders_and_their_programs(machine: Machine) -> None:
    assert machine.error("setup", code=3)["code"] == "no_client"
    (machine.home / ".codex").mkdir()
    program = machine.file("bin/gemini", "#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    found = machine.json("setup", "--dry-run", PATH=str(program.parent))["clients"]
    assert [each["client"] for each in found] == ["codex", "gemini"]


def test_a_name_that_is_no_client_is_refused_and_other_names_of_one_are_known(machine: Machine) -> None:
    assert machine.error("setup", "emacs", code=2)["code"] == "unknown_client"
    assert machine.json("setup", "claude", "--dry-run")["clients"] == [{"client": "claude-code", "scope": "user"}]


def test_a_scope_that_a_client_does_not_have_is_refused(machine: Machine) -> None:
    assert machine.error("setup", "windsurf", "--scope", "project", code=2)["code"] == "no_such_scope"
    (machine.home / ".codeium/windsurf").mkdir(parents=True)
    (machine.home / ".codex").mkdir()
    report = machine.json("setup", "--scope", "project", "--dry-run")
    assert report["clients"] == [{"client": "codex", "scope": "project"}]
    assert any("Windsurf" in note for note in report["notes"])


def test_a_client_for_one_project_is_left_out_where_there_is_none(machine: Machine) -> None:
    (machine.home / ".cursor").mkdir()
    (machine.home / ".codex").mkdir()
    plain = machine.folder / "plain"
    plain.mkdir()
    report = machine.json("setup", "--dry-run", cwd=plain)
    assert [each["client"] for each in report["clients"]] == ["codex"]
    assert any("Cursor" in note for note in report["notes"])
    assert machine.json("setup", "cursor", "--dry-run", cwd=plain)["clients"][0]["scope"] == "project"
    assert machine.error("setup", "cursor", cwd=machine.home, code=2)["code"] == "no_project_folder"


PATHS = [
    ("claude-code", {"CLAUDE_CONFIG_DIR": "c"}, "c/.claude.json"),
    ("codex", {"CODEX_HOME": "x"}, "x/config.toml"),
    ("opencode", {"XDG_CONFIG_HOME": "g"}, "g/opencode/opencode.json"),
    ("opencode", {"OPENCODE_CONFIG": "o/mine.json"}, "o/mine.json"),
    ("gemini", {"GEMINI_CLI_HOME": "m"}, "m/.gemini/settings.json"),
    ("zed", {"XDG_CONFIG_HOME": "g"}, "g/zed/settings.json"),
]


@pytest.mark.parametrize(("client", "variables", "file"), PATHS)
def test_a_clients_own_variables_say_where_its_files_are(
    machine: Machine, client: str, variables: dict[str, str], file: str
) -> None:
    env = {name: str(machine.folder / value) for name, value in variables.items()}
    report = machine.json("setup", client, "--dry-run", **env)
    assert report["files"][0]["file"] == str(machine.folder / file)
    if client != "codex" and "OPENCODE_CONFIG" not in env:
        (machine.folder / file).parent.mkdir(parents=True)
        assert [each["client"] for each in machine.json("setup", "--dry-run", **env)["clients"]] == [client]


# ── what is written ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_entry_runs_this_installation_with_the_settings_of_setup(machine: Machine) -> None:
    store = str(machine.folder / "s.sqlite")
    machine("setup", "codex", "--yes", "--store", store, "--user", "kim", "--project", "acme/shop")
    made = tomllib.loads((machine.home / ".codex/config.toml").read_text(encoding="utf-8"))["mcp_servers"]["eunoe"]
    env = {
        "EUNOE_HOME": str(machine.folder / "data"),
        "EUNOE_STORE": store,
        "EUNOE_USER": "kim",
        "EUNOE_PROJECT": "acme/shop",
    }
    assert made == entry({"env": env})
    assert Path(made["command"]).is_file()


def test_a_project_in_the_environment_is_not_fixed_for_all_projects_of_a_user(machine: Machine) -> None:
    diff = machine.json("setup", "claude", "--dry-run", EUNOE_PROJECT="acme/other")["files"][0]["diff"]
    assert "EUNOE_HOME" in diff
    assert "acme/other" not in diff


def test_cursor_gets_the_name_that_the_store_gives_the_project(machine: Machine) -> None:
    other = machine.folder / "other"
    shutil.copytree(machine.work, other)
    (other / ".git/config").write_text('[remote "origin"]\n\turl = https://example.org/acme/shop\n', encoding="utf-8")
    machine("remember", "of another shop", cwd=other)
    machine("setup", "cursor", "--yes")
    made = json.loads((machine.work / ".cursor/mcp.json").read_text(encoding="utf-8"))
    assert made["mcpServers"]["eunoe"]["env"]["EUNOE_PROJECT"] == "acme/shop-2"
    machine("remember", "of this shop")
    assert {each["slug"] for each in machine.json("projects")["projects"]} == {"acme/shop", "acme/shop-2"}


@pytest.mark.parametrize("store", ["postgresql://kim:FAKE-PASSWORD@db/eunoe"])
def test_a_secret_is_never_written_into_a_file(machine: Machine, store: str) -> None:
    before = machine.tree()
    done = machine("--json", "setup", "codex", "--yes", "--store", store, code=5)
    assert json.loads(done.stdout)["error"]["code"] == "secret_in_setting"
    assert b"FAKE-PASSWORD" not in done.stdout + done.stderr
    machine("setup", "codex", "--yes", EUNOE_TOKEN="FAKE-TOKEN")
    assert b"FAKE-TOKEN" not in (machine.home / ".codex/config.toml").read_bytes()
    assert machine.tree() != before


def test_an_entry_that_a_person_edited_keeps_what_is_theirs(machine: Machine) -> None:
    text = (
        '{"mcpServers": {"eunoe": {"command": "/old/eunoe", "args": ["mcp"], "env": {"MINE": "1"}, "timeout": 9000},'
        ' "other": {}}}\n'
    )
    file = machine.file("home/.gemini/settings.json", text)
    diff = machine.json("setup", "gemini", "--yes")["files"][0]["diff"]
    assert "-" + text.rstrip("\n") in diff
    made = json.loads(file.read_text(encoding="utf-8"))["mcpServers"]["eunoe"]
    assert made == entry({"env": {"MINE": "1", "EUNOE_HOME": str(machine.folder / "data")}, "timeout": 9000})
    machine("uninstall", "gemini", "--yes")
    assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("words", [["docker", "run", "-i", "ghcr.io/someone/eunoe:1", "mcp"], ["npx", "other"]])
def test_an_entry_of_the_same_name_that_runs_something_else_is_left_alone(machine: Machine, words: list[str]) -> None:
    entry = {"command": words[0], "args": words[1:], "env": {"A": "b"}}
    file = machine.home / ".claude.json"
    file.write_text(json.dumps({"mcpServers": {"eunoe": entry}}), encoding="utf-8")
    before = file.read_bytes()
    done = machine("setup", "claude-code", "--yes", code=4)
    assert words[0].encode() in done.stderr
    assert file.read_bytes() == before
    machine("uninstall", "claude-code", "--yes")
    assert file.read_bytes() == before


def test_an_entry_of_ours_through_a_runner_is_ours(machine: Machine) -> None:
    entry = {"command": "uvx", "args": ["eunoe[mcp]", "mcp"]}
    file = machine.home / ".claude.json"
    file.write_text(json.dumps({"mcpServers": {"eunoe": entry}}), encoding="utf-8")
    machine("setup", "claude-code", "--yes")
    assert json.loads(file.read_text())["mcpServers"]["eunoe"]["args"][-1] == "mcp"
    assert "uvx" not in file.read_text()


@pytest.mark.parametrize("home", ["rel", "."])
def test_a_home_that_is_no_absolute_path_is_refused(machine: Machine, home: str) -> None:
    done = machine("setup", "claude-code", "--dry-run", code=2, HOME=home)
    assert b"HOME" in done.stderr


def test_links_in_a_circle_and_pipes_are_refused_untouched(machine: Machine) -> None:
    file = machine.home / ".claude.json"
    file.symlink_to(file)
    assert b"nothing was changed" in machine("setup", "claude-code", "--yes", code=1).stderr
    file.unlink()
    os.mkfifo(file)
    assert b"no ordinary file" in machine("setup", "claude-code", "--yes", code=1).stderr


def test_an_entry_of_the_same_name_that_is_a_remote_server_is_left_alone(machine: Machine) -> None:
    file = machine.file("home/.gemini/settings.json", '{"mcpServers": {"eunoe": {"httpUrl": "https://example.com"}}}')
    before = machine.tree()
    error = machine.error("setup", "gemini", "codex", "--yes", code=4)
    assert error["code"] == "foreign_entry"
    assert error["details"]["file"] == str(file)
    assert machine.tree() == before


@pytest.mark.parametrize(
    ("name", "client", "content", "line"),
    [
        ("home/.claude.json", "claude", '{\n "a": 1,\n "b"\n}', 4),
        ("home/.codex/config.toml", "codex", "a = 1\nb = \n", 2),
        ("home/.gemini/settings.json", "gemini", b'{\n"a": "\xff"}', 2),
        ("home/.gemini/settings.json", "gemini", '{"mcpServers": []}', 1),
        ("home/.codex/AGENTS.md", "codex", "a\n<!-- eunoe:begin -->\n", 2),
        ("home/.codex/config.toml", "codex", '[mcp_servers]\neunoe = {command = "eunoe"}\n', None),
    ],
)
def test_a_file_that_is_not_well_is_named_and_nothing_at_all_is_written(
    machine: Machine, name: str, client: str, content: str | bytes, line: int | None
) -> None:
    file = machine.file(name, content)
    before = machine.tree()
    error = machine.error("setup", "zed", client, "windsurf", "--yes", code=2)
    assert error["code"] == "bad_config_file"
    assert error["details"] == {"file": str(file), "line": line}
    assert machine.tree() == before
    machine("setup", "zed", "windsurf", "--yes")


# ── files ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_link_into_a_folder_of_dotfiles_stays_a_link(machine: Machine) -> None:
    real = machine.file("dotfiles/config.toml", 'model = "x"\n')
    real.chmod(0o640)
    (machine.home / ".codex").mkdir()
    link = machine.home / ".codex/config.toml"
    link.symlink_to(real)
    before = machine.tree()
    machine("setup", "codex", "--yes")
    assert link.is_symlink()
    assert b"[mcp_servers.eunoe]" in real.read_bytes()
    assert real.stat().st_mode & 0o777 == 0o640
    assert Path(f"{real}.bak").stat().st_mode & 0o777 == 0o640
    machine("uninstall", "codex", "--yes")
    assert machine.tree() == before


def test_a_link_that_leads_out_of_the_repository_is_not_followed(machine: Machine) -> None:
    outside = machine.file("home/.profile", "export A=1\n")
    (machine.work / "AGENTS.md").symlink_to(outside)
    before = machine.tree()
    assert machine.error("setup", "codex", "--scope", "project", "--yes", code=5)["code"] == "leads_outside"
    assert machine.tree() == before
    (machine.work / "AGENTS.md").unlink()
    (machine.work / "AGENTS.md").symlink_to(machine.file("work/docs/agents.md", "inside\n"))
    machine("setup", "codex", "--scope", "project", "--yes")


def test_the_copy_is_of_the_state_before_the_first_change_and_takes_nobodys_place(machine: Machine) -> None:
    file = machine.file("home/.codex/config.toml", 'model = "x"\n')
    theirs = machine.file("home/.codex/config.toml.bak", "theirs")
    machine("setup", "codex", "--yes")
    copy = machine.home / ".codex/config.toml.eunoe.bak"
    assert copy.read_text(encoding="utf-8") == 'model = "x"\n'
    file.write_text(file.read_text(encoding="utf-8") + "[other]\n", encoding="utf-8")
    machine("setup", "codex", "--yes", "--user", "kim")
    assert copy.read_text(encoding="utf-8") == 'model = "x"\n'
    machine("uninstall", "codex", "--yes")
    assert file.read_text(encoding="utf-8") == 'model = "x"\n[other]\n'
    assert copy.read_text(encoding="utf-8") == 'model = "x"\n', "what differs from the copy is not thrown away"
    assert theirs.read_text(encoding="utf-8") == "theirs"


@pytest.mark.parametrize("client", CLIENTS)
def test_what_others_wrote_in_the_meantime_survives_the_uninstall(machine: Machine, client: str) -> None:
    furnish(machine, client)
    machine("setup", client, "--yes")
    edited = [path for path in machine.folder.rglob("*") if path.is_file() and b"eunoe" in path.read_bytes()]
    edited = [path for path in edited if "data" not in path.relative_to(machine.folder).parts and path.suffix != ".bak"]
    assert edited
    for path in edited:
        raw = path.read_bytes()
        if path.suffix == ".md":
            path.write_bytes(raw + b"\nadded later\n")
        elif path.suffix == ".toml":
            path.write_bytes(raw + b"\n# added later\n[later]\nn = 1\n")
        else:
            at = raw.index(b"{") + 1
            path.write_bytes(raw[:at] + b'"added later": [1, {}],' + raw[at:])
    machine("uninstall", client, "--yes")
    for path in edited:
        raw = path.read_bytes()
        assert b"eunoe" not in raw.replace(b"/srv/shop", b"").replace(b'"eunoe": {"command": "of another', b"").replace(
            b"[mcp_servers.eunoe]\nthis is text", b""
        )
        assert b"added later" in raw


def test_a_file_that_changed_while_a_person_thought_is_not_overwritten(machine: Machine) -> None:
    from eunoe.errors import Conflict
    from eunoe.install.files import Change, Record, carry_out

    file = machine.file("home/.codex/config.toml", "changed = 1\n")
    other = machine.folder / "new"
    changes = [
        Change(other, other, None, b"x", was_ours=False, is_ours=True),
        Change(file, file, b"seen = 1\n", b"ours", was_ours=False, is_ours=True),
    ]
    with pytest.raises(Conflict) as caught:
        carry_out(changes, Record(machine.folder / "data/setup.json"))
    assert caught.value.code == "file_changed"
    assert file.read_bytes() == b"changed = 1\n"
    assert not other.exists()


def test_when_one_file_cannot_be_written_the_others_are_put_back(machine: Machine) -> None:
    machine.file("home/.codex/config.toml", 'model = "x"\n')
    machine.file("home/.gemini", "a file where the folder should be")
    before = machine.tree()
    error = machine.error("setup", "claude", "codex", "gemini", "--yes", code=1)
    assert error["code"] == "config_unwritable"
    assert machine.tree() == before
    assert not (machine.folder / "data").exists()


def test_a_damaged_record_is_named(machine: Machine) -> None:
    machine.file("data/setup.json", "{")
    assert machine.error("setup", "codex", "--yes", code=1)["code"] == "bad_setup_record"


def test_a_file_that_setup_made_stays_when_somebody_else_uses_it(machine: Machine) -> None:
    machine("setup", "codex", "--yes")
    file = machine.home / ".codex/config.toml"
    file.write_text(file.read_text(encoding="utf-8") + '\n[mcp_servers.web]\ncommand = "web"\n', encoding="utf-8")
    machine("uninstall", "codex", "--yes")
    assert tomllib.loads(file.read_text(encoding="utf-8")) == {"mcp_servers": {"web": {"command": "web"}}}
    assert not (machine.home / ".codex/AGENTS.md").exists()


def test_uninstall_tells_what_is_set_up_elsewhere(machine: Machine) -> None:
    machine("setup", "cursor", "--yes")
    notes = machine.json("uninstall", "--yes", cwd=machine.home)["notes"]
    assert any(str(machine.work / ".cursor/mcp.json") in note for note in notes)
    assert (machine.work / ".cursor/mcp.json").exists()


def test_uninstall_never_touches_memories_and_says_so(machine: Machine) -> None:
    machine("remember", "The webhook needs the raw body")
    machine("setup", "codex", "--yes")
    done = machine("uninstall", "--yes")
    assert b"memories" in done.stderr
    assert [hit["number"] for hit in machine.json("recall", "webhook")["hits"]] == [1]


# ── instructions ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_clients_that_share_a_file_have_one_instruction_until_the_last_has_gone(machine: Machine) -> None:
    file = machine.file("work/AGENTS.md", "# Shop\n")
    machine("setup", "codex", "cursor", "vscode", "opencode", "zed", "claude", "--scope", "project", "--yes")
    assert file.read_bytes().count(b"eunoe:begin") == 1
    machine("uninstall", "cursor", "codex", "zed", "opencode", "--yes")
    assert b"eunoe:begin" in file.read_bytes()
    assert not (machine.work / ".cursor").exists()
    machine("uninstall", "vscode", "--yes")
    assert b"eunoe:begin" in file.read_bytes(), "Claude Code reads it, too"
    machine("uninstall", "claude", "--yes")
    assert file.read_text(encoding="utf-8") == "# Shop\n"


def test_an_instruction_stands_where_its_client_reads_it(machine: Machine) -> None:
    def written(*clients: str) -> set[str]:
        report = machine.json("setup", *clients, "--scope", "project", "--dry-run")
        names = {os.path.relpath(each["file"], machine.work) for each in report["files"]}
        return {name for name in names if name.endswith((".md", ".rules"))}

    assert written("claude") == {"AGENTS.md"}
    claude = machine.file("work/CLAUDE.md", "# Shop\n")
    assert written("claude", "codex") == {"CLAUDE.md", "AGENTS.md"}
    assert written("opencode", "zed") == {"CLAUDE.md"}, "a new AGENTS.md would hide it"
    claude.write_text("# Shop\n\n@AGENTS.md\n", encoding="utf-8")
    assert written("claude", "codex") == {"AGENTS.md"}
    claude.unlink()
    claude.symlink_to("AGENTS.md")
    machine.file("work/AGENTS.md", "# Shop\n")
    assert len(written("claude", "codex")) == 1
    machine.file("work/AGENTS.override.md", "x\n")
    machine.file("work/.rules", "x\n")
    assert written("codex", "zed", "gemini") == {"AGENTS.override.md", ".rules", "GEMINI.md"}


def test_a_file_that_one_client_gets_is_read_by_the_next(machine: Machine) -> None:
    machine.file("work/CLAUDE.md", "# Shop\n")
    report = machine.json("setup", "codex", "opencode", "--scope", "project", "--dry-run")
    names = [os.path.relpath(each["file"], machine.work) for each in report["files"]]
    assert names == [".codex/config.toml", "AGENTS.md", "opencode.json"]


def test_instructions_can_be_left_out(machine: Machine) -> None:
    report = machine.json("setup", "codex", "claude", "gemini", "--no-instructions", "--yes")
    assert [Path(each["file"]).suffix for each in report["files"]] == [".json", ".toml", ".json"]


def test_an_older_instruction_is_brought_up_to_date(machine: Machine) -> None:
    file = machine.file("home/.codex/AGENTS.md", "a\n\n<!-- eunoe:begin -->\nold\n<!-- eunoe:end -->\n\nb\n")
    machine("setup", "codex", "--yes")
    text = file.read_text(encoding="utf-8")
    assert "old" not in text
    assert "briefing" in text
    assert text.startswith("a\n\n")
    assert text.endswith("\n\nb\n")


# ── doctor ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def clients_check(machine: Machine, *, code: int) -> dict[str, Any]:
    report = machine.json("doctor", code=code)
    assert report["failed"] == (["clients"] if code else [])
    check: dict[str, Any] = report["checks"][-1]
    assert check["layer"] == "clients"
    return check


def connect(machine: Machine, client: str, *words: str) -> None:
    """Set a client up, and let its entry run something else."""
    machine("setup", client, "--yes")
    file = machine.home / ".codex/config.toml"
    text = file.read_text(encoding="utf-8").replace(json.dumps(command_of()[0]), json.dumps(words[0]))
    file.write_text(text.replace(json.dumps(list(command_of()[1:])), json.dumps(words[1:])), encoding="utf-8")


def test_doctor_says_when_no_client_is_set_up(machine: Machine) -> None:
    assert "eunoe setup" in clients_check(machine, code=0)["skipped"]


def test_doctor_tries_the_server_through_the_entry_of_the_client(machine: Machine) -> None:
    from tests.unit.test_probe import SERVER

    script = machine.file("fake/eunoe", SERVER)
    connect(machine, "codex", sys.executable, str(script), "none")
    seen = clients_check(machine, code=0)["facts"]["codex (user)"]
    assert "9.9" in seen
    assert "eunoe setup" in seen, "another version is told"
    connect(machine, "codex", sys.executable, str(script), "recall")
    error = clients_check(machine, code=1)["error"]
    assert error["code"] == "client_broken"
    assert "recall" in error["details"]["clients"]["codex (user)"]


def test_what_setup_writes_starts_a_server_that_remembers(machine: Machine) -> None:
    pytest.importorskip("mcp")
    for client in CLIENTS:
        machine("setup", client, "--yes")
    facts = clients_check(machine, code=0)["facts"]
    assert set(facts) == {f"{client} ({'project' if client in ('cursor', 'vscode') else 'user'})" for client in CLIENTS}
    assert set(facts.values()) == {f"Eunoe {__version__} remembers and recalls"}
    assert not (machine.folder / "data/eunoe.sqlite").exists(), "the self-test has a store of its own"


def test_doctor_names_the_client_whose_command_has_gone(machine: Machine) -> None:
    connect(machine, "codex", "/nowhere/eunoe", "mcp")
    assert list(clients_check(machine, code=1)["error"]["details"]["clients"]) == ["codex (user)"]


def test_doctor_names_a_file_that_it_cannot_read_and_goes_on(machine: Machine) -> None:
    machine.file("home/.codex/config.toml", "a = \n")
    assert list(clients_check(machine, code=1)["error"]["details"]["clients"]) == ["codex (user)"]

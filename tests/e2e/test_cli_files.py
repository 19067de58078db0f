"""The command line and files: export, import, and the `.eunoe.toml` and folders that decide the project."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.e2e.test_cli import Cli

TORN = b'{"body": "the last line was cut mid-str'
FIVE_LINES = b"\n".join(
    (
        b'{"body": "first good line", "kind": "fact"}',
        b"   ",
        b'{"body": "second good line, without a kind"}',
        b'{"body": "third good line", "tags": ["x"]}',
        TORN,
    )
)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    work = tmp_path / "work"
    work.mkdir()
    return Cli(tmp_path, work, {"EUNOE_PROJECT": "acme/api"})


def git(folder: Path, *args: str) -> None:
    config = ("-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *config, *args], cwd=folder, check=True, capture_output=True)


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "x")
    return folder


def test_a_torn_line_costs_only_itself_and_its_bytes_are_kept(cli: Cli) -> None:
    (cli.cwd / "old.jsonl").write_bytes(FIVE_LINES)
    answer = cli.json("import", "old.jsonl", code=1)
    assert len(answer["receipts"]) == 3
    assert [bad["line"] for bad in answer["bad"]] == [5]
    kept = cli.cwd / "old.jsonl.rejected.jsonl"
    assert kept.read_bytes() == TORN
    assert kept.stat().st_mode & 0o777 == 0o600
    assert cli.json("count")["count"] == 3
    cli("remember", "a line after that")
    assert cli.json("recall", "after that")["total"] == 1


def test_bad_lines_are_named_for_people(cli: Cli) -> None:
    (cli.cwd / "old.jsonl").write_bytes(FIVE_LINES)
    done = cli("import", "old.jsonl", code=1)
    assert b"line 5:" in done.stderr
    assert b"3 recorded" in done.stdout


def test_strict_stores_all_lines_or_none(cli: Cli) -> None:
    (cli.cwd / "old.jsonl").write_bytes(FIVE_LINES)
    done = cli("import", "old.jsonl", "--strict", code=2)
    assert b"line 5 " in done.stderr
    assert cli.json("count")["count"] == 0
    assert not (cli.cwd / "old.jsonl.rejected.jsonl").exists()


def test_rejected_lines_of_a_pipe_are_kept_beside_those_of_an_earlier_one(cli: Cli) -> None:
    for raw in (b"{1\r\n", b"{2\n{3", b"{2\n{3"):
        cli("import", "-", stdin=raw, code=1)
    kept = {path.name: path.read_bytes() for path in cli.cwd.iterdir()}
    assert kept == {
        "eunoe-import.rejected.jsonl": b"{1\r\n",
        "eunoe-import.rejected.2.jsonl": b"{2\n{3",
    }


def test_export_import_export_gives_the_same_bytes(cli: Cli, tmp_path: Path) -> None:
    cli("remember", "Stripe webhooks need the raw body → 🎉", "--tag", "x")
    cli("remember", "deployed v1", "--key", "deploy/current")
    cli("remember", "deployed v2", "--key", "deploy/current")
    cli("update", "1", "--title", "Raw body")
    done = cli("export", "out.json")
    assert done.stdout == b""
    assert b"left out" in done.stderr
    exported = cli.cwd / "out.json"
    assert exported.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in cli.cwd.iterdir()] == ["out.json"]
    other = str(tmp_path / "other.sqlite")
    answer = cli.json("import", "out.json", "--store", other)
    assert (answer["adopted"], answer["memories"]) == (True, 3)
    assert cli("export", "--store", other).stdout == exported.read_bytes()
    assert cli.json("verify", "--store", other)["ok"] is True
    assert cli.error("import", "out.json", "--store", other, "--project", "x/y", code=4) == "project_exists"


def test_an_export_replaces_a_file_only_when_it_is_whole(cli: Cli) -> None:
    cli("remember", "something")
    (cli.cwd / "out.json").write_bytes(b"before")
    assert cli.error("export", "out.json", "--project", "nothing/here", code=3) == "no_project"
    assert (cli.cwd / "out.json").read_bytes() == b"before"
    assert cli.error("export", "no/such/folder.json", code=1) == "file_unwritable"
    facts = cli.json("export", "-o", "out.json")
    assert facts["counts"]["events"] == len(json.loads((cli.cwd / "out.json").read_bytes())["events"])


def test_a_damaged_export_is_not_taken_for_lines(cli: Cli) -> None:
    cli("remember", "something")
    whole = cli("export").stdout
    (cli.cwd / "cut.json").write_bytes(whole[:-40])
    assert cli.error("import", "cut.json", "--project", "b/c", code=2) == "bad_document"
    (cli.cwd / "changed.json").write_bytes(whole.replace(b"something", b"somethinG"))
    assert cli.error("import", "changed.json", "--project", "b/c", code=2) == "broken_document"
    assert not list(cli.cwd.glob("*.rejected*"))


def test_a_repository_is_one_project_from_worktrees_and_subfolders_and_no_other(cli: Cli, tmp_path: Path) -> None:
    cli.env = {}
    shop = repository(tmp_path / "w" / "shop")
    other = repository(tmp_path / "x" / "shop")
    (shop / "web").mkdir()
    worktree = tmp_path / "w" / "shop-wt-1"
    git(shop, "worktree", "add", str(worktree), "-b", "wt")
    cli("remember", "the till rounds to five cents", cwd=shop)
    for place, found in ((worktree, 1), (shop / "web", 1), (other, 0)):
        assert len(cli.json("recall", "till", cwd=place)["hits"]) == found, place
    cli("remember", "something of the other shop", cwd=other)
    slugs = [row["slug"] for row in cli.json("projects", cwd=shop)["projects"]]
    assert len(set(slugs)) == 2
    assert cli.json("recall", "till", "--project", "apart", cwd=worktree)["hits"] == []


def test_a_project_file_counts_only_after_a_person_trusted_it(cli: Cli) -> None:
    cli.env = {}
    repository(cli.cwd / "clone")
    place = cli.cwd / "clone"
    (place / ".eunoe.toml").write_text('project = "victim/api"\n')
    done = cli("remember", "said before trust", cwd=place)
    assert done.stderr.startswith(b"note: ")
    assert cli.json("count", "--project", "victim/api")["count"] == 0
    doctor = {check["layer"]: check for check in cli.json("doctor", cwd=place)["checks"]}
    assert doctor["project"]["facts"]["found by"] == "identity"
    assert "eunoe trust" in doctor["project"]["facts"]["ignored"]

    assert cli.error("trust", code=5, cwd=place) == "needs_person"
    code, shown = cli.on_terminal("trust", cwd=place, CLAUDECODE="1")
    assert code == 5
    code, shown = cli.on_terminal("trust", cwd=place)
    assert code == 0
    assert "victim/api" in shown
    assert cli.json("trust", "--list")["trusted"] == [{"folder": str(place.resolve()), "project": "victim/api"}]

    assert cli("remember", "said after trust", cwd=place).stderr == b""
    assert cli.json("count", "--project", "victim/api")["count"] == 1

    (place / ".eunoe.toml").write_text('project = "someone/else"\n')
    cli("remember", "said after the file changed", cwd=place)
    assert cli.json("count", "--project", "someone/else")["count"] == 0

    assert cli.on_terminal("trust", "--remove", cwd=place)[0] == 0
    assert cli.json("trust", "--list")["trusted"] == []


def test_trust_without_a_project_file_says_that_there_is_none(cli: Cli) -> None:
    code, shown = cli.on_terminal("trust")
    assert code == 3
    assert "no_project_file" in shown

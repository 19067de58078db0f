"""`eunoe model`, each command in a process of its own, with a model of a few kilobytes."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import Asked, served
from tests.tiny_model import write_model

from eunoe.models.catalog import DEFAULT, MODELS

KEPT = ("PATH", "SYSTEMROOT", "TEMP", "TMPDIR", "COVERAGE_PROCESS_CONFIG")


class Cli:
    """Runs `eunoe` with a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "data"
        self.folder = folder

    def environ(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        return {**kept, "HOME": str(self.folder), "EUNOE_HOME": str(self.home), **more}

    def __call__(self, *args: str, code: int = 0, **env: str) -> str:
        command = [sys.executable, "-m", "eunoe", *args]
        done = subprocess.run(
            command, capture_output=True, cwd=self.folder, env=self.environ(**env), timeout=60, check=False, text=True
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == code, (args, done.stdout, done.stderr)
        return done.stdout if code == 0 else done.stdout + done.stderr

    def json(self, *args: str, **env: Any) -> Any:
        return json.loads(self("--json", *args, **env))

    def error(self, *args: str, code: int, **env: str) -> str:
        said = self("--json", *args, code=code, **env)
        return str(json.loads(said[: said.rindex("}") + 1])["error"]["code"])


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return write_model(tmp_path / "export" / "tiny", config={"license": "mit"})


def test_a_model_is_installed_listed_checked_used_and_removed(cli: Cli, export: Path) -> None:
    said = cli("model", "install", "tiny", "--from", str(export))
    assert said.startswith(f"tiny is installed: {cli.home}/models/tiny (")
    assert "EUNOE_MODEL=tiny" in said
    assert "was installed already" in cli("model", "install", "tiny", "--from", str(export), EUNOE_MODEL="tiny")

    listed = cli("model", EUNOE_MODEL="tiny")
    assert [line.split()[0] for line in listed.splitlines()[1:5]] == [*(known.name for known in MODELS), "tiny"]
    assert "installed, used" in listed
    assert "Used: tiny: chosen by name (EUNOE_MODEL)." in listed

    checked = cli("model", "check", EUNOE_MODEL="tiny")
    assert checked.startswith("tiny: 4 files as they were installed, loads in ")
    assert checked.rstrip().endswith("8 numbers in a vector.")

    assert "memories stay" in cli("model", "remove", "tiny")
    assert not (cli.home / "models" / "tiny").exists()
    assert cli.error("model", "check", code=3, EUNOE_MODEL="tiny") == "not_installed"


def test_every_command_answers_in_json(cli: Cli, export: Path) -> None:
    added = cli.json("model", "install", "tiny", "--from", str(export))["installed"]
    assert (added["name"], added["licence"], added["is_new"]) == ("tiny", "mit", True)
    assert len(added["fingerprint"]) == 64
    found = cli.json("model", "list", EUNOE_MODEL=added["folder"])
    assert found["used"] == {"state": "ready", "name": "tiny", "reason": "a folder", "origin": "EUNOE_MODEL"}
    tiny = found["models"][-1]
    assert (tiny["name"], tiny["is_installed"], tiny["is_used"], tiny["problem"]) == ("tiny", True, True, "")
    checked = cli.json("model", "check", "tiny")["checked"]
    assert (checked["name"], checked["files"], checked["dim"]) == ("tiny", 4, 8)
    assert checked["load_ms"] > 0
    assert cli.json("model", "remove", "tiny") == {"removed": added["folder"]}


def test_a_model_outside_the_home_is_used_by_its_folder(cli: Cli, export: Path, tmp_path: Path) -> None:
    place = tmp_path / "elsewhere" / "m"
    said = cli("model", "install", "m", "--from", str(export), "--to", str(place))
    assert f"EUNOE_MODEL={place}" in said
    assert not cli.home.exists()
    assert "m: a folder (EUNOE_MODEL)" in cli("model", "list", EUNOE_MODEL=str(place))


def test_without_a_model_the_list_says_what_to_do(cli: Cli) -> None:
    listed = cli("model", "list")
    assert "Used: none, so search goes by words and keys" in listed
    assert "eunoe model install" in listed
    assert listed.count("available") == len(MODELS)
    assert not cli.home.exists()
    assert "no model is wanted (EUNOE_MODEL)" in cli("model", "list", EUNOE_MODEL="none")


def test_damage_is_found_named_and_repaired(cli: Cli, export: Path) -> None:
    folder = Path(cli.json("model", "install", "tiny", "--from", str(export))["installed"]["folder"])
    graph = folder / "model.onnx"
    raw = bytearray(graph.read_bytes())
    raw[-1] ^= 1  # of the same size: only hashing finds it
    graph.write_bytes(raw)
    said = cli("model", "check", "tiny", code=1)
    assert str(graph) in said
    assert "code: model_failed" in said
    graph.write_bytes(b"cut")
    assert cli.json("model", "list")["models"][-1]["problem"]
    assert "damaged" in cli("model", "list")
    assert cli.error("model", "check", "tiny", code=1) == "model_failed"
    assert "is installed" in cli("model", "install", "tiny", "--from", str(export))
    cli("model", "check", "tiny")


@pytest.mark.parametrize(
    ("args", "exit_code", "code"),
    [
        (("install", "gpt"), 2, "unknown_model"),
        (("install", "--from", "nothing.whl"), 2, "not_a_model"),
        (("install", "--from", "hf:nothing"), 2, "bad_model"),
        (("remove", "tiny"), 3, "not_installed"),
        (("remove", ".."), 3, "not_installed"),
        (("check",), 3, "not_installed"),
        (("check", "nothing"), 3, "not_installed"),
        (("check", "openai:x"), 2, "bad_model"),
        (("remove",), 2, "usage"),
        (("fly",), 2, "usage"),
    ],
)
def test_what_goes_wrong_has_a_code(cli: Cli, args: tuple[str, ...], exit_code: int, code: str) -> None:
    assert cli.error("model", *args, code=exit_code) == code


def test_a_file_that_is_not_the_known_one_is_named_with_both_sums(cli: Cli, export: Path) -> None:
    said = cli("model", "install", DEFAULT, "--from", str(export), code=1)
    assert MODELS[0].parts[0].sha256 in said
    assert "model.onnx" in said
    assert "code: checksum" in said
    assert list((cli.home / "models").iterdir()) == []


def test_an_endpoint_is_checked_by_asking_it(cli: Cli) -> None:
    def answer(asked: Asked) -> None:
        is_right = asked.headers.get("Authorization") == "Bearer right"
        asked.answer(200 if is_right else 401, b'{"data": [{"index": 0, "embedding": [1, 2, 3]}]}')

    with served(answer) as address:
        setting = {"EUNOE_MODEL": f"openai:m@{address}/v1"}
        checked = cli("model", "check", EUNOE_MODEL_KEY="right", **setting)
        assert checked.startswith("m: ")
        assert checked.rstrip().endswith("3 numbers in a vector.")
        said = cli("model", "check", code=1, EUNOE_MODEL_KEY="wr0ng", **setting)
        assert "code: model_refused" in said
        assert "wr0ng" not in said


def test_the_fake_is_checked_too(cli: Cli) -> None:
    assert "32 numbers" in cli("model", "check", "fake")


@pytest.mark.parametrize("colours", [{}, {"NO_COLOR": "1"}], ids=["colours", "none"])
def test_a_person_sees_a_bar_while_files_come(cli: Cli, export: Path, colours: dict[str, str]) -> None:
    def answer(asked: Asked) -> None:
        file = export / asked.path.rpartition("/")[2]
        asked.answer(200, file.read_bytes()) if file.is_file() else asked.answer(404)

    with served(answer) as address:
        more = {"TERM": "xterm", "HF_ENDPOINT": address, **colours}
        code, seen = on_terminal(cli, "model", "install", "--from", "hf:org/tiny", **more)
    assert code == 0, seen
    assert "fetching" in seen
    assert "100%" in seen
    assert "tiny is installed" in seen
    assert not colours or "\x1b[3" not in seen


def on_terminal(cli: Cli, *args: str, **env: str) -> tuple[int, str]:
    """Run as a person does: with a terminal on every side."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "eunoe", *args]
    running = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=cli.folder, env=cli.environ(**env)
    )
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 65536):
            seen += chunk
    except OSError:
        pass  # Linux tells in this way that the other side is closed
    finally:
        os.close(ours)
    return running.wait(30), seen.decode()

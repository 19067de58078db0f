"""The command line that goes into the files of clients, and where those files are on other platforms."""

from __future__ import annotations

from pathlib import Path

import pytest

from eunoe.errors import Refused
from eunoe.install.clients import all_clients
from eunoe.install.places import Places
from eunoe.install.server import Server, check_env, command_of, is_passing, lacks

SERVER = Server(("/opt/eunoe", "mcp"), {})


def test_the_console_script_beside_the_interpreter_is_run(tmp_path: Path) -> None:
    script = tmp_path / "eunoe"
    script.touch()
    assert command_of(str(tmp_path / "python")) == (str(script), "mcp")


def test_without_a_script_the_module_is_run_out_of_reach_of_the_clients_folder(tmp_path: Path) -> None:
    assert command_of(str(tmp_path / "python")) == (str(tmp_path / "python"), "-P", "-m", "eunoe", "mcp")


@pytest.mark.parametrize(
    ("executable", "passing"),
    [
        ("/u/.cache/uv/archive-v0/x1/bin/python", True),
        ("/u/.cache/pipx/1a2b/bin/python", True),
        ("/u/.local/share/uv/tools/eunoe/bin/python", False),
        ("/u/.local/share/pipx/venvs/eunoe/bin/python", False),
        ("/u/src/eunoe/.venv/bin/python", False),
    ],
)
def test_an_environment_that_is_thrown_away_is_known(executable: str, passing: bool) -> None:
    assert is_passing(executable) is passing


def test_a_package_that_is_missing_is_known() -> None:
    assert lacks("no_such_package_of_anybody")
    assert not lacks("click")


@pytest.mark.parametrize("value", ["postgresql://kim:FAKE-PASSWORD@db/eunoe", "https://db/?password=q8Zr-41xT-pm"])
def test_a_setting_with_a_secret_is_refused(value: str) -> None:
    with pytest.raises(Refused) as caught:
        check_env({"EUNOE_USER": "kim", "EUNOE_STORE": value})
    assert caught.value.code == "secret_in_setting"
    assert caught.value.details == {"setting": "EUNOE_STORE"}
    assert check_env({"EUNOE_STORE": "postgresql://kim@db/eunoe"})


MAC = Places({"HOME": "/h"}, Path("/r"), platform="darwin")
WINDOWS = Places({"USERPROFILE": "/h", "APPDATA": "/h/Roaming"}, Path("/r"), platform="win32")
LINUX = Places({"HOME": "/h", "XDG_CONFIG_HOME": "relative"}, Path("/r"), platform="linux")
PORTABLE = Places({"HOME": "/h", "VSCODE_PORTABLE": "~/code", "CODEX_HOME": ""}, Path("/r"), platform="linux")


@pytest.mark.parametrize(
    ("places", "client", "file"),
    [
        (MAC, "vscode", "/h/Library/Application Support/Code/User/mcp.json"),
        (WINDOWS, "vscode", "/h/Roaming/Code/User/mcp.json"),
        (LINUX, "vscode", "/h/.config/Code/User/mcp.json"),
        (PORTABLE, "vscode", "/h/code/user-data/User/mcp.json"),
        (MAC, "zed", "/h/.config/zed/settings.json"),
        (WINDOWS, "zed", "/h/Roaming/Zed/settings.json"),
        (LINUX, "zed", "/h/.config/zed/settings.json"),
        (PORTABLE, "codex", "/h/.codex/config.toml"),
        (WINDOWS, "claude-code", "/h/.claude.json"),
    ],
)
def test_each_platform_has_its_places(places: Places, client: str, file: str) -> None:
    entry = all_clients(places, SERVER)[client].entry("user")
    assert entry is not None
    assert entry.default == Path(file)

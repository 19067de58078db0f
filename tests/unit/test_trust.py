"""Trusted folders, who counts as a person, and the settings of a process."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from eunoe.config.settings import data_directory, load_settings, prepare_home
from eunoe.config.trust import TrustedFolders, find_agent, is_person
from eunoe.errors import Invalid, Unavailable

posix_only = pytest.mark.skipif(os.name != "posix", reason="file modes exist on POSIX only")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "trusted.json"


# ── Trusted folders ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_folder_is_trusted_for_the_one_name_that_was_given(tmp_path: Path, file: Path) -> None:
    TrustedFolders(str(file)).add(str(tmp_path), "acme/api")
    again = TrustedFolders(str(file))
    assert again.is_trusted(str(tmp_path), "acme/api")
    assert not again.is_trusted(str(tmp_path), "acme/payroll")
    assert not again.is_trusted(str(tmp_path / "below"), "acme/api")


def test_a_later_trust_takes_the_place_of_the_earlier_one(tmp_path: Path, file: Path) -> None:
    folders = TrustedFolders(str(file))
    folders.add(str(tmp_path), "acme/api")
    folders.add(str(tmp_path), "acme/web")
    assert not folders.is_trusted(str(tmp_path), "acme/api")
    assert folders.entries() == {os.path.realpath(tmp_path): "acme/web"}


def test_trust_can_be_taken_back(tmp_path: Path, file: Path) -> None:
    folders = TrustedFolders(str(file))
    folders.add(str(tmp_path), "acme/api")
    assert folders.remove(str(tmp_path))
    assert not folders.remove(str(tmp_path))
    assert not folders.is_trusted(str(tmp_path), "acme/api")


def test_folders_are_compared_by_their_real_path_and_listed_in_order(tmp_path: Path, file: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        TrustedFolders(str(file)).add(str(tmp_path / name), name)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    folders = TrustedFolders(str(file))
    assert folders.is_trusted(str(tmp_path / "link"), "a")
    assert list(folders.entries().values()) == ["a", "b"]


def test_without_a_file_nothing_is_trusted_and_nothing_is_made(tmp_path: Path, file: Path) -> None:
    assert not TrustedFolders(str(file)).is_trusted(str(tmp_path), "acme/api")
    assert not TrustedFolders(str(file)).remove(str(tmp_path))
    assert not file.parent.exists()


@posix_only
def test_the_file_is_private_and_leaves_nothing_beside_it(tmp_path: Path, file: Path) -> None:
    before = os.umask(0)
    try:
        TrustedFolders(str(file)).add(str(tmp_path), "acme/api")
    finally:
        os.umask(before)
    assert (mode_of(file), mode_of(file.parent)) == (0o600, 0o700)
    assert [entry.name for entry in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"{}",
        b'{"format": 2, "folders": {}}',
        b'{"format": 1}',
        b'{"format": 1, "folders": {"/w": 1}}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_reported_and_never_overwritten(tmp_path: Path, file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    file.chmod(0o600)
    folders = TrustedFolders(str(file))
    for ask in (
        lambda: folders.is_trusted(str(tmp_path), "a"),
        lambda: folders.add(str(tmp_path), "a"),
        lambda: folders.remove(str(tmp_path)),
        folders.entries,
    ):
        with pytest.raises(Unavailable) as caught:
            ask()
        assert caught.value.code == "bad_trust_file"
    assert file.read_bytes() == content


@posix_only
def test_a_file_that_others_can_write_is_not_believed(tmp_path: Path, file: Path) -> None:
    TrustedFolders(str(file)).add(str(tmp_path), "acme/api")
    file.chmod(0o666)
    with pytest.raises(Unavailable) as caught:
        TrustedFolders(str(file)).is_trusted(str(tmp_path), "acme/api")
    assert caught.value.code == "bad_trust_file"


def test_a_failed_write_is_an_error_and_leaves_the_old_file(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = TrustedFolders(str(file))
    folders.add(str(tmp_path), "acme/api")
    before = file.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Unavailable) as caught:
        folders.add(str(tmp_path), "acme/web")
    assert caught.value.code == "trust_file_unwritable"
    assert file.read_bytes() == before
    assert [entry.name for entry in file.parent.iterdir()] == [file.name]


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    # A file in the way: even root cannot make a folder there.
    with pytest.raises(Unavailable):
        TrustedFolders(str(tmp_path / "home" / "trusted.json")).add(str(tmp_path), "a")


def test_the_file_is_plain_json(tmp_path: Path, file: Path) -> None:
    TrustedFolders(str(file)).add(str(tmp_path), "acme/api")
    assert json.loads(file.read_text()) == {"format": 1, "folders": {os.path.realpath(tmp_path): "acme/api"}}


# ── Person or agent ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("environ", "agent"),
    [
        ({"CLAUDECODE": "1"}, "claude-code"),
        ({"CLAUDE_CODE_SESSION_ID": "s"}, "claude-code"),
        ({"CODEX_SANDBOX": "seatbelt"}, "codex"),
        ({"CODEX_THREAD_ID": "t"}, "codex"),
        ({"CURSOR_AGENT": "1"}, "cursor"),
        ({"CURSOR_TRACE_ID": "t"}, "cursor"),
        ({"GEMINI_CLI": "1"}, "gemini-cli"),
        ({"OPENCODE": "1"}, "opencode"),
        ({"CLINE_ACTIVE": "true"}, "cline"),
        ({"AI_AGENT": "Custom-Agent@2.0"}, "custom-agent@2.0"),
        ({"AGENT": "goose"}, "goose"),
        ({"AI_AGENT": "1"}, "agent"),
        ({"AGENT": "true"}, "agent"),
        ({"AGENT": "<script>"}, "agent"),
        ({"EUNOE_AGENT": "mine", "CLAUDECODE": "1"}, "mine"),
        ({"AI_AGENT": "other", "CLAUDECODE": "1"}, "claude-code"),
    ],
)
def test_an_agents_environment_is_recognised(environ: dict[str, str], agent: str) -> None:
    assert find_agent({"HOME": "/home/ann", **environ}) == agent
    assert not is_person(environ, stdin_isatty=True, stdout_isatty=True)


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"CLAUDECODE": "", "AGENT": "0", "EUNOE_AGENT": "false", "GEMINI_CLI": " "},
        {"CODEX_HOME": "/h", "CLAUDE_CODE_USE_BEDROCK": "1", "AIDER_MODEL": "m", "OPENCODE_CONFIG": "/c"},
    ],
)
def test_a_terminal_outside_an_agents_environment_is_a_person(environ: dict[str, str]) -> None:
    assert find_agent(environ) is None
    assert is_person(environ, stdin_isatty=True, stdout_isatty=True)


@pytest.mark.parametrize(("stdin", "stdout"), [(False, False), (True, False), (False, True)])
def test_a_pipe_on_either_side_is_no_person(stdin: bool, stdout: bool) -> None:
    assert not is_person({}, stdin_isatty=stdin, stdout_isatty=stdout)


# ── Settings ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_argument_wins_over_the_environment_and_that_over_the_default(tmp_path: Path) -> None:
    environ = {
        "EUNOE_HOME": str(tmp_path),
        "EUNOE_STORE": str(tmp_path / "e.sqlite"),
        "EUNOE_PROJECT": "acme/api",
        "EUNOE_USER": "ann",
    }
    settings = load_settings(environ, store=":memory:", user="bob")
    assert (settings.store, settings.origin("store")) == (":memory:", "argument")
    assert (settings.user, settings.origin("user")) == ("bob", "argument")
    assert (settings.project, settings.origin("project")) == ("acme/api", "EUNOE_PROJECT")
    assert (settings.home, settings.origin("home")) == (str(tmp_path), "EUNOE_HOME")
    assert (settings.model, settings.origin("model")) == (None, "default")


def test_an_empty_variable_is_unset(tmp_path: Path) -> None:
    environ = dict.fromkeys(("EUNOE_HOME", "EUNOE_STORE", "EUNOE_PROJECT", "EUNOE_USER", "EUNOE_MODEL"), "")
    settings = load_settings({**environ, "HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)})
    assert (settings.project, settings.user, settings.model) == (None, None, None)
    assert settings.store == str(Path(settings.home) / "eunoe.sqlite")
    assert {settings.origin(name) for name in ("home", "store", "project", "user", "model")} == {"default"}


@pytest.mark.parametrize("setting", ["store", "project", "user"])
def test_an_empty_argument_is_invalid(setting: str) -> None:
    with pytest.raises(Invalid) as caught:
        load_settings({}, **{setting: " "})
    assert caught.value.code == "empty_setting"


def test_a_wrong_user_id_is_invalid() -> None:
    with pytest.raises(Invalid) as caught:
        load_settings({"EUNOE_USER": "a b"})
    assert caught.value.code == "bad_user"


def test_the_home_folder_is_expanded_and_a_relative_path_made_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = load_settings({"HOME": "/home/ann", "EUNOE_HOME": "~/memory", "EUNOE_STORE": "here.sqlite"})
    assert settings.home == str(Path("/home/ann/memory").absolute())
    assert settings.store == str(tmp_path / "here.sqlite")
    assert load_settings({"HOME": "/home/ann"}, store="~").store == str(Path("/home/ann").absolute())


@pytest.mark.parametrize("store", [":memory:", "postgresql://ann:FAKE@db/eunoe", "https://memory.example.org"])
def test_a_store_that_is_no_file_is_kept_as_it_is_and_its_password_is_not_printed(store: str) -> None:
    settings = load_settings({"EUNOE_STORE": store})
    assert settings.store == store
    assert "FAKE" not in repr(settings)


def test_an_unknown_scheme_is_invalid_and_the_address_is_not_repeated() -> None:
    with pytest.raises(Invalid) as caught:
        load_settings({}, store="mysql://ann:FAKE@db/eunoe")
    assert caught.value.code == "bad_store"
    assert "FAKE" not in caught.value.message


@pytest.mark.parametrize(
    ("platform", "environ", "parts"),
    [
        ("linux", {"HOME": "/h"}, ("/h", ".local", "share")),
        ("linux", {"HOME": "/h", "XDG_DATA_HOME": "/data"}, ("/data",)),
        ("linux", {"HOME": "/h", "XDG_DATA_HOME": "relative"}, ("/h", ".local", "share")),
        ("darwin", {"HOME": "/h", "XDG_DATA_HOME": "/data"}, ("/h", "Library", "Application Support")),
        ("win32", {"LOCALAPPDATA": "/local", "USERPROFILE": "/h"}, ("/local",)),
        ("win32", {"USERPROFILE": "/h"}, ("/h", "AppData", "Local")),
    ],
)
def test_each_platform_has_its_place_for_data(platform: str, environ: dict[str, str], parts: tuple[str, ...]) -> None:
    assert data_directory(environ, platform=platform) == str(Path(*parts, "eunoe"))


@posix_only
def test_a_new_home_is_private_and_an_old_one_is_left_alone(tmp_path: Path) -> None:
    prepare_home(str(tmp_path / "deep" / "home"))
    assert mode_of(tmp_path / "deep" / "home") == 0o700
    (tmp_path / "old").mkdir(mode=0o500)
    prepare_home(str(tmp_path / "old"))
    assert mode_of(tmp_path / "old") == 0o500


def test_a_home_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in ("file", "file/below"):
        with pytest.raises(Unavailable) as caught:
            prepare_home(str(tmp_path / path))
        assert caught.value.code == "home_unwritable"

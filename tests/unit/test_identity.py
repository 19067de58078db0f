"""Which project a folder belongs to, in real repositories (OPEN-24), and what a `.eunoe.toml` may ask for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eunoe.config.identity import Identity, Resolution, find_identity, read_project_file, resolve
from eunoe.config.trust import TrustedFolders
from eunoe.domain.project import check_slug, slug_for
from eunoe.errors import EunoeError, Invalid, Refused

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="the git program is not installed")

REMOTE = "https://ann:FAKE-token@GitHub.com/Acme/Shop.git"


def git(folder: Path, *arguments: str) -> None:
    isolated = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
    person = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *person, *arguments], cwd=folder, env=isolated, check=True, capture_output=True)


def make_repository(folder: Path, *, remote: str | None = None) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "start")
    if remote is not None:
        git(folder, "remote", "add", "origin", remote)
    return folder


def fake_repository(folder: Path, config: str = "") -> Path:
    """Make what a git directory needs to be one, with a configuration as given."""
    for name in ("objects", "refs"):
        (folder / ".git" / name).mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "config").write_text(config)
    return folder


def identity_of(folder: Path) -> str:
    return find_identity(str(folder)).identity


# ── OPEN-24 ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@needs_git
@pytest.mark.parametrize("remote", [None, REMOTE])
def test_worktree_and_subfolder_share_the_identity_of_their_repository(tmp_path: Path, remote: str | None) -> None:
    shop = make_repository(tmp_path / "w" / "shop", remote=remote)
    git(shop, "worktree", "add", "--quiet", "../shop-wt-1")
    (shop / "web").mkdir()
    (tmp_path / "w" / "shop-wt-1" / "web").mkdir()

    expected = "github.com/acme/shop" if remote else os.path.realpath(shop / ".git")

    assert identity_of(shop) == expected
    assert identity_of(shop / "web") == expected
    assert identity_of(tmp_path / "w" / "shop-wt-1") == expected
    assert identity_of(tmp_path / "w" / "shop-wt-1" / "web") == expected


@needs_git
def test_unrelated_repositories_in_folders_of_one_name_stay_apart(tmp_path: Path) -> None:
    ours, theirs = make_repository(tmp_path / "w" / "shop"), make_repository(tmp_path / "x" / "shop")
    assert identity_of(ours) != identity_of(theirs)
    assert slug_for(identity_of(ours)) == slug_for(identity_of(theirs)) == "shop"


@needs_git
def test_an_explicit_project_keeps_a_worktree_apart(tmp_path: Path) -> None:
    shop = make_repository(tmp_path / "shop")
    git(shop, "worktree", "add", "--quiet", "../wt")
    apart = resolve_in(tmp_path / "wt", tmp_path, environment="shop-wt")
    assert (apart.source, apart.name) == ("environment", "shop-wt")
    assert resolve_in(shop, tmp_path).name is None


@pytest.mark.skipif(os.name == "nt", reason="here such a path is foreign")
@pytest.mark.parametrize("path", [r"D:\work\shop_2", "d:/work/shop_2/"])
def test_a_windows_root_gives_a_key_that_is_a_legal_folder_name(path: str) -> None:
    found = find_identity(path)
    assert (found.identity, found.source) == (r"D:\work\shop_2", "path")
    assert find_identity(found.identity) == found
    assert slug_for(found.identity) == check_slug("shop_2")


# ── Repositories in all their shapes ─────────────────────────────────────────────────────────────────────────────────


@needs_git
def test_a_remote_identifies_the_repository_and_its_credential_is_never_kept(tmp_path: Path) -> None:
    shop = make_repository(tmp_path / "shop", remote=REMOTE)
    found = find_identity(str(shop))
    assert found == Identity(
        identity="github.com/acme/shop",
        root=os.path.realpath(shop),
        source="remote",
        remote="origin",
        git_dir=os.path.realpath(shop / ".git"),
    )
    assert "FAKE" not in repr(found)


@needs_git
def test_a_clone_of_a_local_folder_is_its_own_project(tmp_path: Path) -> None:
    shop = make_repository(tmp_path / "shop", remote=REMOTE)
    git(tmp_path, "clone", "--quiet", str(shop), "copy")
    assert find_identity(str(tmp_path / "copy")).source == "git"
    assert identity_of(tmp_path / "copy") != identity_of(shop)


@needs_git
def test_a_submodule_is_its_own_project(tmp_path: Path) -> None:
    library = make_repository(tmp_path / "library")
    shop = make_repository(tmp_path / "shop")
    git(shop, "submodule", "--quiet", "add", str(library), "vendor/library")
    found = find_identity(str(shop / "vendor" / "library"))
    assert found.identity != identity_of(shop)
    assert found.root == os.path.realpath(shop / "vendor" / "library")
    assert slug_for(found.identity) == "library"


@needs_git
def test_a_bare_repository_and_its_worktree_are_one_project(tmp_path: Path) -> None:
    make_repository(tmp_path / "start")
    git(tmp_path, "clone", "--quiet", "--bare", "start", "shop.git")
    git(tmp_path / "shop.git", "remote", "remove", "origin")
    git(tmp_path / "shop.git", "worktree", "add", "--quiet", "../wt")
    bare = find_identity(str(tmp_path / "shop.git" / "hooks"))
    assert bare.root == bare.identity == os.path.realpath(tmp_path / "shop.git")
    assert identity_of(tmp_path / "wt") == bare.identity
    assert slug_for(bare.identity) == "shop"


@needs_git
def test_a_separate_git_directory_is_followed(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    git(tmp_path / "shop", "init", "--quiet", "--separate-git-dir", str(tmp_path / "kept"))
    assert identity_of(tmp_path / "shop") == os.path.realpath(tmp_path / "kept")


@needs_git
def test_the_inside_of_a_git_directory_belongs_to_its_repository(tmp_path: Path) -> None:
    shop = make_repository(tmp_path / "shop")
    git(shop, "worktree", "add", "--quiet", "../wt")
    for inside in (".git", ".git/hooks", ".git/worktrees/wt"):
        assert identity_of(shop / inside) == identity_of(shop)
    assert find_identity(str(shop / ".git" / "hooks")).root == os.path.realpath(shop)


def test_a_symbolic_link_leads_to_the_same_project(tmp_path: Path) -> None:
    shop = fake_repository(tmp_path / "w" / "shop")
    (shop / "web").mkdir()
    (tmp_path / "link").symlink_to(shop / "web")
    assert identity_of(tmp_path / "link") == identity_of(shop)


def test_files_and_folders_that_do_not_exist_yet_belong_to_the_repository_around_them(tmp_path: Path) -> None:
    shop = fake_repository(tmp_path / "shop")
    (shop / "main.py").touch()
    assert identity_of(shop / "main.py") == identity_of(shop / "later" / "on.py") == identity_of(shop)


def test_a_folder_outside_a_repository_is_known_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    path = os.path.realpath(tmp_path / "notes")
    assert find_identity(str(tmp_path / "notes")) == Identity(identity=path, root=path, source="path")
    assert identity_of(tmp_path / "missing") == os.path.realpath(tmp_path / "missing")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names are always text")
def test_a_folder_name_that_is_no_text_gives_an_identity_that_is(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    assert identity_of(folder).encode().endswith(rb"/caf\udce9")


def test_a_path_with_a_nul_is_invalid() -> None:
    with pytest.raises(Invalid) as caught:
        find_identity("/w/\0")
    assert caught.value.code == "bad_path"


# ── The configuration ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ('[remote "origin"]\n\turl = git@h.org:a/b.git\n', ("origin", "h.org/a/b")),
        ('[remote "z"]\nurl=https://h.org/z\n[remote "a"]\nurl=https://h.org/a\n', ("a", "h.org/a")),
        ('[remote "a"]\nurl=https://h.org/a\n[remote "upstream"]\nurl=https://h.org/u\n', ("upstream", "h.org/u")),
        ('[remote "upstream"]\nurl=https://h.org/u\n[remote "origin"]\nurl=https://h.org/o\n', ("origin", "h.org/o")),
        ('[remote "origin"]\nurl=/srv/a.git\n[remote "b"]\nurl=https://h.org/b\n', ("b", "h.org/b")),
        ('[remote "origin"]\nurl=https://h.org/1\nurl=https://h.org/2\n', ("origin", "h.org/1")),
        ('[REMOTE "origin"] URL = "https://h.org/a" ; note\n', ("origin", "h.org/a")),
        ('[remote "origin"]\r\n\turl = https://h.org/a # note\r\n', ("origin", "h.org/a")),
        ('[remote "origin"]\nurl = https://h.org/\\\n  a\n', ("origin", "h.org/  a")),
        ('\ufeff[remote "o\\"x"]\nurl = https://h.org/a', ('o"x', "h.org/a")),
        ('[remote "origin"]\n;url = https://h.org/no\nurl = https://h.org/a\n', ("origin", "h.org/a")),
        ('[remote "origin"]\nurl\npushurl = https://h.org/no\n', (None, None)),
        ('[branch "main"]\nurl = https://h.org/no\n', (None, None)),
        ('[remote "origin"]\n[core]\nurl = https://h.org/no\n', (None, None)),
        ('[remote "origin\nurl = https://h.org/no\n', (None, None)),
        ("[remote]\nurl = https://h.org/no\n", (None, None)),
        ("\\\n" * 50 + "[[[=\\", (None, None)),
        ("", (None, None)),
    ],
)
def test_the_remote_is_read_as_git_reads_it(tmp_path: Path, config: str, expected: tuple[str | None, ...]) -> None:
    shop = fake_repository(tmp_path / "shop", config)
    found = find_identity(str(shop))
    address = found.identity if found.source == "remote" else None
    assert (found.remote, address) == expected


@needs_git
@pytest.mark.parametrize(
    "url", ["https://h.org/a;b", 'https://h.org/a"b', "https://h.org/a\\b", "https://h.org/a #b", "git@h.org:a/b"]
)
def test_a_remote_that_git_itself_wrote_down_is_read_back(tmp_path: Path, url: str) -> None:
    shop = make_repository(tmp_path / "shop", remote=url)
    expected = fake_repository(tmp_path / "plain")
    escaped = url.replace("\\", "\\\\").replace('"', '\\"')
    (expected / ".git" / "config").write_text(f'[remote "origin"]\nurl = "{escaped}"\n')
    assert identity_of(shop) == identity_of(expected) != os.path.realpath(shop / ".git")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(config=st.binary(max_size=300) | st.text('[remot "origin]\nurl=\\#;h:/.', max_size=120).map(str.encode))
def test_any_configuration_leaves_an_identity(tmp_path: Path, config: bytes) -> None:
    shop = tmp_path / "shop"
    if not shop.exists():
        fake_repository(shop)
    (shop / ".git" / "config").write_bytes(config)
    assert find_identity(str(shop)).source in ("remote", "git")


def test_an_unreadable_configuration_falls_back_to_the_git_directory(tmp_path: Path) -> None:
    shop = fake_repository(tmp_path / "shop")
    (shop / ".git" / "config").unlink()
    (shop / ".git" / "config").mkdir()
    assert find_identity(str(shop)).source == "git"


@pytest.mark.parametrize("content", [b"", b"gitdir: /nowhere/at/all", b"gitdir:", b"\xff\0gitdir: x", b"gitdir: \0"])
def test_a_damaged_git_file_falls_back_to_the_path(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".git").write_bytes(content)
    assert find_identity(str(tmp_path)).source == "path"


def test_an_empty_git_folder_is_passed_over_for_the_repository_around_it(tmp_path: Path) -> None:
    shop = fake_repository(tmp_path / "shop")
    (shop / "inner" / ".git").mkdir(parents=True)
    assert identity_of(shop / "inner") == identity_of(shop)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_in_place_of_a_file_does_not_hang(tmp_path: Path) -> None:
    shop = fake_repository(tmp_path / "shop")
    for name in (".git/commondir", ".eunoe.toml"):
        os.mkfifo(shop / name)
    assert find_identity(str(shop)).source == "git"
    assert read_project_file(str(shop), str(shop)) is None


# ── .eunoe.toml ──────────────────────────────────────────────────────────────────────────────────────────────────────


def trusted(tmp_path: Path) -> TrustedFolders:
    return TrustedFolders(str(tmp_path / "home" / "trusted.json"))


def resolve_in(
    folder: Path,
    tmp_path: Path,
    *,
    argument: str | None = None,
    environment: str | None = None,
    user: str | None = None,
) -> Resolution:
    return resolve(str(folder), argument=argument, environment=environment, user=user, trust=trusted(tmp_path))


def write_project_file(folder: Path, content: str) -> Path:
    (folder / ".eunoe.toml").write_text(content)
    return folder


def test_the_argument_wins_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    shop = write_project_file(fake_repository(tmp_path / "shop"), 'project = "team/three"')
    trusted(tmp_path).add(str(shop), "team/three")
    first = resolve_in(shop, tmp_path, argument="Team/One", environment="team/two")
    second = resolve_in(shop, tmp_path, environment="team/two")
    third = resolve_in(shop, tmp_path, environment="")
    assert [(r.source, r.name) for r in (first, second, third)] == [
        ("argument", "team/one"),
        ("environment", "team/two"),
        ("file", "team/three"),
    ]
    assert first.identity == third.identity == find_identity(str(shop))


def test_without_any_setting_the_identity_decides(tmp_path: Path) -> None:
    found = resolve_in(fake_repository(tmp_path / "shop"), tmp_path)
    assert (found.source, found.name, found.ignored) == ("identity", None, None)


def test_an_empty_argument_is_invalid_and_never_read_as_unset(tmp_path: Path) -> None:
    with pytest.raises(Invalid) as caught:
        resolve_in(tmp_path, tmp_path, argument="")
    assert caught.value.code == "bad_slug"


def test_me_is_the_users_own_project(tmp_path: Path) -> None:
    assert resolve_in(tmp_path, tmp_path, argument="me", user="ann").name == "~ann"
    with pytest.raises(Refused) as caught:
        resolve_in(tmp_path, tmp_path, environment="~bob", user="ann")
    assert caught.value.code == "other_users_project"


def test_a_file_that_nobody_trusted_is_ignored_and_the_result_says_so(tmp_path: Path) -> None:
    shop = write_project_file(fake_repository(tmp_path / "shop"), 'project = "acme/api"')
    found = resolve_in(shop, tmp_path)
    assert (found.source, found.name) == ("identity", None)
    assert found.ignored is not None
    assert "eunoe trust" in found.ignored


def test_a_trusted_file_is_followed_from_every_subfolder(tmp_path: Path) -> None:
    shop = write_project_file(fake_repository(tmp_path / "shop"), 'project = "Acme/API"')
    (shop / "web").mkdir()
    trusted(tmp_path).add(str(shop), "acme/api")
    found = resolve_in(shop / "web", tmp_path)
    assert (found.source, found.name, found.ignored) == ("file", "acme/api", None)


def test_a_name_that_changed_after_the_trust_is_not_trusted(tmp_path: Path) -> None:
    shop = write_project_file(fake_repository(tmp_path / "shop"), 'project = "acme/api"')
    trusted(tmp_path).add(str(shop), "acme/api")
    write_project_file(shop, 'project = "acme/payroll"')
    found = resolve_in(shop, tmp_path)
    assert (found.source, found.name) == ("identity", None)
    assert found.ignored is not None


def test_trust_in_one_folder_does_not_reach_another(tmp_path: Path) -> None:
    shop = write_project_file(fake_repository(tmp_path / "shop"), 'project = "acme/api"')
    trusted(tmp_path).add(str(shop), "acme/api")
    other = write_project_file(fake_repository(tmp_path / "other"), 'project = "acme/api"')
    assert resolve_in(other, tmp_path).name is None


def test_a_file_that_names_its_own_repository_needs_no_trust_and_takes_no_other_ones_name(tmp_path: Path) -> None:
    config = '[remote "origin"]\nurl = https://elsewhere.org/acme/api\n'
    shop = write_project_file(fake_repository(tmp_path / "shop", config), 'project = "acme/api"')
    found = resolve_in(shop, tmp_path)
    # By identity: another repository may have been the first to be called acme/api.
    assert (found.source, found.name, found.ignored) == ("identity", None, None)


@pytest.mark.parametrize("name", ["me", "~ann", "_store", "ME"])
def test_a_file_may_not_choose_a_personal_or_internal_project(tmp_path: Path, name: str) -> None:
    shop = write_project_file(fake_repository(tmp_path / "shop"), f'project = "{name}"')
    trusted(tmp_path).add(str(shop), name)
    with pytest.raises(Refused) as caught:
        resolve_in(shop, tmp_path, user="ann")
    assert caught.value.code == "reserved_project_file"


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        (b"project = ", "bad_project_file", None),
        (b"# note\nproject = 12\n", "bad_project_file", 2),
        (b'\nproject = "a b"\n', "bad_project_file", 2),
        (b'project = ""', "bad_project_file", 1),
        (b'# x\n# "\xff"\n', "bad_project_file", 2),
        (b'project = "a"\nproject = "b"\n', "bad_project_file", None),
        (b"x = " + b"[" * 20_000, "bad_project_file", None),
        (b"#" * 70_000, "bad_project_file", None),
        (b'project = "a"\ncolour = 1\n', "unknown_setting", 2),
        (b'[tool]\nproject = "a"\n', "unknown_setting", 1),
    ],
)
def test_a_wrong_file_is_reported_with_its_place(tmp_path: Path, content: bytes, code: str, line: int | None) -> None:
    (tmp_path / ".eunoe.toml").write_bytes(content)
    with pytest.raises(Invalid) as caught:
        resolve_in(tmp_path, tmp_path)
    assert caught.value.code == code
    assert caught.value.details["line"] == line
    assert caught.value.details["file"] == os.path.realpath(tmp_path / ".eunoe.toml")


def test_an_empty_file_decides_nothing(tmp_path: Path) -> None:
    assert resolve_in(write_project_file(tmp_path, "# nothing yet\n"), tmp_path).source == "identity"


def test_the_nearest_file_counts_and_none_above_the_repository(tmp_path: Path) -> None:
    shop = fake_repository(tmp_path / "shop")
    (shop / "web" / "deep").mkdir(parents=True)
    write_project_file(tmp_path, 'project = "outside"')

    assert read_project_file(str(shop / "web" / "deep"), str(shop)) is None

    write_project_file(shop, 'project = "shop"')
    write_project_file(shop / "web", 'project = "web"')
    nearest = read_project_file(str(shop / "web" / "deep"), str(shop))
    assert nearest is not None
    assert (nearest.folder, nearest.project) == (os.path.realpath(shop / "web"), "web")


def test_outside_a_repository_only_the_folder_itself_is_looked_at(tmp_path: Path) -> None:
    write_project_file(tmp_path, 'project = "above"')
    (tmp_path / "below").mkdir()
    assert resolve_in(tmp_path / "below", tmp_path) == Resolution(
        source="identity", name=None, identity=find_identity(str(tmp_path / "below"))
    )
    assert resolve_in(tmp_path, tmp_path).ignored is not None


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=120) | st.text('project="acme/~_ \n[]#', max_size=60).map(str.encode))
def test_any_file_is_followed_ignored_or_reported(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".eunoe.toml").write_bytes(content)
    try:
        assert resolve_in(tmp_path, tmp_path).name is None
    except EunoeError as error:
        assert error.code in ("bad_project_file", "unknown_setting", "reserved_project_file")


def test_finding_a_project_loads_none_of_the_slow_modules() -> None:
    slow = ["subprocess", "pathlib", "typing", "dataclasses", "re", "json", "tomllib", "unicodedata"]
    script = (
        "import sys; before = set(sys.modules)\n"
        "import eunoe.config.identity, eunoe.config.trust\n"
        "eunoe.config.identity.find_identity('.')\n"
        f"print(sorted((set(sys.modules) - before) & set({slow})))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", script], capture_output=True, text=True, check=True, env=on_path()
    )
    assert done.stdout.strip() == "[]"


def on_path() -> dict[str, str]:
    import eunoe

    source = Path(next(iter(eunoe.__path__))).parent
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(source)}

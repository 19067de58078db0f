"""The layers of the architecture: kept by the code as it is, and each contract able to tell when it is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRACTS: dict[str, str] = {
    contract["id"]: contract["name"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
}

# Contract → (file below src/eunoe, line added to it); what each forbids, done once.
VIOLATIONS: dict[str, list[tuple[str, str]]] = {
    "layers": [("domain/limits.py", "import eunoe.service.recall")],
    "surfaces-independent": [("surfaces/mcp/door.py", "import eunoe.surfaces.cli")],
    "lanes-independent": [
        ("retrieval/lanes/other.py", ""),
        ("retrieval/lanes/keyword.py", "import eunoe.retrieval.lanes.other"),
    ],
    "adapters-see-ports": [("models/stemmer.py", "import eunoe.retrieval.pool")],
    "pure-core": [("service/read.py", "import subprocess")],
    "adapters-protected": [("service/read.py", "import eunoe.stores.sqlite.engine")],
    "no-cycles": [
        ("domain/one.py", "import eunoe.domain.two"),
        ("domain/two.py", "import eunoe.domain.one"),
    ],
}


def lint(folder: Path, *contracts: str) -> subprocess.CompletedProcess[str]:
    """Check the package that lies in `folder`."""
    program = Path(sys.executable).with_name("lint-imports")
    chosen = [argument for contract in contracts for argument in ("--contract", contract)]
    return subprocess.run(
        [str(program), "--no-cache", "--config", str(ROOT / "pyproject.toml"), *chosen],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "src" / "eunoe", tmp_path / "eunoe", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_every_contract_is_kept() -> None:
    done = lint(ROOT / "src")
    assert done.returncode == 0, done.stdout
    for name in CONTRACTS.values():
        assert f"{name} KEPT" in done.stdout


def test_every_contract_has_a_violation_that_proves_it() -> None:
    assert set(VIOLATIONS) == set(CONTRACTS)


@pytest.mark.parametrize("contract", VIOLATIONS)
def test_a_contract_tells_when_it_is_broken(copy: Path, contract: str) -> None:
    for file, line in VIOLATIONS[contract]:
        with (copy / "eunoe" / file).open("a", encoding="utf-8") as opened:
            opened.write(f"\n{line}\n")
    done = lint(copy, contract)
    assert done.returncode == 1
    assert f"{CONTRACTS[contract]} BROKEN" in done.stdout


def test_an_import_for_types_alone_counts(copy: Path) -> None:
    with (copy / "eunoe" / "domain" / "limits.py").open("a", encoding="utf-8") as opened:
        opened.write("\nTYPE_CHECKING = False\nif TYPE_CHECKING:\n    import eunoe.service.recall\n")
    assert lint(copy, "layers").returncode == 1


def test_a_new_package_must_be_given_a_place(copy: Path) -> None:
    (copy / "eunoe" / "helpers").mkdir()
    (copy / "eunoe" / "helpers" / "__init__.py").touch()
    assert lint(copy, "layers").returncode == 1

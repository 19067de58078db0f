"""`__all__` is the contract of the package: sorted, complete, importable, and loaded only when used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import eunoe


def fresh(code: str) -> list[str]:
    """Return the words that code prints in an interpreter of its own."""
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_public_names_are_sorted_and_complete() -> None:
    assert eunoe.__all__ == sorted(eunoe.__all__)
    assert len(set(eunoe.__all__)) == len(eunoe.__all__)
    assert set(eunoe.__all__) == set(eunoe._HOMES)
    assert set(dir(eunoe)) >= set(eunoe.__all__)


@pytest.mark.parametrize("name", eunoe.__all__)
def test_every_public_name_resolves_to_what_its_home_calls_so(name: str) -> None:
    value = getattr(eunoe, name)
    assert isinstance(value, str) or value.__name__ == name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError):
        _ = eunoe.nothing_of_ours


def test_importing_the_package_loads_nothing_but_itself() -> None:
    loaded = fresh("import sys; before = set(sys.modules); import eunoe; print(*(set(sys.modules) - before))")
    assert [name for name in loaded if name != "__future__"] == ["eunoe"]


def test_importing_the_errors_loads_nothing_else() -> None:
    loaded = fresh("import sys; before = set(sys.modules); import eunoe.errors; print(*(set(sys.modules) - before))")
    assert {name for name in loaded if name != "__future__"} == {"eunoe", "eunoe.errors"}

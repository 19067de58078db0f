"""Every example in a docstring of the package runs and is right."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import eunoe

MODULES = sorted(
    ["eunoe", *(each.name for each in pkgutil.walk_packages(eunoe.__path__, "eunoe.") if "__main__" not in each.name)]
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_are_right(name: str) -> None:
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    for test in doctest.DocTestFinder(exclude_empty=True).find(import_module(name)):
        runner.run(test, out=report.append)
    assert not report, "".join(report)


def test_there_are_examples_to_run() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    with_examples = {name for name in MODULES if any(test.examples for test in finder.find(import_module(name)))}
    assert {"eunoe", "eunoe.surfaces.library", "eunoe.domain.analyse"} <= with_examples

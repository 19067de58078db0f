"""Every implementation keeps the contracts of its ports. A new engine is one more parameter of `store`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eunoe.bootstrap import SystemClock, SystemEntropy, lanes
from eunoe.ports.clock import Clock, Entropy
from eunoe.ports.lane import Lane
from eunoe.ports.signals import Signals
from eunoe.ports.store import Store
from eunoe.stores.sql.store import SqlStore
from eunoe.stores.sqlite.engine import SqliteEngine
from eunoe.testing import belief_contracts, contracts, index_contract, survey_contract, upkeep_contracts
from eunoe.testing.clock import START_US, ManualClock, SeededEntropy
from eunoe.testing.records import Recorder
from eunoe.testing.signals import KeptSignals


def sqlite(path: str) -> Store:
    clock = ManualClock()
    return SqlStore(SqliteEngine(path, now_us=clock.now_us), clock=clock, entropy=SeededEntropy("contract"))


STORES: dict[str, Callable[[Path], Store]] = {
    "sqlite file": lambda folder: sqlite(str(folder / "store" / "store.sqlite")),
    "sqlite memory": lambda _: sqlite(":memory:"),
}


@pytest.fixture(params=sorted(STORES))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = STORES[request.param](tmp_path)
    yield opened
    opened.close()


@pytest.fixture(params=sorted(lanes()))
def lane(request: pytest.FixtureRequest) -> Lane:
    return lanes()[request.param]


@pytest.fixture(params=[SystemClock, ManualClock], ids=lambda kind: kind.__name__)
def clock(request: pytest.FixtureRequest) -> Clock:
    return request.param()


@pytest.fixture(params=[SystemEntropy, SeededEntropy], ids=lambda kind: kind.__name__)
def entropy(request: pytest.FixtureRequest) -> Entropy:
    return request.param()


@pytest.fixture(params=["kept", *sorted(STORES)])
def signals(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Signals]:
    if request.param == "kept":
        yield KeptSignals(since=START_US)
        return
    opened = STORES[request.param](tmp_path)
    for slug in ("acme/api", "acme/other"):
        Recorder(opened, slug=slug)
    yield opened.signals
    opened.close()


class TestStore(contracts.StoreContract):
    pass


class TestProjects(contracts.ProjectsContract):
    pass


class TestLedger(contracts.LedgerContract):
    pass


class TestBeliefs(belief_contracts.BeliefsContract):
    pass


class TestMemories(belief_contracts.MemoriesContract):
    pass


class TestTextIndex(index_contract.TextIndexContract):
    pass


class TestSignals(upkeep_contracts.SignalsContract):
    pass


class TestUpkeep(upkeep_contracts.UpkeepContract):
    pass


class TestSurvey(survey_contract.SurveyContract):
    pass


class TestLane(contracts.LaneContract):
    pass


class TestClock(contracts.ClockContract):
    pass


class TestEntropy(contracts.EntropyContract):
    pass

"""Every implementation keeps the contracts of its ports. A new engine is one more parameter of `store`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from eunoe.bootstrap import SystemClock, SystemEntropy, lanes, open_store
from eunoe.config.settings import load_settings
from eunoe.models.fake import FakeEmbedder
from eunoe.ports.clock import Clock, Entropy
from eunoe.ports.signals import Signals
from eunoe.ports.store import Store
from eunoe.retrieval.semantics import Semantics
from eunoe.service.embedding import Embedding
from eunoe.testing import (
    belief_contracts,
    contracts,
    index_contract,
    jobs_contract,
    lane_contract,
    survey_contract,
    upkeep_contracts,
    vectors_contract,
)
from eunoe.testing.clock import START_US, ManualClock, SeededEntropy
from eunoe.testing.lane_contract import LaneCase
from eunoe.testing.records import Recorder
from eunoe.testing.signals import KeptSignals

# Engine → where its store is, as `EUNOE_STORE` names it.
PLACES: dict[str, Callable[[pytest.FixtureRequest], str]] = {
    "sqlite file": lambda request: str(request.getfixturevalue("store_path")),
    "sqlite memory": lambda _: ":memory:",
    "postgres": lambda request: str(request.getfixturevalue("postgres_store")),
}


@pytest.fixture(params=sorted(PLACES))
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    opened = opened_at(PLACES[request.param](request))
    yield opened
    opened.close()


def opened_at(place: str) -> Store:
    clock = ManualClock()
    settings = load_settings({}, store=place)
    return open_store(settings, durability="process", clock=clock, entropy=SeededEntropy("contract"))


def with_meaning(lane: str, question: str) -> LaneCase:
    """A lane that looks through a model: what is written is embedded before it is asked for."""
    semantics = Semantics(FakeEmbedder, name="fake")

    def embed(store: Store) -> None:
        while Embedding(store, semantics, SystemClock(), holder="contract").step():
            pass

    return LaneCase(lanes()[lane], question, semantics, embed)


CASES: dict[str, Callable[[], LaneCase]] = {
    "keyword": lambda: LaneCase(lanes()["keyword"], "which apple pie is it"),
    "key": lambda: LaneCase(lanes()["key"], "what about ABC-417"),
    "time": lambda: LaneCase(lanes()["time"], "what was said on 1 January 2026?"),
    "vector": lambda: with_meaning("vector", "which apple pie is it"),
}


@pytest.fixture(params=sorted(CASES))
def case(request: pytest.FixtureRequest) -> LaneCase:
    return CASES[request.param]()


@pytest.fixture(params=[SystemClock, ManualClock], ids=lambda kind: kind.__name__)
def clock(request: pytest.FixtureRequest) -> Clock:
    return request.param()


@pytest.fixture(params=[SystemEntropy, SeededEntropy], ids=lambda kind: kind.__name__)
def entropy(request: pytest.FixtureRequest) -> Entropy:
    return request.param()


@pytest.fixture(params=["kept", *sorted(PLACES)])
def signals(request: pytest.FixtureRequest) -> Iterator[Signals]:
    if request.param == "kept":
        yield KeptSignals(since=START_US)
        return
    opened = opened_at(PLACES[request.param](request))
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


class TestVectors(vectors_contract.VectorsContract):
    pass


class TestJobs(jobs_contract.JobsContract):
    pass


class TestModels(jobs_contract.ModelsContract):
    pass


class TestRebuiltVectors(vectors_contract.RebuiltVectorsContract):
    pass


class TestLane(lane_contract.LaneContract):
    pass


@pytest.mark.parametrize("case", ["keyword", "key"], indirect=True)
class TestWordLane(lane_contract.WordLaneContract):
    pass


def test_every_lane_has_a_case() -> None:
    assert CASES.keys() == lanes().keys()


class TestClock(contracts.ClockContract):
    pass


class TestEntropy(contracts.EntropyContract):
    pass

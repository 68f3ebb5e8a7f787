"""The scenarios that every run of the tests includes, on a real cluster with a real broker."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest

from e2e.scenarios.catalogue import SCENARIOS
from e2e.scenarios.model import Scenario
from e2e.scenarios.runner import run_scenario
from e2e.scenarios.world import Worlds

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

_SEED = int(os.environ.get("E2E_SEED") or random.randrange(10_000))
_SHORT = [scenario for scenario in SCENARIOS.values() if scenario.is_short]


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worlds]:
    """The cluster and the broker, which the scenarios share."""
    with Worlds(tmp_path_factory.mktemp("worlds")) as made:
        yield made


@pytest.mark.parametrize("scenario", _SHORT, ids=lambda scenario: scenario.name)
def test_nothing_is_lost_and_nothing_recorded_is_repeated(
    scenario: Scenario, worlds: Worlds, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Inputs, effects, journal and outputs agree whatever dies [E2.2, E3.6, E4.3, E4.5, E4.7, E4.8, E5.3, S1.1, S1.5].

    `E2E_SEED` brings back the moments of an earlier run.
    """
    print(f"E2E_SEED={_SEED}")  # noqa: T201 - shown when the test fails

    outcome = run_scenario(scenario, _SEED, worlds, tmp_path_factory.mktemp(scenario.name), print)

    assert outcome.problems == (), f"seed {_SEED}"
    assert outcome.reports
    assert all(report.inputs == report.outputs and report.lost == 0 for report in outcome.reports)

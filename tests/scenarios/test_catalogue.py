"""The scenarios are data that can be run."""

from __future__ import annotations

from collections import Counter

import pytest

from e2e.scenarios.catalogue import SCENARIOS
from e2e.scenarios.inputs import expect, make_orders
from e2e.scenarios.model import Crash, Orders, Orphan, Scenario, Step
from e2e.scenarios.steps import _PERFORMERS

_POINTS = {
    f"{side}-{what}"
    for side in ("before", "after")
    for what in ("open", "append", "acknowledgement", "release", "snapshot", "call-start", "call-end")
}


def test_every_armed_point_is_in_a_scenario() -> None:
    """The process dies once at each point that there is."""
    armed = {
        point.partition(":")[0]
        for scenario in SCENARIOS.values()
        for step in scenario.steps
        if isinstance(step, Crash)
        for point in step.points
    }

    assert armed == _POINTS


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=lambda scenario: scenario.name)
def test_a_scenario_can_be_performed(scenario: Scenario) -> None:
    """Each step has somebody who performs it; one that needs a TaskManager of its own comes first, since that is started before the job."""
    assert scenario.steps
    assert all(type(step) in _PERFORMERS for step in scenario.steps)
    assert not any(isinstance(step, (Crash, Orphan)) for step in scenario.steps[1:])
    assert scenario.store == "kafka" or scenario.brokers == 1


def test_every_kind_of_step_is_used() -> None:
    """Nothing can be performed that no scenario asks for."""
    used = {type(step) for scenario in SCENARIOS.values() for step in scenario.steps}

    assert used == set(_PERFORMERS) == set(Step.__args__)


def test_the_same_seed_makes_the_same_orders() -> None:
    """Orders depend on seed and job alone."""
    orders = make_orders(Orders(count=30), seed=5, job=0)

    assert orders == make_orders(Orders(count=30), seed=5, job=0)
    assert orders != make_orders(Orders(count=30), seed=6, job=0)
    assert orders != make_orders(Orders(count=30), seed=5, job=1)


def test_identical_orders_of_a_key_differ_in_nothing() -> None:
    """Where inputs are to be identical, there are as many different ones as keys, and each is told by its number only."""
    orders = make_orders(Orders(count=36, is_identical=True), seed=5, job=0)
    expected = expect(orders)

    assert set(Counter(str(order) for order in orders).values()) == {3}
    assert len(expected.outputs) == 36
    assert len(expected.calls) == 4 * 36


def test_odd_keys_are_all_used() -> None:
    """Separators, unicode, control characters and the empty text are among the keys."""
    keys = {order["key"] for order in make_orders(Orders(count=40, keys="odd"), seed=1, job=0)}

    assert {"", "_", "a_b", "a\x00b", "鍵 🔑"} <= keys

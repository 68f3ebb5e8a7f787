"""The simulator's checks of calls and records."""

from __future__ import annotations

from typing import Any

import pytest

from flink_agents_subagent import Agent, InputEvent
from flink_agents_subagent._engine.effects import CallOrigin, StartCall
from flink_agents_subagent.testing.job import make_job, source_of
from flink_agents_subagent.testing.ledger import Ledger, Violation
from flink_agents_subagent.testing.progress import Start

SOURCE = source_of([("ada", 0), ("ada", 1), ("ben", 0)])


def ledger(*, is_ordered: bool = True) -> Ledger:
    """Return a ledger over three inputs."""
    return Ledger(
        make_job(Agent("sample").add_action("act", InputEvent, lambda _, __: None), None), SOURCE, is_ordered=is_ordered
    )


def start(element: int, run_number: int | None) -> Start:
    """Return the run of an input."""
    return Start(SOURCE[element], 0, run_number)


def call(element: int, run_number: int, **origin: Any) -> StartCall:
    """Return the first call of a run."""
    made = CallOrigin(SOURCE[element].key, run_number, 0, 0, "pay", b"5", 1, False, False)._replace(**origin)
    return StartCall(1, lambda: None, False, "pay", made)


def test_a_call_that_comes_back_with_another_key_is_found() -> None:
    """The number of its run is what its idempotency key is made of; nothing needs to be recorded to see it [E8.2, E5.3]."""
    found = ledger()
    found.starting(call(1, 2), 1, start(1, 2))
    found.starting(call(1, 2), 2, start(1, 2))
    assert found.repeated == 1

    with pytest.raises(Violation, match=r"input 1 of key 'ada' has number 3 and had number 2 in an earlier life"):
        found.starting(call(1, 3), 3, start(1, 3))


def test_keys_may_change_when_the_order_does() -> None:
    """That is what is not promised [E5.3]."""
    found = ledger(is_ordered=False)
    found.starting(call(1, 2), 1, start(1, 2))
    found.starting(call(1, 1), 2, start(1, 1))

    assert found.repeated == 0


def test_keys_may_change_when_a_run_before_needs_no_number_any_more() -> None:
    """It went by the time, and left no record that would bring the time back; other keys are not affected [E2.3, E5.3]."""
    found = ledger()
    found.finishing(start(0, 1))
    found.starting(call(1, 2), 1, start(1, 2))
    found.starting(call(2, 1), 1, start(2, 1))
    found.finishing(start(0, None))
    found.starting(call(1, 1), 2, start(1, 1))

    with pytest.raises(Violation, match="key 'ben'"):
        found.starting(call(2, 2), 2, start(2, 2))


def test_a_call_with_a_reconciler_needs_its_intent() -> None:
    """Before it is made for the first time [E3.6]."""
    with pytest.raises(Violation, match="before its intent is durable"):
        ledger().starting(call(0, 1, has_reconciler=True), 1, start(0, 1))


def test_attempts_are_made_in_turn() -> None:
    """A second attempt needs the record of the first [E3.9]."""
    with pytest.raises(Violation, match="makes attempt 2 after 0 recorded ones"):
        ledger().starting(call(0, 1, attempt=2), 1, start(0, 1))

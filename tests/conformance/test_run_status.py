"""What a status of a run leads to: the machine that both languages have in common."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from flink_agents_subagent import BaseAsyncSubagentSetup, RunState, RunStatus, SubagentRequest, SubagentResult
from flink_agents_subagent.context import CallAgain, CallSpec
from tests.conformance.vectors import vectors
from tests.unit.subagents.fakes import FakeContext


class Told(BaseAsyncSubagentSetup):
    """A service that says one thing."""

    def __init__(self, status: RunStatus) -> None:
        super().__init__()
        self.status = status
        self.asked: list[str] = []

    def call_submit_request(self, request: SubagentRequest) -> Any:
        """Count."""
        self.asked.append("submit")

    def call_query_status(self, request: SubagentRequest) -> RunStatus:
        """Say it."""
        return self.status

    def call_fetch_result(self, request: SubagentRequest) -> Any:
        """Count."""
        self.asked.append("fetch")
        return SubagentResult.ok("fetched")


def _submitted(setup: Told) -> CallSpec:
    setup.bind_name("told")

    async def act() -> CallSpec:
        ctx = FakeContext()
        setup.submit(ctx, "p")  # type: ignore[arg-type]  # a fake
        return ctx.specs[0]

    return asyncio.run(act())


@pytest.mark.parametrize(("given", "expected"), vectors("run-status"))
def test_a_status_leads_to_what_is_pinned(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """After which statuses a submit is sent again, which are an end, and what comes of them [M2, T12]."""
    setup = Told(RunStatus(RunState(given["state"]), run=given["run"]))
    spec = _submitted(setup)

    assert spec.reconciler is not None
    spec.reconciler()
    assert setup.asked == ["submit"] * expected["is_sent_again"]
    assert spec.course is not None
    assert spec.course.then is not None
    waiting = spec.course.then(given["run"], 0)
    assert waiting is not None
    outcome = waiting.func()

    assert setup.status.state.is_terminal is expected["is_terminal"]
    assert isinstance(outcome, CallAgain) is not expected["is_terminal"]
    if expected["is_terminal"]:
        assert (outcome.result or outcome.reason) == expected["outcome"]


def test_every_state_is_pinned() -> None:
    """No state is unknown to the vectors, and so to the Java half; an unknown one is refused [M2, T12]."""
    states = dict.fromkeys(case.values[0]["state"] for case in vectors("run-status"))

    assert list(states) == [state.value for state in RunState]
    with pytest.raises(ValueError, match="'PAUSED' is no state of a run"):
        RunState("PAUSED")

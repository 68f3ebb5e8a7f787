from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from e2e.harness.effect_server import answer
from e2e.harness.effects import EffectServer
from examples.demo.expected import Call, expect
from examples.demo.job import Desk, DestinationWatch, read_flights
from examples.demo.run import FLIGHTS
from flink_agents_subagent import (
    ActionError,
    BaseDeferredSubagentSetup,
    ResourceDescriptor,
    ResourceType,
    SubagentError,
    SubagentRequest,
)
from flink_agents_subagent.testing import LocalRunner, simulate_crashes


class FakeDesk(BaseDeferredSubagentSetup):
    """Answers as a desk does, without any network."""

    async def call(self, request: SubagentRequest) -> Any:
        """Answer at once."""
        return answer(json.dumps(request.prompt, sort_keys=True).encode())


class ClosedDesk(BaseDeferredSubagentSetup):
    """Fails."""

    async def call(self, request: SubagentRequest) -> Any:
        """Raise."""
        raise ConnectionError("nobody there")


def _agent(desk: type[BaseDeferredSubagentSetup] = FakeDesk) -> DestinationWatch:
    agent = DestinationWatch()
    for name in ("seats", "rooms"):
        agent.add_resource(name, ResourceType.AGENT, ResourceDescriptor(clazz=desk))
    return agent


def _inputs(flights: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(flight["destination"], json.dumps(flight)) for flight in flights]


def _disrupted(destination: str, count: int) -> list[dict[str, Any]]:
    """Return the first flights to a destination of which as many are disrupted in some way."""
    flights = [flight for flight in read_flights(FLIGHTS) if flight["destination"] == destination]
    first = next(n for n, flight in enumerate(flights) if flight["arrival_delay"] is None)
    return flights[max(0, first - 1) : first - 1 + count]


def test_the_agent_does_what_the_plain_loop_does() -> None:
    """On all flights the agent and the plain loop give the same outputs, input by input."""
    flights = read_flights(FLIGHTS)

    values = LocalRunner(_agent()).run(_inputs(flights)).values

    outputs = [json.dumps(value, sort_keys=True) for value in values]
    assert sorted(outputs) == sorted(expect(flights, answer).outputs)


def test_no_crash_can_be_told_from_the_outside() -> None:
    """Killed at every point, over a few flights of two destinations, the agent repeats and loses nothing [E8.2]."""
    inputs = _inputs([*_disrupted("BOS", 3), *_disrupted("ORD", 2)])

    report = simulate_crashes(_agent(), inputs, seeds=5)

    assert report.differences == []
    assert report.repeated_calls > 0


def test_a_desk_gets_key_and_content(tmp_path: Path) -> None:
    """The sub-agent sends the call id as the key, and the prompt as sorted JSON, which the plain loop foresees."""
    flights = _disrupted("BOS", 2)
    agent = DestinationWatch()
    with EffectServer(tmp_path) as server:
        for name in ("seats", "rooms"):
            agent.add_resource(name, ResourceType.AGENT, ResourceDescriptor(clazz=Desk, url=f"{server.url}/{name}"))

        LocalRunner(agent).run(_inputs(flights))

    requests = server.requests()
    assert {Call(request.path, request.body) for request in requests} == expect(flights, answer).calls.keys()
    assert len({request.key for request in requests}) == len(requests)
    assert hashlib.sha256(b"").hexdigest() not in {request.body for request in requests}


@pytest.mark.logs_warning
def test_a_desk_that_fails_fails_the_job() -> None:
    """A booking that cannot be had is not passed over."""
    runner = LocalRunner(_agent(ClosedDesk))

    with pytest.raises(ActionError, match="nobody there") as raised:
        runner.run(_inputs(_disrupted("BOS", 2)))

    assert isinstance(raised.value.__cause__, SubagentError)

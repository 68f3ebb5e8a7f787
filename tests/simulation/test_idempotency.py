"""A call that is made again carries the key that it had (D3, E5.3)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any

import pytest

from flink_agents_subagent import (
    Agent,
    BaseDeferredSubagentSetup,
    InputEvent,
    OutputEvent,
    ResourceType,
    RunnerContext,
    SubagentRequest,
)
from flink_agents_subagent.testing import simulate_crashes


class Payments(BaseDeferredSubagentSetup):
    """Remembers the key of every request, over all simulations."""

    def __init__(self) -> None:
        super().__init__(description="pays")
        self.keys: dict[Any, set[str]] = defaultdict(set)
        self.requests = 0

    async def call(self, request: SubagentRequest) -> Any:
        """Pay."""
        self.keys[request.prompt].add(request.call_id)
        self.requests += 1
        await asyncio.sleep(5)
        return request.prompt


def _agent(payments: Payments, *, stamps: bool) -> Agent:
    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        if event.input % 2 and stamps:
            # A run with a number and without a record.
            ctx.send_event(OutputEvent(output=str(ctx.uuid4())))
            return
        handle = ctx.get_resource("payments", ResourceType.AGENT).submit(ctx, event.input)
        ctx.send_event(OutputEvent(output=(await handle).get_result()))

    agent = Agent("payer").add_action("act", InputEvent, act)
    return agent.add_resource("payments", ResourceType.AGENT, payments)


@pytest.mark.parametrize("stamps", [False, True], ids=["every-run-records", "some-runs-record-nothing"])
def test_a_repeated_call_keeps_its_idempotency_key(*, stamps: bool) -> None:
    """Each payment has one key in all simulations, whatever runs came before it, if a key's inputs keep their order [D3, E5.3]."""
    payments = Payments()

    report = simulate_crashes(_agent(payments, stamps=stamps), [("ada", number) for number in range(6)], seeds=40)

    assert report.repeated_calls > 0
    assert payments.requests > len(payments.keys) > 2
    assert {prompt: len(keys) for prompt, keys in payments.keys.items() if len(keys) > 1} == {}
    assert len(set.union(*payments.keys.values())) == len(payments.keys)

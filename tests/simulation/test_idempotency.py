"""A call that is made again carries the key that it had, and an input its own journal (D3, E4.4, E5.3)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
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


async def _call(value: int) -> int:
    return value


async def _every_third(event: InputEvent, ctx: RunnerContext) -> None:
    """Call for each third input; which one that is, only memory says."""
    count = ctx.short_term_memory.get("count", 0) + 1
    ctx.short_term_memory.set("count", count)
    began = ctx.now()
    value = None if count % 3 else await ctx.durable_execute_async(_call, count)
    ctx.send_event(OutputEvent(output=(count, value, ctx.uuid4(), began)))


async def _now_and_then(event: InputEvent, ctx: RunnerContext) -> None:
    """Call when a second has gone by since the last call."""
    memory, now = ctx.short_term_memory, ctx.now()
    count = memory.get("count", 0) + 1
    memory.set("count", count)
    if now - memory.get("since", now) < timedelta(seconds=1):
        memory.set("since", memory.get("since", now))
        return
    memory.set("since", now)
    ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(_call, count)))


async def _by_chance(event: InputEvent, ctx: RunnerContext) -> None:
    """Call for some inputs."""
    count = ctx.short_term_memory.get("count", 0) + 1
    ctx.short_term_memory.set("count", count)
    value = await ctx.durable_execute_async(_call, count) if ctx.random().random() < 0.3 else None
    ctx.send_event(OutputEvent(output=(count, value, ctx.uuid4())))


@pytest.mark.parametrize("action", [_every_third, _now_and_then, _by_chance])
@pytest.mark.parametrize("is_identical", [True, False])
def test_inputs_of_which_some_record_nothing_have_their_own_journals(
    action: Callable[..., Any], *, is_identical: bool
) -> None:
    """Also when they look the same: what an input recorded is not given to another one that comes before it [E4.4, E8.2]."""
    inputs = [("ada", 0 if is_identical else number) for number in range(7)]

    simulate_crashes(Agent("sample").add_action("act", InputEvent, action), inputs, seeds=40)

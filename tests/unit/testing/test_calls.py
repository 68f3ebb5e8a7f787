from __future__ import annotations

import asyncio

from flink_agents_subagent import Agent, InputEvent, OutputEvent, RunnerContext
from flink_agents_subagent.testing import LocalRunner


async def _wait(seconds: float) -> float:
    await asyncio.sleep(seconds)
    return seconds


def test_a_call_after_a_cancelled_one_is_made() -> None:
    """Cancelling a call does not keep later ones from being started [E3.11, E8.1]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        given_up = ctx.durable_execute_async(_wait, 100)
        await asyncio.sleep(5)
        given_up.cancel()
        ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(_wait, 7)))

    result = LocalRunner(Agent("sample").add_action("act", InputEvent, act)).run([("ada", 1)])

    assert result.values == [7]
    assert [(call.value, call.is_cancelled) for call in result.calls] == [(None, True), (7, False)]

"""Agents that call a service with jobs, for its tests."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from flink_agents_subagent import (
    Agent,
    BaseAsyncSubagentSetup,
    InputEvent,
    OutputEvent,
    ResourceType,
    RunnerContext,
)
from flink_agents_subagent.testing import LocalResult, LocalRunner

__all__ = ["Body", "agent_of", "run"]

Body = Callable[[RunnerContext, BaseAsyncSubagentSetup], Coroutine[Any, Any, Any]]


def agent_of(body: Body, jobs: BaseAsyncSubagentSetup) -> Agent:
    """Return an agent that emits what the body returns."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=await body(ctx, ctx.get_resource("jobs", ResourceType.AGENT))))

    return Agent("caller").add_action("act", InputEvent, act).add_resource("jobs", ResourceType.AGENT, jobs)


def run(body: Body, jobs: BaseAsyncSubagentSetup, inputs: int = 1, **options: Any) -> LocalResult:
    """Run the body once per input, each of a key of its own."""
    return LocalRunner(agent_of(body, jobs), options=options).run([(f"k{number}", number) for number in range(inputs)])

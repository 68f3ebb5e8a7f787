# mypy: disable-error-code="import-not-found, misc, untyped-decorator"
# Flink Agents is in an environment of its own, not in that of the check.
"""The agents that are measured. They stand in a module since Flink Agents imports an agent by its module's name.

Annotations are evaluated: Flink Agents checks an action's signature with them.
"""

import time
from typing import Any

from flink_agents.api.agents.agent import Agent
from flink_agents.api.decorators import action
from flink_agents.api.events.event import Event, InputEvent, OutputEvent
from flink_agents.api.runner_context import RunnerContext

from bench.waiting import blocking_wait

CALL_S = 0.02

# 0.3 routes events by a type string and hands out plain events; 0.2 routes by class.
_INPUT: Any = getattr(InputEvent, "EVENT_TYPE", InputEvent)
_HAS_FACTORY = hasattr(InputEvent, "from_event")


def _payload(event: Any) -> dict[str, Any]:
    payload: dict[str, Any] = InputEvent.from_event(event).input if _HAS_FACTORY else event.input
    return payload


def do_nothing(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the payload."""
    return payload


def sleep(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the payload after the 20 ms of a remote call."""
    time.sleep(CALL_S)
    return payload


class TrivialAgent(Agent):
    """Hands each input on."""

    @action(_INPUT)
    @staticmethod
    def handle(event: Event, ctx: RunnerContext) -> None:
        """Emit the input."""
        ctx.send_event(OutputEvent(output=_payload(event)))


class DurableCallAgent(Agent):
    """Awaits one durable call that does nothing."""

    @action(_INPUT)
    @staticmethod
    async def handle(event: Event, ctx: RunnerContext) -> None:
        """Emit the call's result."""
        result = await ctx.durable_execute_async(do_nothing, _payload(event))
        ctx.send_event(OutputEvent(output=result))


class RemoteCallAgent(Agent):
    """Awaits one durable call of 20 ms."""

    @action(_INPUT)
    @staticmethod
    async def handle(event: Event, ctx: RunnerContext) -> None:
        """Emit the call's result."""
        result = await ctx.durable_execute_async(sleep, _payload(event))
        ctx.send_event(OutputEvent(output=result))


class WaitingAgent(Agent):
    """Awaits one durable call of many seconds, in which the CPU is watched."""

    @action(_INPUT)
    @staticmethod
    async def handle(event: Event, ctx: RunnerContext) -> None:
        """Emit the call's result."""
        result = await ctx.durable_execute_async(blocking_wait, _payload(event)["value"])
        ctx.send_event(OutputEvent(output=result))

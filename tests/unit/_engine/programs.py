"""Small actions and durable functions that several test modules use."""

from __future__ import annotations

from typing import Any

from flink_agents_subagent._engine.record import decode_record
from flink_agents_subagent.context import RunnerContext
from flink_agents_subagent.events import InputEvent, OutputEvent
from tests.unit._engine.host import Host

__all__ = ["blocking", "calling", "coroutine", "kinds"]


def blocking(value: Any = None) -> Any:
    """A durable function that runs on a thread."""
    return value


async def coroutine(value: Any = None) -> Any:
    """A durable function that runs on the background loop."""
    return value


def kinds(host: Host) -> list[str]:
    """Return the kinds of the records of the log."""
    return [decode_record(append.record_number, append.payload, "").kind for append in host.disk.log]


def calling(function: Any = coroutine, **options: Any) -> Any:
    """Return an action that makes one call and sends its value, or its error."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        try:
            value = await ctx.durable_execute_async(function, event.input, **options)
        except Exception as error:  # noqa: BLE001 - the test looks at it
            value = error
        ctx.send_event(OutputEvent(output=value))

    return action

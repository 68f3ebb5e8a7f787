"""A caller and its child, for the tests of agents inside agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flink_agents_subagent import (
    Agent,
    Event,
    InputEvent,
    OutputEvent,
    ResourceType,
    RunnerContext,
    SubagentResult,
)
from flink_agents_subagent._engine.record import Record, decode_record
from flink_agents_subagent._plan import compile_agent
from tests.unit._engine.host import Host

ran: list[str] = []


class Step(Event):
    """The next step of a child."""

    number: int


async def call(value: Any) -> Any:
    """A durable function."""
    return value


def agent(*functions: Callable[..., Any], name: str = "caller", **children: Agent) -> Agent:
    """Return an agent whose functions are triggered by the input, or by the event in their annotation."""
    made = Agent(name)
    for function in functions:
        trigger = Step if function.__annotations__["event"] == "Step" else InputEvent
        made.add_action(function.__name__, trigger, function)
    for child, its_agent in children.items():
        made.add_resource(child, ResourceType.AGENT, its_agent)
    return made


def ask(ctx: RunnerContext, name: str, value: Any = None, timeout: float | None = None) -> Any:
    """Submit to a sub-agent."""
    return ctx.get_resource(name, ResourceType.AGENT).submit(ctx, value, timeout=timeout)


def host_of(made: Agent, before: Host | None = None, **settings: Any) -> Host:
    """Return a host for an agent, restored from what another one left."""
    if before is None:
        return Host(compile_agent(made), **settings)
    host = Host(compile_agent(made), before.disk, **settings)
    host.start()
    return host


def records(host: Host) -> list[Record]:
    """Return what is in the store."""
    return [decode_record(append.record_number, append.payload, "") for append in host.disk.log]


def begin(event: InputEvent, ctx: RunnerContext) -> None:
    """Remember the input, and take the first step."""
    ran.append("begin")
    ctx.short_term_memory.set("seen", [event.input])
    ctx.send_event(Step(number=1))


async def go_on(event: Step, ctx: RunnerContext) -> None:
    """Call once; end after four steps."""
    ran.append(f"step {event.number}")
    answer = await ctx.durable_execute_async(call, f"call {event.number}")
    ctx.short_term_memory.set("seen", [*ctx.short_term_memory.get("seen"), answer])
    ctx.send_event(OutputEvent(output=answer))
    if event.number < 4:
        ctx.send_event(Step(number=event.number + 1))
    else:
        ctx.send_event(OutputEvent(output=ctx.short_term_memory.get("seen")))


async def caller(event: InputEvent, ctx: RunnerContext) -> None:
    """Call the child, then once more outside."""
    result = await ask(ctx, "child", event.input)
    after = await ctx.durable_execute_async(call, "after")
    ctx.send_event(OutputEvent(output=[result, after]))


SEEN = [1, "call 1", "call 2", "call 3", "call 4"]
DONE = [[SubagentResult.ok([*SEEN[1:], SEEN]), "after"]]


def stepping() -> Agent:
    """Return an agent with a child of four steps."""
    ran.clear()
    return agent(caller, child=agent(begin, go_on, name="child"))


def at_third_call() -> Host:
    """Return a host whose child waits for its third call."""
    host = host_of(stepping())
    host.input(1)
    for _ in range(2):
        host.run_call()
        host.acknowledge()
    return host

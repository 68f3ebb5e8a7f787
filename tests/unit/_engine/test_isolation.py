"""Events and inputs are objects, and authors change them: nobody else may notice after a restore that did not before."""

from __future__ import annotations

from typing import Any

import pytest

from flink_agents_subagent.context import RunnerContext
from flink_agents_subagent.events import Event, InputEvent, OutputEvent
from tests.unit._engine.host import Disk, Host, agent_of, on
from tests.unit._engine.programs import coroutine


class Found(Event):
    """An event between actions."""

    items: list[Any]


def find(event: InputEvent, ctx: RunnerContext) -> None:
    """Send a list."""
    ctx.send_event(Found(items=[1]))


@on(Found)
def count(event: Found, ctx: RunnerContext) -> None:
    """Change the event, and end."""
    event.items.append("counted")


@on(Found)
async def examine(event: Found, ctx: RunnerContext) -> None:
    """Change the event, then wait twice."""
    event.items.append("examined")
    for number in range(2):
        await ctx.durable_execute_async(coroutine, number)
        event.items.append(number)
    ctx.send_event(OutputEvent(output=list(event.items)))


def change(event: InputEvent, ctx: RunnerContext) -> None:
    """Change the input, and end."""
    event.input.append("changed")


async def wait(event: InputEvent, ctx: RunnerContext) -> None:
    """Wait with the input in hand."""
    event.input.append("waited")
    for number in range(2):
        await ctx.durable_execute_async(coroutine, number)
    ctx.send_event(OutputEvent(output=list(event.input)))


async def change_later(event: InputEvent, ctx: RunnerContext) -> None:
    """Send an event, change it after it was routed, and end."""
    found = Found(items=[1])
    ctx.send_event(found)
    await ctx.durable_execute_async(coroutine, "first")
    found.items.append("changed by the sender")


def steps(*actions: Any) -> list[Any]:
    """Return what left in the end: without a restore, then restored from each step's checkpoint, and from that one's own."""
    host = Host(agent_of(*actions))
    host.input(["input"])
    found = []
    while host.calls:
        again = _restored(host.snapshot(), *actions)
        thrice = _restored(again.snapshot(), *actions)
        for other in (again, thrice):
            other.run()
            found += other.outputs
        host.run_call()
        host.acknowledge()
    return [*found, *host.outputs]


def _restored(disk: Disk, *actions: Any) -> Host:
    host = Host(agent_of(*actions), disk, now_ms=2_000_000)
    host.start()
    return host


@pytest.mark.parametrize(
    ("actions", "output"),
    [
        ([find, examine], [1, "examined", 0, 1]),
        ([find, count, examine], [1, "examined", 0, 1]),
        ([change, wait], ["input", "waited"]),
        ([wait], ["input", "waited"]),
        ([change_later, examine], [1, "examined", 0, 1]),
    ],
)
def test_an_action_that_waits_has_an_event_of_its_own(actions: list[Any], output: list[Any]) -> None:
    """It begins again on the event as it was sent, whatever was done to it since, by whom, and at which step [E1.3, E4.5, E2.2]."""
    found = steps(*actions)

    assert len(found) >= 5
    assert all(each == output for each in found)


def test_an_event_that_cannot_be_encoded_is_passed_on_as_it_is() -> None:
    """As long as no checkpoint needs it [E1.3]."""
    thing = object()

    async def send(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(Found(items=[thing]))

    @on(Found)
    async def look(event: Found, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=event.items[0] is thing))

    host = Host(agent_of(send, look))
    host.input(1)

    assert host.outputs == [True]

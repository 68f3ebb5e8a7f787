"""Crashes at every point of small programs: with any checkpoint taken before, and any part of the log behind it.

The crash simulator does this for generated programs; these stay here because each holds one rule of decision 0001, and because a
failure names the point.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from flink_agents_subagent._engine.effects import StartCall
from flink_agents_subagent.context import DurableCall, RetryPolicy, RunnerContext
from flink_agents_subagent.events import Event, InputEvent, OutputEvent
from tests.unit._engine.host import Disk, Host, agent_of, on

attempts: Counter[Any] = Counter()


async def call(value: Any) -> Any:
    """A durable function."""
    return value


async def flaky(value: Any) -> Any:
    """A durable function whose first attempt fails."""
    attempts[value] += 1
    if attempts[value] == 1:
        raise ValueError("flaky")
    return value


class Next(Event):
    """An event between actions."""

    number: int


async def in_a_row(event: InputEvent, ctx: RunnerContext) -> None:
    """Call, emit, call, emit."""
    for number in range(3):
        ctx.send_event(OutputEvent(output=["before", number, str(ctx.uuid4())]))
        value = await ctx.durable_execute_async(call, number)
        ctx.short_term_memory.set(f"value.{number}", value)
    ctx.send_event(OutputEvent(output=ctx.short_term_memory.get("value").get_field_names()))


async def at_once(event: InputEvent, ctx: RunnerContext) -> None:
    """Call, sleep, wait with a time-out and in a batch, all at once."""
    results = await asyncio.gather(
        ctx.durable_execute_async(call, 1, reconciler=lambda: 1),
        asyncio.wait_for(ctx.durable_execute_async(call, 2), 100),
        ctx.durable_execute_async(flaky, 3, retry=RetryPolicy(initial=timedelta(seconds=3))),
        asyncio.sleep(2, "slept"),
        ctx.durable_execute_all_async([DurableCall(call, (number,)) for number in "abc"], max_concurrency=2),
    )
    results[-1] = [outcome.value for outcome in results[-1]]
    ctx.send_event(OutputEvent(output=[*results, ctx.now().timestamp()]))


def fans_out(event: InputEvent, ctx: RunnerContext) -> None:
    """Start three executions that share memory."""
    ctx.sensory_memory.set("order", [])
    for number in range(3):
        ctx.send_event(Next(number=number))


@on(Next)
async def shares(event: Next, ctx: RunnerContext) -> None:
    """Write after each call what was there."""
    for turn in range(2):
        await ctx.durable_execute_async(call, [event.number, turn])
        order = ctx.sensory_memory.get("order")
        ctx.sensory_memory.set("order", [*order, event.number])
    ctx.send_event(OutputEvent(output=ctx.sensory_memory.get("order")))


async def gives_up(event: InputEvent, ctx: RunnerContext) -> None:
    """Take the first of two calls, cancel the other, go on."""
    handles = [ctx.durable_execute_async(call, number) for number in (1, 2)]
    done, pending = await asyncio.wait(handles, return_when=asyncio.FIRST_COMPLETED)
    for handle in pending:
        handle.cancel()
    ctx.send_event(OutputEvent(output=sorted(handle.result() for handle in done)))
    await asyncio.sleep(1)
    ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(call, "end")))


@on(Next)
def charges(event: Next, ctx: RunnerContext) -> None:
    """Make blocking calls beside async ones."""
    values = [ctx.durable_execute(str, number) for number in range(2)]
    ctx.send_event(OutputEvent(output=[*values, ctx.sensory_memory.get("by"), ctx.now().timestamp()]))


async def beside(event: InputEvent, ctx: RunnerContext) -> None:
    """Trigger the `def` action between two calls."""
    await ctx.durable_execute_async(call, 1)
    ctx.sensory_memory.set("by", "beside")
    ctx.send_event(Next(number=1))
    await ctx.durable_execute_async(call, 2, reconciler=lambda: 2)
    await asyncio.sleep(1)


_PROGRAMS = {
    "in a row": (in_a_row,),
    "at once": (at_once,),
    "fan out": (fans_out, shares),
    "give up": (gives_up,),
    "beside": (beside, charges),
}


class Life:
    """One run to its end, with what a crash at each point would leave behind."""

    def __init__(self, program: tuple[Any, ...], disk: Disk | None = None, now_ms: int = 1_000_000) -> None:
        self.host = Host(agent_of(*program), disk, now_ms)
        self.host.start()
        self.points: list[tuple[Disk, int, int, int]] = []
        """Per point: a checkpoint taken there, length of the log, outputs so far, time."""

    def point(self) -> None:
        """Note a point at which a checkpoint may be taken and the process may die."""
        host = self.host
        self.points.append((host.snapshot(), len(host.disk.log), len(host.outputs), host.now_ms))

    def run(self) -> None:
        """Go on to the end in small steps, the newest call first, noting every point."""
        host = self.host
        self.point()
        for _ in range(200):
            if host.failure is not None:
                raise host.failure
            if host.calls:
                host.run_call(max(host.calls))
            elif host.unacknowledged:
                host.acknowledge(1)
            elif host.timer_ms is not None:
                host.advance(max(1, host.timer_ms - host.now_ms))
            else:
                return
            self.point()
        raise AssertionError("does not end")


def calls_of(host: Host) -> Counter[Any]:
    """Return how often each slot's function was started, reconcilers apart."""
    return Counter(
        (start.origin.execution, start.origin.slot, start.origin.attempt)
        for start in host.of(StartCall)
        if start.origin is not None and not start.origin.is_reconciler
    )


@pytest.fixture(autouse=True)
def _forget_attempts() -> None:
    attempts.clear()


@pytest.mark.parametrize("program", _PROGRAMS.values(), ids=_PROGRAMS)
def test_a_crash_at_any_point_changes_nothing(program: tuple[Any, ...]) -> None:
    """Outputs and memory are those of a run without a crash, and a recorded call is not made again [E1.9, E2.2, E4.2, E4.5]."""
    whole = Life(program)
    whole.host.input("x")
    whole.run()
    expected, memory = whole.host.outputs, whole.host.disk.memory
    assert whole.host.finished == [1]

    for taken, (disk, log_at_barrier, outputs_at_barrier, _) in enumerate(whole.points):
        for died, (_, log_at_death, _, now_ms) in enumerate(whole.points[taken:], taken):
            tail = whole.host.disk.log[log_at_barrier:log_at_death]
            after = Life(
                program, Disk(dict(disk.memory), dict(disk.run_numbers), dict(disk.entries), list(tail)), now_ms + 7
            )
            after.run()
            where = f"checkpoint at point {taken}, death at point {died}"

            assert after.host.failure is None, where
            assert len(after.host.outputs) == len(expected) - outputs_at_barrier, where
            if died == len(whole.points) - 1:
                assert after.host.outputs == expected[outputs_at_barrier:], where
                assert calls_of(after.host) == Counter(), where
                assert after.host.disk.memory == memory, where
            recorded = {append.record_number: append.payload for append in whole.host.disk.log[:log_at_death]}
            for append in after.host.disk.log[len(tail) :]:
                # What may not have reached the store is handed to it again, as it was.
                assert recorded.get(append.record_number, append.payload) == append.payload, where


@pytest.mark.parametrize("program", _PROGRAMS.values(), ids=_PROGRAMS)
def test_an_input_that_comes_back_finds_what_was_recorded(program: tuple[Any, ...]) -> None:
    """Without any checkpoint, and with any part of its journal, the run ends as it would have [E4.4]."""
    whole = Life(program)
    whole.host.input("x")
    whole.run()
    log = whole.host.disk.log

    for length in range(len(log) + 1):
        after = Life(program, Disk(log=list(log[:length])), whole.host.now_ms + 7)
        after.host.input("x")
        after.run()

        assert after.host.finished == [1], length
        assert [append.record_number for append in after.host.disk.log] == list(range(1, len(after.host.disk.log) + 1))
        if length == len(log):
            assert after.host.outputs == whole.host.outputs
            assert calls_of(after.host) == Counter()

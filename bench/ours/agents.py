"""The agents that are measured, with the functions that they call. They run inside the TaskManager."""

from __future__ import annotations

import asyncio
import base64
import os
import time
from typing import Any

from bench.protocol import leave
from bench.waiting import coroutine_wait
from flink_agents_subagent import Agent, InputEvent, OutputEvent, Resource, ResourceType, RunnerContext, action

CALL_S = 0.02
_GATE = "gate"
_ENDLESS = 10
"""Inputs of `EveryKindAgent` whose runs never end."""
_calls: list[None] = []
"""One for each call of `be_counted` that this process has made."""


async def do_nothing(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the payload."""
    return payload


async def sleep(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the payload after the 20 ms of a remote call."""
    await asyncio.sleep(CALL_S)
    return payload


async def sleep_and_tell() -> int:
    """Return after 20 ms; the value is the moment of returning, in nanoseconds."""
    await asyncio.sleep(CALL_S)
    return time.perf_counter_ns()


class TrivialAgent(Agent):
    """Hands each input on."""

    @action(InputEvent)
    @staticmethod
    def handle(event: InputEvent, ctx: RunnerContext) -> None:
        """Emit the input."""
        ctx.send_event(OutputEvent(output=event.input))


class CountingAgent(Agent):
    """Counts the inputs of each key in short-term memory."""

    @action(InputEvent)
    @staticmethod
    def handle(event: InputEvent, ctx: RunnerContext) -> None:
        """Emit the input."""
        memory = ctx.short_term_memory
        memory.set("seen", memory.get("seen", 0) + 1)
        ctx.send_event(OutputEvent(output=event.input))


class DurableCallAgent(Agent):
    """Awaits one durable call that does nothing."""

    @action(InputEvent)
    @staticmethod
    async def handle(event: InputEvent, ctx: RunnerContext) -> None:
        """Emit the call's result."""
        ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(do_nothing, event.input)))


async def letters(count: int) -> str:
    """Return a text of so many random letters, which LZ4 cannot make shorter; a multiple of four."""
    return base64.b64encode(os.urandom(count * 3 // 4)).decode("ascii")


class RecordingAgent(Agent):
    """Makes as many durable calls, one after the other, with results as large, as an input says."""

    @action(InputEvent)
    @staticmethod
    async def handle(event: InputEvent, ctx: RunnerContext) -> None:
        """Emit the number of calls."""
        for _ in range(event.input["calls"]):
            recorded: str = await ctx.durable_execute_async(letters, event.input["payload"])
            assert len(recorded) == event.input["payload"]  # noqa: S101 - what is measured is what is wanted
        ctx.send_event(OutputEvent(output=event.input["calls"]))


class RemoteCallAgent(Agent):
    """Awaits one durable call of 20 ms."""

    @action(InputEvent)
    @staticmethod
    async def handle(event: InputEvent, ctx: RunnerContext) -> None:
        """Emit the call's result."""
        ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(sleep, event.input)))


def block(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the payload after 20 ms, on a thread."""
    time.sleep(CALL_S)
    return payload


async def never_end() -> None:
    """Wait for longer than any job runs."""
    await asyncio.sleep(86_400)


class EveryKindAgent(Agent):
    """Makes durable calls on the loop and on threads by turns; the runs of the first ten inputs wait for ever."""

    @action(InputEvent)
    @staticmethod
    async def handle(event: InputEvent, ctx: RunnerContext) -> None:
        """Count in memory, and emit the call's result."""
        memory = ctx.short_term_memory
        memory.set("seen", memory.get("seen", 0) + 1)
        number = event.input["value"]
        output = await ctx.durable_execute_async(sleep if number % 2 else block, event.input)
        if number < _ENDLESS:
            await ctx.durable_execute_async(never_end)
        ctx.send_event(OutputEvent(output=output))


async def be_counted() -> None:
    """Count the calls that this process has made."""
    _calls.append(None)


class RecoveredAgent(Agent):
    """Makes durable calls one after the other, then waits for ever; leaves when the first run began, and when all had made them."""

    def __init__(self, runs: int, calls: int) -> None:
        super().__init__()
        self._runs_left = runs
        self._calls = calls
        self._began_at = 0.0

    @action(InputEvent)
    async def handle(self, event: InputEvent, ctx: RunnerContext) -> None:  # noqa: ARG002 - all inputs are alike
        """Make the calls and wait; what is counted is not durable on purpose: each attempt counts anew."""
        self._began_at = self._began_at or time.time()
        for _ in range(self._calls):
            await ctx.durable_execute_async(be_counted)
        self._runs_left -= 1
        if not self._runs_left:
            leave({"began_at": self._began_at, "all_resumed_at": time.time(), "calls_made": len(_calls)})
        await ctx.durable_execute_async(never_end)


class WaitingAgent(Agent):
    """Awaits one durable call of many seconds, in which the CPU is watched."""

    @action(InputEvent)
    @staticmethod
    async def handle(event: InputEvent, ctx: RunnerContext) -> None:
        """Emit the call's result."""
        ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(coroutine_wait, event.input["value"])))


class LatencyAgent(Agent):
    """Awaits one durable call of 20 ms and looks how long ago it ended; leaves the percentiles after the last input."""

    def __init__(self, warm_up: int, inputs: int) -> None:
        super().__init__()
        self._warm_up = warm_up
        self._total = warm_up + inputs
        self._latencies: list[int] = []

    @action(InputEvent)
    async def handle(self, event: InputEvent, ctx: RunnerContext) -> None:
        """Emit the input."""
        ended_ns: int = await ctx.durable_execute_async(sleep_and_tell)
        self._latencies.append(time.perf_counter_ns() - ended_ns)
        if len(self._latencies) == self._total:
            measured = sorted(self._latencies[self._warm_up :])
            leave({f"p{share}_ms": measured[len(measured) * share // 100] / 1e6 for share in (50, 99)})
        ctx.send_event(OutputEvent(output=event.input))


class Gate(Resource):
    """Keeps calls waiting until it is opened."""

    async def open(self) -> None:
        """Remember the loop that the calls wait on."""
        self._loop = asyncio.get_running_loop()
        self._is_opened = asyncio.Event()

    async def wait(self) -> None:
        """Return once the gate is opened."""
        await self._is_opened.wait()

    def let_go(self) -> None:
        """Open the gate; any thread."""
        self._loop.call_soon_threadsafe(self._is_opened.set)


class ParkingAgent(Agent):
    """Parks the runs of the first inputs until all others, with one durable no-op call each, have ended."""

    def __init__(self, parked: int, inputs: int) -> None:
        super().__init__()
        self._parked = parked
        self._left = inputs
        self.add_resource(_GATE, ResourceType.OBJECT, Gate())

    def key_of(self, event: dict[str, Any]) -> str:
        """Return a key of its own for an input whose run is parked, one of a thousand for the others."""
        number = event["value"]
        return f"parked {number}" if number < self._parked else f"k{number % 1000}"

    @action(InputEvent)
    async def handle(self, event: InputEvent, ctx: RunnerContext) -> None:
        """Wait, or emit the call's result."""
        gate = ctx.get_resource(_GATE, ResourceType.OBJECT)
        if event.input["value"] < self._parked:
            await ctx.durable_execute_async(gate.wait)
            return
        ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(do_nothing, event.input)))
        self._left -= 1
        if not self._left:
            gate.let_go()

"""Async actions: plain asyncio on durable calls, live and on replay."""

from __future__ import annotations

import asyncio
import contextvars
import sys
from collections.abc import Callable
from typing import Any

import pytest

from flink_agents_subagent._engine.effects import CancelCall, StartCall
from flink_agents_subagent.context import DurableCall, RunnerContext
from flink_agents_subagent.errors import ActionError, ContextMisuseError
from flink_agents_subagent.events import InputEvent, OutputEvent
from tests.unit._engine.host import Disk, Host, agent_of


async def echo(value: Any) -> Any:
    """A durable coroutine function."""
    return value


def replayed(host: Host, action: Callable[..., Any]) -> Host:
    """Bring the input of a finished run back to a new process that finds its journal."""
    again = Host(agent_of(action), Disk(log=list(host.disk.log)), now_ms=host.now_ms + 10_000)
    again.start()
    again.input("x")
    return again


async def gathers(event: InputEvent, ctx: RunnerContext) -> None:
    """Wait for several calls."""
    values = await asyncio.gather(*[ctx.durable_execute_async(echo, number) for number in range(3)])
    ctx.send_event(OutputEvent(output=values))


async def waits_for(event: InputEvent, ctx: RunnerContext) -> None:
    """Give up on a call."""
    try:
        await asyncio.wait_for(ctx.durable_execute_async(echo, 1), 5)
    except asyncio.TimeoutError:
        ctx.send_event(OutputEvent(output="too late"))


async def first_completed(event: InputEvent, ctx: RunnerContext) -> None:
    """Take whichever call comes first."""
    handles = [ctx.durable_execute_async(echo, number) for number in range(3)]
    done, pending = await asyncio.wait(handles, return_when=asyncio.FIRST_COMPLETED)
    ctx.send_event(OutputEvent(output=([handle.result() for handle in done], len(pending))))


async def as_completed(event: InputEvent, ctx: RunnerContext) -> None:
    """Take results as they come."""
    handles = [ctx.durable_execute_async(echo, number) for number in range(3)]
    ctx.send_event(OutputEvent(output=[value async for value in ctx.as_completed(handles)]))


async def primitives(event: InputEvent, ctx: RunnerContext) -> None:
    """Use locks, queues, events and tasks."""
    queue: asyncio.Queue[int] = asyncio.Queue(1)
    lock, ready, places = asyncio.Lock(), asyncio.Event(), asyncio.Semaphore(2)

    async def produce() -> None:
        for number in range(3):
            async with places, lock:
                await queue.put(await ctx.durable_execute_async(echo, number))
        ready.set()

    producer = asyncio.create_task(produce())
    values = [await queue.get() for _ in range(3)]
    await ready.wait()
    await producer
    ctx.send_event(OutputEvent(output=values))


async def sleeps_between(event: InputEvent, ctx: RunnerContext) -> None:
    """Take the time before and after a sleep and a call."""
    times = [ctx.now().timestamp()]
    await asyncio.sleep(2.5)
    times.append(ctx.now().timestamp())
    await ctx.durable_execute_async(echo, 1)
    times.append(asyncio.get_running_loop().time())
    ctx.send_event(OutputEvent(output=times))


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (gathers, [[0, 1, 2]]),
        (first_completed, [([0], 2)]),
        (as_completed, [[0, 1, 2]]),
        (primitives, [[0, 1, 2]]),
        (sleeps_between, [[1000.0, 1002.5, 1002.5]]),
    ],
)
def test_asyncio_works_and_replays_the_same(action: Callable[..., Any], expected: list[Any]) -> None:
    """The replay makes no call and gives the same outputs [E2.1, E2.2]."""
    host = Host(agent_of(action))
    host.input("x")
    host.run()

    again = replayed(host, action)

    assert host.outputs == expected
    assert again.outputs == expected
    assert again.of(StartCall) == []
    assert again.finished == [1]


def test_outcomes_are_delivered_in_journal_order_and_not_in_that_of_the_calls() -> None:
    """The order in which calls ended is the order of the records, on replay too [E2.2]."""
    host = Host(agent_of(as_completed))
    host.input("x")
    for call in (3, 1, 2):
        host.run_call(call)
    host.acknowledge()

    assert host.outputs == [[2, 0, 1]]
    assert replayed(host, as_completed).outputs == [[2, 0, 1]]


def test_nothing_is_delivered_before_its_acknowledgement() -> None:
    """A call that has returned is not seen by the action until the store has its record, and all before it [E2.2, S1.1]."""
    host = Host(agent_of(as_completed))
    host.input("x")
    for call in (1, 2, 3):
        host.run_call(call)
    assert host.outputs == []

    host.engine.acknowledge(host.unacknowledged[1:], host.now_ms)
    host.perform()
    assert host.outputs == []

    host.engine.acknowledge(host.unacknowledged[:1], host.now_ms)
    host.perform()
    assert host.outputs == [[0, 1, 2]]


def test_wait_for_gives_up_at_a_recorded_time_and_cancels_the_call() -> None:
    """The timer is a record, so the replay gives up at the same point without calling [E2.3, E3.11]."""
    host = Host(agent_of(waits_for))
    host.input("x")
    host.advance(4_999)
    assert host.unacknowledged == []
    host.advance(1)
    host.acknowledge()

    again = replayed(host, waits_for)

    assert host.outputs == ["too late"]
    assert len(host.of(CancelCall)) == 1
    assert again.outputs == ["too late"]
    assert again.of(StartCall) == []


def test_a_late_timer_that_lost_to_an_outcome_changes_nothing() -> None:
    """Both are appended; the outcome comes first in the journal and wins, live and on replay [E2.2]."""
    host = Host(agent_of(waits_for))
    host.input("x")
    host.run_call()
    host.advance(5_000)
    host.acknowledge()

    assert len(host.disk.log) == 2
    assert host.outputs == []
    assert host.finished == [1]
    assert replayed(host, waits_for).finished == [1]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.timeout and TaskGroup came with Python 3.11")
def test_timeout_and_task_group_replay_the_same() -> None:
    """The newer tools work as well: a failing task of a group cancels its siblings' calls [E2.1]."""

    async def good(event: InputEvent, ctx: RunnerContext) -> None:
        async def call(number: int) -> Any:
            return await ctx.durable_execute_async(echo, number)

        async def fails() -> None:
            await ctx.durable_execute_async(echo, "f")
            raise ValueError("no")

        try:
            async with asyncio.timeout(60), asyncio.TaskGroup() as group:
                group.create_task(fails())
                group.create_task(call("slow"))
        except Exception as group:  # noqa: BLE001 - an ExceptionGroup, which Python 3.10 does not know
            ctx.send_event(OutputEvent(output=[str(error) for error in group.exceptions]))  # type: ignore[attr-defined]

    host = Host(agent_of(good))
    host.input("x")
    host.run_call(1)
    host.acknowledge()

    assert host.outputs == [["no"]]
    assert [effect.call for effect in host.of(CancelCall)] == [2]
    assert replayed(host, good).outputs == [["no"]]


def test_several_executions_of_a_run_are_in_flight_together() -> None:
    """A run whose actions suspend starts the others; its memory is seen by all in the same order on replay [E1.2, E2.2]."""

    async def one(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(echo, "one")
        ctx.sensory_memory.set("last", "one")

    async def two(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.sensory_memory.set("last", "two")
        await ctx.durable_execute_async(echo, "two")
        ctx.send_event(OutputEvent(output=ctx.sensory_memory.get("last")))

    host = Host(agent_of(one, two))
    host.input("x")
    assert len(host.calls) == 2
    host.run_call(1)
    host.run_call(2)
    host.acknowledge()

    again = Host(agent_of(one, two), Disk(log=host.disk.log))
    again.start()
    again.input("x")

    assert host.outputs == again.outputs == ["one"]


def test_a_cancelled_task_cancels_the_calls_that_it_opened() -> None:
    """Also those that it does not wait for just now; calls of other tasks go on [E3.11]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        async def child() -> None:
            ctx.durable_execute_async(echo, "child's")
            await asyncio.sleep(60)

        own = ctx.durable_execute_async(echo, "own")
        task = asyncio.create_task(child())
        await asyncio.sleep(1)
        task.cancel()
        ctx.send_event(OutputEvent(output=await own))

    host = Host(agent_of(action))
    host.input("x")
    host.advance(1_000)
    host.acknowledge()

    assert [effect.call for effect in host.of(CancelCall)] == [2]
    host.run()
    assert host.outputs == ["own"]


def test_a_time_out_of_the_task_spares_calls_that_were_opened_before() -> None:
    """A cancellation that the task survives is not its end [E3.11]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        async def child() -> Any:
            kept = ctx.durable_execute_async(echo, "kept")
            try:
                await asyncio.wait_for(asyncio.Event().wait(), 1)
            except asyncio.TimeoutError:
                return await kept

        ctx.send_event(OutputEvent(output=await asyncio.create_task(child())))

    host = Host(agent_of(action))
    host.input("x")
    host.run()

    assert host.of(CancelCall) == []
    assert host.outputs == ["kept"]


def test_calls_left_open_at_the_end_are_cancelled() -> None:
    """The run does not wait for what nobody awaits; a result that comes too late is dropped [E3.11, E1.4]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.durable_execute_async(echo, "left")
        await ctx.durable_execute_async(echo, "awaited")

    host = Host(agent_of(action))
    host.input("x")
    host.run_call(2)
    host.acknowledge()

    assert [effect.call for effect in host.of(CancelCall)] == [1]
    assert host.finished == [1]


def test_a_call_opened_and_cancelled_at_once_is_never_sent() -> None:
    """Before the action suspends nothing leaves [E3.11]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        handle = ctx.durable_execute_async(echo, 1)
        assert handle.cancel() and not handle.cancel()
        with pytest.raises(asyncio.CancelledError):
            await handle
        ctx.send_event(OutputEvent(output="cancelled"))

    host = Host(agent_of(action))
    host.input("x")

    assert host.outputs == ["cancelled"]
    assert host.of(StartCall) == []


def test_a_handle_gives_its_result_any_number_of_times() -> None:
    """`done` is true from the delivery on [E3.1]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        handle = ctx.durable_execute_async(echo, 1)
        before = handle.done()
        values = [await handle, await handle, *await asyncio.gather(handle, handle)]
        ctx.send_event(OutputEvent(output=[before, handle.done(), values]))

    host = Host(agent_of(action))
    host.input("x")
    host.run()

    assert host.outputs == [[False, True, [1, 1, 1, 1]]]


def test_an_exception_surfaces_at_the_await_alone() -> None:
    """A failed call that nobody awaits fails nothing [E3.1]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        failing = ctx.durable_execute_async(echo, 1)
        await ctx.durable_execute_async(echo, 2)
        assert failing.done()
        try:
            await failing
        except ValueError as error:
            ctx.send_event(OutputEvent(output=str(error)))

    host = Host(agent_of(action))
    host.input("x")
    host.raises(ValueError("bad"), 1)
    host.run()

    assert host.outputs == ["bad"]


def test_a_batch_gives_outcomes_in_the_order_of_its_calls() -> None:
    """Failures are outcomes; at most so many calls run at a time, in the order of the list [E3.14]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        calls = [DurableCall(echo, (number,)) for number in range(5)]
        outcomes = await ctx.durable_execute_all_async(calls, max_concurrency=2)
        ctx.send_event(
            OutputEvent(output=[outcome.value if outcome.is_success else str(outcome.error) for outcome in outcomes])
        )

    host = Host(agent_of(action))
    host.input("x")
    assert sorted(host.calls) == [1, 2]
    host.raises(ValueError("bad"), 2)
    assert sorted(host.calls) == [1, 3]
    host.run()

    assert host.outputs == [[0, "bad", 2, 3, 4]]
    assert replayed(host, action).outputs == host.outputs


def test_an_empty_batch_is_done_at_once() -> None:
    """No calls, no wait [E3.14]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=await ctx.durable_execute_all_async([])))

    host = Host(agent_of(action))
    host.input("x")

    assert host.outputs == [[]]


def test_an_action_that_nothing_can_wake_fails_instead_of_waiting_for_ever() -> None:
    """The error says that no call is in flight and no timer is set [E1.4]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        await asyncio.Event().wait()

    host = Host(agent_of(action))
    host.input("x")

    assert isinstance(host.failure, ActionError)
    assert isinstance(host.failure.__cause__, ContextMisuseError)
    assert "nothing will ever wake it" in str(host.failure)


def test_each_execution_has_a_context_of_its_own() -> None:
    """Context variables of one execution are not seen by another [E2.1]."""
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        before = variable.get()
        variable.set(event.input)
        await asyncio.create_task(asyncio.sleep(0))
        await ctx.durable_execute_async(echo, 1)
        ctx.send_event(OutputEvent(output=[before, variable.get()]))

    host = Host(agent_of(action))
    host.input("a", "k1")
    host.input("b", "k2")
    host.run()

    assert host.outputs == [["unset", "a"], ["unset", "b"]]
    assert variable.get() == "unset"

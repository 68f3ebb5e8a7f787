"""Limits of durable calls: time-outs, retries, capacity."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from flink_agents_subagent._engine.effects import CallReturned, CancelCall, StartCall
from flink_agents_subagent.context import DurableCall, RetryPolicy, RunnerContext
from flink_agents_subagent.errors import (
    ContextMisuseError,
    DurableTimeoutError,
)
from flink_agents_subagent.events import InputEvent
from tests.unit._engine.host import Disk, Host, agent_of
from tests.unit._engine.programs import blocking, calling, coroutine, kinds

# Time-outs


def test_a_time_out_is_recorded_and_the_call_cancelled() -> None:
    """The replay times out without calling; a result that comes later is dropped [E3.10]."""
    action = calling(timeout=timedelta(seconds=2))
    host = Host(agent_of(action))
    host.input(1)
    host.advance(1_999)
    assert kinds(host) == []
    host.advance(1)
    host.acknowledge()
    host.engine.complete_call(1, CallReturned(5), host.now_ms)
    host.perform()
    again = Host(agent_of(action), Disk(log=host.disk.log))
    again.start()
    again.input(1)

    assert kinds(host) == ["o"]
    assert [effect.call for effect in host.of(CancelCall)] == [1]
    assert isinstance(host.outputs[0], DurableTimeoutError) and isinstance(host.outputs[0], TimeoutError)
    assert "coroutine" in str(host.outputs[0]) and "2000 ms" in str(host.outputs[0])
    assert repr(again.outputs) == repr(host.outputs)
    assert again.of(StartCall) == []


def test_a_call_that_ends_in_time_leaves_no_deadline() -> None:
    """Its time-out does not fire later [E3.10]."""
    host = Host(agent_of(calling(timeout=2.0)))
    host.input(1)
    host.run_call()
    host.acknowledge()
    host.advance(10_000)

    assert kinds(host) == ["o"]
    assert host.outputs == [1]


def test_a_call_that_waits_for_a_place_times_out_as_well() -> None:
    """The time-out counts from the call, not from its turn [E3.10]."""
    host = Host(agent_of(calling(blocking, timeout=2.0)), call_threads=1)
    host.input(1, "a")
    host.input(2, "b")
    host.returns(1)
    host.acknowledge()
    assert host.outputs == [1]
    host.advance(2_000)
    host.acknowledge()

    assert isinstance(host.outputs[1], DurableTimeoutError)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), timedelta(0)])
def test_a_time_out_that_is_no_time_is_refused(timeout: Any) -> None:
    """The value is named [E3.10]."""
    host = Host(agent_of(calling(timeout=timeout)))
    host.input(1)

    (error,) = host.outputs
    assert isinstance(error, ContextMisuseError)
    assert repr(timeout) in str(error)


# Retries


def test_retries_back_off_on_a_timer_and_record_each_failed_attempt() -> None:
    """The pauses grow to their bound; the last failure is the outcome [E3.9]."""
    retry = RetryPolicy(max_attempts=4, initial=timedelta(seconds=1), factor=3, max_interval=timedelta(seconds=5))
    host = Host(agent_of(calling(retry=retry)))
    host.input(1)
    pauses = []
    for _ in range(3):
        host.raises(ValueError("again"))
        host.acknowledge()
        assert host.calls == {}
        pauses.append((host.timer_ms or 0) - host.now_ms)
        host.advance(pauses[-1])
    host.raises(ValueError("for good"))
    host.acknowledge()

    assert pauses == [1_000, 3_000, 5_000]
    assert kinds(host) == ["a", "a", "a", "o"]
    assert str(host.outputs[0]) == "for good"


class BusyError(Exception):
    """Says when to come back."""

    def __init__(self, retry_after: Any) -> None:
        super().__init__("busy")
        self.retry_after = retry_after


class HostileError(Exception):
    """Fails where it is looked at."""

    @property
    def retry_after(self) -> float:
        """Raise."""
        raise KeyError


@pytest.mark.parametrize(
    ("error", "pause_ms"),
    [
        (BusyError(30), 30_000),
        (BusyError(timedelta(seconds=2.5)), 2_500),
        (BusyError(0.5), 1_000),
        (BusyError(float("nan")), 1_000),
        (BusyError(float("inf")), 1_000),
        (BusyError("soon"), 1_000),
        (BusyError(-3), 1_000),
        (ValueError("retry_after_ms"), 1_000),
        (HostileError(), 1_000),
    ],
)
def test_no_attempt_comes_sooner_than_the_failure_asks(error: Exception, pause_ms: int) -> None:
    """The record keeps the wish, so that a later life obeys it too [E3.9]."""
    action = calling(retry=RetryPolicy(initial=timedelta(seconds=1)))
    host = Host(agent_of(action))
    host.input(1)
    host.raises(error)
    host.acknowledge()
    begun, due = host.now_ms, host.timer_ms or 0
    again = Host(agent_of(action), Disk(log=host.disk.log))
    again.start()
    again.input(1)

    assert due - begun == pause_ms
    assert again.timer_ms == due


def test_the_next_attempt_waits_for_the_record_of_the_failed_one() -> None:
    """Otherwise a crash would give an attempt back [E3.9]."""
    host = Host(agent_of(calling(retry=RetryPolicy(initial=timedelta(0)))))
    host.input(1)
    host.raises(ValueError("again"))
    host.advance(10_000)
    assert host.calls == {}

    host.acknowledge()

    assert len(host.calls) == 1


def test_a_failover_does_not_reset_the_budget() -> None:
    """The recorded attempts count, and the pause goes on from the last of them [E3.9]."""
    retry = RetryPolicy(max_attempts=3, initial=timedelta(seconds=10), factor=1)
    action = calling(retry=retry)
    host = Host(agent_of(action))
    host.input(1)
    host.raises(ValueError("one"))
    host.acknowledge()

    again = Host(agent_of(action), Disk(log=host.disk.log), now_ms=host.now_ms + 4_000)
    again.start()
    again.input(1)
    assert again.calls == {}
    again.advance(6_000)
    (started,) = again.calls.values()
    assert started.origin is not None and started.origin.attempt == 2
    again.raises(ValueError("two"))
    again.acknowledge()
    again.advance(10_000)
    again.raises(ValueError("three"))
    again.acknowledge()

    assert str(again.outputs[0]) == "three"
    assert kinds(again) == ["a", "a", "o"]


def test_only_the_named_exceptions_are_retried() -> None:
    """Another one is the outcome at once [E3.9]."""
    host = Host(agent_of(calling(retry=RetryPolicy(retry_on=(KeyError,)))))
    host.input(1)
    host.raises(ValueError("no"))

    assert kinds(host) == ["o"]


def test_a_reconciler_is_not_retried() -> None:
    """What it raises is the outcome, whatever the call's policy [E3.6, E3.9]."""
    action = calling(retry=RetryPolicy(), reconciler=blocking)
    host = Host(agent_of(action))
    host.input(1)
    host.acknowledge()
    again = Host(agent_of(action), Disk(log=host.disk.log))
    again.start()
    again.input(1)
    again.raises(ValueError("unknown"))

    assert kinds(again) == ["i", "o"]


def test_a_cancelled_call_is_not_tried_again() -> None:
    """The pause between attempts ends with the cancellation [E3.11]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        handle = ctx.durable_execute_async(coroutine, retry=RetryPolicy(initial=timedelta(seconds=60)))
        await asyncio.sleep(1)
        handle.cancel()

    host = Host(agent_of(action))
    host.input(1)
    host.raises(ValueError("again"))
    host.acknowledge()
    host.run()

    assert len(host.of(StartCall)) == 1
    assert host.finished == [1]


# Capacity


def test_blocking_calls_wait_for_a_thread_first_come_first_served() -> None:
    """No more run than there are threads; coroutine calls do not wait behind them [E3.10]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        calls = [DurableCall(blocking, (number,)) for number in range(4)]
        calls.append(DurableCall(coroutine, ("free",)))
        await ctx.durable_execute_all_async(calls)

    host = Host(agent_of(action), call_threads=2)
    host.input(1)

    def running() -> list[Any]:
        return [call.function.args[0] for call in host.calls.values()]  # type: ignore[attr-defined]

    assert running() == [0, 1, "free"]
    assert host.counted("calls_waiting") == 2
    host.run_call(2)
    assert running() == [0, "free", 2]
    host.run()
    assert host.finished == [1]
    assert host.counted("calls_waiting") == host.counted("calls_in_flight") == 0


def test_an_abandoned_call_is_replaced_up_to_a_bound() -> None:
    """Beyond it new calls wait until an abandoned one returns [E3.10, E7.1]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        for number in range(3):
            with pytest.raises(DurableTimeoutError):
                await ctx.durable_execute_async(blocking, number, timeout=1.0)

    host = Host(agent_of(action), call_threads=1, max_abandoned_calls=1)
    host.input(1)
    host.advance(1_000)
    host.acknowledge()
    assert list(host.calls) == [2]
    host.advance(1_000)
    host.acknowledge()
    assert host.calls == {}
    assert host.counted("abandoned_calls_running") == 2

    host.engine.complete_call(1, CallReturned(None), host.now_ms)
    host.perform()

    assert list(host.calls) == [3]
    assert host.counted("abandoned_calls_running") == 1
    assert host.counted("late_results") == 1


def test_a_cancelled_call_that_waits_for_a_thread_is_passed_over() -> None:
    """It holds no place in the queue [E3.11]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        handles = [ctx.durable_execute_async(blocking, number) for number in range(3)]
        await ctx.durable_execute_async(coroutine, "now")
        handles[1].cancel()
        await handles[2]

    host = Host(agent_of(action), call_threads=1)
    host.input(1)
    host.run_call(2)
    host.acknowledge()
    host.run_call(1)

    (started,) = host.calls.values()
    assert started.function.args == (2,)  # type: ignore[attr-defined]

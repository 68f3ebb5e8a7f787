"""Lanes: whose call begins when, over all runs of a subtask (M8)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from flink_agents_subagent._engine.effects import CancelCall, StartCall
from flink_agents_subagent.context import CallAgain, CallCourse, CallLane, CallSpec, RunnerContext
from flink_agents_subagent.events import InputEvent, OutputEvent
from tests.unit._engine.host import Disk, Host, agent_of


def nothing() -> None:
    """Stand for a function: the tests say what it returns."""


def spec(name: str, lane: CallLane, **fields: Any) -> CallSpec:
    """Describe a call in a lane."""
    course = fields.pop("course", CallCourse(lane=lane))
    return CallSpec(
        **{"func": nothing, "function_id": name, "fingerprint": b"f" * 16, "is_coroutine": True, **fields}
    )._replace(course=course)


def calling(lane: CallLane, count: int = 1, **fields: Any) -> Any:
    """Return an action that makes calls in a lane, named by input and number, and sends what they return."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        handles = [ctx._open_call(spec(f"{event.input}{number}", lane, **fields)) for number in range(count)]
        ctx.send_event(OutputEvent(output=await asyncio.gather(*handles)))

    return action


def names(host: Host) -> list[str]:
    """Return the calls that were started."""
    return [start.origin.function_id for start in host.of(StartCall) if start.origin is not None]


def test_calls_of_all_runs_wait_in_one_line() -> None:
    """So many at a time, first come, first served, whichever key they belong to [M8]."""
    host = Host(agent_of(calling(CallLane("service", max_concurrency=2), count=2)))
    for key in "abc":
        host.input(key, key)
    seen = [names(host)]
    for _ in range(4):
        host.returns()
        seen.append(names(host)[2:])

    assert seen == [["a0", "a1"], ["b0"], ["b0", "b1"], ["b0", "b1", "c0"], ["b0", "b1", "c0", "c1"]]


def test_lanes_do_not_wait_for_each_other() -> None:
    """Each name has a line of its own [M8]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        await asyncio.gather(*[ctx._open_call(spec(name, CallLane(name, 1))) for name in ("x", "y", "x")])

    host = Host(agent_of(action))
    host.input(1)

    assert names(host) == ["x", "y"]


def test_a_call_that_is_cancelled_in_the_line_is_never_sent() -> None:
    """Nor does it keep others from their turn [M8, I6]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        handles = [ctx._open_call(spec(f"{event.input}{number}", CallLane("service", 1))) for number in range(3)]
        await asyncio.sleep(1)
        handles[1].cancel()
        await handles[0]
        await handles[2]

    host = Host(agent_of(action))
    host.input("a")
    host.advance(1_000)
    host.acknowledge()
    host.returns()
    host.acknowledge()

    assert names(host) == ["a0", "a2"]
    assert host.of(CancelCall) == []
    assert host.counted("calls_waiting") == 0


def test_those_who_wait_are_counted() -> None:
    """By sub-agent; at any time as many as there are [M8, E7.1]."""
    host = Host(agent_of(calling(CallLane("service", 1), count=4)))
    host.input("a")
    waiting = [host.counted("calls_waiting")]
    for _ in range(3):
        host.returns()
        waiting.append(host.counted("calls_waiting"))

    assert waiting == [3, 2, 1, 0]


def test_a_running_call_that_is_cancelled_gives_its_place_to_the_next() -> None:
    """The line goes on at once [M8, E3.11]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        handles = [ctx._open_call(spec(f"{event.input}{number}", CallLane("service", 1))) for number in range(2)]
        await asyncio.sleep(1)
        handles[0].cancel()
        await handles[1]

    host = Host(agent_of(action))
    host.input("a")
    host.advance(1_000)
    host.acknowledge()

    assert names(host) == ["a0", "a1"]


def test_a_rate_spaces_the_starts() -> None:
    """Four in a second are one each 250 ms, also when calls end faster, and no faster after a quiet time [M8]."""
    host = Host(agent_of(calling(CallLane("service", rate_limit=4))))
    for key in "abcd":
        host.input(key, key)
    started = [(host.now_ms, len(names(host)))]
    while len(names(host)) < 4:
        host.advance((host.timer_ms or 0) - host.now_ms)
        started.append((host.now_ms, len(names(host))))

    assert [(at - 1_000_000, count) for at, count in started] == [(0, 1), (250, 2), (500, 3), (750, 4)]
    host.advance(60_000)
    for key in "ef":
        host.input(key, key)
    assert names(host)[4:] == ["e0"]


def test_a_slow_rate_does_not_drift() -> None:
    """Three in a second are three in each second, although a third of it is no whole number of milliseconds [M8]."""
    host = Host(agent_of(calling(CallLane("service", rate_limit=3))))
    for number in range(31):
        host.input(number, f"key {number}")
    while len(names(host)) < 31:
        host.advance((host.timer_ms or 0) - host.now_ms)

    assert host.now_ms - 1_000_000 == 10_000


def test_both_limits_hold() -> None:
    """A free place does not overrule the rate, nor the other way round [M8]."""
    host = Host(agent_of(calling(CallLane("service", max_concurrency=1, rate_limit=1))))
    for key in "abc":
        host.input(key, key)
    host.returns()
    assert names(host) == ["a0"]
    host.advance(1_000)
    assert names(host) == ["a0", "b0"]
    host.advance(10_000)
    assert names(host) == ["a0", "b0"]
    host.returns()
    assert names(host) == ["a0", "b0", "c0"]


def test_a_call_keeps_its_place_over_what_follows() -> None:
    """From its start until the outcome of the last one, however often that runs again [M8]."""
    lane = CallLane("service", max_concurrency=1)
    following = spec("second", lane, course=CallCourse(lane=lane))
    host = Host(agent_of(calling(lane, course=CallCourse(lane=lane, then=lambda value, spent_ms: following))))
    host.input("a", "a")
    host.input("b", "b")
    host.returns()
    host.acknowledge()
    host.returns(CallAgain(100))
    host.advance(100)
    assert names(host) == ["a0", "second", "second"]
    host.returns()

    assert names(host) == ["a0", "second", "second", "b0"]


def test_what_is_under_way_after_a_restart_counts_and_does_not_wait() -> None:
    """A call that an earlier life sent is attended to at once; new ones wait until there is room [M8, I7]."""
    lane = CallLane("service", max_concurrency=1)
    following = spec("second", lane)
    action = calling(lane, course=CallCourse(lane=lane, then=lambda value, spent_ms: following))
    host = Host(agent_of(action))
    host.input("a", "a")
    host.returns()
    host.acknowledge()
    again = Host(agent_of(action), Disk(log=host.disk.log))
    again.start()
    again.input("b", "b")
    again.input("a", "a")
    again.input("c", "c")
    again.returns(call=1)
    again.acknowledge()

    # b was first in this life; a is attended to beside it.
    assert names(again) == ["b0", "second", "second"]
    again.returns(call=2)
    again.acknowledge()
    again.returns(call=3)
    assert names(again)[3:] == ["c0"]


def test_a_restore_counts_what_is_under_way_before_anything_begins() -> None:
    """Whichever key it belongs to, and wherever it stands among the calls of its run [M8, I7]."""
    lane = CallLane("service", max_concurrency=1)
    following = spec("second", lane)
    course = CallCourse(lane=lane, then=lambda value, spent_ms: following)

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        handles = [ctx._open_call(spec(f"{event.input}{number}", lane, course=course)) for number in range(2)]
        await asyncio.gather(*handles)

    host = Host(agent_of(action))
    host.input("a", "a")
    host.input("b", "b")
    host.returns()
    host.acknowledge()
    again = Host(agent_of(action), host.snapshot())
    again.start()

    assert names(host) == ["a0", "second"]
    assert names(again) == ["second"]
    again.returns()
    assert names(again) == ["second", "a1"]


@pytest.mark.parametrize("outcome", ["returns", "raises", "time-out"])
def test_every_outcome_gives_the_place_back(outcome: str) -> None:
    """A failure and a time-out end a call as a value does [M8]."""
    host = Host(agent_of(calling(CallLane("service", 1), timeout_ms=1_000, on_error=str, on_timeout=lambda: "late")))
    host.input("a", "a")
    host.input("b", "b")
    if outcome == "time-out":
        host.advance(1_000)
    elif outcome == "raises":
        host.raises(ValueError("no"))
    else:
        host.returns()

    assert names(host) == ["a0", "b0"]


def test_the_time_in_the_line_is_not_the_call_s() -> None:
    """A time-out counts from the turn, as in a batch [M6, M8, E3.14]."""
    host = Host(agent_of(calling(CallLane("service", 1), timeout_ms=1_000, on_timeout=lambda: "late")))
    host.input("a", "a")
    host.input("b", "b")
    host.advance(900)
    host.returns("in time")
    host.advance(900)
    host.returns("in time too")
    host.acknowledge()

    assert host.outputs == [["in time"], ["in time too"]]

"""The deterministic loop by itself."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import math
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from flink_agents_subagent._engine.loop import ExecutionLoop, LoopTask
from flink_agents_subagent.errors import ContextMisuseError


class Clock:
    """A run's clock, moved by the test."""

    def __init__(self) -> None:
        self.clock_ms = 1_000
        self.reads = 0

    def read_clock(self) -> int:
        """Return the time and count the reads."""
        self.reads += 1
        return self.clock_ms


class Driver:
    """A loop with one main task."""

    def __init__(self, main: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        self.clock = Clock()
        self.loop = ExecutionLoop(self.clock)
        self.task = LoopTask(main(), self.loop, None, contextvars.Context())
        self.loop.run()

    def sleep(self, ms: int) -> None:
        """Move the clock and run what is due."""
        self.clock.clock_ms += ms
        self.loop.run()


def test_timers_run_by_time_then_by_creation() -> None:
    """Sleepers of equal deadline wake in the order in which they went to sleep [E2.1]."""
    woken: list[str] = []

    async def sleeper(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        woken.append(name)

    async def main() -> None:
        await asyncio.gather(*[sleeper(name, seconds) for name, seconds in (("a", 2), ("b", 1), ("c", 2), ("d", 1))])

    driver = Driver(main)
    driver.sleep(2_000)

    assert woken == ["b", "d", "a", "c"]
    assert driver.task.done()


def test_time_is_the_clock_of_the_run() -> None:
    """The loop's time moves only with the run's clock [E2.3]."""
    seen: list[float] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        seen.append(loop.time())
        await asyncio.sleep(0.25)
        seen.append(loop.time())

    driver = Driver(main)
    assert driver.loop.next_timer() == (1_250, 0)
    driver.sleep(249)
    assert seen == [1.0]
    driver.sleep(1)

    assert seen == [1.0, 1.25]


def test_a_timer_of_whole_milliseconds_is_due_at_exactly_that_time() -> None:
    """Adding seconds as floating point does not push a deadline into the next millisecond [E2.3]."""
    deadlines = []

    async def main() -> None:
        await asyncio.sleep(0.2)

    for start in (1_700_000_000_028, 1_700_000_000_035, 1_700_000_000_084):
        clock = Clock()
        clock.clock_ms = start
        loop = ExecutionLoop(clock)
        LoopTask(main(), loop, None, contextvars.Context())
        loop.run()
        timer = loop.next_timer()
        assert timer is not None
        deadlines.append(timer[0] - start)
        loop.shut_down()

    assert deadlines == [200, 200, 200]


def test_tasks_and_futures_hash_by_creation() -> None:
    """A set of tasks iterates in the same order in every process, while equality stays identity [E2.1]."""
    orders: list[list[str]] = []

    async def nothing() -> None:
        pass

    async def main() -> None:
        tasks = {asyncio.create_task(nothing(), name=name) for name in "abcdefgh"}
        orders.append([task.get_name() for task in tasks])
        done, _ = await asyncio.wait(tasks)
        orders.append([task.get_name() for task in done])
        first, second = (asyncio.get_running_loop().create_future() for _ in range(2))
        assert first != second and hash(first) < hash(second)

    for _ in range(3):
        assert Driver(main).task.exception() is None

    assert orders == orders[:2] * 3
    assert sorted(orders[0]) == list("abcdefgh")


def test_a_task_without_a_name_is_named_by_its_number_in_the_loop() -> None:
    """The default name does not count the tasks of the process, which a replay could not repeat [E2.1]."""
    names: list[list[str]] = []

    async def nothing() -> None:
        pass

    async def main() -> None:
        tasks = [asyncio.create_task(nothing()) for _ in range(2)]
        names.append([task.get_name() for task in tasks])
        await asyncio.gather(*tasks)

    Driver(main)
    Driver(main)

    assert names[0] == names[1]


def test_the_running_loop_of_the_thread_is_put_back() -> None:
    """An engine may be driven from code that itself runs in an event loop [E2.1]."""
    inside: list[object] = []

    async def main() -> None:
        inside.append(asyncio.get_running_loop())
        await asyncio.sleep(1)

    async def outside() -> ExecutionLoop:
        before = asyncio.get_running_loop()
        driver = Driver(main)
        assert asyncio.get_running_loop() is before
        assert asyncio.current_task() is not driver.task
        driver.sleep(1_000)
        return driver.loop

    outer = asyncio.new_event_loop()
    try:
        loop = outer.run_until_complete(outside())
    finally:
        outer.close()

    assert inside == [loop]


@pytest.mark.parametrize(
    "name", ["create_connection", "run_in_executor", "call_soon_threadsafe", "subprocess_exec", "stop"]
)
def test_what_a_replay_cannot_repeat_is_refused(name: str) -> None:
    """The error names what to use instead [E2.4]."""
    loop = ExecutionLoop(Clock())

    with pytest.raises(ContextMisuseError, match=rf"loop\.{name} .*ctx\.durable_execute_async"):
        getattr(loop, name)(None)


def test_every_method_of_an_event_loop_is_either_provided_or_refused() -> None:
    """Nothing of asyncio's interface is left to raise a bare NotImplementedError [E2.4]."""
    interface = {name for name in vars(asyncio.AbstractEventLoop) if not name.startswith("_")}
    own = {
        name for cls in ExecutionLoop.__mro__ for name in vars(cls) if cls not in (asyncio.AbstractEventLoop, object)
    }

    assert interface - own == set()


def test_to_thread_is_refused_with_the_remedy() -> None:
    """The helpers of asyncio end at the refusal too [E2.4]."""

    async def main() -> None:
        await asyncio.to_thread(print)

    error = Driver(main).task.exception()

    assert isinstance(error, ContextMisuseError)
    assert "ctx.durable_execute_async" in str(error)


def test_async_generators_are_closed_in_order_of_first_use() -> None:
    """Not when the garbage collector finds them, but at the end of the execution [E2.7]."""
    closed: list[str] = []

    async def numbers(name: str) -> AsyncIterator[int]:
        try:
            for number in range(10):
                yield number
        finally:
            await asyncio.sleep(0)
            closed.append(name)

    async def main() -> None:
        for name in "abc":
            async for _ in numbers(name):
                break
        gc.collect()
        await asyncio.sleep(0)
        assert closed == []

    driver = Driver(main)
    assert driver.task.exception() is None
    driver.loop.shut_down()

    assert closed == ["a", "b", "c"]


def test_the_generator_hooks_of_the_thread_are_put_back() -> None:
    """Another loop of the thread keeps its own hooks [E2.7]."""
    hooks = sys.get_asyncgen_hooks()

    async def main() -> None:
        assert sys.get_asyncgen_hooks().firstiter is not hooks.firstiter

    driver = Driver(main)

    assert driver.task.exception() is None
    assert sys.get_asyncgen_hooks() == hooks


def test_shutting_down_cancels_tasks_in_order_of_creation() -> None:
    """Clean-up runs in an order that a replay repeats [E2.7]."""
    ended: list[str] = []

    async def waits(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    async def main() -> None:
        for name in "abc":
            asyncio.get_running_loop().create_task(waits(name))
        await asyncio.sleep(0)

    driver = Driver(main)
    driver.loop.shut_down()

    assert ended == ["a", "b", "c"]


def test_a_task_that_will_not_end_is_closed() -> None:
    """Swallowing the cancellation and waiting again does not keep an execution alive [E2.7]."""
    seen: list[str] = []

    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
        try:
            await asyncio.Event().wait()
        finally:
            seen.append("closed")

    driver = Driver(stubborn)
    driver.loop.shut_down()

    assert seen == ["cancelled", "closed"]


def test_an_exception_in_a_callback_is_kept() -> None:
    """What `call_soon` runs may not fail unseen [E1.8]."""

    async def main() -> None:
        asyncio.get_running_loop().call_soon(lambda: 1 / 0)
        await asyncio.sleep(10)

    driver = Driver(main)

    assert isinstance(driver.loop.failure, ZeroDivisionError)
    driver.loop.shut_down()


def test_polling_without_waiting_is_an_error_with_the_remedy() -> None:
    """A loop of sleep(0) could never see an outcome; it ends instead of blocking the task for good [E2.2]."""

    async def main() -> None:
        while True:  # noqa: ASYNC110 - what must not be done
            await asyncio.sleep(0)

    driver = Driver(main)

    assert isinstance(driver.loop.failure, ContextMisuseError)
    assert "await the handle" in str(driver.loop.failure)
    driver.loop.shut_down()


@pytest.mark.logs_warning
def test_a_child_task_that_fails_unseen_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """As asyncio does for an exception that nobody retrieves [E1.8]."""

    async def fails() -> None:
        raise ValueError("lost")

    async def main() -> None:
        asyncio.get_running_loop().create_task(fails())
        await asyncio.sleep(0)

    driver = Driver(main)
    driver.loop.shut_down()
    with caplog.at_level(logging.ERROR):
        gc.collect()

    assert ["Task exception was never retrieved" in record.getMessage() for record in caplog.records] == [True]


def test_many_cancelled_timers_do_not_pile_up() -> None:
    """A loop that guards each of many steps by a time-out keeps a small heap [PF10]."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        for _ in range(1_000):
            loop.call_later(3600, print).cancel()
        await asyncio.sleep(1)

    driver = Driver(main)

    assert len(driver.loop._timers) < 100
    assert driver.loop.next_timer() == (2_000, 1_000)


def test_sleeping_for_ever_is_waiting_for_a_cancellation() -> None:
    """An infinite sleep has a deadline that never comes [E2.1]."""

    async def main() -> None:
        await asyncio.sleep(math.inf)

    driver = Driver(main)
    timer = driver.loop.next_timer()

    assert timer is not None and timer[0] > 10**15
    driver.loop.shut_down()


def test_a_loop_that_nobody_asks_for_the_time_needs_no_clock() -> None:
    """Waiting for futures alone does not tie a run to a journal [E4.6]."""

    async def main() -> None:
        await asyncio.gather(asyncio.sleep(0), asyncio.sleep(0))

    driver = Driver(main)

    assert driver.task.done()
    assert driver.clock.reads == 0


def test_parked_tasks_of_many_loops_do_not_collide() -> None:
    """The set of all tasks of the process does not become a list when thousands of loops have a task number one [PF10]."""
    comparisons = 0

    class Counting(LoopTask):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            nonlocal comparisons
            comparisons += 1
            return self is other

        __hash__ = LoopTask.__hash__

    async def parked() -> None:
        await asyncio.Event().wait()

    loops = []
    for _ in range(300):
        loop = ExecutionLoop(Clock())
        Counting(parked(), loop, None, contextvars.Context())
        loop.run()
        loops.append(loop)

    assert comparisons < 300
    for loop in loops:
        loop.shut_down()

"""The asyncio loop of a local run's coroutine calls, in virtual time. Must not know agents or engines.

Sleeping and time-outs of asyncio take no real time: when nothing else can happen, the clock moves to the next timer. What
comes from outside the process keeps its real time: while a socket is open or a thread of `run_in_executor` is at work, the
loop waits for it, and the clock follows the time that the waiting took.
"""

from __future__ import annotations

import asyncio
import contextvars
import heapq
import math
import selectors
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar

from typing_extensions import TypeVarTuple, Unpack

from flink_agents_subagent.errors import AgentError
from flink_agents_subagent.testing.clock import ManualClock

__all__ = ["VirtualLoop"]

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")


class VirtualLoop(asyncio.SelectorEventLoop):
    """An asyncio loop that its owner runs by steps.

    Thread: the one that runs the local run. It may run inside another running loop, as in an asynchronous test.
    """

    def __init__(self, clock: ManualClock) -> None:
        """Take the time from this clock."""
        self._clock = clock
        self._polled = selectors.DefaultSelector()
        self._deadlines: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._created = 0
        self._jobs = 0
        self._has_ready = False
        super().__init__(self._polled)
        # asyncio's own resolution is lost in a float of this size: a timer would never be due at its own time.
        self._clock_resolution = 0.0001

    def time(self) -> float:
        """Return the virtual time in seconds."""
        return self._clock.now_ms / 1000

    def settle(self) -> None:
        """Run callbacks and due timers until there is nothing to run at this time; never waits."""
        outer = asyncio._get_running_loop()
        asyncio._set_running_loop(None)
        try:
            while True:
                self._has_ready = False
                # One pass: the loop polls without waiting, because it has something to run.
                super().call_soon(self.stop)
                self.run_forever()
                if not self._has_ready:
                    return
        finally:
            asyncio._set_running_loop(outer)

    def next_timer_ms(self) -> int | None:
        """Return the time of the next timer in milliseconds, None when nothing sleeps."""
        while self._deadlines and self._deadlines[0][2].cancelled():
            heapq.heappop(self._deadlines)
        if not self._deadlines or self._deadlines[0][0] <= self.time():
            self._deadlines = [entry for entry in self._deadlines if entry[0] > self.time()]
            heapq.heapify(self._deadlines)
        # What floating point adds to a sum of milliseconds must not cost another one.
        return math.ceil(round(self._deadlines[0][0] * 1000, 1)) if self._deadlines else None

    def waits_outside(self) -> bool:
        """Tell whether something outside the loop is under way: an open socket, or a thread."""
        # One entry is the loop's own wake-up socket.
        return self._jobs > 0 or len(self._polled.get_map()) > 1

    def wait_outside(self, limit_ms: int | None) -> None:
        """Wait in real time until something outside has happened, at most up to a virtual time; the clock follows."""
        started = time.monotonic()
        self._polled.select(None if limit_ms is None else max(0, limit_ms - self._clock.now_ms) / 1000)
        waited_ms = self._clock.now_ms + math.ceil((time.monotonic() - started) * 1000)
        self._clock.advance_to(waited_ms if limit_ms is None else min(waited_ms, limit_ms))

    def finish(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine to its end, moving the clock over its sleeps."""
        task = self.create_task(coroutine)
        self.settle()
        while not task.done():
            deadline_ms = self.next_timer_ms()
            if self.waits_outside():
                self.wait_outside(deadline_ms)
            elif deadline_ms is not None:
                self._clock.advance_to(deadline_ms)
            else:
                task.cancel()
                raise AgentError(f"{coroutine!r} waits for something that never comes")
            self.settle()
        task.result()

    def dispose(self) -> None:
        """Cancel what still runs, and close the loop."""
        for task in asyncio.all_tasks(self):
            task.cancel()
        self.settle()
        for task in asyncio.all_tasks(self):
            # It holds on against cancellation; that it ends with the loop is no news to anybody.
            task._log_destroy_pending = False  # type: ignore[attr-defined]  # read by asyncio when a task is collected
        self.finish(self.shutdown_asyncgens())
        self.close()

    # What asyncio calls

    def call_soon(
        self, callback: Callable[[Unpack[_Ts]], object], *args: Unpack[_Ts], context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        """Do as asyncio does, and note that there is something to run."""
        self._has_ready = True
        return super().call_soon(callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[_Ts]], object],
        *args: Unpack[_Ts],
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        """Do as asyncio does, and note the time."""
        handle = super().call_at(when, callback, *args, context=context)
        self._created += 1
        heapq.heappush(self._deadlines, (when, self._created, handle))
        return handle

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[_Ts]], _T], *args: Unpack[_Ts]
    ) -> asyncio.Future[_T]:
        """Do as asyncio does, and note that a thread is at work."""
        future = super().run_in_executor(executor, func, *args)
        self._jobs += 1
        future.add_done_callback(self._job_ended)
        return future

    def _job_ended(self, _: asyncio.Future[Any]) -> None:
        self._jobs -= 1

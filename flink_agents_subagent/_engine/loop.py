"""The deterministic event loop of one async action execution (E2). Knows asyncio; must not know journals, runs or calls.

What CPython's asyncio leaves to chance is pinned here: the ready queue is first in, first out; timers run by time, then by
creation; tasks and futures hash by creation number, so that sets of them iterate in the same order in every process. The
loop never waits: its owner runs it until it is idle, and again when something has changed.
"""

from __future__ import annotations

import asyncio
import contextvars
import heapq
import logging
import math
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Sequence
from typing import Any, Protocol

from flink_agents_subagent._engine.faults import EngineStopped
from flink_agents_subagent._engine.refusing_loop import RefusingLoop
from flink_agents_subagent.errors import ContextMisuseError

__all__ = ["Clock", "ExecutionLoop", "LoopFuture", "LoopTask"]

_log = logging.getLogger(__name__)

_MAX_CALLBACKS = 1_000_000
"""Callbacks of one visit after which the action is taken to be spinning."""
_FEW = 32
_NEVER_S = 1 << 50
"""Sleeping until infinity means sleeping until cancelled."""


class LoopFuture(asyncio.Future[Any]):
    """A future that hashes by its creation number in its loop (E2.1)."""

    __slots__ = ("_order",)

    def __init__(self, loop: ExecutionLoop) -> None:
        loop.numbers += 1
        self._order = loop.numbers
        asyncio.Future.__init__(self, loop=loop)

    def __hash__(self) -> int:
        return self._order


class LoopTask(asyncio.Task[Any]):
    """A task that hashes by its creation number in its loop (E2.1)."""

    __slots__ = ("_order",)

    def __init__(self, coro: Any, loop: ExecutionLoop, name: str | None, context: contextvars.Context | None) -> None:
        number = loop.register(self)
        # asyncio keeps every task of the process in one weak set. Tasks of ten thousand parked executions with the same few
        # numbers would all collide there; the set remembers the hash of this moment.
        self._order = id(self)
        # The default name counts the tasks of the process, which a replay cannot repeat.
        if name is None:
            name = f"Task-{number}"
        if sys.version_info >= (3, 11):
            super().__init__(coro, loop=loop, name=name, context=context)
        elif context is None:
            super().__init__(coro, loop=loop, name=name)
        else:
            context.run(super().__init__, coro, loop=loop, name=name)
        self._order = number
        # An engine that goes without being closed leaves its parked tasks behind: they will be replayed elsewhere.
        self._log_destroy_pending = False

    def __hash__(self) -> int:
        return self._order


class Clock(Protocol):
    """The clock of a run (E2.3)."""

    clock_ms: int
    """The time of the last delivered record."""

    def read_clock(self) -> int:
        """Return `clock_ms` for the author's code; the run then needs a journal, which may put the clock back to its start."""


class _Timer:
    """An entry of the timer heap; `number` orders timers of equal time and names the timer in the journal."""

    __slots__ = ("due_ms", "handle", "number", "when")

    def __init__(self, when: float, number: int, handle: asyncio.TimerHandle) -> None:
        self.when = when
        self.number = number
        self.handle = handle
        # The journal knows milliseconds. What floating point adds to a sum of milliseconds must not cost another one.
        self.due_ms = math.ceil(round(when * 1000, 3)) if when < _NEVER_S else _NEVER_S * 1000

    def __lt__(self, other: _Timer) -> bool:
        return (self.when, self.number) < (other.when, other.number)


class _Callback(asyncio.Handle):
    """A handle that does not ask its loop for asyncio's debug mode, which measures wall time: each call has two of them."""

    __slots__ = ()

    def __init__(
        self,
        callback: Callable[..., Any],
        args: Sequence[Any],
        loop: ExecutionLoop,
        context: contextvars.Context | None,
    ) -> None:
        self._context = contextvars.copy_context() if context is None else context
        self._loop = loop
        self._callback = callback
        self._args = args
        self._cancelled = False
        self._repr = None
        self._source_traceback = None


class ExecutionLoop(RefusingLoop):
    """One loop per async execution, run by its owner until idle.

    Guarantee: the order in which callbacks run depends on the author's code and on the calls of `run` alone.
    Thread: task thread. While it runs it is the running loop of the thread; the previous one is put back afterwards.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ready: list[asyncio.Handle] = []
        self._timers: list[_Timer] = []
        self._cancelled_timers = 0
        self.numbers = 0
        """The creation number of the newest task or future."""
        self._tasks: list[LoopTask] = []
        self._prune_above = _FEW
        self._generators: list[AsyncGenerator[Any, Any]] = []
        self._prune_generators_above = _FEW
        self._is_running = False
        self._is_stopped = False
        self.is_shut_down = False
        self.timers_created = 0
        self.failure: BaseException | None = None
        """What a callback raised outside any task."""

    # What the owner uses

    @property
    def has_child_tasks(self) -> bool:
        """Whether the author's code has made tasks."""
        return len(self._tasks) > 1

    def register(self, task: LoopTask) -> int:
        """Keep a task that is being made, for `shut_down`; returns its creation number."""
        if len(self._tasks) >= self._prune_above:
            self._tasks = [kept for kept in self._tasks if not kept.done()]
            self._prune_above = max(_FEW, 2 * len(self._tasks))
        self._tasks.append(task)
        self.numbers += 1
        return self.numbers

    def has_work(self) -> bool:
        """Tell whether `run` would do anything now."""
        if self._ready or not self._timers:
            return bool(self._ready)
        timer = self._next_timer()
        return timer is not None and timer.due_ms <= self._clock.clock_ms

    def next_timer(self) -> tuple[int, int] | None:
        """Return due time in milliseconds and number of the earliest timer, None when nothing sleeps."""
        timer = self._next_timer() if self._timers else None
        return None if timer is None else (timer.due_ms, timer.number)

    def run(self) -> None:
        """Run callbacks and due timers until nothing is left to run."""
        previous = asyncio._get_running_loop()
        hooks = sys.get_asyncgen_hooks()
        asyncio._set_running_loop(self)
        sys.set_asyncgen_hooks(self._keep_generator, None)
        self._is_running = True
        try:
            self._drain()
        except SystemExit as error:
            # asyncio lets it out of the loop, to end the process. Here it ends the action, as in a `def` action.
            self._fail(error)
            self._look_at_exceptions()
        finally:
            self._is_running = False
            sys.set_asyncgen_hooks(*hooks)
            asyncio._set_running_loop(previous)

    def _look_at_exceptions(self) -> None:
        """Keep asyncio from reporting as well what has been raised."""
        for task in self._tasks:
            if task.done() and not task.cancelled():
                task.exception()

    def halt(self) -> None:
        """Run nothing any more: an engine-fatal fault has happened."""
        self._is_stopped = True
        self._ready.clear()

    def end_if_idle(self) -> bool:
        """Be shut down if nothing is left of the author's code that could run, which is the usual end; tell whether."""
        tasks = self._tasks
        if len(tasks) != 1 or not tasks[0].done() or self._timers or self._generators:
            return False
        self.is_shut_down = self._is_stopped = True
        tasks.clear()
        self._ready.clear()
        return True

    def shut_down(self) -> None:
        """End everything that still runs: tasks are cancelled in order of creation, then async generators are closed (E2.7).

        Tasks that survive their cancellation have their coroutines closed. What code raises on the way out is nobody's failure: it is
        logged and forgotten.
        """
        self.is_shut_down = True
        for task in [*self._cancel_tasks(), *self._close_generators()]:
            if task.done() and not task.cancelled() and task.exception() is not None:
                _log.info("the clean-up of an action failed when it ended", exc_info=task.exception())
        self.halt()
        self._discard()

    def _cancel_tasks(self) -> list[LoopTask]:
        """Cancel what is not done; returns it."""
        pending = [task for task in self._tasks if not task.done()]
        for task in pending:
            task.cancel()
        if pending:
            self.run()
        return pending

    def _close_generators(self) -> list[LoopTask]:
        generators, self._generators = self._generators, []
        closing = [self.create_task(generator.aclose()) for generator in generators if not _is_finished(generator)]
        if closing:
            self.run()
        return closing

    def _discard(self) -> None:
        stubborn = [task for task in self._tasks if not task.done()]
        self._tasks.clear()
        self._timers.clear()
        self._generators.clear()
        for task in stubborn:
            try:
                task.get_coro().close()
            except Exception as error:  # noqa: BLE001 - the author's clean-up may fail in any way
                _log.info("a task did not end when its action did", exc_info=error, extra={"task": task.get_name()})

    def _keep_generator(self, generator: AsyncGenerator[Any, Any]) -> None:
        """Keep a generator alive: it is closed by us, in order of its first use, never by the garbage collector (E2.7)."""
        if len(self._generators) >= self._prune_generators_above:
            self._generators = [kept for kept in self._generators if not _is_finished(kept)]
            self._prune_generators_above = max(_FEW, 2 * len(self._generators))
        self._generators.append(generator)

    def _drain(self) -> None:
        callbacks = 0
        while not self._is_stopped and (self._ready or (self._timers and self._take_due())):
            # What these callbacks make ready comes behind all of them, as in one queue.
            ready, self._ready = self._ready, []
            callbacks += len(ready)
            if callbacks > _MAX_CALLBACKS:
                self._fail(_spinning())
            for handle in ready:
                if self._is_stopped:
                    return  # type: ignore[unreachable]  # mypy does not see that a callback halts the loop
                if not handle._cancelled:
                    handle._run()

    def _take_due(self) -> bool:
        while (timer := self._next_timer()) is not None and timer.due_ms <= self._clock.clock_ms:
            heapq.heappop(self._timers)
            timer.handle._scheduled = False  # type: ignore[attr-defined]  # as in `call_at`
            self._ready.append(timer.handle)
        return bool(self._ready)

    def _next_timer(self) -> _Timer | None:
        timers = self._timers
        while timers and timers[0].handle.cancelled():
            heapq.heappop(timers)
            self._cancelled_timers -= 1
        return timers[0] if timers else None

    def _fail(self, error: BaseException) -> None:
        if self.failure is None:
            self.failure = error
        self.halt()

    # What asyncio uses

    def call_soon(  # type: ignore[override]  # typeshed ties `args` to the callback by a construct of Python 3.11
        self, callback: Callable[..., Any], *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        """Run the callback after those that wait already."""
        handle = _Callback(callback, args, self, context)
        if not self._is_stopped:
            self._ready.append(handle)
        return handle

    def call_later(  # type: ignore[override]  # as above
        self, delay: float, callback: Callable[..., Any], *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.TimerHandle:
        """Run the callback `delay` seconds after the time of the last delivered record."""
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]  # as above
        self, when: float, callback: Callable[..., Any], *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.TimerHandle:
        """Run the callback at a time of the loop's clock."""
        # A timer needs a journal, because it fires by a record; reading the clock sees to that.
        self._clock.read_clock()
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        # The mark by which asyncio's loops tell a cancelled timer that is in their heap from one that has fired.
        handle._scheduled = True  # type: ignore[attr-defined]  # typeshed leaves it out
        timer = _Timer(when, self.timers_created, handle)
        self.timers_created += 1
        heapq.heappush(self._timers, timer)
        return handle

    def time(self) -> float:
        """Return the time of the last delivered record in seconds (E2.3)."""
        return self._clock.read_clock() / 1000

    def create_future(self) -> LoopFuture:
        """Return a future that hashes by creation."""
        return LoopFuture(self)

    def create_task(
        self,
        coro: Coroutine[Any, Any, Any] | Generator[Any, None, Any],
        *,
        name: str | None = None,
        context: contextvars.Context | None = None,
    ) -> Any:
        """Return a task that hashes by creation."""
        return LoopTask(coro, self, name, context)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Fail the execution with what a callback raised; log what asyncio reports about objects that are gone."""
        exception = context.get("exception")
        if "handle" in context and exception is not None:
            self._fail(exception)
        elif not isinstance(exception, EngineStopped):
            _log.error("asyncio reported: %s", context.get("message"), exc_info=exception)

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        """Do the same as `call_exception_handler`."""
        self.call_exception_handler(context)

    def get_exception_handler(self) -> None:
        """Return None: there is no handler but the loop's own."""

    def get_task_factory(self) -> None:
        """Return None: there is no factory but the loop's own."""

    def get_debug(self) -> bool:
        """Return False: asyncio's debug mode measures wall time."""
        return False

    def is_running(self) -> bool:
        """Tell whether the loop is being run."""
        return self._is_running

    def is_closed(self) -> bool:
        """Tell whether the loop runs nothing any more."""
        return self._is_stopped

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        if not handle._scheduled:  # type: ignore[attr-defined]  # as in `call_at`
            return
        self._cancelled_timers += 1
        if self._cancelled_timers > _FEW and self._cancelled_timers * 2 > len(self._timers):
            self._timers = [
                timer for timer in self._timers if not timer.handle.cancelled() and timer.handle is not handle
            ]
            heapq.heapify(self._timers)
            self._cancelled_timers = 0


def _is_finished(generator: AsyncGenerator[Any, Any]) -> bool:
    """Tell whether a generator has ended; one that is not Python's own cannot tell, and is closed once more."""
    return getattr(generator, "ag_frame", generator) is None


def _spinning() -> ContextMisuseError:
    return ContextMisuseError(
        f"the action ran {_MAX_CALLBACKS} callbacks without waiting for anything; outcomes are delivered only while "
        "it waits: await the handle, or sleep for more than 0 seconds, instead of polling"
    )

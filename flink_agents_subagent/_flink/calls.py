"""Durable calls outside of the engine: blocking ones on threads that Java made, coroutines on the background loop.

Owns what runs and what has ended; must not know what a call means.
"""

from __future__ import annotations

import asyncio
import functools
from collections import deque
from collections.abc import Awaitable, Callable
from typing import cast

from flink_agents_subagent._engine.effects import CallOutcome, CallRaised, CallReturned, StartCall
from flink_agents_subagent._flink.background import BackgroundLoop
from flink_agents_subagent._flink.failure import describe_failure
from flink_agents_subagent._flink.port import JavaHost

__all__ = ["Calls", "Completion"]

Completion = tuple[int, CallOutcome]


class Calls:
    """The calls in flight of one operator instance.

    Guarantee: each call that was started and not cancelled completes exactly once; a cancelled blocking call completes
        too, when its thread is free again. Any number of completions make one wake-up.
    Thread: the task thread, except where a method says otherwise.
    """

    __slots__ = ("_background", "_blocking", "_done", "_is_closed", "_is_waking", "_java", "_tasks")

    def __init__(self, java: JavaHost, background: BackgroundLoop) -> None:
        self._java = java
        self._background = background
        self._blocking: dict[int, Callable[[], object]] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        """Strong references, which asyncio does not keep. Loop thread."""
        self._done: deque[Completion] = deque()
        self._is_waking = False
        self._is_closed = False

    def start(self, effect: StartCall) -> None:
        """Start a call; a coroutine waits for `flush`."""
        if effect.is_coroutine:
            function = cast("Callable[[], Awaitable[object]]", effect.function)
            self._background.post(functools.partial(self._start_task, effect.call, function))
        else:
            self._blocking[effect.call] = effect.function
            self._java.startCall(effect.call)

    def cancel(self, call: int) -> None:
        """Cancel a coroutine call, or keep a blocking one from starting."""
        if self._blocking.pop(call, None) is None:
            self._background.post(functools.partial(self._cancel_task, call))

    def flush(self) -> None:
        """Hand started and cancelled coroutine calls to the loop."""
        self._background.flush()

    @property
    def is_drain_coming(self) -> bool:
        """Whether a drain is on its way, which will flush: waking the loop once for both is cheaper."""
        return self._is_waking

    def take(self) -> list[Completion]:
        """Return what has ended since the last time, in the order in which it ended."""
        # First, so that what ends from here on makes a wake-up of its own.
        self._is_waking = False
        done = self._done
        return [done.popleft() for _ in range(len(done))]

    def close(self) -> None:
        """Drop all completions from here on."""
        self._is_closed = True
        self._blocking.clear()
        self._done.clear()

    def run_blocking(self, call: int) -> None:
        """Run a blocking call to its end.

        Thread: a worker. `SystemExit` and its like pass: they end the task, not the call (P5).
        """
        function = self._blocking.pop(call, None)
        if function is None:
            self._complete(call, CallRaised(asyncio.CancelledError()))
            return
        outcome: CallOutcome
        try:
            outcome = CallReturned(function())
        except Exception as error:  # noqa: BLE001 - the outcome of the author's function
            outcome = CallRaised(error)
        self._complete(call, outcome)

    def _start_task(self, call: int, function: Callable[[], Awaitable[object]]) -> None:
        self._tasks[call] = asyncio.get_running_loop().create_task(self._run(call, function))

    def _cancel_task(self, call: int) -> None:
        task = self._tasks.pop(call, None)
        if task is not None:
            task.cancel()

    async def _run(self, call: int, function: Callable[[], Awaitable[object]]) -> None:
        outcome: CallOutcome
        try:
            outcome = CallReturned(await function())
        except asyncio.CancelledError as error:
            if call not in self._tasks or self._is_closed:
                raise
            # Not cancelled by the engine: the author's own code did it, and that is the outcome.
            outcome = CallRaised(error)
        except Exception as error:  # noqa: BLE001 - the outcome of the author's function
            outcome = CallRaised(error)
        except BaseException as error:
            self._java.fail(describe_failure(error))
            raise
        if self._tasks.pop(call, None) is not None:
            self._complete(call, outcome)

    def _complete(self, call: int, outcome: CallOutcome) -> None:
        if self._is_closed:
            return
        self._done.append((call, outcome))
        if not self._is_waking:
            self._is_waking = True
            self._java.wake()

"""Runs durable calls in process: blocking ones in line, coroutines on the virtual loop. Must not know the engine."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import cast

from flink_agents_subagent._engine.effects import CallOutcome, CallRaised, CallReturned, StartCall
from flink_agents_subagent.testing.virtual_loop import VirtualLoop
from flink_agents_subagent.testing.world import Invocation, World

__all__ = ["LocalCalls"]


class LocalCalls:
    """The calls of one process: those to be started, those that run, those that have ended.

    Guarantee: each started call ends in exactly one entry of `ended`, unless it was cancelled first.
    """

    def __init__(self, loop: VirtualLoop, world: World) -> None:
        """Run coroutines on `loop`, and note every call in `world`."""
        self._loop = loop
        self._world = world
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._invocations: dict[int, Invocation] = {}
        self.waiting: deque[StartCall] = deque()
        self.ended: deque[tuple[StartCall, CallOutcome]] = deque()

    def start(self, effect: StartCall, life: int) -> None:
        """Call the function: to its end, or as far as its coroutine gets without waiting."""
        invocation = Invocation(effect.name, effect.origin, life)
        self._world.invocations.append(invocation)
        self._invocations[effect.call] = invocation
        if effect.is_coroutine:
            function = cast("Callable[[], Awaitable[object]]", effect.function)
            self._tasks[effect.call] = self._loop.create_task(self._run(effect, function))
            self._loop.settle()
            return
        try:
            outcome: CallOutcome = CallReturned(effect.function())
        except Exception as error:  # noqa: BLE001 - the outcome of the author's function
            outcome = CallRaised(error)
        self._end(effect, outcome)

    def cancel(self, call: int) -> None:
        """Stop a coroutine, or abandon a blocking call, which still ends and says so (`CancelCall`)."""
        unstarted = [effect for effect in self.waiting if effect.call == call]
        for effect in unstarted:
            # In place: the process adds to this very queue.
            self.waiting.remove(effect)
        self.ended = deque(entry for entry in self.ended if entry[0].call != call or not entry[0].is_coroutine)
        self.ended.extend(
            (effect, CallRaised(asyncio.CancelledError())) for effect in unstarted if not effect.is_coroutine
        )
        if call in self._invocations:
            self._invocations[call].is_cancelled = True
        task = self._tasks.pop(call, None)
        if task is not None:
            task.cancel()
            self._loop.settle()

    def abandon(self) -> None:
        """Forget everything, as a process that dies does; coroutines are cancelled so that they end at all."""
        self.waiting.clear()
        for call in list(self._tasks):
            self.cancel(call)
        self.ended.clear()

    async def _run(self, effect: StartCall, function: Callable[[], Awaitable[object]]) -> None:
        outcome: CallOutcome
        try:
            outcome = CallReturned(await function())
        except asyncio.CancelledError as error:
            if effect.call not in self._tasks:
                raise
            # Not cancelled by the engine: the author's own code did it, and that is the outcome.
            outcome = CallRaised(error)
        except Exception as error:  # noqa: BLE001 - the outcome of the author's function
            outcome = CallRaised(error)
        if self._tasks.pop(effect.call, None) is not None:
            self._end(effect, outcome)

    def _end(self, effect: StartCall, outcome: CallOutcome) -> None:
        invocation = self._invocations[effect.call]
        invocation.is_done = True
        if isinstance(outcome, CallReturned):
            invocation.value = outcome.value
        else:
            invocation.error = outcome.error
        self.ended.append((effect, outcome))

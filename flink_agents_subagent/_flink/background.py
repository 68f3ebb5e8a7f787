"""The background asyncio loop on which coroutine calls run. Owns its thread's life; must not know the engine.

The thread is made by Java. Work is handed over in bursts: waking the loop costs both threads more than what is handed over.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from flink_agents_subagent.errors import BridgeError

__all__ = ["BackgroundLoop"]

_LINGER_SECONDS = 0.001
"""After a burst the loop looks for the next one by itself, once; what is posted until then waits that long at most."""
_START_SECONDS = 60.0
_STOP_SECONDS = 0.3
"""How long cancelled coroutines may take to end when the operator closes."""


class BackgroundLoop:
    """One asyncio loop of one operator instance."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_running = threading.Event()
        self._is_stopped = False
        self._lock = threading.Lock()
        self._inbox: deque[Callable[[], None]] = deque()
        self._is_awake = False
        """Whether the loop is going to look into the inbox without being woken."""
        self._linger: asyncio.TimerHandle | None = None

    def run(self) -> None:
        """Run the loop until `stop`; raises what stopped it otherwise.

        Thread: the loop's own.
        """
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        with self._lock:
            if self._is_stopped:
                loop.close()
                return
            self._loop = loop
        loop.call_soon(self._is_running.set)
        try:
            loop.run_forever()
        finally:
            _end(loop)
            asyncio.set_event_loop(None)

    def post(self, step: Callable[[], None]) -> None:
        """Put a step into the inbox; it runs on the loop after the next `flush`, in order.

        Thread: task thread.
        """
        self._inbox.append(step)

    def flush(self) -> None:
        """Wake the loop for what was posted, unless it is awake.

        Thread: task thread.
        """
        if self._inbox and not self._is_awake and self._loop is not None:
            self._is_awake = True
            self._loop.call_soon_threadsafe(self._take_inbox)

    def wait_until_running(self) -> None:
        """Return when the loop runs; blocks.

        Thread: task thread.

        Raises:
            BridgeError: It does not run.
        """
        if not self._is_running.wait(_START_SECONDS):
            raise BridgeError(
                "the background loop of the operator has not started; the TaskManager's log tells the reason"
            )

    def run_and_wait(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine on the loop and wait for it; raises what it raises. Opening and closing only.

        Thread: task thread.
        """
        if self._loop is None or not self._loop.is_running():
            coroutine.close()
            raise BridgeError(
                "the background loop of the operator does not run; the TaskManager's log tells the reason"
            )
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def stop(self) -> None:
        """Stop the loop, or keep it from starting.

        Thread: task thread.
        """
        with self._lock:
            self._is_stopped = True
            if self._loop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._loop.stop)

    def _take_inbox(self) -> None:
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None
        # Before the inbox is looked at: a step posted from here on makes a wake-up of its own.
        self._is_awake = False
        if not self._inbox:
            return
        self._is_awake = True
        self._linger = asyncio.get_running_loop().call_later(_LINGER_SECONDS, self._take_inbox)
        while self._inbox:
            self._inbox.popleft()()


def _end(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what still runs, give it a moment, and close the loop."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    try:
        if tasks:
            loop.run_until_complete(asyncio.wait(tasks, timeout=_STOP_SECONDS))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()

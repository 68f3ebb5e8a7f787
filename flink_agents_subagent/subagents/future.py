"""Handles of sub-agent calls, single and grouped. Must not know how a call is made."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator
from typing import Any

from flink_agents_subagent.context import DurableHandle
from flink_agents_subagent.errors import ContextMisuseError
from flink_agents_subagent.subagents.result import SubagentResult

__all__ = ["SubagentFuture", "SubagentFutures"]


class SubagentFuture:
    """One sub-agent call in flight; await it for its `SubagentResult`.

    Guarantee: awaited any number of times it gives the same result. One that is neither awaited nor cancelled when its
        action ends is an error (I4).
    Replay: the recorded result, delivered at the same point.
    Thread: task thread, inside the action that submitted it.
    """

    __slots__ = ("_handle", "_waiter", "call_id", "session_id")

    def __init__(self, handle: DurableHandle[SubagentResult], session_id: str, call_id: str) -> None:
        """Wrap the durable call; made by `submit`."""
        self._handle = handle
        self._waiter: asyncio.Future[SubagentResult] | None = None
        self.session_id = session_id
        """Pass it to a later `submit` to continue the conversation (D2)."""
        self.call_id = call_id
        """The idempotency key of the call (D3)."""

    def __await__(self) -> Generator[Any, None, SubagentResult]:
        """Wait for the result; raises `asyncio.CancelledError` after `cancel`."""
        return self._handle.__await__()

    def done(self) -> bool:
        """Tell whether the outcome was delivered to the action; deterministic, without I/O.

        Raises:
            Exception: The outcome is a system failure; what `await` would raise (M4).
        """
        failure = self._handle.failure()
        if failure is not None:
            raise failure
        return self._handle.done()

    def cancel(self) -> bool:
        """Cancel the call; tell whether it was still open. Before it was sent nothing is sent, afterwards the other side is told (I6)."""
        return self._handle.cancel()

    def combine(self, other: SubagentFuture | SubagentFutures) -> SubagentFutures:
        """Group this handle with others, in this order."""
        return SubagentFutures(self, *_handles_of(other))

    def _wait(self) -> asyncio.Future[SubagentResult]:
        # One task for the handle's life: giving it up in `await_any` must not cancel the call behind it (E3.11).
        if self._waiter is None:
            self._waiter = asyncio.ensure_future(self)
        return self._waiter


class SubagentFutures:
    """Several sub-agent calls, awaited together; results in the order of insertion.

    Guarantee: all calls of the group run concurrently from its first await on (I3).
    Thread: task thread, inside the action that submitted them.
    """

    __slots__ = ("_handles",)

    def __init__(self, *handles: SubagentFuture) -> None:
        """Group the handles in this order; the same one twice counts once."""
        self._handles = tuple(dict.fromkeys(handles))

    async def await_all(self) -> list[SubagentResult]:
        """Wait for all and return their results in insertion order.

        Raises:
            asyncio.CancelledError: One of them was cancelled, the others go on; or the awaiting task was, then all are.
        """
        return await asyncio.gather(*[handle._wait() for handle in self._handles])

    async def await_any(self) -> SubagentFuture:
        """Wait until one is done and return it; the others go on. If several are, the first of them.

        Replay: returns the same one (E2.2).

        Raises:
            ContextMisuseError: The group is empty.
            asyncio.CancelledError: The awaiting task was cancelled, and with it all handles.
        """
        if not self._handles:
            raise ContextMisuseError("await_any on an empty group would never return; give it at least one handle")
        try:
            await asyncio.wait([handle._wait() for handle in self._handles], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            # `asyncio.wait` leaves its tasks alone, but a cancelled task cancels its handles (E3.11).
            self.cancel()
            raise
        return next(handle for handle in self._handles if handle._wait().done())

    def done(self) -> bool:
        """Tell whether all outcomes were delivered; raises the first system failure among them (M4)."""
        # Every one is looked at: a failure must not hide behind one that is open.
        states = [handle.done() for handle in self._handles]
        return all(states)

    def cancel(self) -> bool:
        """Cancel all; tell whether any was still open."""
        # Every one is cancelled; `any` alone would stop at the first.
        open_before = [handle.cancel() for handle in self._handles]
        return any(open_before)

    def combine(self, other: SubagentFuture | SubagentFutures) -> SubagentFutures:
        """Group these handles with others, in this order."""
        return SubagentFutures(*self._handles, *_handles_of(other))

    def __iter__(self) -> Iterator[SubagentFuture]:
        """Go through the handles in insertion order."""
        return iter(self._handles)

    def __len__(self) -> int:
        return len(self._handles)


def _handles_of(other: SubagentFuture | SubagentFutures) -> tuple[SubagentFuture, ...]:
    return (other,) if isinstance(other, SubagentFuture) else tuple(other)

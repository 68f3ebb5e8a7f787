"""What the end of an `async def` action means: its error, and what it left open. Decides; ends nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from flink_agents_subagent._engine.core import EngineCore
from flink_agents_subagent._engine.execution import refuse_awaitable
from flink_agents_subagent._engine.loop import LoopTask
from flink_agents_subagent._engine.slot import Handle
from flink_agents_subagent.errors import ContextMisuseError, UnawaitedHandleError

__all__ = ["error_of", "refuse_unawaited"]


def error_of(action: str, task: LoopTask) -> BaseException | None:
    """Return what an action's task ended with, None when that is nothing to complain of."""
    if task.cancelled():
        return asyncio.CancelledError()
    error = task.exception()
    if error is None and task.result() is not None:
        try:
            refuse_awaitable(action, task.result())
        except ContextMisuseError as misuse:
            return misuse
    return error


def refuse_unawaited(core: EngineCore, action: str, unawaited: Mapping[Handle, str]) -> None:
    """Stop the engine for a handle that nobody has looked at (I4)."""
    for text in unawaited.values():
        core.fail(UnawaitedHandleError(f"action {action!r} ended with an open handle: {text}; await it, or cancel it"))

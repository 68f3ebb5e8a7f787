"""Calls what a model asked for: tools as durable calls, sub-agents as such, all at the same time (C2, T15). Must not know conversations."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, cast

from flink_agents_subagent.chat.delegation import PREFIX, Delegation
from flink_agents_subagent.chat.message import ToolCall
from flink_agents_subagent.chat.response import ToolResponse
from flink_agents_subagent.chat.setup import BaseChatModelSetup
from flink_agents_subagent.chat.tool import FromConfig, Tool, ToolMisfit
from flink_agents_subagent.context import CallSpec, ChatLimits, RunnerContext
from flink_agents_subagent.errors import EngineError, NotExpressibleError

__all__ = ["answer_calls"]

_logger = logging.getLogger(__name__)
_MISSING = object()

_Begun = ToolResponse | CallSpec | Delegation
"""What became of a call so far: answered already, to be opened as a durable call, submitted."""


async def answer_calls(ctx: RunnerContext, setup: BaseChatModelSetup, calls: Sequence[ToolCall]) -> list[ToolResponse]:
    """Call everything and return the answers in the order of the calls.

    Guarantee: each call is answered, by a value or by a reason. What is fatal is raised, after the other calls were cancelled (T15).
    Replay: a recorded answer is not asked for again.
    """
    limits = ctx._chat_limits()
    begun: list[_Begun] = [_begin(ctx, setup, call, limits) for call in calls]
    specs = {place: it for place, it in enumerate(begun) if isinstance(it, CallSpec)}
    delegations = {place: it for place, it in enumerate(begun) if isinstance(it, Delegation)}
    handles = ctx._open_calls(list(specs.values()), limits.tool_parallelism)
    waiting: dict[int, Awaitable[ToolResponse]] = dict(zip(specs, handles, strict=True))
    tasks = {place: asyncio.ensure_future(it.response()) for place, it in delegations.items()}
    waiting.update(tasks)
    try:
        answers = dict(zip(waiting, await asyncio.gather(*waiting.values()), strict=True))
    except BaseException:
        for task in tasks.values():
            task.cancel()
        for delegation in delegations.values():
            delegation.future.cancel()
        for handle in handles:
            handle.cancel()
        raise
    return [it if isinstance(it, ToolResponse) else answers[place] for place, it in enumerate(begun)]


def _begin(ctx: RunnerContext, setup: BaseChatModelSetup, call: ToolCall, limits: ChatLimits) -> _Begun:
    if call.malformed is not None:
        return ToolResponse.error(f"the arguments are no JSON object: {call.malformed}")
    if call.name.startswith(PREFIX):
        return setup.delegations.submit(ctx, call)
    tool = setup.tool(call.name)
    if tool is None:
        known = ", ".join(map(repr, setup.tool_names)) or "none"
        return ToolResponse.error(f"there is no tool {call.name!r}; offered are: {known}")
    try:
        arguments = tool.bind(call.arguments, _injected(ctx, setup, tool))
    except ToolMisfit as misfit:
        return ToolResponse.error(str(misfit))
    timeout_ms = setup.timeout_ms_of(tool, limits.tool_timeout_ms)
    return CallSpec(
        func=functools.partial(_call_async if tool.is_coroutine else _call, tool, arguments),
        function_id=f"tool:{tool.name}",
        fingerprint=ctx._fingerprint(dict(call.arguments)),
        is_coroutine=tool.is_coroutine,
        timeout_ms=timeout_ms,
        on_error=functools.partial(_failed, tool.name),
        on_timeout=functools.partial(_timed_out, tool.name, timeout_ms),
        label=f"tool:{tool.name}",
        # Not what is injected: it may come from the configuration.
        arguments=call.arguments,
    )


def _injected(ctx: RunnerContext, setup: BaseChatModelSetup, tool: Tool) -> Mapping[str, Any]:
    """Return what the model does not give, as it is now."""
    values: dict[str, Any] = {}
    for argument, source in tool.injected.items():
        if isinstance(source, FromConfig):
            value = setup.tool_config.get(source.name, _MISSING)
        else:
            value = ctx.short_term_memory.get(source.path, _MISSING)
        if value is not _MISSING:
            values[argument] = value
        elif not tool.has_default(argument):
            raise ToolMisfit(f"the tool needs {source!r}, which is not there")
    return values


def _call(tool: Tool, arguments: Mapping[str, Any]) -> ToolResponse:
    return _response(tool.call(arguments))


async def _call_async(tool: Tool, arguments: Mapping[str, Any]) -> ToolResponse:
    return _response(await cast("Awaitable[Any]", tool.call(arguments)))


def _response(value: Any) -> ToolResponse:
    if isinstance(value, ToolResponse):
        return value
    if inspect.iscoroutine(value):
        value.close()
        return ToolResponse.error("the tool returned a coroutine, which nobody awaits; declare it async def")
    try:
        return ToolResponse.success(value)
    except NotExpressibleError as error:
        return ToolResponse.error(str(error))


def _failed(name: str, error: BaseException) -> ToolResponse:
    """Turn an exception of the tool into its answer; what is not the tool's goes on (T10)."""
    if isinstance(error, EngineError):
        raise error
    _logger.warning("tool call failed", exc_info=error, extra={"tool": name})
    return ToolResponse.error(error)


def _timed_out(name: str, timeout_ms: int) -> ToolResponse:
    return ToolResponse.error(f"tool {name!r} did not answer within {timeout_ms} ms")

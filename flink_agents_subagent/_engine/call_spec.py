"""What a durable call is, from the author's arguments: identity, time-out, kind of function (E3.2). Starts nothing."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import FunctionType
from typing import Any, NamedTuple

from flink_agents_subagent._engine.encoding import fingerprint
from flink_agents_subagent._engine.identity import bound_arguments, function_id
from flink_agents_subagent.context import CallSpec, DurableCall
from flink_agents_subagent.errors import ContextMisuseError

__all__ = ["Identity", "identify", "is_coroutine_function", "spec_of"]


class Identity(NamedTuple):
    """What must be equal on replay for a slot to be the same call."""

    function_id: str
    fingerprint: bytes


def identify(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], durable_id: str | None
) -> Identity:
    """Return the identity of a call; an explicit `durable_id` decides alone (E3.2)."""
    if durable_id is not None:
        if not durable_id:
            raise ContextMisuseError("durable_id is empty; give the call a name that tells it from others, or none")
        return Identity(durable_id, b"")
    return Identity(function_id(func), fingerprint(*bound_arguments(func, args, kwargs)))


def spec_of(call: DurableCall) -> CallSpec:
    """Return the description of an asynchronous durable call."""
    if not callable(call.func):
        raise TypeError(
            f"a durable call needs a function, not {call.func!r}; pass the function and its arguments apart"
        )
    if call.retry is not None and (call.retry.max_attempts < 1 or call.retry.factor < 1):
        raise ContextMisuseError(f"max_attempts and factor of a retry policy are at least 1: {call.retry}")
    identity = identify(call.func, call.args, call.kwargs, call.durable_id)
    return CallSpec(
        func=functools.partial(call.func, *call.args, **call.kwargs) if call.args or call.kwargs else call.func,
        function_id=identity.function_id,
        fingerprint=identity.fingerprint,
        is_coroutine=is_coroutine_function(call.func),
        reconciler=call.reconciler,
        timeout_ms=_milliseconds(call.timeout),
        retry=call.retry,
    )


def is_coroutine_function(func: object) -> bool:
    """Tell whether calling this gives a coroutine: also a `partial`, a bound method, an object with `async def __call__`."""
    while isinstance(func, functools.partial):
        func = func.func
    if isinstance(func, FunctionType):
        return bool(func.__code__.co_flags & inspect.CO_COROUTINE) or inspect.iscoroutinefunction(func)
    return inspect.iscoroutinefunction(func) or inspect.iscoroutinefunction(getattr(func, "__call__", None))  # noqa: B004 - the method itself is looked at


def _milliseconds(timeout: timedelta | float | None) -> int | None:
    if timeout is None:
        return None
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)
    if not 0 < seconds < math.inf:
        raise ContextMisuseError(
            f"the timeout of a durable call is a finite time of more than 0 seconds, not {timeout!r}"
        )
    return max(1, round(seconds * 1000))

"""What a durable call is, from the author's arguments: identity, time-out, kind of function (E3.2). Starts nothing."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import FunctionType
from typing import Any, NamedTuple, TypeAlias

from flink_agents_subagent._engine.encoding import fingerprint
from flink_agents_subagent._engine.identity import bound_arguments, function_id
from flink_agents_subagent.context import CallSpec, RetryPolicy
from flink_agents_subagent.errors import ContextMisuseError

__all__ = ["CallOptions", "Identity", "identify", "is_coroutine_function", "spec_of"]


Identity: TypeAlias = tuple[str, bytes]
"""Function id and fingerprint: what must be equal on replay for a slot to be the same call."""


class CallOptions(NamedTuple):
    """How a call is to be made; the fields are those of `DurableCall`."""

    reconciler: Callable[[], Any] | None = None
    durable_id: str | None = None
    timeout: timedelta | float | None = None
    retry: RetryPolicy | None = None


_NO_OPTIONS = CallOptions()


def identify(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], durable_id: str | None
) -> Identity:
    """Return the identity of a call; an explicit `durable_id` decides alone (E3.2)."""
    if durable_id is not None:
        if not durable_id:
            raise ContextMisuseError("durable_id is empty; give the call a name that tells it from others, or none")
        return durable_id, b""
    if isinstance(func, functools.partial):
        args, kwargs = bound_arguments(func, args, kwargs)
    return function_id(func), fingerprint(args, kwargs)


def spec_of(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], options: CallOptions = _NO_OPTIONS
) -> CallSpec:
    """Return the description of an asynchronous durable call."""
    if not callable(func):
        raise TypeError(f"a durable call needs a function, not {func!r}; pass the function and its arguments apart")
    reconciler, durable_id, timeout, retry = options
    name, arguments = identify(func, args, kwargs, durable_id)
    if kwargs:
        call: Callable[..., Any] = functools.partial(func, *args, **kwargs)
    else:
        call = functools.partial(func, *args) if args else func
    return CallSpec(
        call,
        name,
        arguments,
        is_coroutine_function(func),
        reconciler,
        None if timeout is None else _milliseconds(timeout),
        retry,
    )


def is_coroutine_function(func: object) -> bool:
    """Tell whether calling this gives a coroutine: also a `partial`, a bound method, an object with `async def __call__`."""
    while isinstance(func, functools.partial):
        func = func.func
    if isinstance(func, FunctionType):
        return bool(func.__code__.co_flags & inspect.CO_COROUTINE) or inspect.iscoroutinefunction(func)
    return inspect.iscoroutinefunction(func) or inspect.iscoroutinefunction(getattr(func, "__call__", None))  # noqa: B004 - the method itself is looked at


def _milliseconds(timeout: timedelta | float) -> int:
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)
    if not 0 < seconds < math.inf:
        raise ContextMisuseError(
            f"the timeout of a durable call is a finite time of more than 0 seconds, not {timeout!r}"
        )
    return max(1, round(seconds * 1000))

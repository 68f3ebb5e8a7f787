"""Sequences of requests, written once for setups whose methods are `async` and for those whose methods are not. Knows no sub-agents."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from typing import Any, TypeAlias, TypeVar

__all__ = ["Steps", "run_steps", "run_steps_async"]

T = TypeVar("T")
Steps: TypeAlias = Generator[Callable[[], Any], Any, T]
"""Yields requests, gets their answers, or the exceptions that they raise, and returns what all of it comes to."""


def run_steps(steps: Steps[T]) -> T:
    """Make the requests one after the other.

    Thread: a worker; each request blocks it.
    """
    try:
        request = next(steps)
        while True:
            try:
                answer = request()
            except Exception as error:  # noqa: BLE001 - the sequence decides about it
                request = steps.throw(error)
            else:
                request = steps.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # what the generator returned


async def run_steps_async(steps: Steps[T]) -> T:
    """Make the requests one after the other; what is awaitable is awaited.

    Thread: background loop.
    """
    try:
        request = next(steps)
        while True:
            try:
                answer = request()
                if inspect.isawaitable(answer):
                    answer = await answer
            except Exception as error:  # noqa: BLE001 - the sequence decides about it
                request = steps.throw(error)
            else:
                request = steps.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # as above

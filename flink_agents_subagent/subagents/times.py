"""Times that authors give, as the engine counts them."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import overload

from flink_agents_subagent.errors import ContextMisuseError

__all__ = ["milliseconds"]


@overload
def milliseconds(time: timedelta | float, what: str = ...) -> int: ...
@overload
def milliseconds(time: timedelta | float | None, what: str = ...) -> int | None: ...
def milliseconds(time: timedelta | float | None, what: str = "the timeout of a sub-agent call") -> int | None:
    """Return a time in whole milliseconds, at least 1.

    Args:
        time: Seconds, or a timedelta.
        what: What is given, for the message.

    Raises:
        ContextMisuseError: It is no number, not positive, or without end.
    """
    if time is None:
        return None
    # An author's module need not be type-checked.
    seconds: object = time.total_seconds() if isinstance(time, timedelta) else time
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise ContextMisuseError(f"{what} is {time!r}; give seconds or a timedelta above zero, or None")
    return max(1, round(seconds * 1000))

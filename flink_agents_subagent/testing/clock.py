"""Virtual time. Owns the one number that local runs take for the time; must not know what waits for it."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from flink_agents_subagent.errors import ContextMisuseError

__all__ = ["ManualClock"]

_START = datetime(2024, 1, 1, tzinfo=timezone.utc)
_MILLISECOND = timedelta(milliseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class ManualClock:
    """A clock that moves only when it is told to.

    A local run moves it from one deadline to the next, so that an hour of `asyncio.sleep` costs nothing. A blocking function
    under test may move it itself, to stand for work that takes long.
    Thread: any one thread at a time.
    """

    __slots__ = ("_now_ms",)

    def __init__(self, start: datetime = _START) -> None:
        """Begin at `start`, which has a time zone."""
        if start.tzinfo is None:
            raise ContextMisuseError(f"the start of a clock needs a time zone: {start!r}")
        self._now_ms = (start - _EPOCH) // _MILLISECOND

    @property
    def now_ms(self) -> int:
        """Milliseconds since 1970."""
        return self._now_ms

    def now(self) -> datetime:
        """Return the time, in UTC."""
        return _EPOCH + self._now_ms * _MILLISECOND

    def advance(self, by: timedelta | float) -> None:
        """Move forward by a duration, or by seconds."""
        duration = by if isinstance(by, timedelta) else timedelta(seconds=by)
        if duration < timedelta(0):
            raise ContextMisuseError(f"a clock does not move back: {by!r}")
        self._now_ms += duration // _MILLISECOND

    def advance_to(self, now_ms: int) -> None:
        """Move forward to a time in milliseconds since 1970; a time in the past leaves the clock where it is."""
        self._now_ms = max(self._now_ms, now_ms)

"""Passes the engine's metrics on to Java now and then. Must not know what is counted."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable

from flink_agents_subagent._engine.effects import Count, Metric
from flink_agents_subagent._flink.port import JavaHost

__all__ = ["Metrics"]

_INTERVAL_MS = 500


class Metrics:
    """The metrics of one operator instance; what Flink shows is at most half a second old.

    Thread: task thread.
    """

    __slots__ = ("_flushed_ms", "_java", "_take")

    def __init__(self, java: JavaHost, take: Callable[[], Iterable[Metric]]) -> None:
        """Pass on what `take` returns, which is what has come up since its last call."""
        self._java = java
        self._take = take
        self._flushed_ms = 0

    def flush_if_due(self, now_ms: int) -> None:
        """Pass everything on when that is due."""
        if now_ms - self._flushed_ms >= _INTERVAL_MS:
            self.flush(now_ms)

    def flush(self, now_ms: int) -> None:
        """Pass everything on."""
        self._flushed_ms = now_ms
        for metric in self._take():
            if isinstance(metric, Count):
                self._java.count(metric.metric, metric.label, metric.amount)
            else:
                values = metric.values
                self._java.observe(metric.metric, metric.label, struct.pack(f">{len(values)}q", *values))

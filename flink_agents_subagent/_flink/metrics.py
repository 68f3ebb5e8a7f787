"""Metrics of the engine, gathered so that not each of them crosses into Java. Owns the gathering; must not know what is counted."""

from __future__ import annotations

import struct
from collections import defaultdict

from flink_agents_subagent._engine.effects import Count, Observe
from flink_agents_subagent._flink.port import JavaHost

__all__ = ["Metrics"]

_INTERVAL_MS = 500


class Metrics:
    """The metrics of one operator instance; what Flink shows is at most half a second old.

    Thread: task thread.
    """

    __slots__ = ("_counts", "_flushed_ms", "_java", "_values")

    def __init__(self, java: JavaHost) -> None:
        self._java = java
        self._counts: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._values: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._flushed_ms = 0

    def count(self, effect: Count) -> None:
        """Add to a counter."""
        self._counts[effect.metric, effect.label] += effect.amount

    def observe(self, effect: Observe) -> None:
        """Add a value to a histogram."""
        self._values[effect.metric, effect.label].append(effect.value)

    def flush_if_due(self, now_ms: int) -> None:
        """Pass everything on when that is due."""
        if now_ms - self._flushed_ms >= _INTERVAL_MS:
            self.flush(now_ms)

    def flush(self, now_ms: int) -> None:
        """Pass everything on."""
        self._flushed_ms = now_ms
        counts, self._counts = self._counts, defaultdict(int)
        for (metric, label), amount in counts.items():
            self._java.count(metric, label, amount)
        values, self._values = self._values, defaultdict(list)
        for (metric, label), observed in values.items():
            self._java.observe(metric, label, struct.pack(f">{len(observed)}q", *observed))

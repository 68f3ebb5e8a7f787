"""Hands the lines of the event log to Java (E7.2, decision 0015). Must not know what entries say, nor where lines go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flink_agents_subagent._engine import metric
from flink_agents_subagent._engine.effects import Log
from flink_agents_subagent._engine.log_line import LogLines
from flink_agents_subagent._flink.port import JavaHost

__all__ = ["EventLogWriter"]


class EventLogWriter:
    """The event log of one operator instance.

    Guarantee: never waits and never fails. Lines that Java had no room for are lost, counted, and announced by the next line that
        gets through.
    Thread: task thread.
    """

    __slots__ = ("_announced", "_java", "_lines", "_lost", "_make", "_now_ms")

    def __init__(self, java: JavaHost, where: Mapping[str, Any]) -> None:
        """Write lines that all begin with what `where` holds."""
        self._java = java
        self._make = LogLines(where)
        self._lines: list[str] = []
        self._lost = 0
        self._announced = 0
        self._now_ms = 0

    def add(self, effect: Log) -> None:
        """Take an entry, as it is now."""
        self._now_ms = effect.entry["time_ms"]
        self._lines.append(self._make.line(effect.entry))

    def flush(self) -> None:
        """Hand over the lines that wait."""
        if not self._lines:
            return
        lines, self._lines = self._lines, []
        if self._announced != self._lost:
            # All since the start: an announcement may be lost too, and is then made again.
            lost = {"time_ms": self._now_ms, "what": "log", "status": "lost", "lines": self._lost}
            lines.insert(0, self._make.line(lost))
            self._announced = self._lost
        block = "".join(f"{line}\n" for line in lines).encode("ascii")
        newly = self._java.writeEvents(block, len(lines))
        if newly:
            self._lost += newly
            self._java.count(metric.EVENT_LOG_LOST, "", newly)

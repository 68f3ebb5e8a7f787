"""Which inputs a job has taken, begun and ended, and what else about their runs is in no journal."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from flink_agents_subagent.testing.element import SourceInput

__all__ = ["Progress", "Start"]


@dataclass(slots=True)
class Start:
    """How a run began. A run without records has its start time and number nowhere else (E4.6)."""

    element: SourceInput
    time_ms: int
    run_number: int | None = None


@dataclass(slots=True)
class Progress:
    """The inputs of one line of lives: what a checkpoint keeps of them, and what came after it."""

    delivered: list[int] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    """In the order in which the runs began."""
    finished: int = 0
    _queues: dict[bytes, deque[SourceInput]] = field(default_factory=dict)
    _active: dict[bytes, Start] = field(default_factory=dict)

    def deliver(self, element: SourceInput, now_ms: int) -> None:
        """Take an input; its run begins if its key has none (E1.1)."""
        self.delivered.append(element.number)
        queue = self._queues.setdefault(element.key, deque())
        queue.append(element)
        if len(queue) == 1:
            self._begin(element, now_ms)

    def active(self, key: bytes) -> Start:
        """Return the active run of a key."""
        return self._active[key]

    def finish(self, key: bytes, now_ms: int) -> None:
        """Note that the run of a key ended; the next one begins."""
        self.finished += 1
        queue = self._queues[key]
        queue.popleft()
        del self._active[key]
        if queue:
            self._begin(queue[0], now_ms)
        else:
            del self._queues[key]

    def number(self, key: bytes, run_number: int) -> None:
        """Note which number the active run of a key was given; the first one counts."""
        start = self._active.get(key)
        if start is not None and start.run_number is None:
            start.run_number = run_number

    def open_keys(self) -> list[bytes]:
        """Return the keys whose inputs have not all ended."""
        return list(self._queues)

    def copy(self) -> Progress:
        """Return an independent copy, as a checkpoint holds it."""
        starts = [Start(start.element, start.time_ms, start.run_number) for start in self.starts]
        queues = {key: deque(queue) for key, queue in self._queues.items()}
        begun = {start.element.number: start for start in starts}
        active = {key: begun[start.element.number] for key, start in self._active.items()}
        return Progress(list(self.delivered), starts, self.finished, queues, active)

    def _begin(self, element: SourceInput, now_ms: int) -> None:
        start = self._active[element.key] = Start(element, now_ms)
        self.starts.append(start)

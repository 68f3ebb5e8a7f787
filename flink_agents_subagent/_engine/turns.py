"""Whose turn it is among calls of which only so many may run: batches and lanes (E3.14, M8). Must not know how a call begins."""

from __future__ import annotations

import functools
import math
from collections import deque
from collections.abc import Callable

from flink_agents_subagent._engine import metric
from flink_agents_subagent._engine.core import EngineCore
from flink_agents_subagent._engine.deadlines import Deadline
from flink_agents_subagent._engine.slot import Slot, SlotState
from flink_agents_subagent.context import CallLane

__all__ = ["Batch", "Turns"]

_NO_LIMIT = 1 << 62
_ROUNDING_MS = 0.001
"""More than sums of parts of milliseconds are off."""


class Batch:
    """The calls of one `durable_execute_all_async`, of which only so many run at a time (E3.14)."""

    __slots__ = ("limit", "running", "waiting")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.running = 0
        self.waiting: deque[Slot] = deque()

    def has_turn(self, now_ms: int) -> bool:  # noqa: ARG002 - a batch does not go by the time
        """Tell whether the next call may begin."""
        return self.running < self.limit

    def take_turn(self, now_ms: int) -> None:  # noqa: ARG002 - as above
        """Let a call begin."""
        self.running += 1


class _Lane(Batch):
    """The calls of one `CallLane`, whichever run they belong to."""

    __slots__ = ("_next_ms", "_pause_ms", "alarm")

    def __init__(self, lane: CallLane, now_ms: int) -> None:
        super().__init__(_NO_LIMIT if lane.max_concurrency is None else lane.max_concurrency)
        self._pause_ms = 0.0 if lane.rate_limit is None else 1000 / lane.rate_limit
        self._next_ms = float(now_ms)
        self.alarm: Deadline | None = None
        """Set while a call waits for the time alone."""

    def has_turn(self, now_ms: int) -> bool:
        """Tell whether the next call may begin."""
        return self.running < self.limit and self._next_ms - _ROUNDING_MS <= now_ms

    def take_turn(self, now_ms: int) -> None:
        """Let a call begin; the next one waits for the rate limit."""
        self.running += 1
        # Less than a millisecond late is on time: the clock knows no better, and the rate must not suffer from that.
        is_on_time = now_ms - self._next_ms < 1
        self._next_ms = (self._next_ms if is_on_time else now_ms) + self._pause_ms

    def wake_up_ms(self) -> int | None:
        """Return when the next call may begin, None when it waits for the end of another."""
        if not self.waiting or self.running >= self.limit:
            return None
        return math.ceil(self._next_ms - _ROUNDING_MS)


class Turns:
    """The lanes of one engine, and who waits in them and in batches.

    Guarantee: first come, first served; one that was cancelled or timed out while it waited never begins.
    Thread: task thread.
    """

    __slots__ = ("_begin", "_core", "_holds", "_lanes")

    def __init__(self, core: EngineCore, begin: Callable[[Slot], None]) -> None:
        """Have `begin` called with each call whose turn comes."""
        self._core = core
        self._begin = begin
        self._lanes: dict[str, _Lane] = {}
        self._holds = 0

    def hold(self) -> None:
        """Let nobody begin until `let_go`: calls that are under way are to be counted first."""
        self._holds += 1

    def let_go(self) -> None:
        """Let those begin whose turn it is, once all `hold` are over."""
        self._holds -= 1
        if not self._holds:
            for lane in self._lanes.values():
                self._take_turns(lane)

    def lane(self, lane: CallLane) -> Batch:
        """Return the lane of this name."""
        known = self._lanes.get(lane.name)
        if known is None:
            known = self._lanes[lane.name] = _Lane(lane, self._core.now_ms)
        return known

    def wait(self, slot: Slot, batch: Batch) -> None:
        """Put a call behind those that wait, and let it begin if it is its turn."""
        slot.batch = batch
        slot.state = SlotState.BATCHED
        batch.waiting.append(slot)
        self._core.count(metric.CALLS_WAITING, slot.label, 1)
        self._take_turns(batch)

    def count(self, slot: Slot, lane: CallLane) -> None:
        """Count a call that is under way already and must not wait for others."""
        if not slot.holds_turn:
            slot.batch = self.lane(lane)
            slot.batch.running += 1
            slot.holds_turn = True

    def hand_over(self, slot: Slot, following: Slot) -> None:
        """Let a call that follows another have its turn."""
        following.batch, following.holds_turn = slot.batch, slot.holds_turn
        slot.holds_turn = False

    def give_back(self, slot: Slot) -> None:
        """Let others have the turn of a call, if it has one."""
        if slot.holds_turn and slot.batch is not None:
            slot.holds_turn = False
            slot.batch.running -= 1
            self._take_turns(slot.batch)

    def _take_turns(self, batch: Batch) -> None:
        if self._holds and isinstance(batch, _Lane):
            return
        now_ms = self._core.now_ms
        while batch.waiting and batch.has_turn(now_ms):
            following = batch.waiting.popleft()
            if following.state == SlotState.BATCHED:
                batch.take_turn(now_ms)
                following.holds_turn = True
                self._core.count(metric.CALLS_WAITING, following.label, -1)
                self._begin(following)
        if isinstance(batch, _Lane) and batch.alarm is None:
            self._set_alarm(batch)

    def _set_alarm(self, lane: _Lane) -> None:
        when_ms = lane.wake_up_ms()
        if when_ms is not None:
            lane.alarm = self._core.deadlines.add(when_ms, functools.partial(self._alarmed, lane))

    def _alarmed(self, lane: _Lane) -> None:
        lane.alarm = None
        self._take_turns(lane)

"""Runs durable calls: when each one starts, what its end means, time-outs, retries, capacity (E3.9–E3.11).

Must not know how records are delivered: it turns what happens outside into records, and reacts to their delivery.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable
from typing import Any

from flink_agents_subagent._engine import metric
from flink_agents_subagent._engine.attempt import function_of, may_retry, origin_of, pause_ms
from flink_agents_subagent._engine.call_spec import is_coroutine_function
from flink_agents_subagent._engine.core import EngineCore
from flink_agents_subagent._engine.course import Course
from flink_agents_subagent._engine.effects import (
    CallOutcome,
    CallRaised,
    CallReturned,
    CancelCall,
    StartCall,
)
from flink_agents_subagent._engine.faults import EngineStopped
from flink_agents_subagent._engine.outcome import encode_attempt, encode_error, encode_value
from flink_agents_subagent._engine.record import Record, Status
from flink_agents_subagent._engine.slot import Slot, SlotState
from flink_agents_subagent._engine.turns import Turns
from flink_agents_subagent.context import CallAgain, CallExpired

__all__ = ["CallDesk", "CallPool"]


class CallPool:
    """Places for calls of one kind, and the calls that wait for one, first come first served."""

    __slots__ = ("abandoned", "limit", "running", "spare", "waiting")

    def __init__(self, limit: int, spare: int) -> None:
        self.limit = limit
        self.spare = spare
        """Calls that may be abandoned before they take places of others."""
        self.running = 0
        self.abandoned = 0
        self.waiting: deque[Slot] = deque()

    def has_room(self) -> bool:
        return self.running + max(0, self.abandoned - self.spare) < self.limit


class CallDesk:
    """The durable calls of one engine.

    Guarantee: a call starts at most once per attempt, in the order of release within its kind; its outcome is recorded once.
    Thread: task thread.
    """

    __slots__ = ("_abandoned", "_blocking", "_core", "_coroutines", "_next_call", "_running", "turns")

    def __init__(self, core: EngineCore) -> None:
        settings = core.settings
        self._core = core
        self._blocking = CallPool(settings.call_threads, settings.max_abandoned_calls)
        self._coroutines = CallPool(settings.max_concurrent_calls, 0)
        self.turns = Turns(core, self._begin)
        self._running: dict[int, Slot] = {}
        self._abandoned: dict[int, str] = {}
        self._next_call = 1

    # Starting

    def release_all(self, slots: list[Slot]) -> None:
        """Let calls of a run go ahead together, so that those that are under way have their places in lanes first."""
        self.turns.hold()
        for slot in slots:
            self.release(slot)
        self.turns.let_go()

    def release(self, slot: Slot) -> None:
        """Let a call go ahead: replay is over, nothing recorded decides it, and its intent is durable if it has one (E3.6)."""
        if slot.state == SlotState.INTENDED:
            self._enqueue(slot)
        elif slot.state != SlotState.HELD:
            return
        elif slot.course is not None:
            self._release_with_course(slot, slot.course)
        elif slot.batch is None:
            self._begin(slot)
        else:
            self.turns.wait(slot, slot.batch)

    def _release_with_course(self, slot: Slot, course: Course) -> None:
        if course.undoes is not None:
            self._release_undo(slot, course.undoes)
            return
        lane = course.spec.lane
        if lane is None:
            self._begin(slot)
            return
        if course.is_sent:
            self.turns.count(slot, lane)
            self._begin(slot)
        else:
            self.turns.wait(slot, self.turns.lane(lane))

    def _release_undo(self, slot: Slot, undone: Course) -> None:
        """Take a call back, unless it was never sent."""
        if undone.is_running:
            # What it may still bring is needed, and the request to take it back must not overtake it.
            undone.is_undo_waiting = True
        elif undone.is_sent:
            self._begin(slot)
        elif undone.is_intended_here:
            # A later life, which finds the intent, could not know that nothing was sent.
            self._record_value(slot, None)
        else:
            slot.state = SlotState.CLOSED
            slot.execution.forget(slot)

    def attempt_acknowledged(self, slot: Slot, record: Record) -> None:
        """Pause, then make the next attempt: the failed one is durable (E3.9)."""
        slot.attempts = record.attempts
        retry = slot.spec.retry
        slot.retry_at_ms = record.time_ms + (0 if retry is None else pause_ms(retry, record))
        if slot.state == SlotState.PAUSED:
            self._resume_later(slot)

    def _begin(self, slot: Slot) -> None:
        spec = slot.spec
        if spec.timeout_ms is not None:
            when_ms = self._core.now_ms + spec.timeout_ms
            slot.time_out = self._core.deadlines.add(when_ms, functools.partial(self._time_out, slot))
        if slot.course is not None and slot.course.spec.delay_ms is not None:
            age_ms = self._core.now_ms - (slot.course.begun_ms or 0)
            slot.retry_at_ms = max(slot.retry_at_ms, self._core.now_ms + slot.course.spec.delay_ms(age_ms))
        if spec.reconciler is not None and not slot.was_intended and slot.attempts == 0:
            slot.state = SlotState.INTENDED
            if slot.course is not None:
                slot.course.is_intended_here = True
            self._append(slot, Record("i"))
        elif slot.was_intended or slot.retry_at_ms <= self._core.now_ms:
            self._enqueue(slot)
        else:
            slot.state = SlotState.PAUSED
            self._resume_later(slot)

    def _resume_later(self, slot: Slot) -> None:
        if slot.retry_at_ms <= self._core.now_ms:
            self._enqueue(slot)
            return
        slot.retry_timer = self._core.deadlines.add(slot.retry_at_ms, functools.partial(self._enqueue, slot))

    def _enqueue(self, slot: Slot) -> None:
        slot.retry_timer = None
        # An intent that a replay found: the reconciler finds out what became of the call.
        slot.is_reconciling = slot.was_intended and slot.spec.reconciler is not None
        slot.was_intended = False
        slot.state = SlotState.QUEUED
        on_loop = is_coroutine_function(slot.spec.reconciler) if slot.is_reconciling else slot.spec.is_coroutine
        pool = slot.pool = self._coroutines if on_loop else self._blocking
        if pool.has_room():
            # Whoever waited has been served: places are filled as soon as they are free.
            pool.running += 1
            self._start(slot)
        else:
            pool.waiting.append(slot)
            self._core.count(metric.CALLS_WAITING, slot.label, 1)

    def _fill(self, pool: CallPool) -> None:
        while pool.waiting and pool.has_room():
            slot = pool.waiting.popleft()
            if slot.state == SlotState.QUEUED:
                self._core.count(metric.CALLS_WAITING, slot.label, -1)
                pool.running += 1
                self._start(slot)

    def _start(self, slot: Slot) -> None:
        call = slot.call = self._next_call
        self._next_call += 1
        slot.state = SlotState.RUNNING
        slot.started_ms = self._core.now_ms
        self._running[call] = slot
        figures = self._core.meter.calls[slot.label]
        figures.in_flight += 1
        course = slot.course
        if course is not None:
            course.is_sent = course.is_running = True
        if course is not None and course.agains:
            self._core.count(metric.CALLS_REPEATED, slot.label)
        elif slot.is_reconciling:
            self._core.count(metric.CALLS_RECONCILED, slot.label)
        else:
            figures.started += 1
        if self._core.log is not None:
            self._core.log.call_started(slot)
        on_loop = slot.pool is self._coroutines
        self._core.effects.append(StartCall(call, function_of(slot), on_loop, slot.label, origin_of(slot)))

    # Ending

    def complete(self, call: int, outcome: CallOutcome) -> None:
        """Take the end of a call: record its outcome, or the failed attempt."""
        slot = self._running.pop(call, None)
        if slot is None:
            self._late(call)
            return
        is_cancelled = slot.state == SlotState.CLOSED
        self._leave(slot)
        if slot.course is not None and self._has_gone_on(slot, slot.course, outcome, is_cancelled=is_cancelled):
            return
        self._core.meter.calls[slot.label].latency_ms.append(self._core.now_ms - slot.started_ms)
        if isinstance(outcome, CallReturned):
            if slot.spec.used is not None:
                for name, amount in slot.spec.used(outcome.value).items():
                    self._core.count(name, slot.label, amount)
            self._record_value(slot, outcome.value)
        elif may_retry(slot, outcome.error):
            slot.state = SlotState.PAUSED
            self._core.count(metric.CALLS_RETRIED, slot.label)
            if self._core.log is not None:
                self._core.log.attempt_failed(slot, outcome.error)
            self._append(slot, Record("a", attempts=slot.attempts + 1, value=encode_attempt(outcome.error)))
        else:
            self._record_error(slot, outcome.error)

    def _has_gone_on(self, slot: Slot, course: Course, outcome: CallOutcome, *, is_cancelled: bool) -> bool:
        """Take the end of a call for which that is not yet the outcome, or no longer."""
        course.is_running = False
        if is_cancelled:
            self._end_cancelled(slot, course)
            return True
        value = outcome.value if isinstance(outcome, CallReturned) else None
        if isinstance(value, CallAgain):
            course.agains += 1
            # It has succeeded: only attempts that fail one after the other use up the retries.
            slot.attempts = 0
            slot.state = SlotState.PAUSED
            slot.retry_at_ms = self._core.now_ms + value.after_ms
            self._resume_later(slot)
        elif isinstance(value, CallExpired):
            self._core.count(metric.CALLS_TIMED_OUT, slot.label)
            self._record_value(slot, value.value, "timeout")
        else:
            slot.was_intended = course.spec.reconciles_attempts and isinstance(outcome, CallRaised)
            return False
        return True

    def _end_cancelled(self, slot: Slot, course: Course) -> None:
        """Take back a call that was cancelled while it ran, now that it has ended."""
        slot.state = SlotState.CLOSED
        self._settle(slot)
        if course.is_undo_waiting and course.undo is not None:
            course.is_undo_waiting = False
            self._begin(course.undo)

    def cancel(self, slot: Slot) -> None:
        """Cancel a call that is not decided: nothing is sent any more, what runs is stopped or abandoned (E3.11).

        One that runs and can be taken back goes on, until its time-out at most: what takes it back begins when it has ended.
        """
        goes_on = slot.course is not None and slot.course.is_running and slot.course.spec.undo is not None
        if not slot.is_decided:
            self._core.count(metric.CALLS_CANCELLED, slot.label)
            if self._core.log is not None:
                self._core.log.call_cancelled(slot)
            if not goes_on:
                self._stop(slot)
        slot.state = SlotState.CLOSED
        if goes_on:
            self.turns.give_back(slot)
        else:
            self._settle(slot)

    def _late(self, call: int) -> None:
        label = self._abandoned.pop(call, None)
        if label is not None:
            self._blocking.abandoned -= 1
            self._core.count(metric.ABANDONED_CALLS_RUNNING, label, -1)
            self._core.count(metric.LATE_RESULTS, label)
            self._fill(self._blocking)

    def _time_out(self, slot: Slot) -> None:
        slot.time_out = None
        if slot.state == SlotState.CLOSED:
            self._stop_running(slot)
            if slot.course is not None:
                self._end_cancelled(slot, slot.course)
            return
        self._core.count(metric.CALLS_TIMED_OUT, slot.label)
        self._stop(slot)
        if slot.spec.on_timeout is not None:
            self._convert(slot, slot.spec.on_timeout, "timeout")
            return
        self._record(slot, "timeout", b"", None)

    def _stop(self, slot: Slot) -> None:
        if slot.state == SlotState.RUNNING:
            self._stop_running(slot)
        elif slot.state in (SlotState.QUEUED, SlotState.BATCHED):
            self._core.count(metric.CALLS_WAITING, slot.label, -1)
        if slot.retry_timer is not None:
            self._core.deadlines.cancel(slot.retry_timer)
            slot.retry_timer = None

    def _stop_running(self, slot: Slot) -> None:
        if slot.course is not None:
            slot.course.is_running = False
        if self._running.pop(slot.call, None) is None:
            return
        self._core.effects.append(CancelCall(slot.call))
        if slot.pool is self._blocking:
            self._abandoned[slot.call] = slot.label
            self._blocking.abandoned += 1
            self._core.count(metric.CALLS_ABANDONED, slot.label)
            self._core.count(metric.ABANDONED_CALLS_RUNNING, slot.label, 1)
        self._leave(slot)

    def _leave(self, slot: Slot) -> None:
        self._core.meter.calls[slot.label].in_flight -= 1
        pool = slot.pool
        # The slot must not look queued or running while others are started.
        slot.state = SlotState.PAUSED
        if pool is not None:
            pool.running -= 1
            if pool.waiting:
                self._fill(pool)

    def _settle(self, slot: Slot) -> None:
        self._cancel_time_out(slot)
        self.turns.give_back(slot)

    def _cancel_time_out(self, slot: Slot) -> None:
        if slot.time_out is not None:
            self._core.deadlines.cancel(slot.time_out)
            slot.time_out = None

    # Recording

    def _record_value(self, slot: Slot, value: object, status: Status = "ok") -> None:
        self._record(slot, status, encode_value(self._core, value, slot), value)

    def _record_error(self, slot: Slot, error: BaseException) -> None:
        if slot.spec.on_error is not None:
            self._convert(slot, functools.partial(slot.spec.on_error, error))
            return
        self._record(slot, "error", encode_error(self._core, error), error)

    def _convert(self, slot: Slot, make_value: Callable[[], Any], status: Status = "ok") -> None:
        """Record what the sub-agent makes of a failure; what it lets through is the outcome."""
        try:
            value = make_value()
        except (EngineStopped, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever the call ended with, a cancellation of its own included, is a recorded fact
            self._record(slot, "error", encode_error(self._core, error), error)
            return
        self._record_value(slot, value, status)

    def _record(self, slot: Slot, status: Status, value: bytes, live: object) -> None:
        slot.state = SlotState.RECORDED
        if self._core.log is not None:
            self._core.log.call_ended(slot, status, live)
        self._append(slot, Record("o", status=status, attempts=slot.attempts + 1, value=value, live=live))
        if slot.time_out is not None:
            self._cancel_time_out(slot)
        if slot.holds_turn and (slot.course is None or slot.course.spec.then is None or status != "ok"):
            self.turns.give_back(slot)

    def _append(self, slot: Slot, record: Record) -> None:
        execution, spec = slot.execution, slot.spec
        record.execution = execution.address
        record.slot = slot.number
        record.function_id = spec.function_id
        record.fingerprint = spec.fingerprint
        execution.journal.append(record, slot.describe)

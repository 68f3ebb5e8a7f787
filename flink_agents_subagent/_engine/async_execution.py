"""An execution of an `async def` action on its own loop (E2.1). Knows its calls and timers; must not know the journal's order."""

from __future__ import annotations

import asyncio
import contextvars
import functools
from typing import TYPE_CHECKING, Any

from flink_agents_subagent._engine import metric
from flink_agents_subagent._engine.context import ExecutionContext
from flink_agents_subagent._engine.deadlines import Deadline
from flink_agents_subagent._engine.execution import Execution, Mismatch, refuse_awaitable
from flink_agents_subagent._engine.loop import ExecutionLoop, LoopTask
from flink_agents_subagent._engine.outcome import outcome_of
from flink_agents_subagent._engine.record import Record
from flink_agents_subagent._engine.slot import Batch, Handle, Slot, SlotState, identity_text
from flink_agents_subagent._plan.compiled import CompiledAction
from flink_agents_subagent.context import CallSpec
from flink_agents_subagent.errors import ContextMisuseError, UnawaitedHandleError
from flink_agents_subagent.events import Event

if TYPE_CHECKING:
    from flink_agents_subagent._engine.run import Run

__all__ = ["AsyncExecution"]


class AsyncExecution(Execution):
    """An execution that may suspend.

    Guarantee: what it does depends on its event, on memory and on the records delivered to it alone (E2.2).
    """

    __slots__ = ("_calls_open", "_deadline", "_is_timer_recorded", "_slots", "_task", "loop")

    def __init__(self, run: Run, ordinal: int, action: CompiledAction, event: Event, event_ordinal: int) -> None:
        super().__init__(run, ordinal, action, event, event_ordinal)
        self.loop: ExecutionLoop = ExecutionLoop(run.journal)
        self._task: LoopTask | None = None
        self._slots: list[Slot | None] = []
        """Every reserved slot; None once its outcome is delivered."""
        self._calls_open = 0
        """Calls that will bring a record."""
        self._deadline: Deadline | None = None
        self._is_timer_recorded = False

    # Visits

    def visit(self) -> None:
        """Run the loop until it is idle."""
        task = self._task
        if task is None:
            try:
                task = self._task = self._begin_task()
            except Exception as error:  # noqa: BLE001 - the boundary of the author's code: it does not take (event, ctx)
                self.run.action_failed(self.action.name, error)
                return
        elif not self.loop.has_work():
            return
        self._run_loop()
        if self.loop.failure is not None:
            self.run.action_failed(self.action.name, self.loop.failure)
        elif task.done():
            self._end(task)

    def can_go_on(self) -> bool:
        """Tell whether a call or a timer can wake it."""
        return self._calls_open > 0 or self.loop.next_timer() is not None

    def prepare(self) -> None:
        """Set the deadline of the earliest timer."""
        timer = self.loop.next_timer()
        due_ms = None if timer is None or self._is_timer_recorded else timer[0]
        if self._deadline is not None:
            if not self._deadline.is_cancelled and self._deadline.when_ms == due_ms:
                return
            self.core.deadlines.cancel(self._deadline)
            self._deadline = None
        if due_ms is not None:
            self._deadline = self.core.deadlines.add(due_ms, self._record_timer)

    def halt(self) -> None:
        """Run no other task of the execution either."""
        self.loop.halt()

    def abandon(self, *, is_final: bool) -> None:
        """Seal the context, then end the tasks; what they still try to send is refused (E2.7)."""
        if is_final:
            self._cancel_open_calls()
        self._close()

    def _begin_task(self) -> LoopTask:
        context = contextvars.Context()
        coroutine = self.action.function(self.event, ExecutionContext(self))
        return LoopTask(coroutine, self.loop, None, context)

    def _run_loop(self) -> None:
        self.core.enter(self)
        try:
            self.loop.run()
        finally:
            self.core.leave()
        self.core.check()

    def _end(self, task: LoopTask) -> None:
        error = self._error_of(task)
        if error is not None:
            self.run.action_failed(self.action.name, error)
            return
        self._refuse_unawaited()
        self._cancel_open_calls()
        self.is_sealed = True
        self.core.enter(self)
        try:
            self.loop.shut_down()
        finally:
            self.core.leave()
        self.core.check()
        if self.loop.failure is not None:
            self.run.action_failed(self.action.name, self.loop.failure)
            return
        self.is_done = True
        self._close()

    def _error_of(self, task: LoopTask) -> BaseException | None:
        if task.cancelled():
            return asyncio.CancelledError()
        error = task.exception()
        if error is None and task.result() is not None:
            try:
                refuse_awaitable(self.action.name, task.result())
            except ContextMisuseError as misuse:
                return misuse
        return error

    def _close(self) -> None:
        self.is_sealed = True
        if self._deadline is not None:
            self.core.deadlines.cancel(self._deadline)
            self._deadline = None
        if not self.loop.is_shut_down:
            self.loop.shut_down()

    # Calls

    def open_call(self, spec: CallSpec, batch: Batch | None = None) -> Handle:
        """Reserve the next slot (E3.1)."""
        self.run.journal.need_for_call()
        slot = Slot(self, self.slots_used, spec, batch)
        self.slots_used += 1
        self._slots.append(slot)
        self.run.is_dirty = True
        if not spec.starts_at_await:
            self._let_go(slot)
        if self.loop.has_child_tasks:
            self._tie_to_task(slot)
        return slot.handle

    def _tie_to_task(self, slot: Slot) -> None:
        """Have a call cancelled with the task that opened it (E3.11); the end of the whole action sees to the others."""
        task = asyncio.current_task()
        if task is not None and task is not self._task:
            task.add_done_callback(functools.partial(_cancel_with, slot.handle))

    def begin(self, slot: Slot) -> None:
        """Note that a handle is awaited, which starts a call that starts at its await."""
        if slot.is_awaited or self.is_sealed:
            return
        slot.is_awaited = True
        if slot.spec.starts_at_await and slot.state is SlotState.HELD:
            self._let_go(slot)

    def cancel_call(self, slot: Slot) -> None:
        """Cancel a call for the author (E3.11)."""
        if self.is_sealed or slot.state is SlotState.CLOSED:
            return
        self._forget(slot)
        self.core.calls.cancel(slot)

    def _let_go(self, slot: Slot) -> None:
        slot.is_open = True
        self._calls_open += 1
        self.run.unreleased.append(slot)

    def _forget(self, slot: Slot) -> None:
        if slot.is_open:
            slot.is_open = False
            self._calls_open -= 1

    def _cancel_open_calls(self) -> None:
        for slot in self._slots:
            if slot is not None:
                slot.handle.cancel()

    def _refuse_unawaited(self) -> None:
        for slot in self._slots:
            if slot is None or slot.spec.must_be_awaited is None:
                continue
            if not slot.is_awaited and not slot.handle.done():
                self.core.fail(
                    UnawaitedHandleError(
                        f"action {self.action.name!r} ended with an open handle: {slot.spec.must_be_awaited}; "
                        "await it, or cancel it"
                    )
                )

    # Records

    def deliver(self, record: Record) -> None:
        """Take a record, as it comes from the store or from the replay."""
        if record.kind == "t":
            self._take_timer(record)
            return
        slot = self._slot_of(record)
        if record.kind == "i":
            if slot.state is SlotState.HELD:
                slot.was_intended = True
            else:
                self.run.unreleased.append(slot)
        elif record.kind == "a":
            self.core.calls.attempt_acknowledged(slot, record)
        else:
            self._take_outcome(slot, record)

    def _slot_of(self, record: Record) -> Slot:
        if record.slot >= len(self._slots):
            raise Mismatch(f"the code has not reserved slot {record.slot}")
        slot = self._slots[record.slot]
        if slot is None:
            raise Mismatch(f"slot {record.slot} has had its outcome")
        if record.identity() != (slot.spec.function_id, slot.spec.fingerprint):
            raise Mismatch(f"the code calls {identity_text(slot.spec.function_id, slot.spec.fingerprint)}")
        return slot

    def _take_outcome(self, slot: Slot, record: Record) -> None:
        is_cancelled = slot.state is SlotState.CLOSED
        if slot.state is SlotState.HELD:
            self.core.count(metric.CALLS_REPLAYED, slot.label)
        slot.state = SlotState.CLOSED
        self._slots[record.slot] = None
        if is_cancelled:
            return
        self._forget(slot)
        slot.handle.deliver(*outcome_of(self.core, record, slot))

    def expects(self, record: Record, /) -> bool:
        """Tell whether the record is of a slot or timer that there is."""
        return record.slot < (self.loop.timers_created if record.kind == "t" else len(self._slots))

    # Timers

    def _take_timer(self, record: Record) -> None:
        if record.slot >= self.loop.timers_created:
            raise Mismatch(f"the code has not set timer {record.slot}")
        self._is_timer_recorded = False

    def _record_timer(self) -> None:
        timer = self.loop.next_timer()
        if timer is None or timer[0] > self.core.now_ms:
            return
        self._is_timer_recorded = True
        record = Record("t", execution=self.ordinal, slot=timer[1])
        self.run.journal.append(record, lambda: f"timer {record.slot} of action {self.action.name!r}")


def _cancel_with(handle: Handle, task: asyncio.Task[Any]) -> None:
    if task.cancelled():
        handle.cancel()

"""An execution of an `async def` action on its own loop (E2.1). Knows its calls and timers; must not know the journal's order."""

from __future__ import annotations

import asyncio
import contextvars
import functools
from collections.abc import Callable, Sequence
from threading import get_ident
from typing import TYPE_CHECKING, Any

from flink_agents_subagent._engine import metric
from flink_agents_subagent._engine.action_end import error_of, refuse_unawaited
from flink_agents_subagent._engine.child_calls import ChildCalls
from flink_agents_subagent._engine.context import ExecutionContext
from flink_agents_subagent._engine.course import Course
from flink_agents_subagent._engine.deadlines import Deadline
from flink_agents_subagent._engine.execution import Execution, Mismatch
from flink_agents_subagent._engine.loop import ExecutionLoop, LoopTask
from flink_agents_subagent._engine.outcome import outcome_of
from flink_agents_subagent._engine.record import Address, Record
from flink_agents_subagent._engine.slot import Handle, Slot, SlotState, identity_text
from flink_agents_subagent._engine.turns import Batch
from flink_agents_subagent._plan.compiled import CompiledAction
from flink_agents_subagent.context import CallCourse, CallSpec
from flink_agents_subagent.events import Event

if TYPE_CHECKING:
    from flink_agents_subagent._engine.checkpoint import ScopeEntry
    from flink_agents_subagent._engine.run_journal import RunJournal
    from flink_agents_subagent._engine.scope import Scope

__all__ = ["AsyncExecution"]


class AsyncExecution(Execution):
    """An execution that may suspend.

    Guarantee: what it does depends on its event, on memory and on the records delivered to it alone (E2.2).
    """

    __slots__ = (
        "_calls_open",
        "_deadline",
        "_is_closed",
        "_is_timer_recorded",
        "_slots",
        "_task",
        "_unawaited",
        "_undos_open",
        "children",
        "journal",
        "loop",
    )

    def __init__(
        self, scope: Scope, address: Address, action: CompiledAction, event: Event, event_ordinal: int
    ) -> None:
        super().__init__(scope, address, action, event, event_ordinal)
        self.journal: RunJournal = self.run.journal
        self.children: ChildCalls | None = None
        self.loop: ExecutionLoop = ExecutionLoop(self.journal)
        self._task: LoopTask | None = None
        self._slots: list[Slot | None] = []
        """Every reserved slot; None once its outcome is delivered."""
        self._calls_open = 0
        """Calls that will bring a record."""
        self._undos_open = 0
        """Those of them that take others back, which nobody awaits."""
        self._deadline: Deadline | None = None
        self._is_timer_recorded = False
        self._unawaited: dict[Handle, str] | None = None
        """Handles that somebody has to look at, with what to say otherwise (I4)."""
        self._is_closed = False

    # Visits

    def visit(self) -> None:
        """Run the loop until it is idle."""
        task, loop = self._task, self.loop
        if task is None:
            try:
                task = self._task = self._begin_task()
            except Exception as error:  # noqa: BLE001 - the boundary of the author's code: it does not take (event, ctx)
                self.scope.action_failed(self.action.name, error)
                return
        elif not loop.has_work():
            if self._is_closed:
                self.close_if_settled()
            return
        self._run_loop(loop.run)
        if loop.failure is not None:
            self.scope.action_failed(self.action.name, loop.failure)
        elif task.done():
            self._end(task)

    def can_go_on(self) -> bool:
        """Tell whether a call or a timer can wake it."""
        is_open = self.children is not None and not self.children.is_settled
        return self._calls_open > 0 or is_open or self.loop.next_timer() is not None

    def can_wake(self) -> bool:
        """Tell whether a call or a timer can wake its code. The same on replay, whatever became of calls that were taken back."""
        is_awaited = self.children is not None and self.children.is_waited_for
        return self._calls_open > self._undos_open or is_awaited or self.loop.next_timer() is not None

    def prepare(self) -> None:
        """Set the deadline of the earliest timer."""
        if self.children is not None:
            self.children.prepare()
        timer = self.loop.next_timer()
        if timer is None and self._deadline is None:
            return
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
        if self.children is not None:
            self.children.abandon(is_final=is_final)
        self.close_if_settled()

    def _begin_task(self) -> LoopTask:
        context = contextvars.Context()
        coroutine = self.action.function(self.event, ExecutionContext(self))
        return LoopTask(coroutine, self.loop, None, context)

    def _run_loop(self, run: Callable[[], None]) -> None:
        core = self.core
        core.enter(self)
        try:
            run()
        finally:
            core.leave()
        if core.failure is not None:
            core.check()

    def _end(self, task: LoopTask) -> None:
        error = error_of(self.action.name, task)
        if error is not None:
            self.scope.action_failed(self.action.name, error)
            return
        if self._unawaited:
            refuse_unawaited(self.core, self.action.name, self._unawaited)
        self._cancel_open_calls()
        self.is_sealed = True
        loop = self.loop
        if not loop.end_if_idle():
            self._run_loop(loop.shut_down)
            if loop.failure is not None:
                self.scope.action_failed(self.action.name, loop.failure)
                return
        self._close()
        if self.children is not None:
            self.children.abandon(is_final=True)
        self.close_if_settled()

    @property
    def is_closed(self) -> bool:
        """Whether its code has ended, or was torn down; calls that take others back may still be open."""
        return self._is_closed

    def close_if_settled(self) -> None:
        """Be done once the code has ended and all that takes calls back has an outcome."""
        if self._is_closed and not self._calls_open:
            self.is_done = self.children is None or self.children.is_settled

    def _close(self) -> None:
        self.is_sealed = self._is_closed = True
        if self._deadline is not None:
            self.core.deadlines.cancel(self._deadline)
            self._deadline = None
        if not self.loop.is_shut_down:
            self.loop.shut_down()

    # Calls

    def open_call(self, spec: CallSpec, batch: Batch | None = None) -> Handle:
        """Reserve the next slot (E3.1)."""
        self.journal.need_for_call()
        slot = self._reserve(Slot(self, self.slots_used, spec, batch))
        if not spec.starts_at_await:
            self._let_go(slot)
        if self.loop.has_child_tasks:
            self._tie_to_task(slot)
        if spec.must_be_awaited is not None:
            self._watch(slot.handle, spec.must_be_awaited)
        return slot.handle

    def settled_call(self, value: object, must_be_awaited: str) -> Handle:
        """Return the handle of a call that was never made and is done with this value."""
        handle = Handle(self.loop, None)
        handle.deliver(value, None)
        self._watch(handle, must_be_awaited)
        return handle

    def _watch(self, handle: Handle, text: str) -> None:
        if self._unawaited is None:
            self._unawaited = {}
        handle.must_be_awaited(self._unawaited, text)

    def _reserve(self, slot: Slot) -> Slot:
        self.slots_used += 1
        self._slots.append(slot)
        self.run.is_dirty = True
        return slot

    def _tie_to_task(self, slot: Slot) -> None:
        """Have a call cancelled with the task that opened it (E3.11); the end of the whole action sees to the others."""
        task = asyncio.current_task()
        if task is not None and task is not self._task:
            task.add_done_callback(functools.partial(_cancel_with, slot.handle))

    def begin(self, slot: Slot) -> None:
        """Note that a handle is awaited, which starts a call that starts at its await; refuses it to other actions and threads."""
        core = self.core
        if core.thread != get_ident() or (core.current is not self and core.current is not None):
            raise self.refuse_use("await of a handle")
        if slot.spec.starts_at_await and not slot.is_open and slot.state == SlotState.HELD and not self.is_sealed:
            self._let_go(slot)

    def cancel_call(self, slot: Slot) -> None:
        """Cancel a call for the author (E3.11)."""
        if self.is_sealed or slot.state == SlotState.CLOSED:
            return
        if slot.spec.scope is not None:
            slot.state = SlotState.CLOSED
            if self.children is not None:
                self.children.cancel(slot)
            return
        self.forget(slot)
        self.core.calls.cancel(slot)
        if slot.course is not None:
            self._take_back(slot.course)

    def _let_go(self, slot: Slot) -> None:
        slot.is_open = True
        if slot.spec.scope is not None:
            self._own_children().open(slot)
            return
        self._calls_open += 1
        self._undos_open += slot.course is not None and slot.course.undoes is not None
        self.run.unreleased.append(slot)

    def forget(self, slot: Slot) -> None:
        """Wait for the outcome of a call no longer."""
        if slot.is_open:
            slot.is_open = False
            self._calls_open -= 1
            self._undos_open -= slot.course is not None and slot.course.undoes is not None

    def _cancel_open_calls(self) -> None:
        # What they are taken back by gets slots meanwhile.
        for slot in list(self._slots):
            if slot is not None and (slot.course is None or slot.course.undoes is None):
                slot.handle.cancel()

    # Internal sub-agent calls (decision 0013)

    def _own_children(self) -> ChildCalls:
        if self.children is None:
            self.children = ChildCalls(self)
        return self.children

    def restore_children(self, entries: Sequence[ScopeEntry]) -> None:
        """Take what a checkpoint says of them."""
        self._own_children().restore(entries)

    def child_ended(self, slot: Slot) -> None:
        """Note that an internal sub-agent call has its outcome; a record of its time-out may still come."""
        slot.state = SlotState.CLOSED
        if slot.spec.timeout_ms is None:
            self._slots[slot.number] = None

    # The course of a call (decision 0007)

    def _take_back(self, course: Course) -> None:
        """Reserve the slot of what takes a call back. Whether that is needed is known when nothing is left to replay."""
        if course.spec.undo is None:
            return
        undo = course.undo = self._reserve(Slot(self, self.slots_used, course.spec.undo(), None))
        undo.course = undo.course or Course(CallCourse())
        undo.course.undoes = course
        self._let_go(undo)

    def _go_on(self, slot: Slot, course: Course, record: Record, value: Any) -> bool:
        """Let the handle go on with the call that follows, if one does."""
        if record.status == "timeout" and course.undo is None:
            self._take_back(course)
        if record.status != "ok" or course.spec.then is None:
            return False
        begun_ms = record.time_ms if course.begun_ms is None else course.begun_ms
        spec = course.spec.then(value, record.time_ms - begun_ms)
        if spec is None or slot.handle.done():
            return False
        following = self._reserve(Slot(self, self.slots_used, spec, None, slot.handle))
        slot.handle.go_on_with(following)
        if following.course is not None:
            following.course.is_sent = True
            following.course.begun_ms = record.time_ms
        self.core.calls.turns.hand_over(slot, following)
        self._let_go(following)
        return True

    # Records

    def deliver(self, record: Record) -> None:
        """Take a record, as it comes from the store or from the replay."""
        if record.kind == "t":
            self._take_timer(record)
            return
        slot = self._slot_of(record)
        if record.kind == "i":
            if slot.course is not None:
                slot.course.take_intent(record.time_ms)
            if slot.state == SlotState.HELD:
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
        spec = slot.spec
        if record.function_id != spec.function_id or record.fingerprint != spec.fingerprint:
            raise Mismatch(f"the code calls {identity_text(spec.function_id, spec.fingerprint)}")
        return slot

    def _take_outcome(self, slot: Slot, record: Record) -> None:
        if slot.spec.scope is not None:
            self._own_children().time_out(slot, record)
            return
        is_cancelled = slot.state == SlotState.CLOSED
        is_replayed = slot.state == SlotState.HELD
        if is_replayed:
            self.core.count(metric.CALLS_REPLAYED, slot.label)
        slot.state = SlotState.CLOSED
        self._slots[record.slot] = None
        course = slot.course
        if is_cancelled and course is None:
            return
        self.forget(slot)
        value, error = outcome_of(self.core, record, slot)
        if is_replayed and self.core.log is not None:
            self.core.log.call_replayed(slot, record.status or "ok", value if error is None else error)
        if course is not None:
            if self._go_on(slot, course, record, value):
                return
            self.core.calls.turns.give_back(slot)
        if not is_cancelled:
            slot.handle.deliver(value, error)

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
        record = Record("t", execution=self.address, slot=timer[1])
        self.journal.append(record, lambda: f"timer {record.slot} of action {self.action.name!r}")


def _cancel_with(handle: Handle, task: asyncio.Task[Any]) -> None:
    if task.cancelled():
        handle.cancel()

"""One internal sub-agent call: the child's executions, memory and outputs (N1–N5, decision 0013). Must not know its siblings."""

from __future__ import annotations

import copy
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from flink_agents_subagent._engine import metric
from flink_agents_subagent._engine.checkpoint import ScopeEntry
from flink_agents_subagent._engine.deadlines import Deadline
from flink_agents_subagent._engine.ended_scope import deliver, hand_up
from flink_agents_subagent._engine.execution import VisitLog
from flink_agents_subagent._engine.failure import stuck
from flink_agents_subagent._engine.outcome import encode_error, encode_value
from flink_agents_subagent._engine.record import Record
from flink_agents_subagent._engine.scope import Scope
from flink_agents_subagent._engine.shared_state import SharedState
from flink_agents_subagent._engine.slot import Slot, SlotState
from flink_agents_subagent._plan.compiled import CompiledAgent
from flink_agents_subagent.context import ScopeCall
from flink_agents_subagent.errors import EncodingError, NotExpressibleError
from flink_agents_subagent.events import Event, InputEvent, OutputEvent

if TYPE_CHECKING:
    from flink_agents_subagent._engine.async_execution import AsyncExecution
    from flink_agents_subagent._engine.run import Run

__all__ = ["ChildScope"]

_log = logging.getLogger(__name__)


class ChildScope(Scope):
    """A call that runs in this life of the run.

    Guarantee: it ends in the step in which the last of its executions does, or one fails; that follows from the records, so the end
        needs none of its own. A time-out does, and has one.
    Thread: task thread.
    """

    __slots__ = (
        "_admitted",
        "_called",
        "_caller",
        "_data",
        "_deadline",
        "_ended_at",
        "_has_begun",
        "_inner",
        "_is_error",
        "_opened_ms",
        "_root",
        "_started_ms",
        "_taken",
        "call",
        "names",
        "outer",
        "outputs",
        "path",
        "slot",
        "visited",
    )

    def __init__(self, caller: AsyncExecution, slot: Slot, entry: ScopeEntry | None) -> None:
        called = cast("ScopeCall", slot.spec.scope)
        super().__init__(caller.core, cast("CompiledAgent", called.agent))
        self._caller = caller
        self._called = called
        self._root = caller.run
        self.slot = slot
        self.outer = caller.scope
        self.names = (*caller.scope.names, slot.label)
        self.call = f"{caller.address}.{slot.number}"
        self.path = (self.call, *self.names)
        self._restored = [] if entry is None else entry.executions
        self.outputs: list[bytes] = []
        self._inner: list[VisitLog] = []
        """What it did to the run, by step."""
        self._admitted: Counter[str] = Counter()
        self._taken: list[int] = []
        self._has_begun = False
        self._ended_at: int | None = None
        self._data: bytes | None = None
        """The encoded outcome, None as long as there is none, and of a call that was cancelled."""
        self._is_error = False
        self.visited = -1
        """The last step in which it was visited: once in each, in its place, so that a replay without it ends it in the same place."""
        self._opened_ms = caller.journal.clock_ms
        self._started_ms = self.core.now_ms
        self._deadline: Deadline | None = None
        is_replayed = caller.journal.is_replaying
        self.core.count(metric.CALLS_REPLAYED if is_replayed else metric.CALLS_STARTED, slot.label)
        self.core.count(metric.CALLS_IN_FLIGHT, slot.label, 1)
        if self.core.log is not None:
            self.core.log.scope_opened(slot, is_replayed=is_replayed)

    # What executions ask for

    @property
    def root(self) -> Run:
        """The run."""
        return self._root

    @property
    def shared(self) -> SharedState:
        """The memory of this call alone (N2); the limits of the run."""
        if self._shared is None:
            self._shared = SharedState.of_call(self.core, self._root.shared)
        return self._shared

    def collect(self, event: Event) -> bytes:
        """Keep an output for the result."""
        try:
            data = self.core.codec.encode(event)
        except EncodingError as error:
            raise NotExpressibleError(
                f"an output of sub-agent {self.slot.label!r} cannot be given to its caller: {error}"
            ) from error
        self.outputs.append(data)
        return data

    def collect_again(self, data: bytes) -> None:
        """Keep an output of an execution that does not run again."""
        self.outputs.append(data)

    def note(self, admitted: Mapping[str, int], taken: Sequence[int]) -> None:
        """Keep what was done to the run: the caller's log has to say it once this call is gone."""
        self._admitted.update(admitted)
        self._taken.extend(taken)

    def _input_event(self) -> InputEvent:
        return InputEvent(input=copy.deepcopy(self._called.input))

    def _address(self, ordinal: int) -> str:
        return f"{self.call}/{ordinal}"

    # Steps

    @property
    def is_running(self) -> bool:
        """Whether its end is still to come."""
        return self._ended_at is None

    @property
    def with_executions(self) -> ChildScope:
        """Itself: records are for its executions."""
        return self

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is left to be awaited: neither its end, nor what takes calls of it back."""
        return self._ended_at is not None and not self._active

    def visit(self) -> bool:
        """Go on; tell whether the call has its outcome now."""
        self.visited = self._root.step
        was_running = self.is_running
        if not self._has_begun:
            self._has_begun = True
            self._route(self._input_event(), 0)
        goes_on = self.torn is None and self._visit_active()
        if goes_on and was_running:
            self._look_for_end()
        elif not was_running:
            self.settle()
        self._hand_up()
        return was_running and not self.is_running

    def _look_for_end(self) -> None:
        """End once no code of it runs any more; whether something is still taken back does not matter to the caller."""
        for execution in self._active:
            if not execution.is_closed and not execution.can_wake():
                self.action_failed(execution.action.name, stuck())
                return
        if all(execution.is_closed for execution in self._active):
            self._succeed()

    def _succeed(self) -> None:
        try:
            outputs = [cast("OutputEvent", self.core.codec.decode(data)).output for data in self.outputs]
            value = self._called.result(outputs)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - the author's own reduction, and its failure is that of the call
            self._fail(error)
            return
        self._end(encode_value(self.core, value, self.slot), None)

    def action_failed(self, action: str, error: BaseException) -> None:
        """End the call with a failure (N4): the caller, and the caller's other calls, go on."""
        if self.core.log is not None:
            self.core.log.action_failed(self, action, error)
        self._tear_down(is_final=True)
        self._fail(error)

    def _fail(self, error: BaseException) -> None:
        spec = self.slot.spec
        if not self._root.journal.is_replaying:
            told = {"subagent": spec.label, "call_id": spec.function_id}
            _log.warning("sub-agent call failed", exc_info=error, extra=told)
        try:
            value = self._called.failure(error)
        except Exception as escaped:  # noqa: BLE001 - what the sub-agent lets through is the outcome
            self._end(encode_error(self.core, escaped), escaped)
            return
        self._end(encode_value(self.core, value, self.slot), None)

    def _end(self, data: bytes, error: BaseException | None) -> None:
        self._data, self._is_error = data, error is not None
        # An admission of the action that failed has not been taken into any log.
        if self._shared is not None:
            self.note(self._shared.guards.take_visit(), ())
        self._close("ok")
        self.core.observe(metric.CALL_LATENCY, self.slot.label, self.core.now_ms - self._started_ms)
        deliver(self._caller, self.slot, data, error, is_error=self._is_error, is_replayed=self._root.is_replaying)

    def cancel(self) -> None:
        """End without an outcome: the caller does not want it any more, or is at its own end (I6, I7)."""
        if self.is_running:
            self._tear_down(is_final=True)
            self._close("cancelled")
        self.settle()

    def _close(self, how: str) -> None:
        self._ended_at = self._root.step
        self._root.is_dirty = True
        self.core.count(metric.CALLS_IN_FLIGHT, self.slot.label, -1)
        if how == "cancelled":
            self.core.count(metric.CALLS_CANCELLED, self.slot.label)
            if self.core.log is not None:
                self.core.log.scope_ended(self.slot, how, None, is_replayed=self._root.is_replaying)
        if self._deadline is not None:
            self.core.deadlines.cancel(self._deadline)
            self._deadline = None
        leftover = self._root.journal.unexpected(self._root.find, f"{self.call}/")
        if leftover is not None:
            self._root.mismatched(
                f"{leftover.text}: sub-agent {self.slot.label!r} ended before it came to it", leftover.number
            )

    def abandon(self, *, is_final: bool) -> None:
        """End with the caller, or with the task."""
        if is_final:
            self.cancel()
        else:
            self._tear_down(is_final=False)

    def settle(self) -> None:
        """Let go of executions whose last calls are taken back."""
        for execution in self._active:
            if execution.children is not None:
                execution.children.settle()
            execution.close_if_settled()
        self._active = [execution for execution in self._active if not execution.is_done]

    def _hand_up(self) -> None:
        if not self._admitted and not self._taken:
            return
        admitted, taken = dict(self._admitted), tuple(self._taken)
        self._admitted.clear()
        self._taken.clear()
        self._inner.append(VisitLog(self._root.step, [], {}, {}, admitted, taken))
        hand_up(self._caller, self._inner[-1])

    # Waiting

    def prepare(self) -> None:
        """Be ready for what comes next from outside."""
        if not self.is_running:
            self.settle()
        for execution in self._active:
            execution.prepare()
        timeout_ms = self.slot.spec.timeout_ms
        if timeout_ms is not None and self.is_running and self._deadline is None and self.slot.state == SlotState.HELD:
            # What the records say has passed counts; an outage does not.
            spent_ms = self._caller.journal.clock_ms - self._opened_ms
            when_ms = self.core.now_ms + max(0, timeout_ms - spent_ms)
            self._deadline = self.core.deadlines.add(when_ms, self._time_out)

    def _time_out(self) -> None:
        slot = self.slot
        self._deadline = None
        self.core.count(metric.CALLS_TIMED_OUT, slot.label)
        slot.state = SlotState.RECORDED
        value = self._called.time_out()
        data = encode_value(self.core, value, slot)
        record = Record("o", self._caller.address, slot.number, status="timeout", attempts=1, value=data, live=value)
        record.function_id, record.fingerprint = slot.spec.function_id, slot.spec.fingerprint
        self._caller.journal.append(record, slot.describe)

    def release(self) -> None:
        """Let nothing refer to itself any more, so that it costs the garbage collector nothing."""
        self._executions.clear()
        self._shared = None

    # Checkpoints

    def afresh(self) -> ChildScope:
        """Let what is still to come begin afresh, whatever the checkpoint has of it."""
        self.forget_restored()
        return self

    def entry(self) -> ScopeEntry:
        """Return what a checkpoint keeps: of a call that is over, its outcome and what it did to the run."""
        spec = self.slot.spec
        entry = ScopeEntry(self.slot.number, spec.function_id, spec.fingerprint)
        if self.is_over:
            entry.ended_at, entry.data, entry.is_error = self._ended_at, self._data, self._is_error
            entry.log = self._inner
        else:
            entry.executions = self._execution_entries()
        return entry

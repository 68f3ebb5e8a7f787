"""One run: all that one input causes for its key (E1). Routes events, visits executions, delivers records in order.

Must not know stores, commands or other runs. Decision 0001 argues why what happens here is the same live and on replay.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from flink_agents_subagent._engine import metric
from flink_agents_subagent._engine.async_execution import AsyncExecution
from flink_agents_subagent._engine.checkpoint import ExecutionEntry, RunEntry, event_bytes
from flink_agents_subagent._engine.core import EngineCore
from flink_agents_subagent._engine.effects import InputFinished
from flink_agents_subagent._engine.execution import DefExecution, Execution, FinishedExecution, Mismatch, VisitLog
from flink_agents_subagent._engine.failure import RunFailure, action_error, emit_dead_letter, mismatch_error, stuck
from flink_agents_subagent._engine.guards import NOTHING_ADMITTED
from flink_agents_subagent._engine.held_input import HeldInput
from flink_agents_subagent._engine.memory import Entry
from flink_agents_subagent._engine.record import Record
from flink_agents_subagent._engine.run_journal import RunJournal
from flink_agents_subagent._engine.shared_state import SharedState
from flink_agents_subagent._engine.slot import Slot
from flink_agents_subagent._plan.compiled import CompiledAction
from flink_agents_subagent.events import Event, InputEvent

__all__ = ["Run"]

_log = logging.getLogger(__name__)

_NOTHING_SHARED: tuple[Mapping[str, Entry], Mapping[str, Entry], Mapping[str, int]] = ({}, {}, NOTHING_ADMITTED)


class Run:
    """An active run.

    Guarantee: between two commands every execution is idle and no recorded fact is left to replay.
    Thread: task thread.
    """

    __slots__ = (
        "_active",
        "_events_sent",
        "_executions",
        "_failure",
        "_input",
        "_journal",
        "_parked",
        "_restored",
        "_shared",
        "_started_ms",
        "core",
        "is_dirty",
        "is_over",
        "key",
        "step",
        "timestamp",
        "unreleased",
    )

    def __init__(self, core: EngineCore, key: bytes, held: HeldInput) -> None:
        self.core = core
        self.key = key
        self.timestamp = held.timestamp
        self._started_ms = core.now_ms
        self._journal: RunJournal | None = None
        self.step = 0
        self.unreleased: list[Slot] = []
        """Calls that may go ahead once nothing that is recorded can cancel them any more."""
        self.is_over = False
        self.is_dirty = True
        """Whether the checkpoint entry has changed since it was taken."""
        self._input = held
        self._executions: list[Execution] = []
        self._active: list[Execution] = []
        self._events_sent = 0
        self._shared: SharedState | None = None
        """None as long as nothing asked for it."""
        self._restored: list[ExecutionEntry] = []
        self._parked = 0
        self._failure: RunFailure | None = None
        """Why the input is dead-lettered, once all that is taken back has an outcome."""

    # Life

    def restore(self, entry: RunEntry) -> None:
        """Take what a checkpoint and the tail of the store say about the run; `begin` then replays it."""
        self._started_ms = entry.started_ms
        self._restored = entry.executions
        self.journal.restore(entry)
        if entry.reads:
            self._shared = SharedState(self.core, self.key, entry.reads)

    def begin(self) -> None:
        """Start with the input, and replay what is recorded."""
        effects = len(self.core.effects)
        self._route(InputEvent(input=self.decode_input()), 0)
        self._step(0)
        if not self._active and self._journal is not None and self._journal.is_doubtful:
            # It has come to its end without its journal: that is the journal of an identical input, which is still to come.
            del self.core.effects[effects:]
            self._forget()
            self.begin()
            return
        self.settle()

    def _forget(self) -> None:
        self.journal.give_back()
        self.step = self._events_sent = 0
        self.is_over = False
        self.unreleased.clear()
        self._executions.clear()
        if self._shared is not None:
            self._shared = SharedState(self.core, self.key, self._shared.reads)

    def settle(self) -> bool:
        """Deliver what can be delivered, one record at a time, then wait; tell whether the run is over."""
        self.is_dirty = True
        while not self.is_over:
            record = None if self._journal is None else self._journal.next_record()
            if record is None:
                self._wait_or_finish()
                break
            self._deliver(record)
        return self.is_over

    def abandon(self, *, is_final: bool) -> None:
        """Tear the run down: for good, or because the task ends and it will be replayed elsewhere."""
        active, self._active = self._active, []
        for execution in active:
            execution.abandon(is_final=is_final)
        if is_final:
            # They stay for what is still to be taken back.
            self._active = [execution for execution in active if execution.is_closed and not execution.is_done]
        self.is_over = not self._active

    def entry(self) -> RunEntry:
        """Return what a checkpoint keeps of the run."""
        journal = self.journal
        records = journal.records
        executions, torn = self._executions, frozenset[int]() if self._failure is None else self._failure.torn
        return RunEntry(
            raw=self._input.raw,
            timestamp=self.timestamp,
            started_ms=journal.started_ms,
            run_number=None if records is None else records.run_number,
            input_fingerprint=journal.known_fingerprint,
            records=journal.kept([it.is_done and it.ordinal not in torn for it in executions]),
            markers=[] if records is None else list(records.new_markers()),
            reads={} if self._shared is None else self._shared.reads,
            executions=[
                *(
                    ExecutionEntry(it.action.name, it.is_finished and it.ordinal not in torn, it.outputs_left, it.log)
                    for it in executions
                ),
                *self._restored[len(executions) :],
            ],
        )

    def _wait_or_finish(self) -> None:
        if self._journal is not None and self._journal.waits_for_store:
            self._count_parked(len(self._active))
            return
        if self._restored:
            self._look_for_missing()
        if not self._active:
            self._finish()
            return
        if self.unreleased:
            unreleased, self.unreleased = self.unreleased, []
            if len(unreleased) == 1:
                self.core.calls.release(unreleased[0])
            else:
                self.core.calls.release_all(unreleased)
        for execution in self._active:
            execution.prepare()
            if not execution.can_go_on():
                self._end_idle(execution)
                return
        self._count_parked(len(self._active))

    def _look_for_missing(self) -> None:
        missing = next((entry.action for entry in self._restored[len(self._executions) :]), "")
        if missing:
            self.mismatched(f"the checkpoint has an execution of action {missing!r} that the code did not start", None)

    def _end_idle(self, execution: Execution) -> None:
        """End an execution that nothing can wake."""
        if not execution.is_closed:
            self.action_failed(execution.action.name, stuck())
            return
        # What would have taken its calls back turned out not to be needed.
        execution.close_if_settled()
        self._active = [other for other in self._active if not other.is_done]
        self._wait_or_finish()

    def _finish(self) -> None:
        self._count_parked(0)
        if self._failure is not None:
            emit_dead_letter(self, self._failure.action, self._failure.error)
        elif self._shared is not None:
            writes = self._shared.writes()
            if writes:
                self.core.write_memory(self.key, writes)
        self._end()

    def _end(self) -> None:
        self.is_over = True
        if self._journal is not None:
            self._journal.end()
        self.core.effects.append(InputFinished(self._input.ticket, self.key))
        # Nothing refers to itself any more, so that a run goes at once and costs the garbage collector nothing.
        self._executions.clear()
        self._active = []
        self._journal = None

    def _count_parked(self, parked: int) -> None:
        before = self._parked
        if parked == before:
            return
        self._parked = parked
        meter = self.core.meter
        meter.parked_executions += parked - before
        if not before:
            meter.active_runs += 1
        elif not parked:
            meter.active_runs -= 1

    # Steps

    def _step(self, number: int) -> None:
        """Visit every active execution in order, those included that it starts (decision 0001)."""
        self.step = number
        active = self._active
        # It grows while they are visited.
        for execution in active:
            execution.visit()
            if self._active is not active:
                # The run has failed: no code of it runs any more.
                return
            if execution.events or self._shared is not None:
                self._after_visit(execution)
                if self._active is not active:
                    return
        self._active = [execution for execution in active if not execution.is_done]

    def _after_visit(self, execution: Execution) -> None:
        events = execution.events
        shared = _NOTHING_SHARED if self._shared is None else self._shared.take_visit()
        if not events and not any(shared):
            return
        execution.events = []
        if execution.is_logged:
            execution.log.append(VisitLog(self.step, events, *shared))
        for place, event in enumerate(events):
            self._events_sent += 1
            if isinstance(event, Event) and self._failure is None:
                data = self._route(event, self._events_sent)
                if data is not None:
                    # In the log too: it must not know what others do to the event.
                    events[place] = data

    def _route(self, event: Event, ordinal: int) -> bytes | None:
        """Start what an event triggers.

        An action that may wait gets an event of its own: after a restore it runs again on the event as it was sent, whatever it, the sender
        and other actions, which may have ended, have done to theirs. Returns the event's bytes if that made them.
        """
        data: bytes | None = None
        routes = self.core.agent.routes.get(type(event), ())
        for route in routes:
            if route.condition is not None:
                try:
                    if not route.condition(event):
                        continue
                except KeyboardInterrupt:
                    raise
                except BaseException as error:  # noqa: BLE001 - the boundary of the author's code
                    self.action_failed(route.action.name, error)
                    return None
            own = event
            if route.action.is_async and ordinal:
                data = data or event_bytes(self.core.codec, event)
                own = event if data is None else self.core.codec.decode(data)
            elif route.action.is_async and len(routes) > 1:
                own = InputEvent(input=self.decode_input())
            self._start(route.action, own, ordinal)
        return data

    def _start(self, action: CompiledAction, event: Event, event_ordinal: int) -> None:
        ordinal = len(self._executions)
        if ordinal < len(self._restored):
            execution = self._start_again(ordinal, action, event, event_ordinal)
        else:
            execution = _kind_of(action)(self, ordinal, action, event, event_ordinal)
        self._executions.append(execution)
        self._active.append(execution)

    def _start_again(self, ordinal: int, action: CompiledAction, event: Event, event_ordinal: int) -> Execution:
        """Return the execution with this ordinal, of which the checkpoint knows something."""
        before = self._restored[ordinal]
        if before.action not in ("", action.name):
            self.mismatched(
                f"execution {ordinal} was one of action {before.action!r}, the code starts {action.name!r}", None
            )
            before = self._restored[ordinal]
        if before.is_finished:
            finished = FinishedExecution(self, ordinal, action, event, event_ordinal)
            finished.restore(before.log, before.outputs)
            return finished
        execution = _kind_of(action)(self, ordinal, action, event, event_ordinal)
        execution.outputs_before = before.outputs
        return execution

    # Records

    def _deliver(self, record: Record) -> None:
        if record.is_taken:
            return
        kind = record.kind
        if kind != "r":
            try:
                self._execution_of(record).deliver(record)
            except Mismatch as mismatch:
                self.mismatched(f"{record.text}: {mismatch}", record.number)
                return
        if kind in ("o", "t"):
            self.journal.move_clock(record.time_ms)
        if kind in ("o", "t", "r"):
            self._step(record.number)

    def _execution_of(self, record: Record) -> Execution:
        if record.execution >= len(self._executions):
            raise Mismatch(f"the code has not started execution {record.execution}")
        return self._executions[record.execution]

    # What executions ask for

    @property
    def journal(self) -> RunJournal:
        """The recorded side of the run."""
        if self._journal is None:
            self._journal = RunJournal(self, self._started_ms)
        return self._journal

    @property
    def shared(self) -> SharedState:
        """What the executions of the run share."""
        if self._shared is None:
            self._shared = SharedState(self.core, self.key, {})
        return self._shared

    def decode_input(self) -> Any:
        """Return the input as it arrived."""
        return self.core.ports.decode_input(self._input.raw)

    # Faults

    def mismatched(self, text: str, from_number: int | None) -> None:
        """Deal with code that does not do what is recorded (E3.7): stop, or forget the records from there on.

        Args:
            text: Both sides.
            from_number: The first record that does not fit; None when it is the checkpoint's table of executions.
        """
        self.core.count(metric.MISMATCHES)
        fault = mismatch_error(self, text)
        if self.core.settings.on_mismatch == "fail":
            self.core.fail(fault)
        _log.warning("calling afresh, because of a mismatch: %s", fault)
        # What is still to start begins afresh, whatever it is; only what has left already does not leave again (E1.9).
        started = len(self._executions)
        self._restored[started:] = [ExecutionEntry("", False, entry.outputs, []) for entry in self._restored[started:]]
        self.journal.reset_from(from_number)

    def action_failed(self, action: str, error: BaseException) -> None:
        """Deal with an exception that escaped an action (E1.8)."""
        if self._journal is not None and self._journal.is_doubtful:
            self.abandon(is_final=False)
            return
        if self.core.settings.on_action_error == "fail":
            self.core.fail(action_error(self, action, error))
        torn = frozenset(execution.ordinal for execution in self._active if execution.is_logged)
        self._failure = RunFailure(action, error, torn)
        self.abandon(is_final=True)
        # An action that fails early because its code changed is a mismatch, not a dead letter (E2.2).
        leftover = self.journal.unexpected(self._executions)
        if leftover is not None:
            self.mismatched(f"{leftover.text}: the action failed before it came to it", leftover.number)
        if self.is_over:
            self._finish()


def _kind_of(action: CompiledAction) -> type[AsyncExecution | DefExecution]:
    return AsyncExecution if action.is_async else DefExecution

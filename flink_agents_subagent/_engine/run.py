"""One run: all that one input causes for its key (E1). Delivers records in order, and is the outermost scope of its executions.

Must not know stores, commands or other runs. Decision 0001 argues why what happens here is the same live and on replay.
"""

from __future__ import annotations

import logging
from typing import Any

from flink_agents_subagent._engine import metric
from flink_agents_subagent._engine.async_execution import AsyncExecution
from flink_agents_subagent._engine.checkpoint import RunEntry, ScopeEntry
from flink_agents_subagent._engine.child_scope import ChildScope
from flink_agents_subagent._engine.core import EngineCore
from flink_agents_subagent._engine.effects import InputFinished
from flink_agents_subagent._engine.ended_scope import EndedScope
from flink_agents_subagent._engine.execution import Execution, Mismatch
from flink_agents_subagent._engine.failure import RunFailure, action_error, emit_dead_letter, mismatch_error, stuck
from flink_agents_subagent._engine.held_input import HeldInput, input_event
from flink_agents_subagent._engine.record import Address, Record
from flink_agents_subagent._engine.run_journal import RunJournal
from flink_agents_subagent._engine.scope import Scope
from flink_agents_subagent._engine.shared_state import SharedState
from flink_agents_subagent._engine.slot import Slot
from flink_agents_subagent.events import InputEvent

__all__ = ["Run"]

_log = logging.getLogger(__name__)


class Run(Scope):
    """An active run.

    Guarantee: between two commands every execution is idle and no recorded fact is left to replay.
    Thread: task thread.
    """

    __slots__ = (
        "_failure",
        "_input",
        "_journal",
        "_parked",
        "_started_ms",
        "is_dirty",
        "is_over",
        "key",
        "step",
        "timestamp",
        "unreleased",
    )

    def __init__(self, core: EngineCore, key: bytes, held: HeldInput) -> None:
        super().__init__(core, core.agent)
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

    def adopt(self, execution: Execution) -> None:
        """Take the execution of an action that handles the input already, in place of starting what the input triggers."""
        self._executions, self._active = [execution], [execution]

    def begin(self) -> None:
        """Start with the input, and replay what is recorded."""
        effects = len(self.core.effects)
        if not self._executions:
            event = self._input_event()
            if self.core.log is not None:
                self.core.log.run_started(self, event)
            self._route(event, 0)
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
        if self.core.log is not None:
            self.core.log.run_forgotten(self)
        self.step = self._events_sent = 0
        self.is_over = False
        self.torn = None
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
        self._tear_down(is_final=is_final)
        self.is_over = not self._active

    def entry(self) -> RunEntry:
        """Return what a checkpoint keeps of the run."""
        journal = self.journal
        records = journal.records
        torn = self.torn or frozenset()
        is_done = [it.is_done and it.address not in torn for it in self._executions]
        return RunEntry(
            raw=self._input.raw,
            timestamp=self.timestamp,
            started_ms=journal.started_ms,
            run_number=None if records is None else records.run_number,
            input_fingerprint=journal.known_fingerprint,
            records=journal.kept(is_done, self._is_needed),
            markers=[] if records is None else list(records.new_markers()),
            reads={} if self._shared is None else self._shared.reads,
            executions=self._execution_entries(),
        )

    def _wait_or_finish(self) -> None:
        if self._journal is not None and self._journal.waits_for_store:
            self._count_parked(len(self._active))
            return
        if self._restored:
            self.check_restored()
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
        if self.core.log is not None:
            self.core.log.run_ended(self, has_failed=self._failure is not None)
        self.core.effects.append(InputFinished(self._input.ticket, self.key))
        # Nothing refers to itself any more, so that a run goes at once and costs the garbage collector nothing.
        self._executions.clear()
        self._active, self._journal = [], None

    def _count_parked(self, parked: int) -> None:
        before, self._parked = self._parked, parked
        if parked == before:
            return
        meter = self.core.meter
        meter.parked_executions += parked - before
        if not before:
            meter.active_runs += 1
        elif not parked:
            meter.active_runs -= 1

    # Steps

    def _step(self, number: int) -> None:
        """Let the run go on: visit what is active (decision 0001)."""
        self.step = number
        self._visit_active()

    # Records

    def _deliver(self, record: Record) -> None:
        if record.is_taken:
            return
        kind = record.kind
        if kind != "r":
            try:
                address = record.execution
                execution = self.execution_at(address) if type(address) is int else self.find(address)
                if execution is not None:
                    execution.deliver(record)
            except Mismatch as mismatch:
                self.mismatched(f"{record.text}: {mismatch}", record.number)
                return
        if kind in ("o", "t"):
            self.journal.move_clock(record.time_ms)
        if kind in ("o", "t", "r"):
            self._step(record.number)

    def find(self, address: Address) -> Execution | None:
        """Return an execution of the run, or of a sub-agent call within it; None when the call is over, and takes any record.

        Raises:
            Mismatch: The code has not started it.
        """
        if isinstance(address, int):
            return self.execution_at(address)
        scope: Scope = self
        *outer, last = address.split("/")
        for part in outer:
            ordinal, _, slot = part.partition(".")
            caller = scope.execution_at(int(ordinal))
            if not caller.is_logged:
                # It had ended before the checkpoint: its log says all.
                return None
            if caller.children is None:
                raise Mismatch(f"execution {caller.address} has opened no sub-agent call")
            inner = caller.children.scope_at(int(slot))
            if inner is None:
                return None
            scope = inner
        return scope.execution_at(int(last))

    def _is_needed(self, address: Address) -> bool:
        """Tell whether what an execution within a sub-agent call has got may have to be given to it again."""
        try:
            execution = self.find(address)
        except Mismatch:
            # Not replayed yet.
            return True
        if execution is None:
            return False
        torn = execution.scope.torn or ()
        return not execution.is_done or execution.address in torn

    # What executions ask for

    @property
    def root(self) -> Run:
        """Itself."""
        return self

    def open_scope(self, caller: AsyncExecution, slot: Slot, entry: ScopeEntry | None) -> ChildScope | EndedScope:
        """Open an internal sub-agent call; `entry` is what the checkpoint has of it."""
        if entry is not None and entry.ended_at is not None:
            return EndedScope(caller, slot, entry)
        return ChildScope(caller, slot, entry)

    @property
    def journal(self) -> RunJournal:
        """The recorded side of the run."""
        if self._journal is None:
            self._journal = RunJournal(self, self._started_ms)
        return self._journal

    @property
    def started_ms(self) -> int:
        """When it began, in whichever life."""
        return self._started_ms

    @property
    def is_replaying(self) -> bool:
        """Whether a recorded fact is still to be delivered."""
        return self._journal is not None and self._journal.is_replaying

    @property
    def known_number(self) -> int | None:
        """Its number, None as long as nothing needed one."""
        return None if self._journal is None else self._journal.known_number

    @property
    def shared(self) -> SharedState:
        """What the executions of the run share."""
        if self._shared is None:
            self._shared = SharedState(self.core, self.key, {})
        return self._shared

    def decode_input(self) -> Any:
        """Return the input as it arrived."""
        return self.core.ports.decode_input(self._input.raw)

    def _input_event(self) -> InputEvent:
        return input_event(self.decode_input())

    def _address(self, ordinal: int) -> int:
        return ordinal

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
        self.forget_restored()
        self.journal.reset_from(from_number)

    def action_failed(self, action: str, error: BaseException) -> None:
        """Deal with an exception that escaped an action (E1.8)."""
        if self._journal is not None and self._journal.is_doubtful:
            self.abandon(is_final=False)
            return
        if self.core.log is not None:
            self.core.log.action_failed(self, action, error)
        if self.core.settings.on_action_error == "fail":
            self.core.fail(action_error(self, action, error))
        self._failure = RunFailure(action, error)
        self.abandon(is_final=True)
        # An action that fails early because its code changed is a mismatch, not a dead letter (E2.2).
        leftover = self.journal.unexpected(self.find)
        if leftover is not None:
            self.mismatched(f"{leftover.text}: the action failed before it came to it", leftover.number)
        if self.is_over:
            self._finish()

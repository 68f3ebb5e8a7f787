"""The internal sub-agent calls of one execution, in the order in which they were opened (decision 0013). Must not know what they do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flink_agents_subagent._engine.checkpoint import ScopeEntry
from flink_agents_subagent._engine.execution import Mismatch
from flink_agents_subagent._engine.outcome import outcome_of
from flink_agents_subagent._engine.record import Record
from flink_agents_subagent._engine.slot import Slot, SlotState, identity_text

if TYPE_CHECKING:
    from flink_agents_subagent._engine.async_execution import AsyncExecution
    from flink_agents_subagent._engine.child_scope import ChildScope
    from flink_agents_subagent._engine.ended_scope import EndedScope

__all__ = ["ChildCalls"]


class ChildCalls:
    """The calls of one execution.

    Guarantee: in a step each is visited once, behind the execution itself. Code of a call never runs within code of its caller.
    Thread: task thread.
    """

    __slots__ = ("_caller", "_cancelled", "_ended", "_open", "_restored")

    def __init__(self, caller: AsyncExecution) -> None:
        self._caller = caller
        self._open: dict[int, ChildScope | EndedScope] = {}
        """By slot, in the order of their first await."""
        self._cancelled: list[ChildScope | EndedScope] = []
        """To be ended when the present visit of the caller is over."""
        self._ended: dict[int, ScopeEntry] = {}
        self._restored: dict[int, ScopeEntry] = {}

    # What the caller does

    def restore(self, entries: Sequence[ScopeEntry]) -> None:
        """Take what the checkpoint says of the calls."""
        self._restored = {entry.slot: entry for entry in entries}

    def open(self, slot: Slot) -> None:
        """Open a call; its code runs when the visit of the caller is over."""
        entry, spec = self._restored.pop(slot.number, None), slot.spec
        if entry is not None and (entry.function_id, entry.fingerprint) != (spec.function_id, spec.fingerprint):
            self._caller.run.mismatched(
                f"the checkpoint has the sub-agent call {identity_text(entry.function_id, entry.fingerprint)}, "
                f"the code calls {identity_text(spec.function_id, spec.fingerprint)}",
                None,
            )
            entry = None
        self._open[slot.number] = self._caller.run.open_scope(self._caller, slot, entry)

    def cancel(self, slot: Slot) -> None:
        """End a call without an outcome, when the present visit of the caller is over."""
        scope = self._open.get(slot.number)
        if scope is not None:
            self._cancelled.append(scope)

    def time_out(self, slot: Slot, record: Record) -> None:
        """Take the record of a time-out, which may have been overtaken by the end of the call."""
        if slot.state == SlotState.CLOSED:
            return
        if not slot.is_open:
            raise Mismatch("the code has not awaited the sub-agent call that timed out there")
        slot.state = SlotState.CLOSED
        value, error = outcome_of(self._caller.core, record, slot)
        run = self._caller.run
        if run.core.log is not None:
            run.core.log.scope_ended(slot, "timeout", value, is_replayed=run.is_replaying)
        self.cancel(slot)
        slot.handle.deliver(value, error)

    def abandon(self, *, is_final: bool) -> None:
        """End all with their caller."""
        for scope in self._open.values():
            scope.abandon(is_final=is_final)
        if is_final:
            self.settle()

    # What the run does

    def visit(self) -> bool:
        """Let every call go on that has not in this step; tell whether one has its outcome now."""
        step = self._caller.run.step
        cancelled, self._cancelled = self._cancelled, []
        for scope in cancelled:
            scope.cancel()
        has_ended = False
        for scope in list(self._open.values()):
            if scope.visited != step:
                has_ended = scope.visit() or has_ended
        self.settle()
        return has_ended

    def settle(self) -> None:
        """Keep of the calls that are over only what a checkpoint needs."""
        for number, scope in list(self._open.items()):
            scope.settle()
            if scope.is_over:
                self._ended[number] = scope.entry()
                scope.release()
                del self._open[number]

    def prepare(self) -> None:
        """Be ready for what comes next from outside."""
        for scope in self._open.values():
            scope.prepare()
        self.settle()

    @property
    def is_waited_for(self) -> bool:
        """Whether one may still wake the caller."""
        return any(scope.is_running for scope in self._open.values())

    @property
    def is_settled(self) -> bool:
        """Whether all are over."""
        return not self._open

    def scope_at(self, number: int) -> ChildScope | None:
        """Return the call in a slot, None when it is over and takes any record; raises `Mismatch` when there is none."""
        scope = self._open.get(number)
        if scope is None and number not in self._ended:
            raise Mismatch(f"the code has not opened a sub-agent call in slot {number}")
        return None if scope is None else scope.with_executions

    # Checkpoints

    def entries(self) -> list[ScopeEntry]:
        """Return what a checkpoint keeps of the calls."""
        return [*self._ended.values(), *(scope.entry() for scope in self._open.values()), *self._restored.values()]

    def check_restored(self) -> None:
        """Find what the checkpoint has and the code has not done."""
        for entry in self._restored.values():
            self._caller.run.mismatched(
                f"the checkpoint has the sub-agent call {identity_text(entry.function_id, entry.fingerprint)}, "
                f"which action {self._caller.action.name!r} did not make",
                None,
            )
            break
        for scope in list(self._open.values()):
            scope.check_restored()

    def forget_restored(self) -> None:
        """Let what is still to be opened begin afresh, and what had ended without an outcome too."""
        self._restored.clear()
        for number, scope in self._open.items():
            self._open[number] = scope.afresh()

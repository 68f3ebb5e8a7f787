"""Internal sub-agent calls that were over before the restored checkpoint, and how any such call ends for its caller (decision 0013)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flink_agents_subagent._engine import metric
from flink_agents_subagent._engine.checkpoint import ScopeEntry
from flink_agents_subagent._engine.execution import VisitLog
from flink_agents_subagent._engine.outcome import outcome_of
from flink_agents_subagent._engine.record import Record
from flink_agents_subagent._engine.slot import Slot

if TYPE_CHECKING:
    from flink_agents_subagent._engine.async_execution import AsyncExecution
    from flink_agents_subagent._engine.child_scope import ChildScope

__all__ = ["EndedScope", "deliver", "hand_up"]


class EndedScope:
    """A call that was over before the restored checkpoint: its code does not run, its outcome comes in the same step (N3, N5)."""

    __slots__ = ("_applied", "_caller", "_entry", "is_over", "slot", "visited")

    def __init__(self, caller: AsyncExecution, slot: Slot, entry: ScopeEntry) -> None:
        self._caller = caller
        self._entry = entry
        self._applied = 0
        self.slot = slot
        self.is_over = False
        self.visited = -1
        caller.core.count(metric.CALLS_REPLAYED, slot.label)
        if caller.core.log is not None:
            caller.core.log.scope_opened(slot, is_replayed=True)

    @property
    def is_running(self) -> bool:
        """Whether its end is still to come."""
        return not self.is_over

    @property
    def with_executions(self) -> None:
        """None: it has no executions, and takes any record."""
        return None

    def visit(self) -> bool:
        """Repeat what it did up to this step; tell whether the call has its outcome now."""
        run, entry = self._caller.run, self._entry
        self.visited = run.step
        while self._applied < len(entry.log) and entry.log[self._applied].step <= run.step:
            done = entry.log[self._applied]
            self._applied += 1
            run.shared.guards.replay_visit(done.admitted)
            run.journal.take_numbers(done.taken)
            hand_up(self._caller, done._replace(step=run.step))
        if entry.data is None or entry.ended_at is None or run.step < entry.ended_at:
            return False
        self.is_over = True
        deliver(self._caller, self.slot, entry.data, None, is_error=entry.is_error, is_replayed=True)
        return True

    def cancel(self) -> None:
        """End without an outcome."""
        self.is_over = True
        log = self._caller.core.log
        if log is not None:
            log.scope_ended(self.slot, "cancelled", None, is_replayed=True)

    def abandon(self, *, is_final: bool) -> None:  # noqa: ARG002 - nothing of it is open
        """End with the caller, or with the task."""
        self.is_over = True

    def settle(self) -> None:
        """Nothing of it is to be awaited."""

    def prepare(self) -> None:
        """Wait for the record that ends it."""

    def release(self) -> None:
        """It refers to nothing that refers to it."""

    def check_restored(self) -> None:
        """Find that the code does not cancel what it had cancelled; called when nothing is left to replay."""
        if not self.is_over:
            self._caller.run.mismatched(
                f"the checkpoint has a call of sub-agent {self.slot.label!r} that had ended, the code still waits for it",
                None,
            )

    def afresh(self) -> ChildScope | EndedScope:
        """Return what takes its place after a mismatch: it is called again, unless its outcome comes with the next step."""
        is_kept = self.is_over or self._entry.data is not None
        return self if is_kept else self._caller.run.open_scope(self._caller, self.slot, None)

    def entry(self) -> ScopeEntry:
        """Return what a checkpoint keeps: the same."""
        return self._entry


def deliver(
    caller: AsyncExecution,
    slot: Slot,
    data: bytes,
    live: BaseException | None,
    *,
    is_error: bool,
    is_replayed: bool,
) -> None:
    """Give a call's outcome to its handle: rebuilt from its bytes, in the first run too."""
    record = Record("o", status="error" if is_error else "ok", value=data, live=live)
    value, error = outcome_of(caller.core, record, slot)
    if caller.core.log is not None:
        result = value if error is None else error
        caller.core.log.scope_ended(slot, record.status or "ok", result, is_replayed=is_replayed)
    caller.child_ended(slot)
    slot.handle.deliver(value, error)


def hand_up(caller: AsyncExecution, done: VisitLog) -> None:
    """Say in the caller's log, and to the scopes around it, what a call did to the run."""
    caller.log.append(done)
    caller.scope.note(done.admitted, done.taken)

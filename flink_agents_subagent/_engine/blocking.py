"""The durable call of a `def` action: the one thing that blocks the task thread (E3.16)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flink_agents_subagent._engine import metric
from flink_agents_subagent._engine.call_spec import Identity, identify, is_coroutine_function
from flink_agents_subagent._engine.guards import NOTHING_ADMITTED
from flink_agents_subagent._engine.outcome import encode_error, encode_value, outcome_of
from flink_agents_subagent._engine.record import Kind, Record
from flink_agents_subagent._engine.slot import describe_call, identity_text
from flink_agents_subagent.context import DurableCall
from flink_agents_subagent.errors import ContextMisuseError

if TYPE_CHECKING:
    from flink_agents_subagent._engine.execution import Execution

__all__ = ["execute_blocking"]


def execute_blocking(execution: Execution, call: DurableCall) -> Any:
    """Return the recorded outcome of the next slot, or make the call and record it durably before returning."""
    action = execution.action.name
    for function in (call.func, call.reconciler):
        if is_coroutine_function(function):
            raise ContextMisuseError(
                f"ctx.durable_execute in the `def` action {action!r} was given the coroutine function {function!r}; "
                "declare the action async def and await ctx.durable_execute_async"
            )
    identity = identify(call.func, call.args, call.kwargs, call.durable_id)
    slot = execution.slots_used
    execution.slots_used += 1
    blocking = _BlockingCall(execution, slot, identity)
    intent = blocking.find("i")
    if intent is not None:
        execution.run.journal.take(intent)
        execution.scope.note(NOTHING_ADMITTED, (intent.number,))
    outcome = blocking.find("o")
    if outcome is not None:
        execution.core.count(metric.CALLS_REPLAYED, blocking.function_id)
        execution.run.journal.take(outcome)
        execution.scope.note(NOTHING_ADMITTED, (outcome.number,))
        value, error = outcome_of(execution.core, outcome, blocking)
        blocking.tell(outcome.status or "ok", call=call, result=value if error is None else error, replayed=True)
    else:
        outcome = blocking.make(call, was_intended=intent is not None)
        value, error = outcome_of(execution.core, outcome, blocking)
    if error is not None:
        raise error
    return value


class _BlockingCall:
    """One slot of a `def` action."""

    __slots__ = ("_core", "_execution", "_fingerprint", "_run", "_slot", "function_id", "timeout_ms")

    def __init__(self, execution: Execution, slot: int, identity: Identity) -> None:
        self._execution = execution
        self._core = execution.core
        self._run = execution.run
        self._slot = slot
        self.function_id, self._fingerprint = identity
        self.timeout_ms: int | None = None

    def describe(self) -> str:
        """Return the call's name for messages."""
        return describe_call(self.function_id, self._slot, self._execution.action.name)

    def find(self, kind: Kind) -> Record | None:
        """Return what the journal holds for the slot; a record of another call is a mismatch (E3.7)."""
        record = self._run.journal.need().find(kind, self._execution.address, self._slot)
        if record is None:
            return None
        if record.identity() == (self.function_id, self._fingerprint):
            return record
        self._run.mismatched(
            f"{self.describe()}: the journal has {identity_text(*record.identity())}, "
            f"the code calls {identity_text(self.function_id, self._fingerprint)}",
            record.number,
        )
        return None

    def make(self, call: DurableCall, *, was_intended: bool) -> Record:
        """Make the call, or find out what became of one that was intended before, and record the outcome (E3.6)."""
        self._run.journal.need_for_call()
        started_ms = self._core.ports.blocking.now()
        function: Callable[[], Any] = functools.partial(call.func, *call.args, **call.kwargs)
        name = metric.CALLS_STARTED
        if call.reconciler is not None:
            if was_intended:
                function, name = call.reconciler, metric.CALLS_RECONCILED
            else:
                self._commit(Record("i"))
        self._core.count(name, self.function_id)
        self.tell("started", call=call, attempt=1, replayed=False)
        outcome = self._invoke(function)
        self._commit(outcome)
        ended_ms = self._core.ports.blocking.now()
        self._core.observe(metric.MAILBOX_BLOCKED, self.function_id, ended_ms - started_ms)
        self.tell(outcome.status or "ok", result=outcome.live, duration_ms=ended_ms - started_ms, replayed=False)
        return outcome

    def tell(self, status: str, **told: Any) -> None:
        """Tell the event log, if there is one."""
        if self._core.log is not None:
            self._core.log.blocking_call(self._execution, self._slot, self.function_id, status, **told)

    def _invoke(self, function: Callable[[], Any]) -> Record:
        core = self._core
        core.leave()
        try:
            value = function()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever the function raises is the outcome of the call
            return Record("o", status="error", attempts=1, value=encode_error(core, error), live=error)
        finally:
            core.enter(self._execution)
        return Record("o", status="ok", attempts=1, value=encode_value(core, value, self), live=value)

    def _commit(self, record: Record) -> None:
        record.execution = self._execution.address
        record.slot = self._slot
        record.function_id = self.function_id
        record.fingerprint = self._fingerprint
        self._core.advance(self._core.ports.blocking.now())
        self._run.journal.commit(record, self.describe)
        self._execution.scope.note(NOTHING_ADMITTED, (record.number,))

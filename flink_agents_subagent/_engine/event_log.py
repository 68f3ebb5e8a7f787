"""What happens, as entries of the event log (E7.2, decision 0015). Owns what an entry says; must not know where it goes.

Made only when `EngineSettings.event_log` asks for it. Whoever has something to tell tests `EngineCore.log` for None first, so that
without it nothing is spent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from flink_agents_subagent._engine.core import EngineCore
from flink_agents_subagent._engine.effects import Log
from flink_agents_subagent._engine.failure import key_text
from flink_agents_subagent._engine.shown import shown, shown_call, shown_error
from flink_agents_subagent.chat.response import ToolResponse
from flink_agents_subagent.events import Event, InputEvent
from flink_agents_subagent.subagents.result import SubagentResult

if TYPE_CHECKING:
    from flink_agents_subagent._engine.execution import Execution
    from flink_agents_subagent._engine.run import Run
    from flink_agents_subagent._engine.scope import Scope
    from flink_agents_subagent._engine.slot import Slot
    from flink_agents_subagent.context import DurableCall

__all__ = ["EventLog"]

_NOTHING: Final[Mapping[str, Any]] = {}


class EventLog:
    """The event log of one engine.

    Guarantee: nothing that a run does depends on it, and it asks nothing of a run that the run would have to record. At level
        `standard` it holds names, ids, states and times; at `verbose` values too (`shown`).
    Replay: what is taken from the journal is told again, with `replayed`.
    Thread: task thread.
    """

    __slots__ = ("_calls", "_core", "_executions", "_is_verbose", "_next_run", "_runs", "_visited")

    def __init__(self, core: EngineCore) -> None:
        self._core = core
        self._is_verbose = core.settings.event_log == "verbose"
        self._next_run = 1
        self._runs: dict[Run, int] = {}
        """The runs under way, numbered as they began in this life."""
        self._executions: dict[Execution, int] = {}
        """Those whose code has not ended, and when they began."""
        self._calls: dict[Slot, int] = {}
        """Likewise."""
        self._visited: Execution | None = None

    # Runs

    def run_started(self, run: Run, event: InputEvent) -> None:
        """Tell that a run begins, or begins again after a restore."""
        if run not in self._runs:
            self._runs[run] = self._next_run
            self._next_run += 1
        self._tell(run, "run", "started", replayed=run.is_replaying, **self._value("input", event.input))

    def run_forgotten(self, run: Run) -> None:
        """Take back that calls of a run have begun: it begins anew, and what was told of it is taken back too."""
        self._calls = {slot: begun_ms for slot, begun_ms in self._calls.items() if slot.execution.run is not run}

    def run_ended(self, run: Run, *, has_failed: bool) -> None:
        """Tell that a run has ended; of one that has failed, that its input is dead-lettered."""
        status = "dead-letter" if has_failed else "ok"
        self._tell(run, "run", status, duration_ms=self._core.now_ms - run.started_ms, replayed=False)
        del self._runs[run]

    # Executions

    def execution_started(self, execution: Execution) -> None:
        """Tell that an event has started an action."""
        self._executions[execution] = self._core.now_ms
        told = {"replayed": self._is_replayed(execution), "event_type": type(execution.event).__qualname__}
        self._tell_of(execution, "started", **told)

    def visit(self, execution: Execution) -> None:
        """Visit it, and tell if its code has come to its end."""
        self._visited = execution
        execution.visit()
        self._visited = None
        if execution.is_done or execution.is_closed:
            self._ended(execution, "ok", _NOTHING)

    def action_failed(self, scope: Scope, action: str, error: BaseException) -> None:
        """Tell that an exception escaped an action, or kept it from starting."""
        failed = self._visited
        if failed is None or failed.scope is not scope:
            failed = next((it for it in self._executions if it.scope is scope and it.action.name == action), None)
        told = self._error(error)
        if failed is not None and failed.action.name == action:
            self._ended(failed, "failed", told)
        else:
            names = {"agent": scope.agent.name, "action": action}
            self._tell(scope.root, "execution", "failed", replayed=scope.root.is_replaying, **names, **told)

    def torn_down(self, executions: Iterable[Execution], *, is_final: bool) -> None:
        """Tell which executions were ended before their time; those that will be repeated elsewhere have not ended."""
        for execution in executions:
            if is_final:
                self._ended(execution, "cancelled", _NOTHING)
            else:
                self._executions.pop(execution, None)

    def _ended(self, execution: Execution, status: str, told: Mapping[str, Any]) -> None:
        begun_ms = self._executions.pop(execution, None)
        if begun_ms is not None:
            duration = {"duration_ms": self._core.now_ms - begun_ms, "replayed": self._is_replayed(execution)}
            self._tell_of(execution, status, **duration, **told)

    def _is_replayed(self, execution: Execution) -> bool:
        return not execution.is_logged or execution.run.is_replaying

    def _tell_of(self, execution: Execution, status: str, **told: Any) -> None:
        scope = execution.scope
        names = {
            "execution": str(execution.address),
            "parent": scope.call or None,
            "agent": scope.agent.name,
            "action": execution.action.name,
            "event": _event_id(scope, execution.event_ordinal),
        }
        self._tell(execution.run, "execution", status, **names, **told)

    # Events

    def event_sent(self, execution: Execution, event: Event) -> None:
        """Tell that an action has just sent an event."""
        scope = execution.scope
        # An output that had left before the restore does not leave again.
        is_suppressed = execution.events[-1] is None and execution.outputs <= execution.outputs_before
        told = {
            "event": _event_id(scope, scope.events_sent + len(execution.events)),
            "parent": str(execution.address),
            "event_type": type(event).__qualname__,
            "replayed": is_suppressed or execution.run.is_replaying,
        }
        self._tell(execution.run, "event", "sent", **told, **self._value("attributes", event))

    # Calls

    def call_started(self, slot: Slot) -> None:
        """Tell that an attempt at a call starts; further looks at a job of a sub-agent are none."""
        if slot.course is not None and slot.course.agains:
            return
        self._calls.setdefault(slot, self._core.now_ms)
        told = {"attempt": slot.attempts + 1, "replayed": False}
        if slot.is_reconciling:
            told["reconciler"] = True
        self._tell_of_slot(slot, "started", **told, **self._arguments(slot))

    def attempt_failed(self, slot: Slot, error: BaseException) -> None:
        """Tell that an attempt failed and another will follow."""
        told = {"attempt": slot.attempts + 1, "replayed": False, "duration_ms": self._core.now_ms - slot.started_ms}
        self._tell_of_slot(slot, "retry", **told, **self._error(error))

    def call_ended(self, slot: Slot, status: str, result: object) -> None:
        """Tell the outcome of a call that was made in this life."""
        begun_ms = self._calls.pop(slot, None)
        duration = {} if begun_ms is None else {"duration_ms": self._core.now_ms - begun_ms}
        self._tell_of_slot(slot, _status(status, result), replayed=False, **duration, **self._result(result))

    def call_cancelled(self, slot: Slot) -> None:
        """Tell that a call that had started is not wanted any more."""
        if slot in self._calls:
            duration_ms = self._core.now_ms - self._calls.pop(slot)
            self._tell_of_slot(slot, "cancelled", replayed=False, duration_ms=duration_ms)

    def call_replayed(self, slot: Slot, status: str, result: object) -> None:
        """Tell an outcome that was taken from the journal."""
        told = {"replayed": True, **self._arguments(slot), **self._result(result)}
        self._tell_of_slot(slot, _status(status, result), **told)

    def scope_opened(self, slot: Slot, *, is_replayed: bool) -> None:
        """Tell that the call of an internal sub-agent begins."""
        self._calls[slot] = self._core.now_ms
        self._tell_of_slot(slot, "started", replayed=is_replayed, **self._arguments(slot))

    def scope_ended(self, slot: Slot, status: str, result: object, *, is_replayed: bool) -> None:
        """Tell the outcome of an internal sub-agent's call, once."""
        begun_ms = self._calls.pop(slot, None)
        if begun_ms is not None:
            told = {"replayed": is_replayed, "duration_ms": self._core.now_ms - begun_ms, **self._result(result)}
            self._tell_of_slot(slot, _status(status, result), **told)

    def blocking_call(self, execution: Execution, number: int, name: str, status: str, **told: Any) -> None:
        """Tell of a call of a `def` action.

        Args:
            execution: The caller.
            number: The call's slot.
            name: The function.
            status: `started`, or how it ended.
            told: `call` or `result` are shown at level `verbose`, everything else as it is.
        """
        call: DurableCall | None = told.pop("call", None)
        result = told.pop("result", None)
        values = self._result(result) if status != "started" else {}
        if call is not None and self._is_verbose:
            values = {**values, "arguments": shown_call(call.func, call.args, call.kwargs)}
        self._tell_of_call(execution, number, name, _status(status, result), **told, **values)

    def _tell_of_slot(self, slot: Slot, status: str, **told: Any) -> None:
        spec = slot.spec
        if spec.session_id:
            told = {"subagent": spec.label, "session": spec.session_id, "call_id": spec.function_id, **told}
        self._tell_of_call(slot.execution, slot.number, slot.label, status, **told)

    def _tell_of_call(self, execution: Execution, number: int, name: str, status: str, **told: Any) -> None:
        ids = {"call": f"{execution.address}.{number}", "parent": str(execution.address), "name": name}
        self._tell(execution.run, "call", status, **ids, **told)

    # Values

    def _arguments(self, slot: Slot) -> Mapping[str, Any]:
        if not self._is_verbose:
            return _NOTHING
        given = slot.spec.arguments
        return {"arguments": shown_call(slot.spec.func) if given is None else shown(given)}

    def _result(self, result: object) -> Mapping[str, Any]:
        return self._error(result) if isinstance(result, BaseException) else self._value("result", result)

    def _error(self, error: BaseException) -> Mapping[str, Any]:
        told = {"error": type(error).__qualname__}
        if self._is_verbose:
            told["error_message"] = shown_error(error)
        return told

    def _value(self, name: str, value: object) -> Mapping[str, Any]:
        return {name: shown(value)} if self._is_verbose else _NOTHING

    def _tell(self, run: Run, what: str, status: str, **told: Any) -> None:
        core = self._core
        # An entry may come while its run ends, or after a run was forgotten: then it has no number here.
        entry = {
            "time_ms": core.now_ms,
            "what": what,
            "status": status,
            "key": key_text(core, run.key),
            "run": self._runs.get(run),
            "run_number": run.known_number,
        }
        core.effects.append(Log({name: value for name, value in {**entry, **told}.items() if value is not None}))


def _event_id(scope: Scope, ordinal: int) -> str:
    return f"{scope.call}/e{ordinal}" if scope.call else f"e{ordinal}"


def _status(status: str, result: object) -> str:
    """Return the state of a call: what failed is told as such, whether it is an exception or a sub-agent's failed result."""
    has_failed = isinstance(result, SubagentResult | ToolResponse) and not result.is_success
    if status == "error" or (status == "ok" and has_failed):
        return "failed"
    return status

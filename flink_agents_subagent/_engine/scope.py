"""What executions run in: a run, or an internal sub-agent call within one (decision 0013). Routes events, starts and visits executions.

Must not know records or commands. Decision 0001 argues why what happens here is the same live and on replay.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flink_agents_subagent._engine.async_execution import AsyncExecution
from flink_agents_subagent._engine.checkpoint import ExecutionEntry, event_bytes
from flink_agents_subagent._engine.core import EngineCore
from flink_agents_subagent._engine.execution import DefExecution, Execution, FinishedExecution, Mismatch, VisitLog
from flink_agents_subagent._engine.guards import NOTHING_ADMITTED
from flink_agents_subagent._engine.memory import Entry
from flink_agents_subagent._engine.record import Address
from flink_agents_subagent._engine.shared_state import SharedState
from flink_agents_subagent._plan.compiled import CompiledAction, CompiledAgent
from flink_agents_subagent.events import Event, InputEvent
from flink_agents_subagent.resources import ResourceType

if TYPE_CHECKING:
    from flink_agents_subagent._engine.run import Run

__all__ = ["Scope"]

_NOTHING_SHARED: tuple[Mapping[str, Entry], Mapping[str, Entry], Mapping[str, int]] = ({}, {}, NOTHING_ADMITTED)


class Scope(ABC):
    """Executions of one agent that share memory and events.

    Guarantee: executions are visited in the order in which they were started; of each, the internal sub-agent calls that it waits
        for are visited before the next execution is.
    Thread: task thread.
    """

    __slots__ = ("_active", "_events_sent", "_executions", "_restored", "_shared", "agent", "core", "torn")

    outer: Scope | None = None
    """The scope of the caller."""
    names: tuple[str, ...] = ()
    """Names of the sub-agents within which its executions run, outermost first (G1)."""
    path: tuple[str, ...] = ()
    """What tells its executions from those of other scopes of the run (E5.2)."""
    call = ""
    """The sub-agent call within which its executions run, as `execution.slot`."""

    def __init__(self, core: EngineCore, agent: CompiledAgent) -> None:
        self.core = core
        self.agent = agent
        self._executions: list[Execution] = []
        self._active: list[Execution] = []
        self._events_sent = 0
        self._shared: SharedState | None = None
        """None as long as nothing asked for it."""
        self._restored: list[ExecutionEntry] = []
        self.torn: frozenset[Address] | None = None
        """Once it is torn down: the executions that were. A restore has to run them again, so that they end in the same way."""

    # What executions ask for

    @property
    @abstractmethod
    def root(self) -> Run:
        """The run."""

    @property
    @abstractmethod
    def shared(self) -> SharedState:
        """What the executions share."""

    @abstractmethod
    def action_failed(self, action: str, error: BaseException) -> None:
        """Deal with an exception that escaped an action."""

    def resource(self, name: str, resource_type: ResourceType) -> Any:
        """Return a resource: the agent's own first, then its caller's (N1); raises `LookupError` when there is none."""
        try:
            return self.agent.resources[name, resource_type]
        except KeyError:
            if self.outer is None:
                raise
            return self.outer.resource(name, resource_type)

    def resource_names(self, resource_type: ResourceType) -> set[str]:
        """Return the names of the resources of a type that can be got."""
        outer = set() if self.outer is None else self.outer.resource_names(resource_type)
        return outer | {name for name, kind in self.agent.resources if kind is resource_type}

    def collect(self, event: Event) -> bytes | None:  # noqa: ARG002 - as it says
        """Keep an output that does not leave the operator; returns its bytes, None at the root, whose outputs leave."""
        return None

    def collect_again(self, data: bytes) -> None:  # noqa: B027 - the root has nothing to keep
        """Keep an output of an execution that does not run again."""

    def note(  # noqa: B027 - as above
        self, admitted: Mapping[str, int], taken: Sequence[int]
    ) -> None:
        """Note what was done to the run, whose state outlives the scope's: calls admitted, records taken by `def` actions."""

    @property
    def events_sent(self) -> int:
        """Events that are routed, outputs included."""
        return self._events_sent

    def execution_at(self, ordinal: int) -> Execution:
        """Return an execution; raises `Mismatch` when the code has not started it."""
        if ordinal >= len(self._executions):
            raise Mismatch(f"the code has not started execution {ordinal}")
        return self._executions[ordinal]

    @abstractmethod
    def _input_event(self) -> InputEvent:
        """Return an event with a copy of the input."""

    @abstractmethod
    def _address(self, ordinal: int) -> Address:
        """Return how records address an execution."""

    # Visits

    def _visit_active(self) -> bool:
        """Visit every active execution in order, those included that it starts; tell whether the scope goes on."""
        active, log = self._active, self.core.log
        # It grows while they are visited.
        for execution in active:
            if log is None:
                execution.visit()
            else:
                log.visit(execution)
            if self._active is not active:
                # It has failed: no code of it runs any more.
                return False
            if execution.events or self._shared is not None:
                self._after_visit(execution)
                if self._active is not active:
                    return False
            if execution.children is not None and not self._visit_children(execution, active):
                return False
        self._active = [execution for execution in active if not execution.is_done]
        return True

    def _visit_children(self, execution: Execution, active: list[Execution]) -> bool:
        """Let the sub-agent calls of an execution go on, and itself as often as one of them has ended."""
        children = execution.children
        while children is not None and children.visit():
            if self.core.log is None:
                execution.visit()
            else:
                self.core.log.visit(execution)
            if self._active is not active:
                return False
            self._after_visit(execution)
            if self._active is not active:
                return False
        execution.close_if_settled()
        return True

    def _after_visit(self, execution: Execution) -> None:
        events = execution.events
        shared = _NOTHING_SHARED if self._shared is None else self._shared.take_visit()
        if not events and not any(shared):
            return
        execution.events = []
        if execution.is_logged:
            execution.log.append(VisitLog(self.root.step, events, *shared))
        if shared[2]:
            self.note(shared[2], ())
        for place, event in enumerate(events):
            self._events_sent += 1
            if isinstance(event, Event) and self.torn is None:
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
        routes = self.agent.routes.get(type(event), ())
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
                own = self._input_event()
            self._start(route.action, own, ordinal)
        return data

    def _start(self, action: CompiledAction, event: Event, event_ordinal: int) -> None:
        ordinal = len(self._executions)
        if ordinal < len(self._restored):
            execution = self._start_again(ordinal, action, event, event_ordinal)
        else:
            execution = _kind_of(action)(self, self._address(ordinal), action, event, event_ordinal)
        self._executions.append(execution)
        self._active.append(execution)
        if self.core.log is not None:
            self.core.log.execution_started(execution)

    def _start_again(self, ordinal: int, action: CompiledAction, event: Event, event_ordinal: int) -> Execution:
        """Return the execution with this ordinal, of which the checkpoint knows something."""
        before, address = self._restored[ordinal], self._address(ordinal)
        if before.action not in ("", action.name):
            self.root.mismatched(
                f"execution {address} was one of action {before.action!r}, the code starts {action.name!r}", None
            )
            before = self._restored[ordinal]
        if before.is_finished:
            finished = FinishedExecution(self, address, action, event, event_ordinal)
            finished.restore(before.log, before.outputs)
            return finished
        execution = _kind_of(action)(self, address, action, event, event_ordinal)
        execution.outputs_before = before.outputs
        if before.scopes:
            execution.restore_children(before.scopes)
        return execution

    def _tear_down(self, *, is_final: bool) -> None:
        """End what runs: for good, or because the task ends and it will be replayed elsewhere."""
        active, self._active = self._active, []
        self.torn = frozenset(execution.address for execution in active if execution.is_logged)
        if self.core.log is not None:
            self.core.log.torn_down(active, is_final=is_final)
        for execution in active:
            execution.abandon(is_final=is_final)
        if is_final:
            # They stay for what is still to be taken back.
            self._active = [execution for execution in active if execution.is_closed and not execution.is_done]

    # Checkpoints

    def _execution_entries(self) -> list[ExecutionEntry]:
        """Return what a checkpoint keeps of the executions: those are included that a replay has not come to yet."""
        torn = self.torn or frozenset()
        entries = [_entry_of(execution, execution.address in torn) for execution in self._executions]
        return [*entries, *self._restored[len(entries) :]]

    def check_restored(self) -> None:
        """Find what the checkpoint has and the code has not done; called when nothing is left to replay."""
        missing = next((entry.action for entry in self._restored[len(self._executions) :]), "")
        if missing:
            self.root.mismatched(
                f"the checkpoint has an execution of action {missing!r} that the code did not start", None
            )
        for execution in self._active:
            if execution.children is not None:
                execution.children.check_restored()

    def forget_restored(self) -> None:
        """Let what is still to start begin afresh, whatever it is; only what has left already does not leave again (E1.9)."""
        started = len(self._executions)
        self._restored[started:] = [ExecutionEntry("", False, entry.outputs, []) for entry in self._restored[started:]]
        for execution in self._executions:
            if execution.children is not None:
                execution.children.forget_restored()


def _kind_of(action: CompiledAction) -> type[AsyncExecution | DefExecution]:
    return AsyncExecution if action.is_async else DefExecution


def _entry_of(execution: Execution, is_torn: bool) -> ExecutionEntry:
    is_finished = execution.is_finished and not is_torn
    children = None if is_finished else execution.children
    scopes = () if children is None else children.entries()
    return ExecutionEntry(execution.action.name, is_finished, execution.outputs_left, execution.log, scopes)

"""One action handling one event: what every kind of execution has. Owns no journal and no loop."""

from __future__ import annotations

import contextvars
import inspect
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from threading import get_ident
from typing import TYPE_CHECKING, NamedTuple

from flink_agents_subagent._engine.context import ExecutionContext
from flink_agents_subagent._engine.core import EngineCore
from flink_agents_subagent._engine.effects import Emit
from flink_agents_subagent._engine.faults import EngineStopped
from flink_agents_subagent._engine.guards import NOTHING_ADMITTED
from flink_agents_subagent._engine.memory import Entry
from flink_agents_subagent._engine.record import Address, Record
from flink_agents_subagent._plan.compiled import CompiledAction
from flink_agents_subagent.errors import ContextMisuseError, EncodingError
from flink_agents_subagent.events import Event, OutputEvent

if TYPE_CHECKING:
    from flink_agents_subagent._engine.checkpoint import ScopeEntry
    from flink_agents_subagent._engine.child_calls import ChildCalls
    from flink_agents_subagent._engine.run import Run
    from flink_agents_subagent._engine.scope import Scope

__all__ = ["DefExecution", "Execution", "FinishedExecution", "Mismatch", "VisitLog", "misuse", "refuse_awaitable"]

_log = logging.getLogger(__name__)


class Mismatch(Exception):  # noqa: N818 - control flow between an execution and its run
    """A record does not fit the execution; the text says why."""


class VisitLog(NamedTuple):
    """What an execution did in one step: enough to repeat it without running it (E4.5)."""

    step: int
    events: list[Event | bytes | None]
    """In the order of sending; bytes are encoded events, None stands for an output, which has left the operator. The outputs of an internal
    sub-agent call stay, as bytes."""
    short_term: Mapping[str, Entry]
    sensory: Mapping[str, Entry]
    admitted: Mapping[str, int] = NOTHING_ADMITTED
    """How many calls of each sub-agent it was allowed (G3)."""
    taken: Sequence[int] = ()
    """Records that `def` actions of its internal sub-agent calls took."""


class Execution(ABC):
    """One action handling one event."""

    __slots__ = (
        "action",
        "address",
        "core",
        "digest",
        "event",
        "event_ordinal",
        "events",
        "is_done",
        "is_sealed",
        "log",
        "outputs",
        "outputs_before",
        "run",
        "scope",
        "slots_used",
    )

    is_logged = True
    """Whether its visits are to be logged."""
    children: ChildCalls | None = None
    """Its internal sub-agent calls, once it has opened one."""

    def __init__(
        self, scope: Scope, address: Address, action: CompiledAction, event: Event, event_ordinal: int
    ) -> None:
        self.scope = scope
        self.run: Run = scope.root
        self.core: EngineCore = scope.core
        self.address = address
        self.action = action
        self.event = event
        self.event_ordinal = event_ordinal
        self.events: list[Event | bytes | None] = []
        """Sent in the present visit."""
        self.log: list[VisitLog] = []
        self.outputs = 0
        self.outputs_before = 0
        """Outputs that left before the barrier of the restored checkpoint; as many are suppressed (E1.9)."""
        self.slots_used = 0
        self.digest: bytes | None = None
        self.is_done = False
        self.is_sealed = False

    @abstractmethod
    def visit(self) -> None:
        """Go on until there is nothing left to do now (E2.2)."""

    @abstractmethod
    def deliver(self, record: Record) -> None:
        """Take a record of one of its slots or timers; raises `Mismatch` when there is no such slot or timer."""

    def expects(self, record: Record, /) -> bool:
        """Tell whether the record is of a slot or timer that there is, without taking it."""
        return record.slot < self.slots_used

    def prepare(self) -> None:  # noqa: B027 - only what can suspend has something to do
        """Be ready for what comes next from outside: called when the run is idle and nothing is left to replay."""

    def can_go_on(self) -> bool:
        """Tell whether a call or a timer can wake the execution."""
        return True

    def can_wake(self) -> bool:
        """Tell whether its code, which waits, can be woken; what merely takes calls back does not."""
        return True

    def restore_children(self, entries: Sequence[ScopeEntry]) -> None:
        """Take what a checkpoint says of its internal sub-agent calls."""
        self.run.mismatched(
            f"the checkpoint has {len(entries)} sub-agent calls of action {self.action.name!r}, which is a `def` action now",
            None,
        )

    @property
    def is_closed(self) -> bool:
        """Whether its code has ended and something of it is still to be awaited: only what can suspend has such things."""
        return False

    def close_if_settled(self) -> None:  # noqa: B027 - as above
        """Be done if nothing is to be awaited any more."""

    def halt(self) -> None:  # noqa: B027 - only what can suspend has other tasks
        """Run nothing more of the author's code than what unwinds: the engine has failed."""

    def abandon(self, *, is_final: bool) -> None:  # noqa: ARG002 - only what can suspend has open calls
        """Be torn down without an end; `is_final` when the run will not be repeated, so that its calls are cancelled (I7)."""
        self.is_sealed = True

    @property
    def is_finished(self) -> bool:
        """Whether its log says everything, so that a checkpoint can do without its code."""
        return self.is_done

    @property
    def outputs_left(self) -> int:
        """Outputs that have left: after a mismatch it may not have come again to all of those from before the barrier."""
        return max(self.outputs, self.outputs_before)

    def send(self, event: Event) -> None:
        """Send an event; outputs leave at once, others are routed when the visit ends."""
        if not isinstance(event, OutputEvent):
            self.events.append(event)
            return
        if self.scope.outer is not None:
            self.events.append(self.scope.collect(event))
            return
        if self.outputs >= self.outputs_before:
            # First, because an output that cannot be encoded is none and must not be counted.
            payload = self.core.ports.encode_output(event.output)
            self.core.effects.append(Emit(payload, self.run.timestamp, False, self.run.key))
        self.events.append(None)
        self.outputs += 1

    def refuse_others(self, name: str) -> None:
        """Raise if another action, or another thread, uses what belongs to this execution; the engine itself may."""
        core = self.core
        if core.thread != get_ident() or (core.current is not None and core.current is not self):
            raise self.refuse_use(name)

    def refuse_use(self, name: str) -> ContextMisuseError:
        """Return why `ctx.<name>` cannot be used now."""
        return misuse(self.action.name, name, has_ended=self.is_sealed)


class DefExecution(Execution):
    """An execution of a `def` action: its only visit runs it to its end (E2.6)."""

    __slots__ = ()

    def visit(self) -> None:
        """Run the action."""
        core = self.core
        core.enter(self)
        try:
            returned = contextvars.Context().run(self.action.function, self.event, ExecutionContext(self))
            if returned is not None:
                refuse_awaitable(self.action.name, returned)
        except (EngineStopped, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - the boundary of the author's code
            self._end()
            core.check()
            self.scope.action_failed(self.action.name, error)
            return
        finally:
            self._end()
        core.check()

    def deliver(self, record: Record) -> None:
        """Refuse: the action has ended, and it takes its outcomes itself."""
        raise Mismatch(f"the action has ended without making the call in slot {record.slot}")

    def _end(self) -> None:
        self.core.leave()
        self.is_done = self.is_sealed = True


def refuse_awaitable(action: str, returned: object) -> None:
    """Refuse what an action returned if it had to be awaited: nobody does, and nothing of it would happen."""
    if not inspect.isawaitable(returned):
        return
    if inspect.iscoroutine(returned):
        returned.close()
    raise ContextMisuseError(
        f"action {action!r} returned {type(returned).__qualname__} {getattr(returned, '__qualname__', '')!r}, which nobody awaits; "
        "declare the action async def, also where it is wrapped, and await what it calls"
    )


def misuse(action: str, name: str, *, has_ended: bool) -> ContextMisuseError:
    """Return why `ctx.<name>` of an action cannot be used now."""
    what = f"{name} of action {action!r}"
    if has_ended:
        _log.info("refused a call of a context whose action has ended", extra={"action": action, "call": name})
        return ContextMisuseError(f"{what} was used after the action had ended; nothing is sent or recorded any more")
    return ContextMisuseError(
        f"{what} was used outside the action, from a durable function or another thread; "
        "give the function what it needs as arguments, and use its result in the action"
    )


class FinishedExecution(Execution):
    """An execution that had ended before the restored checkpoint: its log is applied, its code does not run (E4.5)."""

    __slots__ = ("_applied",)

    is_logged = False

    def restore(self, log: list[VisitLog], outputs: int) -> None:
        """Take what the checkpoint says of it."""
        self.log = log
        self.outputs = self.outputs_before = outputs
        self.is_sealed = True
        self._applied = 0

    @property
    def is_finished(self) -> bool:
        """Always: the log does not get longer."""
        return True

    def visit(self) -> None:
        """Repeat what it did up to this step."""
        if not self.action.is_async:
            # It had its outcomes within this visit, and the run's time went on with them, for others that start now too.
            self.scope.note(NOTHING_ADMITTED, self.run.journal.take_all(self.address))
        log, step = self.log, self.run.step
        while self._applied < len(log) and log[self._applied].step <= step:
            visit = log[self._applied]
            self._applied += 1
            # The log keeps the bytes: whoever gets the events may change them.
            self.events.extend(self._sent(event) if isinstance(event, bytes) else event for event in visit.events)
            self.scope.shared.replay_visit(visit)
            if visit.taken:
                self.run.journal.take_numbers(visit.taken)
            self.scope.note(visit.admitted, visit.taken)
        self.is_done = self._applied == len(log)

    def _sent(self, data: bytes) -> Event | bytes:
        event = self._decoded(data)
        if not isinstance(event, OutputEvent):
            return event
        self.scope.collect_again(data)
        return data

    def _decoded(self, data: bytes) -> Event:
        try:
            return self.core.codec.decode(data)  # type: ignore[no-any-return]  # the bytes are those of an event
        except EncodingError as error:
            self.core.fail(
                EncodingError(
                    f"an event that action {self.action.name!r} sent before the checkpoint cannot be read: {error}"
                )
            )

    def deliver(self, record: Record) -> None:
        """Accept: what the record meant is in the log."""

    def expects(self, _: Record, /) -> bool:
        """Accept every record, as `deliver` does."""
        return True

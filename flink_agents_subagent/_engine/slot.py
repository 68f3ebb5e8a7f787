"""One durable call of an execution: its handle and its state. Owns no scheduling."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Final

from flink_agents_subagent._engine.course import Course
from flink_agents_subagent._engine.deadlines import Deadline
from flink_agents_subagent._engine.loop import ExecutionLoop, LoopFuture
from flink_agents_subagent.context import CallSpec, DurableHandle

if TYPE_CHECKING:
    from flink_agents_subagent._engine.async_execution import AsyncExecution
    from flink_agents_subagent._engine.calls import CallPool
    from flink_agents_subagent._engine.turns import Batch

__all__ = ["Handle", "Slot", "SlotState", "describe_call", "identity_text"]

# Looked up once: each call goes through both.
_wait = asyncio.Future.__await__
_add_done_callback = asyncio.Future.add_done_callback


class SlotState:
    """How far a call has come. Order matters: from RECORDED on its outcome is decided.

    Plain numbers: looking up a member of an `Enum` takes six times as long, and every call does that a dozen times.
    """

    HELD: Final = 0
    """Not released: replay is not over, the step is not over, or the handle was not awaited."""
    BATCHED: Final = 1
    """Released, waits for its turn in its batch or lane."""
    INTENDED: Final = 2
    """Its intent is appended and not acknowledged."""
    QUEUED: Final = 3
    """Waits for a thread or a place on the loop."""
    RUNNING: Final = 4
    PAUSED: Final = 5
    """Between two attempts."""
    RECORDED: Final = 6
    """Its outcome is appended and not delivered."""
    CLOSED: Final = 7
    """Its outcome is delivered, or it was cancelled."""


class Slot:
    """A call's position among the calls of its execution, and what has become of it (E3.1)."""

    __slots__ = (
        "attempts",
        "batch",
        "call",
        "course",
        "execution",
        "handle",
        "holds_turn",
        "is_open",
        "is_reconciling",
        "label",
        "number",
        "pool",
        "retry_at_ms",
        "retry_timer",
        "spec",
        "started_ms",
        "state",
        "time_out",
        "was_intended",
    )

    def __init__(
        self, execution: AsyncExecution, number: int, spec: CallSpec, batch: Batch | None, handle: Handle | None = None
    ) -> None:
        self.execution = execution
        self.number = number
        self.spec = spec
        self.course = None if spec.course is None else Course(spec.course)
        self.label = spec.label or spec.function_id
        """Name of the call in metrics and on the worker."""
        self.batch = batch
        self.state: int = SlotState.HELD
        """One of `SlotState`."""
        self.attempts = 0
        """Failed attempts one after the other that are recorded."""
        self.was_intended = False
        """A replayed intent says that the call may have been sent."""
        self.is_reconciling = False
        self.is_open = False
        """Whether the execution counts on its outcome."""
        self.holds_turn = False
        self.pool: CallPool | None = None
        """Where it has, or waits for, its place."""
        self.call = 0
        self.started_ms = 0
        self.retry_at_ms = 0
        self.time_out: Deadline | None = None
        self.retry_timer: Deadline | None = None
        self.handle = Handle(execution.loop, self) if handle is None else handle

    @property
    def timeout_ms(self) -> int | None:
        """The time-out of the call."""
        return self.spec.timeout_ms

    @property
    def is_decided(self) -> bool:
        """Whether nothing that happens outside can change the outcome any more."""
        return self.state >= SlotState.RECORDED

    def describe(self) -> str:
        """Return the call's name for messages."""
        return describe_call(self.spec.function_id, self.number, self.execution.action.name)


def describe_call(function_id: str, number: int, action: str) -> str:
    """Return a call's name for messages."""
    return f"durable call {function_id} (slot {number} of action {action!r})"


def identity_text(function_id: str, fingerprint: bytes) -> str:
    """Return a call's identity for messages."""
    return f"{function_id} with arguments {fingerprint.hex()}" if fingerprint else f"durable_id {function_id!r}"


class Handle(LoopFuture, DurableHandle[Any]):
    """What the author holds: a future of the execution's loop, so that all of asyncio can wait for it (E2.1)."""

    __slots__ = ("_slot", "_unawaited")

    def __init__(self, loop: ExecutionLoop, slot: Slot | None) -> None:
        LoopFuture.__init__(self, loop)
        self._slot: Slot | None = slot
        self._unawaited: dict[Handle, str] | None = None
        """Where it is listed until somebody awaits or cancels it."""

    def __await__(self) -> Generator[Any, None, Any]:
        """Wait for the outcome; the first await starts a call that starts at its await."""
        self._begin()
        return _wait(self)

    def add_done_callback(self, fn: Callable[[Any], object], *, context: contextvars.Context | None = None) -> None:
        """Have `fn` called with the handle when it is done. `gather`, `wait` and tasks wait in this way, so it counts as an await."""
        self._begin()
        _add_done_callback(self, fn, context=context)

    def cancel(self, msg: Any | None = None) -> bool:
        """Cancel the call (E3.11); tell whether it was still open."""
        slot = self._slot
        if slot is not None:
            slot.execution.refuse_others("cancel of a handle")
        self._look_at()
        if self.done():
            return False
        if slot is not None:
            slot.execution.cancel_call(slot)
            self.let_go()
        return super().cancel(msg)

    def failure(self) -> BaseException | None:
        """See `DurableHandle.failure`."""
        return None if not self.done() or self.cancelled() else self.exception()

    def go_on_with(self, slot: Slot) -> None:
        """Stand for the call that follows, from now on."""
        self._slot = slot

    def must_be_awaited(self, unawaited: dict[Handle, str], text: str) -> None:
        """Have the handle in `unawaited` until it is awaited or cancelled, even if it is done before (I4)."""
        self._unawaited = unawaited
        unawaited[self] = text

    def _look_at(self) -> None:
        if self._unawaited is not None:
            self._unawaited.pop(self, None)
            self._unawaited = None

    def deliver(self, value: object, error: BaseException | None) -> None:
        """Take the outcome. Nobody has to retrieve an exception: it surfaces at an await, or not at all (E3.1)."""
        self._slot = None
        if self.done():
            return
        if error is None:
            self.set_result(value)
        else:
            self.set_exception(error)
            self._log_traceback = False

    def let_go(self) -> None:
        """Forget the call: the author may keep the handle, the run must not live as long as that."""
        self._slot = None

    def _begin(self) -> None:
        if self._unawaited is not None:
            self._look_at()
        slot = self._slot
        if slot is not None:
            slot.execution.begin(slot)

"""What an action can do: the context port, and what a durable call is described with. Owns signatures only; `_engine` implements them."""

from __future__ import annotations

import math
import random
import uuid
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.events import Event
from flink_agents_subagent.memory import MemoryObject
from flink_agents_subagent.resources import ResourceType

__all__ = [
    "CallAgain",
    "CallCourse",
    "CallExpired",
    "CallLane",
    "CallSpec",
    "ChatLimits",
    "DurableCall",
    "DurableHandle",
    "Outcome",
    "RetryPolicy",
    "RunnerContext",
    "ScopeCall",
    "SubagentIdentity",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How a durable call is repeated inside the call (E3.9).

    Guarantee: each failed attempt is recorded, so a failover does not reset the budget. After an exception that has a `retry_after`,
        in seconds, no attempt is made sooner than that.
    """

    max_attempts: int = 3
    """Attempts in all, at least 1."""
    initial: timedelta = timedelta(seconds=1)
    """Pause after the first failed attempt."""
    factor: float = 2.0
    """Growth of the pause, at least 1."""
    max_interval: timedelta = timedelta(minutes=1)
    """Longest pause."""
    retry_on: tuple[type[BaseException], ...] = (Exception,)
    """Exception types worth another attempt."""

    def __post_init__(self) -> None:
        """Refuse what could only fail at the first failed attempt.

        Raises:
            DefinitionError: Names the field, its value and what to give.
        """
        _check_retry("max_attempts", self.max_attempts, _is_count(self.max_attempts), "a whole number of at least 1")
        _check_retry("factor", self.factor, _is_factor(self.factor), "a number of at least 1")
        for name in ("initial", "max_interval"):
            pause = getattr(self, name)
            is_pause = isinstance(pause, timedelta) and pause >= timedelta(0)
            _check_retry(name, pause, is_pause, "a timedelta that is not negative")
        _check_retry("retry_on", self.retry_on, _are_exceptions(self.retry_on), "a tuple of exception classes")


def _check_retry(name: str, value: object, is_right: bool, wanted: str) -> None:
    if not is_right:
        raise DefinitionError(f"{name} of a RetryPolicy is {value!r}; give {wanted}")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_factor(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value < math.inf


def _are_exceptions(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, type) and issubclass(one, BaseException) for one in value)


@dataclass(frozen=True, slots=True)
class DurableCall:
    """One call of a `durable_execute_all_async` batch; the fields are the arguments of `durable_execute_async`."""

    func: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    reconciler: Callable[[], Any] | None = None
    durable_id: str | None = None
    timeout: timedelta | float | None = None
    retry: RetryPolicy | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one call of a batch ended: a value, or an exception."""

    value: Any = None
    error: BaseException | None = None

    @property
    def is_success(self) -> bool:
        """Whether the call returned."""
        return self.error is None

    def unwrap(self) -> Any:
        """Return the value, or raise the exception."""
        if self.error is not None:
            raise self.error
        return self.value


class CallAgain(NamedTuple):
    """Returned by the function of a call that has a course: run it again later, and record nothing (decision 0007)."""

    after_ms: int


class CallExpired(NamedTuple):
    """Returned by the function of a call that has a course: as if its time-out had passed, with this value as the outcome."""

    value: Any


class CallLane(NamedTuple):
    """A queue of calls, one per subtask and name: first come, first served (M8)."""

    name: str
    max_concurrency: int | None = None
    """Calls at a time, each from its start until its outcome, with all that follows it."""
    rate_limit: float | None = None
    """Starts per second, evenly spaced."""


@dataclass(frozen=True, slots=True)
class CallCourse:
    """What a call is beyond attempts at one function (decision 0007).

    With a course, the function may return `CallAgain` or `CallExpired`. All other functions here are called on the task thread,
    depend on their arguments and on what the call is alone, and are called again on a replay.
    """

    then: Callable[[Any, int], CallSpec | None] | None = None
    """Given the recorded value and the milliseconds since the intent: the call that the handle goes on with, None when it is done."""
    undo: Callable[[], CallSpec] | None = None
    """The call that takes this one back, when it was cancelled or timed out after it may have been sent. The run does not end
    before that has an outcome. For calls that have an intent, or that `then` made."""
    delay_ms: Callable[[int], int] | None = None
    """Given the milliseconds since the call before was recorded: how long to wait with the first attempt."""
    lane: CallLane | None = None
    reconciles_attempts: bool = False
    """After a failed attempt, of the function or of the reconciler, the reconciler runs."""


class ScopeCall(NamedTuple):
    """A call that runs another agent within the calling run (decision 0013)."""

    agent: Any
    """The compiled agent."""
    input: Any
    """The value of its `InputEvent`; nobody changes it."""
    result: Callable[[list[Any]], Any]
    """Given the outputs, in order: what the call gives back. What it raises is the failure of the call."""
    failure: Callable[[BaseException], Any]
    """Given what escaped an action: what the call gives back; or raises what its await is to raise."""
    time_out: Callable[[], Any]
    """Returns what a call that timed out gives back."""


class CallSpec(NamedTuple):
    """Everything that the engine must know of a durable call; the public methods and the sub-agents build it."""

    func: Callable[[], Any]
    """Called without arguments; a coroutine function runs on the background loop, any other on the pool."""
    function_id: str
    fingerprint: bytes
    is_coroutine: bool
    reconciler: Callable[[], Any] | None = None
    timeout_ms: int | None = None
    retry: RetryPolicy | None = None
    starts_at_await: bool = False
    """Start at the first await of the handle instead of at its creation (deferred sub-agents)."""
    on_error: Callable[[BaseException], Any] | None = None
    """Turns an exception that escapes the last attempt into a value, which is then recorded as `ok`."""
    on_timeout: Callable[[], Any] | None = None
    """Turns a timeout into a value, likewise."""
    must_be_awaited: str | None = None
    """When set, an open handle at the end of the action is an error; the text names sub-agent and source line (I4)."""
    label: str = ""
    """Metric label: function or sub-agent name."""
    course: CallCourse | None = None
    scope: ScopeCall | None = None
    """When set, `func` is not called: an agent runs in its place, without an outcome record but that of a time-out."""
    session_id: str = ""
    """Of the sub-agent that is called, when one is."""
    arguments: Mapping[str, Any] | None = None
    """What an event log shows as the arguments; None: what `func` binds, if it is a `partial`."""
    used: Callable[[Any], Mapping[str, int]] | None = None
    """Given what the function returned in this life: amounts to add to counters of the call's label, by name. Not asked on a replay."""


class ChatLimits(NamedTuple):
    """The options that the built-in chat actions obey."""

    max_tool_rounds: int
    tool_parallelism: int
    tool_timeout_ms: int


class SubagentIdentity(Protocol):
    """The ids of one sub-agent invocation (D1–D3)."""

    session_id: str
    call_id: str


class DurableHandle(ABC, Generic[T]):
    """A durable call in flight: awaitable any number of times with the same result, cancellable (E3.1, E3.11)."""

    __slots__ = ()

    @abstractmethod
    def __await__(self) -> Generator[Any, None, T]:
        """Wait for the outcome: return the value or raise the recorded exception."""

    @abstractmethod
    def done(self) -> bool:
        """Tell whether the outcome was delivered; deterministic, does no I/O."""

    @abstractmethod
    def failure(self) -> BaseException | None:
        """Return what `await` would raise; None while the call is open, after it returned, and after `cancel`."""

    @abstractmethod
    def cancel(self) -> bool:
        """Cancel: before start nothing is sent; a coroutine is cancelled, a blocking call abandoned. Then `await` raises CancelledError."""


class RunnerContext(ABC):
    """What an action can do. One per action execution.

    Thread: the task thread, inside the action only; any other use raises `ContextMisuseError` (E3.12).
    """

    @property
    @abstractmethod
    def key(self) -> Any:
        """The key of the run's input."""

    @property
    @abstractmethod
    def agent_name(self) -> str:
        """The name of the agent."""

    @property
    @abstractmethod
    def action_name(self) -> str:
        """The name of the action that runs."""

    @property
    @abstractmethod
    def timestamp(self) -> int | None:
        """The timestamp of the run's input in milliseconds, None when it has none."""

    @property
    @abstractmethod
    def config(self) -> Mapping[str, Any]:
        """The configuration of the action (`@action(..., config={})`)."""

    @property
    @abstractmethod
    def short_term_memory(self) -> MemoryObject:
        """Memory of the key; writes reach Flink state when the run ends (E6)."""

    @property
    @abstractmethod
    def sensory_memory(self) -> MemoryObject:
        """Memory of the run; dropped when the run ends (E6)."""

    @abstractmethod
    def send_event(self, event: Event) -> None:
        """Send an event; it is routed when this action suspends or ends (E1.2).

        Guarantee: an output leaves as it is now, whatever becomes of its objects afterwards. Of another event, each
            `async def` action that it triggers gets a copy, as it is when it is routed.

        Raises:
            NotExpressibleError: The output's value does not fit the output format.
        """

    @abstractmethod
    def get_resource(self, name: str, resource_type: ResourceType) -> Any:
        """Return a resource; raises `DefinitionError` naming those that exist."""

    @abstractmethod
    def durable_execute(
        self,
        func: Callable[..., T],
        *args: Any,
        reconciler: Callable[[], T] | None = None,
        durable_id: str | None = None,
        **kwargs: Any,
    ) -> T:
        """Call `func` durably and wait for it; `def` actions only, blocks the task thread (E3.16)."""

    @abstractmethod
    def durable_execute_async(
        self,
        func: Callable[..., T | Awaitable[T]],
        *args: Any,
        reconciler: Callable[[], Any] | None = None,
        durable_id: str | None = None,
        timeout: timedelta | float | None = None,
        retry: RetryPolicy | None = None,
        **kwargs: Any,
    ) -> DurableHandle[T]:
        """Start a durable call and return its handle; `async def` actions only (E3)."""

    @abstractmethod
    def durable_execute_all_async(
        self, calls: Sequence[DurableCall], max_concurrency: int | None = None
    ) -> Awaitable[list[Outcome]]:
        """Run a batch of durable calls concurrently; outcomes in the order of `calls` (E3.14)."""

    @abstractmethod
    def as_completed(self, awaitables: Iterable[Awaitable[T]]) -> AsyncIterator[T]:
        """Yield results in the order in which they were delivered; the same on replay (E2.1)."""

    @abstractmethod
    def now(self) -> datetime:
        """Return the time of the last delivered record (UTC, aware); the same on replay (E2.3)."""

    @abstractmethod
    def uuid4(self) -> uuid.UUID:
        """Return a new id, derived from the execution; the same on replay (E2.5)."""

    @abstractmethod
    def random(self) -> random.Random:
        """Return the execution's random generator, seeded from its identity; the same on replay (E2.5)."""

    @abstractmethod
    def patched(self, change_id: str) -> bool:
        """Tell whether this run may take the new path of a code change (E3.8)."""

    @abstractmethod
    def _open_call(self, spec: CallSpec) -> DurableHandle[Any]:
        """Reserve a slot for `spec` and start it as the spec says. For sub-agent base classes."""

    @abstractmethod
    def _open_calls(self, specs: Sequence[CallSpec], max_concurrency: int) -> list[DurableHandle[Any]]:
        """Reserve a slot for each of `specs`, in order; so many run at a time. For the built-in chat actions."""

    @abstractmethod
    def _chat_limits(self) -> ChatLimits:
        """Return the options of chat requests. For the built-in chat actions."""

    @abstractmethod
    def _find_type(self, name: str) -> type[Any]:
        """Return the data class with the name `module:qualified name`, as journals know it. For the built-in chat actions.

        Raises:
            EncodingError: There is none, or it is no data class.
        """

    @abstractmethod
    def _settled_call(self, value: Any, must_be_awaited: str) -> DurableHandle[Any]:
        """Return a handle that is done with `value`, without slot and record. For sub-agent base classes."""

    @abstractmethod
    def _admit_subagent(self, subagent: str, max_calls: int | None) -> str | None:
        """Count a sub-agent call of the run; return why it is refused, None when it is not (G1–G3). For sub-agent base classes.

        Args:
            subagent: Name of the sub-agent.
            max_calls: How many calls of it a run may make; None: any number.
        """

    @abstractmethod
    def _subagent_depth_left(self) -> int:
        """Return how many levels of sub-agents a call made here may still open, itself included; 0: it would be refused (G1, T16).

        Replay: the same, as long as the option `subagent.max-depth` is.
        """

    @abstractmethod
    def _fingerprint(self, *values: Any) -> bytes:
        """Return the canonical fingerprint of `values` (E3.3); raises `NotExpressibleError` with the path of a type that it does not know. For sub-agent base classes."""

    @abstractmethod
    def _subagent_identity(self, subagent: str, session_id: str | None) -> SubagentIdentity:
        """Return session and call id of the next invocation (D1, D2). For sub-agent base classes."""

"""What the engine tells its host to do, and what the host tells it back. Owns no behaviour.

A host performs effects in order, after each command (decision 0001).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

__all__ = [
    "Append",
    "BlockingStore",
    "CallOrigin",
    "CallOutcome",
    "CallRaised",
    "CallReturned",
    "CancelCall",
    "Count",
    "Effect",
    "Emit",
    "EnginePorts",
    "FailTask",
    "InputFinished",
    "KeyedReader",
    "Log",
    "Metric",
    "Observe",
    "SetTimer",
    "StartCall",
    "WriteMemory",
    "WriteRunNumber",
]


class CallOrigin(NamedTuple):
    """Which call of which run: for event logs, and for the checks of the crash simulator."""

    key: bytes
    run_number: int
    execution: int | str
    """Its ordinal in the run, or its path when it runs in an internal sub-agent call."""
    slot: int
    function_id: str
    fingerprint: bytes
    attempt: int
    """1 for the first attempt."""
    has_reconciler: bool
    is_reconciler: bool
    """Whether the reconciler runs in place of the function."""
    agains: int = 0
    """How often the function has asked to be run again in this life (`CallAgain`)."""


class StartCall(NamedTuple):
    """Run `function()` on the worker pool, or on the background loop when it is a coroutine function.

    The host answers exactly once with `complete_call(call, …)`, unless the call was cancelled first.
    """

    call: int
    function: Callable[[], object]
    is_coroutine: bool
    name: str
    origin: CallOrigin | None = None


class CancelCall(NamedTuple):
    """Cancel a running coroutine, or abandon a running blocking call.

    A late completion gives no outcome. The host still reports that of a blocking call when its function returns: until then
    the call holds a thread (E3.10).
    """

    call: int


class Append(NamedTuple):
    """Hand a record to the store; answered by `acknowledge([seq])`, or by the failure of the task."""

    seq: int
    key: bytes
    run_number: int
    record_number: int
    payload: bytes


class Emit(NamedTuple):
    """Send an output downstream; `is_dead_letter` chooses the side output. The key is that of the run's input.

    The payload of an output is what `EnginePorts.encode_output` made of it; that of a dead letter is a dict.
    """

    payload: Any
    timestamp: int | None
    is_dead_letter: bool
    key: bytes = b""


class WriteMemory(NamedTuple):
    """Write the short-term memory of a key: encoded entry by path, None removes the path."""

    key: bytes
    entries: Mapping[str, bytes | None]


class WriteRunNumber(NamedTuple):
    """Keep the highest run number of a key in keyed state."""

    key: bytes
    run_number: int


class SetTimer(NamedTuple):
    """Call `fire_timers` at this engine time or soon after; replaces an earlier request."""

    deadline_ms: int


class InputFinished(NamedTuple):
    """The run of this input, the oldest unfinished one of its key, ended: watermarks and held inputs may move on."""

    ticket: int
    key: bytes = b""


class Count(NamedTuple):
    """Add to a counter (E7.1); `label` is the function or sub-agent, or empty."""

    metric: str
    label: str
    amount: int


class Observe(NamedTuple):
    """Add values to a histogram (E7.1), in milliseconds, oldest first."""

    metric: str
    label: str
    values: Sequence[int]


Metric: TypeAlias = Count | Observe
"""What is reported beside the effects, whenever the host asks: nothing depends on its order."""


class Log(NamedTuple):
    """Write an entry of the event log (E7.2); only when `EngineSettings.event_log` asks for them. Nothing depends on it.

    What the host makes lines of (`log_line`).
    """

    entry: Mapping[str, Any]


class FailTask(NamedTuple):
    """The engine cannot go on: fail the task with this error."""

    error: BaseException


Effect: TypeAlias = (
    StartCall | CancelCall | Append | Emit | WriteMemory | WriteRunNumber | SetTimer | InputFinished | FailTask | Log
)


class CallReturned(NamedTuple):
    """The call returned this value."""

    value: object


class CallRaised(NamedTuple):
    """The call raised this exception."""

    error: BaseException


CallOutcome: TypeAlias = CallReturned | CallRaised


class KeyedReader(Protocol):
    """A read-only view of keyed state."""

    def read(self, key: bytes, path: str) -> bytes | None:
        """Return the encoded memory entry at `path` of `key`, or None."""

    def run_number(self, key: bytes) -> int:
        """Return the highest run number written for `key`, 0 when there is none."""


class BlockingStore(Protocol):
    """The one thing that blocks: the append of a `def` action's durable call (E3.16)."""

    def commit(self, append: Append) -> None:
        """Return when the record is durable; raise `StoreError` otherwise."""

    def now(self) -> int:
        """Return the engine time in milliseconds."""


class EnginePorts(NamedTuple):
    """What a host gives to the engine besides commands."""

    keyed: KeyedReader
    blocking: BlockingStore
    decode_input: Callable[[bytes], object]
    encode_output: Callable[[object], object]
    """Asked when an output is sent, so that what the action does to its objects later is not seen: a replay would show it, because
    it passes several steps before its effects are performed. Raises `NotExpressibleError` to the action."""

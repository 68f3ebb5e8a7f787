"""The error tree. Owns every exception class that users may meet; imports the standard library only.

::

    AgentError                      base; `code` (stable string) and `retryable`
    ├── DefinitionError             an agent, resource, option or plan is wrong; raised to the author
    ├── ContextMisuseError          an API was used where it cannot work (wrong thread, `def` action, sealed context)
    ├── NotExpressibleError         a value cannot be stored or sent; carries `path`
    ├── DurableCallError            a recorded exception that cannot be rebuilt as its own class
    ├── DurableTimeoutError         a durable call did not finish in time
    ├── SubagentError               `get_result` on a failed sub-agent result
    ├── ChatModelError              a provider refused a request, or its answer cannot be read
    │   └── ChatModelUnavailableError   another attempt may succeed; carries `retry_after`
    ├── ActionError                 an exception escaped an action; the job fails with it
    ├── SimulationError             the crash simulator found a divergence
    └── EngineError                 the engine cannot go on; never given to an action as an outcome
        ├── ReplayMismatchError     code and journal disagree (E3.7)
        ├── EncodingError           a value to be journalled has a type that cannot be rebuilt (E3.5)
        ├── RecordTooLargeError     a record is larger than `journal.max-record-bytes` (E3.13)
        ├── UnawaitedHandleError    a sub-agent handle was neither awaited nor cancelled (I4)
        ├── UnknownVersionError     a record or entry was written by a newer version
        ├── StoreError              the action-state store failed
        │   ├── StoreUnavailableError   retryable by a task restart
        │   ├── StoreFencedError        another attempt owns the key groups
        │   ├── StoreCorruptError       a record cannot be read; carries its address
        │   └── StoreLostError          the store or its tail is gone
        └── BridgeError             the Java and the Python half disagree or lost each other
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "ActionError",
    "AgentError",
    "BridgeError",
    "ChatModelError",
    "ChatModelUnavailableError",
    "ContextMisuseError",
    "DefinitionError",
    "DurableCallError",
    "DurableTimeoutError",
    "EncodingError",
    "EngineError",
    "NotExpressibleError",
    "RecordTooLargeError",
    "ReplayMismatchError",
    "SimulationError",
    "StoreCorruptError",
    "StoreError",
    "StoreFencedError",
    "StoreLostError",
    "StoreUnavailableError",
    "SubagentError",
    "UnawaitedHandleError",
    "UnknownVersionError",
]


class AgentError(Exception):
    """Base of all errors of this package; `code` is stable across versions, `retryable` says whether a restart may help."""

    code: ClassVar[str] = "agent_error"
    retryable: ClassVar[bool] = False


class DefinitionError(AgentError):
    """An agent, a resource, an option or a plan is wrong."""

    code = "definition"


class ContextMisuseError(AgentError):
    """An API was used where it cannot work."""

    code = "context_misuse"


class NotExpressibleError(AgentError):
    """A value cannot be stored or sent; `path` says where in the value."""

    code = "not_expressible"

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class DurableCallError(AgentError):
    """A recorded exception whose class cannot be rebuilt; keeps its type name and message."""

    code = "durable_call"

    def __init__(self, type_name: str, message: str) -> None:
        super().__init__(type_name, message)
        self.type_name = type_name
        self.message = message

    def __str__(self) -> str:
        return f"{self.type_name}: {self.message}"


class DurableTimeoutError(AgentError, TimeoutError):
    """A durable call did not finish within its timeout; the outcome `timeout` is recorded."""

    code = "durable_timeout"


class SubagentError(AgentError):
    """A sub-agent failed; the message is the failure's own."""

    code = "subagent"


class ChatModelError(AgentError):
    """The provider of a chat model refused a request, or its answer cannot be read; another attempt would get the same."""

    code = "chat_model"


class ChatModelUnavailableError(ChatModelError):
    """The provider of a chat model could not be reached, was too busy, or broke down; another attempt may succeed."""

    code = "chat_model_unavailable"
    retryable = True

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        """Say what happened.

        Args:
            message: Names the request and the answer.
            retry_after: Seconds after which the provider wants to be asked again; None when it did not say.
        """
        super().__init__(message)
        self.retry_after = retry_after


class ActionError(AgentError):
    """An exception escaped an action; names agent, action, key and run, the cause is the exception."""

    code = "action"


class SimulationError(AgentError, AssertionError):
    """The crash simulator found a divergence; the message holds the first point of it and how to repeat it."""

    code = "simulation"


class EngineError(AgentError):
    """The engine cannot go on; the job fails with it."""

    code = "engine"


class ReplayMismatchError(EngineError):
    """Code and journal disagree; names the slot, both identities and their difference."""

    code = "replay_mismatch"


class EncodingError(EngineError):
    """A value to be journalled has a type that cannot be rebuilt; names call, type and path."""

    code = "encoding"


class RecordTooLargeError(EngineError):
    """A record is larger than `journal.max-record-bytes`."""

    code = "record_too_large"


class UnawaitedHandleError(EngineError):
    """A sub-agent handle was neither awaited nor cancelled when its action ended."""

    code = "unawaited_handle"


class UnknownVersionError(EngineError):
    """A record or checkpoint entry has a format version that this release cannot read."""

    code = "unknown_version"


class StoreError(EngineError):
    """The action-state store failed."""

    code = "store"


class StoreUnavailableError(StoreError):
    """The store could not be reached or written; a restart of the task may help."""

    code = "store_unavailable"
    retryable = True


class StoreFencedError(StoreError):
    """Another attempt owns the key groups; this one must stop."""

    code = "store_fenced"


class StoreCorruptError(StoreError):
    """A record of the store cannot be read; the message holds its address."""

    code = "store_corrupt"


class StoreLostError(StoreError):
    """The store, or the part of it that a restore needs, is gone."""

    code = "store_lost"


class BridgeError(EngineError):
    """The Java and the Python half disagree or lost each other."""

    code = "bridge"

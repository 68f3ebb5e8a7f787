"""Agents with durable calls and sub-agents for PyFlink.

`AgentsExecutionEnvironment` and the readers of YAML are imported when they are first used: the first brings PyFlink along, the
others a parser, and neither unit tests on the local runner nor the TaskManager need these.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from flink_agents_subagent._engine.encoding import Record
from flink_agents_subagent.actions import action
from flink_agents_subagent.agent import Agent, subagent
from flink_agents_subagent.context import DurableCall, DurableHandle, Outcome, RetryPolicy, RunnerContext
from flink_agents_subagent.errors import (
    ActionError,
    AgentError,
    BridgeError,
    ChatModelError,
    ChatModelUnavailableError,
    ContextMisuseError,
    DefinitionError,
    DurableCallError,
    DurableTimeoutError,
    EncodingError,
    EngineError,
    NotExpressibleError,
    RecordTooLargeError,
    ReplayMismatchError,
    SimulationError,
    StoreCorruptError,
    StoreError,
    StoreFencedError,
    StoreLostError,
    StoreUnavailableError,
    SubagentError,
    UnawaitedHandleError,
    UnknownVersionError,
)
from flink_agents_subagent.events import Event, InputEvent, OutputEvent
from flink_agents_subagent.memory import MemoryObject
from flink_agents_subagent.resources import Resource, ResourceDescriptor, ResourceType
from flink_agents_subagent.subagents import (
    BaseAsyncSubagentSetup,
    BaseDeferredSubagentSetup,
    JavaSubagent,
    RunState,
    RunStatus,
    SubagentFuture,
    SubagentFutures,
    SubagentRequest,
    SubagentResult,
    SubagentSetup,
)

if TYPE_CHECKING:
    from flink_agents_subagent.descriptor import AgentFile, load_agents
    from flink_agents_subagent.execution import AgentsExecutionEnvironment

__all__ = [
    "ActionError",
    "Agent",
    "AgentError",
    "AgentFile",
    "AgentsExecutionEnvironment",
    "BaseAsyncSubagentSetup",
    "BaseDeferredSubagentSetup",
    "BridgeError",
    "ChatModelError",
    "ChatModelUnavailableError",
    "ContextMisuseError",
    "DefinitionError",
    "DurableCall",
    "DurableCallError",
    "DurableHandle",
    "DurableTimeoutError",
    "EncodingError",
    "EngineError",
    "Event",
    "InputEvent",
    "JavaSubagent",
    "MemoryObject",
    "NotExpressibleError",
    "Outcome",
    "OutputEvent",
    "Record",
    "RecordTooLargeError",
    "ReplayMismatchError",
    "Resource",
    "ResourceDescriptor",
    "ResourceType",
    "RetryPolicy",
    "RunState",
    "RunStatus",
    "RunnerContext",
    "SimulationError",
    "StoreCorruptError",
    "StoreError",
    "StoreFencedError",
    "StoreLostError",
    "StoreUnavailableError",
    "SubagentError",
    "SubagentFuture",
    "SubagentFutures",
    "SubagentRequest",
    "SubagentResult",
    "SubagentSetup",
    "UnawaitedHandleError",
    "UnknownVersionError",
    "action",
    "load_agents",
    "subagent",
]

_LATE = {"AgentFile": "descriptor", "AgentsExecutionEnvironment": "execution", "load_agents": "descriptor"}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(importlib.import_module(f"flink_agents_subagent.{_LATE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

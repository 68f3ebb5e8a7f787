"""Sub-agents as code calls them: setups, requests, handles, results."""

from flink_agents_subagent.subagents.asynchronous import BaseAsyncSubagentSetup
from flink_agents_subagent.subagents.deferred import BaseDeferredSubagentSetup
from flink_agents_subagent.subagents.future import SubagentFuture, SubagentFutures
from flink_agents_subagent.subagents.java import JavaSubagent
from flink_agents_subagent.subagents.request import SubagentRequest
from flink_agents_subagent.subagents.result import SubagentResult
from flink_agents_subagent.subagents.setup import SubagentSetup
from flink_agents_subagent.subagents.status import RunState, RunStatus

__all__ = [
    "BaseAsyncSubagentSetup",
    "BaseDeferredSubagentSetup",
    "JavaSubagent",
    "RunState",
    "RunStatus",
    "SubagentFuture",
    "SubagentFutures",
    "SubagentRequest",
    "SubagentResult",
    "SubagentSetup",
]

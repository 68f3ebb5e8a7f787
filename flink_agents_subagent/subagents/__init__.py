"""Sub-agents as code calls them: setups, requests, handles, results."""

from flink_agents_subagent.subagents.deferred import BaseDeferredSubagentSetup
from flink_agents_subagent.subagents.future import SubagentFuture, SubagentFutures
from flink_agents_subagent.subagents.request import SubagentRequest
from flink_agents_subagent.subagents.result import SubagentResult
from flink_agents_subagent.subagents.setup import SubagentSetup

__all__ = [
    "BaseDeferredSubagentSetup",
    "SubagentFuture",
    "SubagentFutures",
    "SubagentRequest",
    "SubagentResult",
    "SubagentSetup",
]

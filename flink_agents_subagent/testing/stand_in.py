"""Stand-ins for Java sub-agents where there is no JVM. Owns the way to them; what crosses is what crosses to Java (decision 0008)."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from flink_agents_subagent.agent import Agent
from flink_agents_subagent.errors import DefinitionError, NotExpressibleError
from flink_agents_subagent.resources import ResourceDescriptor, ResourceType
from flink_agents_subagent.subagents import (
    BaseAsyncSubagentSetup,
    BaseDeferredSubagentSetup,
    JavaSubagent,
    RunStatus,
    SubagentRequest,
    SubagentResult,
    SubagentSetup,
)
from flink_agents_subagent.subagents.java import JavaAnswer, JavaMode
from flink_agents_subagent.subagents.normalization import normalize
from flink_agents_subagent.subagents.result import as_result

__all__ = ["with_stand_ins"]

_METHODS = {
    "call": "call",
    "reconcile": "reconcile",
    "submit": "call_submit_request",
    "status": "call_query_status",
    "fetch": "call_fetch_result",
    "cancel": "call_cancel_request",
}


def with_stand_ins(agent: Agent, stand_ins: Mapping[str, SubagentSetup]) -> Agent:
    """Return a copy of an agent with setups in the place of the Java classes of its sub-agents.

    Prompts and results cross as they do to Java: as what JSON can express, refused where they are something else.

    Args:
        agent: With its `JavaSubagent`s, which keep their arguments. It stays as it is.
        stand_ins: By the name of the resource: a setup in Python, deferred or asynchronous as the Java class is. The test opens
            and closes it, if need be.

    Raises:
        DefinitionError: The agent has no such Java sub-agent, or what stands for it is neither deferred nor asynchronous.
    """
    resources = dict(agent.resources)
    java = {name: _built(resource) for (name, _), resource in resources.items() if _is_java(resource)}
    for name, stand_in in stand_ins.items():
        if name not in java:
            raise DefinitionError(
                f"agent {agent.name!r} has no Java sub-agent {name!r}; it has {', '.join(sorted(java)) or 'none'}"
            )
        if not isinstance(stand_in, BaseDeferredSubagentSetup | BaseAsyncSubagentSetup):
            raise DefinitionError(
                f"{stand_in!r} cannot stand for the Java sub-agent {name!r}; give a BaseDeferredSubagentSetup or a "
                "BaseAsyncSubagentSetup, whichever the Java class is"
            )
        java[name].attach(_StandIn(stand_in))
        resources[name, ResourceType.AGENT] = java[name]
    return agent._with_resources(resources)


def _is_java(resource: Any) -> bool:
    return isinstance(resource, JavaSubagent) or (
        isinstance(resource, ResourceDescriptor) and resource.clazz is JavaSubagent
    )


def _built(resource: Any) -> JavaSubagent:
    described = resource.arguments if isinstance(resource, ResourceDescriptor) else None
    return copy.copy(resource) if described is None else JavaSubagent(**described)


class _StandIn:
    """The `JavaPort` to a setup in Python: answers in JSON values, as Java would.

    Thread: one.
    """

    def __init__(self, setup: BaseDeferredSubagentSetup | BaseAsyncSubagentSetup) -> None:
        self._setup = setup

    def open(self, resource: str, class_name: str, args: Mapping[str, Any]) -> JavaMode:
        """Tell the mode of the setup, which the test has made and opened itself."""
        del resource, class_name, args
        setup = self._setup
        if isinstance(setup, BaseAsyncSubagentSetup):
            return JavaMode(is_async=True, reconciles=True)
        return JavaMode(is_async=False, reconciles=type(setup).reconcile is not BaseDeferredSubagentSetup.reconcile)

    async def perform(self, resource: str, operation: str, request: SubagentRequest) -> JavaAnswer:
        """Let the stand-in answer; an exception of it crosses as one of Java's does."""
        del resource
        setup = self._setup
        is_async = isinstance(setup, BaseAsyncSubagentSetup)
        method = "reconcile_submit_request" if is_async and operation == "reconcile" else _METHODS[operation]
        try:
            answer = getattr(setup, method)(replace(request, prompt=normalize(request.prompt, "prompt")))
            if inspect.isawaitable(answer):
                answer = await answer
            return _answer(operation, answer)
        except Exception as error:  # noqa: BLE001 - the outcome of the stand-in, as Java's exceptions are of Java's
            return {"raised": {"type": type(error).__qualname__, "message": str(error)}}

    def close(self, resource: str) -> None:
        """Leave the setup to the test."""
        del resource


def _answer(operation: str, answer: Any) -> JavaAnswer:
    if operation == "cancel" or (operation == "reconcile" and answer is None):
        return {"done": True}
    if isinstance(answer, RunStatus):
        return {"status": _status(answer)}
    if operation == "submit" and not isinstance(answer, SubagentResult):
        return {"run": normalize(answer, "run")}
    return {"result": _result(as_result(answer))}


def _result(result: SubagentResult) -> dict[str, Any]:
    if not result.is_success:
        return {"ok": False, "error": result.error_message, "reason": result.reason}
    try:
        return {"ok": True, "value": normalize(result.result, "result")}
    except NotExpressibleError as error:
        return {"ok": False, "error": str(error), "reason": "error"}


def _status(status: RunStatus) -> dict[str, Any]:
    hint = status.retry_after
    seconds = hint.total_seconds() if isinstance(hint, timedelta) else hint
    return {
        "state": status.state.value,
        "reason": status.reason,
        "retry_after_ms": None if seconds is None else round(seconds * 1000),
        "run": normalize(status.run, "run"),
    }

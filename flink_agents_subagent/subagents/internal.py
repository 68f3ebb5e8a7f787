"""An agent as a sub-agent of another: its call is a scope of the calling run (N1–N5, decision 0013). Must not know how scopes run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from flink_agents_subagent.context import CallSpec, RunnerContext, ScopeCall
from flink_agents_subagent.errors import EngineError
from flink_agents_subagent.subagents.future import SubagentFuture
from flink_agents_subagent.subagents.metadata import SubagentMetadata
from flink_agents_subagent.subagents.result import SubagentResult, as_result
from flink_agents_subagent.subagents.setup import SubagentSetup
from flink_agents_subagent.subagents.times import milliseconds

__all__ = ["InternalSubagent"]


class InternalSubagent(SubagentSetup):
    """What an `Agent` that is registered as a sub-agent becomes; made when the plan is compiled.

    Guarantee: a call runs the agent within the calling run, from the first await of its handle on; its durable calls are journalled like the
        caller's, its memory is its own and lasts as long as the call. No thread waits.
    Replay: recorded calls of the child are not made again; a call that had ended before the checkpoint does not run again at all.
    Thread: task thread.
    """

    def __init__(
        self, agent: Any, reduce: Callable[[list[Any]], Any] | None = None, metadata: SubagentMetadata | None = None
    ) -> None:
        """Wrap a compiled agent.

        Args:
            agent: The compiled agent (`_plan`).
            reduce: Makes the result of the outputs; None gives the list of them.
            metadata: What the agent says of itself for callers.
        """
        read = metadata or SubagentMetadata()
        super().__init__(description=read.description, input_schema=read.input_schema)
        self.agent = agent
        self.input_key = read.input_key
        self._reduce = reduce

    def submit(  # noqa: D102 -- inherited
        self,
        ctx: RunnerContext,
        prompt: Any,
        session_id: str | None = None,
        timeout: timedelta | float | None = None,
        *,
        call_id: str | None = None,
    ) -> SubagentFuture:
        timeout_ms = milliseconds(timeout)
        submission = self._prepare(ctx, prompt, session_id, call_id)
        if submission.refused is not None:
            return submission.refused
        request = submission.request
        spec = CallSpec(
            func=_is_not_called,
            function_id=request.call_id,
            fingerprint=submission.fingerprint,
            is_coroutine=False,
            timeout_ms=timeout_ms,
            starts_at_await=True,
            must_be_awaited=submission.must_be_awaited,
            label=self.name,
            session_id=request.session_id,
            arguments={"prompt": request.prompt},
            scope=ScopeCall(
                self.agent,
                request.prompt,
                self._result_of,
                _failed,
                functools.partial(_timed_out, self.name, timeout_ms),
            ),
        )
        return self._open(ctx, spec, request)

    def _result_of(self, outputs: list[Any]) -> SubagentResult:
        return as_result(outputs if self._reduce is None else self._reduce(outputs))


def _is_not_called() -> None:
    raise AssertionError("an agent runs in the place of this function")


def _failed(error: BaseException) -> SubagentResult:
    """Turn what escaped an action of the child into a failed result (N4); what is the engine's goes on to the caller."""
    if isinstance(error, EngineError):
        raise error
    return SubagentResult.error(error)


def _timed_out(name: str, timeout_ms: int | None) -> SubagentResult:
    return SubagentResult.error(f"sub-agent {name!r} did not answer within {timeout_ms} ms", "timeout")

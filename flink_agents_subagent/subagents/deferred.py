"""Sub-agents that answer one request with one answer, called when the handle is first awaited."""

from __future__ import annotations

import functools
import inspect
import logging
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

from typing_extensions import Unpack

from flink_agents_subagent.context import CallCourse, CallSpec, RetryPolicy, RunnerContext
from flink_agents_subagent.errors import ContextMisuseError, DefinitionError, EngineError
from flink_agents_subagent.subagents.future import SubagentFuture
from flink_agents_subagent.subagents.request import SubagentRequest
from flink_agents_subagent.subagents.result import SubagentResult, as_result
from flink_agents_subagent.subagents.setup import SubagentArguments, SubagentSetup, check_retry
from flink_agents_subagent.subagents.times import milliseconds

__all__ = ["BaseDeferredSubagentSetup", "DeferredSubagentArguments"]

_logger = logging.getLogger(__name__)


class DeferredSubagentArguments(SubagentArguments, total=False):
    """What a deferred sub-agent is described with; see the attributes of `BaseDeferredSubagentSetup`."""

    timeout: timedelta | float | None
    retry: RetryPolicy | None


class BaseDeferredSubagentSetup(SubagentSetup):
    """A sub-agent that is called once and answers once.

    Implement `call`. Implement `reconcile` too when the other side can tell what became of a call; without it a call that
    was in flight when the process died is made again, with the same call id.

    Guarantee: nothing is sent before the handle, or a group that holds it, is awaited for the first time (M).
    Replay: a journalled outcome is returned without a call.
    Thread: `call` and `reconcile` run on a worker thread, or on the background loop when they are `async`; never on the task thread.
    """

    timeout: timedelta | float | None = None
    """Timeout of calls that are submitted without one."""
    retry: RetryPolicy | None = None
    """How a call that raises is repeated before its exception becomes the result; None: not at all."""

    def __init__(self, **arguments: Unpack[DeferredSubagentArguments]) -> None:
        """Describe the sub-agent; the arguments are the attributes of these names.

        Raises:
            DefinitionError: A value cannot work.
            TypeError: There is no such argument.
        """
        self._take_arguments(arguments, DeferredSubagentArguments)
        check_retry(self, self.retry)
        try:
            milliseconds(self.timeout)
        except ContextMisuseError as error:
            raise DefinitionError(f"{type(self).__qualname__} cannot be used: {error}") from error

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Refuse a pair of methods of which one blocks and the other does not: both run in the same place."""
        super().__init_subclass__(**arguments)
        kinds = {method: inspect.iscoroutinefunction(getattr(cls, method)) for method in ("call", "reconcile")}
        is_abstract = cls.call is BaseDeferredSubagentSetup.call
        if not is_abstract and cls.reconcile is not BaseDeferredSubagentSetup.reconcile and len({*kinds.values()}) > 1:
            written = " and ".join(f"{'async def' if kind else 'def'} {method}" for method, kind in kinds.items())
            raise DefinitionError(f"{cls.__qualname__} has {written}; make both async, or neither")

    @classmethod
    def is_coroutine(cls) -> bool:
        """Tell whether calls run on the background loop rather than on a worker thread."""
        return inspect.iscoroutinefunction(cls.call)

    @abstractmethod
    def call(self, request: SubagentRequest) -> Any:
        """Do the work and return the answer: a value, or a `SubagentResult`. May be `async`.

        An exception becomes a failed result (V1); engine errors and cancellation do not.
        """

    def reconcile(self, request: SubagentRequest) -> Any:
        """Tell what became of a call that was in flight when the process died. `async` exactly if `call` is.

        Returns:
            Its answer, as `call` would; or None when it never started, and `call` is then made.
        """
        raise NotImplementedError(f"{type(self).__qualname__} does not reconcile {request.call_id}")

    def submit(  # noqa: D102 -- inherited
        self,
        ctx: RunnerContext,
        prompt: Any,
        session_id: str | None = None,
        timeout: timedelta | float | None = None,
        *,
        call_id: str | None = None,
    ) -> SubagentFuture:
        timeout_ms = milliseconds(self.timeout if timeout is None else timeout)
        submission = self._prepare(ctx, prompt, session_id, call_id)
        if submission.refused is not None:
            return submission.refused
        request, lane = submission.request, self._lane()
        invocation = _Invocation(self, request, timeout_ms)
        spec = CallSpec(
            func=invocation.function(),
            function_id=request.call_id,
            fingerprint=submission.fingerprint,
            is_coroutine=self.is_coroutine(),
            reconciler=invocation.reconciler(),
            timeout_ms=timeout_ms,
            retry=self.retry,
            starts_at_await=True,
            on_error=functools.partial(_failed, self.name, request),
            on_timeout=functools.partial(_timed_out, self.name, timeout_ms),
            must_be_awaited=submission.must_be_awaited,
            label=self.name,
            session_id=request.session_id,
            arguments={"prompt": request.prompt},
            course=None if lane is None else CallCourse(lane=lane),
        )
        return self._open(ctx, spec, request)


class _Invocation:
    """The durable function of one call, and its reconciler: counts the attempts, and sets the deadline when one begins."""

    def __init__(self, setup: BaseDeferredSubagentSetup, request: SubagentRequest, timeout_ms: int | None) -> None:
        self._setup = setup
        self._request = request
        self._timeout_ms = timeout_ms
        self._attempt = 0

    def function(self) -> Callable[[], Any]:
        """Return what makes the call: a coroutine function exactly if the implementation is one."""
        return self._call_async if self._setup.is_coroutine() else self._call

    def reconciler(self) -> Callable[[], Any] | None:
        """Return what finds out about an earlier call, None when the setup cannot."""
        if type(self._setup).reconcile is BaseDeferredSubagentSetup.reconcile:
            return None
        return self._reconcile_async if self._setup.is_coroutine() else self._reconcile

    def _call(self) -> SubagentResult:
        return as_result(self._setup.call(self._next_request()))

    async def _call_async(self) -> SubagentResult:
        return as_result(await self._setup.call(self._next_request()))

    def _reconcile(self) -> SubagentResult:
        answer = self._setup.reconcile(self._request)
        return self._call() if answer is None else as_result(answer)

    async def _reconcile_async(self) -> SubagentResult:
        answer = await self._setup.reconcile(self._request)
        return await self._call_async() if answer is None else as_result(answer)

    def _next_request(self) -> SubagentRequest:
        self._attempt += 1
        return replace(self._request, attempt=self._attempt, deadline=_deadline(self._timeout_ms))


def _deadline(timeout_ms: int | None) -> datetime | None:
    return None if timeout_ms is None else datetime.now(timezone.utc) + timedelta(milliseconds=timeout_ms)


def _failed(name: str, request: SubagentRequest, error: BaseException) -> SubagentResult:
    """Turn an exception of the implementation into a failed result; what is not the implementation's goes on (M5)."""
    if isinstance(error, EngineError) or not isinstance(error, Exception):
        raise error
    _logger.warning("sub-agent call failed", exc_info=error, extra={"subagent": name, "call_id": request.call_id})
    return SubagentResult.error(error)


def _timed_out(name: str, timeout_ms: int | None) -> SubagentResult:
    return SubagentResult.error(f"sub-agent {name!r} did not answer within {timeout_ms} ms", "timeout")

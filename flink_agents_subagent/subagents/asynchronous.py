"""Sub-agents that run jobs: submit, poll, fetch, cancel. Owns the interface to implement; the protocol is in `invocation`."""

from __future__ import annotations

import inspect
import math
from abc import abstractmethod
from collections.abc import Awaitable
from datetime import timedelta
from typing import Any

from typing_extensions import Unpack

from flink_agents_subagent.context import CallLane, RetryPolicy, RunnerContext
from flink_agents_subagent.errors import ContextMisuseError, DefinitionError
from flink_agents_subagent.subagents.future import SubagentFuture
from flink_agents_subagent.subagents.invocation import AsyncInvocation, AsyncLimits
from flink_agents_subagent.subagents.polling import PollInterval
from flink_agents_subagent.subagents.request import SubagentRequest
from flink_agents_subagent.subagents.setup import SubagentArguments, SubagentSetup, check_retry
from flink_agents_subagent.subagents.status import RunStatus
from flink_agents_subagent.subagents.times import milliseconds

__all__ = ["AsyncSubagentArguments", "BaseAsyncSubagentSetup"]

_METHODS = (
    "call_submit_request",
    "call_query_status",
    "call_fetch_result",
    "call_cancel_request",
    "reconcile_submit_request",
)


class AsyncSubagentArguments(SubagentArguments, total=False):
    """What an asynchronous sub-agent is described with; see the attributes of `BaseAsyncSubagentSetup`."""

    timeout: timedelta | float | None
    start_timeout: timedelta | float | None
    cancel_timeout: timedelta | float | None
    retry: RetryPolicy | None
    status_poll_interval: timedelta | float
    status_poll_factor: float
    status_poll_max_interval: timedelta | float


class BaseAsyncSubagentSetup(SubagentSetup):
    """A service with jobs: a run is submitted, asked about until it has ended, fetched, cancelled.

    Implement `call_submit_request`, `call_query_status` and `call_fetch_result`; `call_cancel_request` when the service can stop
    a run; `reconcile_submit_request` when something tells better than a status probe what became of a submit. All of them
    are `async`, or none.

    Guarantee: the request is sent at `submit`, as a durable call with an intent; after a crash in the middle of it the status is
        probed, and it is sent again only if the run never started. Waiting and fetching are one journalled outcome.
    Replay: a run that was submitted is attached to, not submitted again, and not cancelled because of the crash (I7).
    Thread: methods run on a worker thread, or on the background loop when they are `async`; never on the task thread.
        Waiting holds neither.
    """

    timeout: timedelta | float | None = None
    """Seconds or timedelta for sending, waiting and fetching together; then the run is cancelled and the result is a failed one
    with reason `timeout`. None: no limit. A timeout of `submit` wins over it."""
    start_timeout: timedelta | float | None = None
    """The same for a run that stays NOT_STARTED after it was accepted."""
    cancel_timeout: timedelta | float | None = None
    """How long a cancellation is repeated before it is given up with a warning; None: until the service accepts it."""
    retry: RetryPolicy | None = RetryPolicy()
    """How requests that raise are repeated before their exception surfaces at `await`; a probe that succeeds begins a new series."""
    status_poll_interval: timedelta | float = 0.5
    """Seconds or timedelta before the first probe."""
    status_poll_factor: float = 1.5
    """Growth of the interval from probe to probe, at least 1."""
    status_poll_max_interval: timedelta | float = 10.0
    """Longest interval, unless the service asks for a longer one (`RunStatus.retry_after`)."""

    def __init__(self, **arguments: Unpack[AsyncSubagentArguments]) -> None:
        """Describe the sub-agent; the arguments are the attributes of these names.

        Raises:
            DefinitionError: A value cannot work.
            TypeError: There is no such argument.
        """
        self._take_arguments(arguments, AsyncSubagentArguments)
        check_retry(self, self.retry)
        try:
            self._limits(milliseconds(self.timeout), None)
        except ContextMisuseError as error:
            raise DefinitionError(f"{type(self).__qualname__} cannot be used: {error}") from error
        if not 1 <= self.status_poll_factor < math.inf:
            raise DefinitionError(
                f"status_poll_factor of {type(self).__qualname__} is {self.status_poll_factor!r}; give a number from 1"
            )

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Refuse methods of which some block and others do not: all of them run in the same place."""
        super().__init_subclass__(**arguments)
        own = {name: getattr(cls, name) for name in _METHODS}
        given = {name: it for name, it in own.items() if it is not getattr(BaseAsyncSubagentSetup, name)}
        if len({inspect.iscoroutinefunction(method) for method in given.values()}) > 1:
            written = ", ".join(
                f"{'async def' if inspect.iscoroutinefunction(it) else 'def'} {name}" for name, it in given.items()
            )
            raise DefinitionError(f"{cls.__qualname__} has {written}; make all of them async, or none")

    @classmethod
    def is_coroutine(cls) -> bool:
        """Tell whether requests run on the background loop rather than on a worker thread."""
        return inspect.iscoroutinefunction(cls.call_submit_request)

    @abstractmethod
    def call_submit_request(self, request: SubagentRequest) -> Any:
        """Start the run. Send `request.call_id` as the idempotency key. May be `async`.

        Returns:
            The run's reference, any value that can be recorded (E3.5), which later requests carry as `request.run`; None when the
            call id is all that is needed. Or a `SubagentResult`, when the service refused or answered at once.
        """

    @abstractmethod
    def call_query_status(self, request: SubagentRequest) -> RunStatus | Awaitable[RunStatus]:
        """Ask once how far the run is, by `request.run`, or by `request.call_id` when that is None. May be `async`.

        What the service says of the run is a status. What keeps it from saying anything is an exception: a system failure, repeated by
        `retry`, then raised from `await` and `done()` (M4).
        """

    @abstractmethod
    def call_fetch_result(self, request: SubagentRequest) -> Any:
        """Return the result of a completed run: a value, or a `SubagentResult`. May be `async`. Exceptions as for the status."""

    def call_cancel_request(self, request: SubagentRequest) -> Any:
        """Stop the run; return when the service accepted it, or does not know the run or has ended it. May be `async`.

        Repeated until it returns, also after a crash, so that it must be idempotent (M7). `request.run` is None when the
        answer of the submit was lost.
        """
        raise NotImplementedError(f"{type(self).__qualname__} cannot cancel {request.call_id}")

    def reconcile_submit_request(self, request: SubagentRequest) -> RunStatus | Awaitable[RunStatus]:
        """Tell what became of a submit that a crash or an exception interrupted. May be `async`.

        Returns:
            NOT_STARTED: it is submitted (again). Any other state: it is not; `RunStatus.run` then is its reference.
        """
        return self.call_query_status(request)

    def submit(  # noqa: D102 -- inherited
        self,
        ctx: RunnerContext,
        prompt: Any,
        session_id: str | None = None,
        timeout: timedelta | float | None = None,
        *,
        call_id: str | None = None,
    ) -> SubagentFuture:
        limits = self._limits(milliseconds(self.timeout if timeout is None else timeout), self._lane())
        submission = self._prepare(ctx, prompt, session_id, call_id)
        if submission.refused is not None:
            return submission.refused
        request = submission.request
        invocation = AsyncInvocation(self.name, self, limits, request, submission.fingerprint)
        return self._open(ctx, invocation.send(submission.must_be_awaited), request)

    def _limits(self, timeout_ms: int | None, lane: CallLane | None) -> AsyncLimits:
        return AsyncLimits(
            timeout_ms=timeout_ms,
            start_timeout_ms=milliseconds(self.start_timeout, "start_timeout"),
            cancel_timeout_ms=milliseconds(self.cancel_timeout, "cancel_timeout"),
            retry=self.retry,
            interval=PollInterval(
                milliseconds(self.status_poll_interval, "status_poll_interval"),
                self.status_poll_factor,
                milliseconds(self.status_poll_max_interval, "status_poll_max_interval"),
            ),
            lane=lane,
            is_coroutine=self.is_coroutine(),
            can_cancel=type(self).call_cancel_request is not BaseAsyncSubagentSetup.call_cancel_request,
        )

"""One call of an asynchronous sub-agent: its slots, and what is asked in each of them (decision 0007). Must not know the engine."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any, Protocol

from flink_agents_subagent.context import CallAgain, CallCourse, CallExpired, CallLane, CallSpec, RetryPolicy
from flink_agents_subagent.subagents.polling import Polling, PollInterval
from flink_agents_subagent.subagents.request import SubagentRequest
from flink_agents_subagent.subagents.result import SubagentResult, as_result
from flink_agents_subagent.subagents.status import RunState, RunStatus
from flink_agents_subagent.subagents.steps import Steps, run_steps, run_steps_async

__all__ = ["AsyncInvocation", "AsyncLimits", "JobService"]

_logger = logging.getLogger(__name__)

_CANCEL_INTERVAL = PollInterval(first_ms=500, factor=2, longest_ms=60_000)


class JobService(Protocol):
    """What a service with jobs is asked; each may return an awaitable if the service is asynchronous."""

    def call_submit_request(self, request: SubagentRequest) -> Any:
        """Start the run; return its reference, or a `SubagentResult`."""

    def call_query_status(self, request: SubagentRequest) -> Any:
        """Return a `RunStatus`."""

    def call_fetch_result(self, request: SubagentRequest) -> Any:
        """Return the result of a completed run."""

    def call_cancel_request(self, request: SubagentRequest) -> Any:
        """Stop the run."""

    def reconcile_submit_request(self, request: SubagentRequest) -> Any:
        """Return a `RunStatus`: what became of an interrupted submit."""


@dataclass(frozen=True, slots=True)
class AsyncLimits:
    """How long a call may take, and how often it is tried and asked about; times in milliseconds, None: no limit."""

    timeout_ms: int | None
    start_timeout_ms: int | None
    cancel_timeout_ms: int | None
    retry: RetryPolicy | None
    interval: PollInterval
    lane: CallLane | None
    is_coroutine: bool
    can_cancel: bool


class AsyncInvocation:
    """One call of an asynchronous sub-agent.

    Guarantee: its slots and their order depend on the journal alone; what it remembers beside it (the run's reference, pauses) is only
        ever known better in a life that went further.
    Thread: specs are made on the task thread; requests run on a worker or the background loop, one at a time.
    """

    def __init__(
        self, name: str, service: JobService, limits: AsyncLimits, request: SubagentRequest, fingerprint: bytes
    ) -> None:
        """Take what was submitted to the sub-agent of this name."""
        self._name = name
        self._service = service
        self._limits = limits
        self._request = request
        self._fingerprint = fingerprint
        self._run: Any = None

    # Slots

    def send(self, must_be_awaited: str) -> CallSpec:
        """Return the call that sends the request; what follows it is part of its course."""
        limits = self._limits
        stage = self._stage(limits.timeout_ms)
        return self._spec(
            "submit",
            self._function(functools.partial(self._send, stage)),
            limits.timeout_ms,
            CallCourse(
                then=self._wait,
                undo=self._undo if limits.can_cancel else None,
                lane=limits.lane,
                reconciles_attempts=True,
            ),
        )._replace(
            reconciler=self._function(functools.partial(self._reconcile, stage)),
            must_be_awaited=must_be_awaited,
        )

    def _wait(self, sent: Any, spent_ms: int) -> CallSpec | None:
        """Return the call that waits and fetches, None when the service has answered already."""
        if isinstance(sent, SubagentResult):
            return None
        self._run = sent
        limits = self._limits
        left_ms = None if limits.timeout_ms is None else max(1, limits.timeout_ms - spent_ms)
        polling = Polling(limits.interval, self._request.call_id)
        return self._spec(
            "await",
            self._function(functools.partial(self._probe, self._stage(left_ms), polling)),
            left_ms,
            CallCourse(
                undo=self._undo if limits.can_cancel else None,
                delay_ms=polling.first_ms,
                lane=limits.lane,
            ),
        )

    def _undo(self) -> CallSpec:
        """Return the call that cancels the run; it is repeated until the service accepts."""
        limits = self._limits
        polling = Polling(_CANCEL_INTERVAL, self._request.call_id)
        spec = self._spec(
            "cancel",
            self._function(functools.partial(self._cancel, self._stage(None), polling)),
            limits.cancel_timeout_ms,
            CallCourse(),
        )
        return spec._replace(retry=None, on_timeout=self._give_up_cancelling)

    def _spec(self, slot: str, function: Callable[[], Any], timeout_ms: int | None, course: CallCourse) -> CallSpec:
        return CallSpec(
            func=function,
            function_id=f"{self._request.call_id}#{slot}",
            fingerprint=self._fingerprint,
            is_coroutine=self._limits.is_coroutine,
            timeout_ms=timeout_ms,
            retry=self._limits.retry,
            on_timeout=self._timed_out,
            label=self._name,
            session_id=self._request.session_id,
            arguments={"prompt": self._request.prompt},
            course=course,
        )

    def _function(self, steps: Callable[[], Steps[Any]]) -> Callable[[], Any]:
        if self._limits.is_coroutine:
            return functools.partial(_run_async, steps)
        return functools.partial(_run, steps)

    # What is asked

    def _stage(self, timeout_ms: int | None) -> Callable[[], SubagentRequest]:
        """Return what makes the requests of a slot: counted, with the moment at which the caller stops waiting."""
        attempts = 0
        deadline: datetime | None = None

        def next_request() -> SubagentRequest:
            nonlocal attempts, deadline
            attempts += 1
            if timeout_ms is not None and deadline is None:
                deadline = datetime.now(timezone.utc) + timedelta(milliseconds=timeout_ms)
            return replace(self._request, attempt=attempts, deadline=deadline, run=self._run)

        return next_request

    def _send(self, next_request: Callable[[], SubagentRequest]) -> Steps[Any]:
        sent = yield functools.partial(self._service.call_submit_request, next_request())
        if not isinstance(sent, SubagentResult):
            self._run = sent
        return sent

    def _reconcile(self, next_request: Callable[[], SubagentRequest]) -> Steps[Any]:
        answer = yield functools.partial(self._service.reconcile_submit_request, next_request())
        status = self._status(answer, "reconcile_submit_request")
        if status.state is RunState.NOT_STARTED and status.run is None:
            return (yield from self._send(next_request))
        self._run = status.run
        return status.run

    def _probe(self, next_request: Callable[[], SubagentRequest], polling: Polling) -> Steps[Any]:
        request = next_request()
        answer = yield functools.partial(self._service.call_query_status, request)
        status = self._status(answer, "call_query_status")
        if status.state is RunState.COMPLETED:
            return as_result((yield functools.partial(self._service.call_fetch_result, request)))
        if status.state is RunState.FAILED:
            return SubagentResult.error(status.reason or f"the run of sub-agent {self._name!r} failed")
        if status.state is RunState.CANCELLED:
            return SubagentResult.error(
                status.reason or f"the run of sub-agent {self._name!r} was cancelled", "cancelled"
            )
        return self._ask_again(status, polling)

    def _ask_again(self, status: RunStatus, polling: Polling) -> CallAgain | CallExpired:
        start_timeout_ms = self._limits.start_timeout_ms
        is_late = start_timeout_ms is not None and polling.waited_ms >= start_timeout_ms
        if status.state is RunState.NOT_STARTED and is_late:
            text = f"sub-agent {self._name!r} accepted the run and did not start it within {start_timeout_ms} ms"
            return CallExpired(SubagentResult.error(text, "timeout"))
        pause_ms = polling.next_ms(status.retry_after_ms)
        if status.state is RunState.NOT_STARTED and start_timeout_ms is not None:
            pause_ms = polling.shorten(pause_ms, start_timeout_ms)
        return CallAgain(pause_ms)

    def _cancel(self, next_request: Callable[[], SubagentRequest], polling: Polling) -> Steps[CallAgain | None]:
        request = next_request()
        try:
            yield functools.partial(self._service.call_cancel_request, request)
        except Exception as error:
            pause_ms = polling.next_ms(None)
            _logger.warning(
                "cancelling a run failed; it is tried again in %d ms",
                pause_ms,
                exc_info=error,
                extra=self._fields(attempt=request.attempt),
            )
            return CallAgain(pause_ms)
        return None

    def _status(self, answer: Any, method: str) -> RunStatus:
        if not isinstance(answer, RunStatus):
            raise TypeError(f"{method} of sub-agent {self._name!r} returned {answer!r}; return a RunStatus")
        return answer

    # What failures come to

    def _timed_out(self) -> SubagentResult:
        return SubagentResult.error(
            f"sub-agent {self._name!r} did not answer within {self._limits.timeout_ms} ms", "timeout"
        )

    def _give_up_cancelling(self) -> None:
        _logger.warning(
            "cancelling a run was given up after %d ms; it may go on at the other side",
            self._limits.cancel_timeout_ms,
            extra=self._fields(),
        )

    def _fields(self, **more: Any) -> dict[str, Any]:
        return {
            "subagent": self._name,
            "session_id": self._request.session_id,
            "call_id": self._request.call_id,
            **more,
        }


def _run(steps: Callable[[], Steps[Any]]) -> Any:
    return run_steps(steps())


async def _run_async(steps: Callable[[], Steps[Any]]) -> Any:
    return await run_steps_async(steps())

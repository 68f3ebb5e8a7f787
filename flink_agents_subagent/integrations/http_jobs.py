"""Sub-agents behind HTTP: services that speak the job protocol (docs/job-protocol.md). Needs the extra `http`.

Owns which requests make up a call and what their answers mean for it; connections and failures are in `_http_service`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from flink_agents_subagent.context import RetryPolicy
from flink_agents_subagent.errors import NotExpressibleError
from flink_agents_subagent.integrations._http_service import Answer, HttpService, HttpServiceError
from flink_agents_subagent.integrations._http_values import encoded
from flink_agents_subagent.resources import Resource
from flink_agents_subagent.subagents import (
    BaseAsyncSubagentSetup,
    BaseDeferredSubagentSetup,
    RunState,
    RunStatus,
    SubagentRequest,
    SubagentResult,
)
from flink_agents_subagent.subagents.normalization import normalize

__all__ = ["HttpJobSubagent", "HttpServiceError", "HttpSubagent"]

_NO_SUCH_SERVICE = frozenset({404, 405})
_UNKNOWN = 404
_FORGOTTEN = 410


class _HttpResource(Resource):
    """A service as something to be opened and closed."""

    _service: HttpService
    _headers: Mapping[str, str] = {}

    def request_headers(self) -> Mapping[str, str]:
        """Return the headers of every request; override it to add credentials that are known where the job runs.

        Thread: background loop, once per subtask.
        """
        return self._headers

    async def open(self) -> None:
        """Make the connections, on the loop that will make the calls."""
        await self._service.open(self.request_headers())

    async def close(self) -> None:
        """Close them."""
        await self._service.close()


class HttpJobSubagent(_HttpResource, BaseAsyncSubagentSetup):
    """A service that does long work: a run is submitted, asked about, fetched, cancelled, over HTTP.

    Guarantee: the service is given one key per call, the call id, however often a request is repeated; one that keeps the protocol's
        rules starts one run per call (M, D3). No answer, 408, 425, 429, 5xx and answers that are not as agreed are system failures,
        repeated by `retry` (M4); a refused submit is a failed result.
    Replay: a run that was submitted is found by its call id and waited for, not submitted again.
    Thread: all requests on the background loop, with connections of the subtask's own.
    """

    def __init__(
        self,
        *,
        url: str,
        headers: Mapping[str, str] | None = None,
        request_timeout: float = 30.0,
        max_connections: int = 100,
        **described: Any,
    ) -> None:
        """Describe the sub-agent.

        Args:
            url: Address of the service; the protocol's paths are appended to it.
            headers: Sent with every request. They travel in the job's plan; override `request_headers` for secrets.
            request_timeout: Seconds for connecting, and for each wait for a part of an answer.
            max_connections: Requests of a subtask that are under way at once; the others wait in order.
            **described: As for `BaseAsyncSubagentSetup`.

        Raises:
            DefinitionError: A value cannot work.
        """
        super().__init__(**described)
        self._headers = dict(headers or {})
        self._service = HttpService(url, request_timeout, max_connections)

    def check_prompt(self, prompt: Any) -> None:
        """Refuse what JSON cannot express (T9)."""
        normalize(prompt, "prompt")

    async def call_submit_request(self, request: SubagentRequest) -> str | SubagentResult:
        """Start the run; the reference that it returns says that the service has accepted it."""
        answer = await self._service.send("POST", "/runs", request, _content(request))
        if answer.is_success:
            _state(answer)
            return _path(request)
        return _refused(answer)

    async def call_query_status(self, request: SubagentRequest) -> RunStatus:
        """Ask for the run's state. A run that the service has accepted and does not know any more has failed."""
        path = _path(request)
        answer = await self._service.send("GET", path, request)
        if answer.is_success:
            state, reason = _state(answer), answer.content.get("reason")
            return RunStatus(state, None if reason is None else str(reason), retry_after=answer.retry_after, run=path)
        if answer.status == _UNKNOWN and request.run is None:
            return RunStatus(RunState.NOT_STARTED)
        if answer.status in (_UNKNOWN, _FORGOTTEN):
            return RunStatus(
                RunState.FAILED, f"the service does not know the run any more: {answer.describe()}", run=path
            )
        raise answer.failure()

    async def call_fetch_result(self, request: SubagentRequest) -> Any:
        """Return the result as the service gave it; a failed one when the service has none any more."""
        answer = await self._service.send("GET", f"{_path(request)}/result", request)
        if answer.status in (_UNKNOWN, _FORGOTTEN):
            return SubagentResult.error(f"the service does not know the result any more: {answer.describe()}")
        return _result(answer)

    async def call_cancel_request(self, request: SubagentRequest) -> None:
        """Cancel the run; a service that does not know it has nothing to cancel."""
        answer = await self._service.send("POST", f"{_path(request)}/cancel", request, b"")
        if not answer.is_success and answer.status not in (_UNKNOWN, _FORGOTTEN):
            raise answer.failure()


class HttpSubagent(_HttpResource, BaseDeferredSubagentSetup):
    """A service that answers a request with its result, over HTTP.

    Guarantee: the service is given one key per call, the call id, however often the request is repeated. What it refuses is a failed
        result; no answer, 408, 425, 429, 5xx and answers that are not as agreed are repeated by `retry`, and then become one (M5).
    Replay: a call that was in flight when the process died is made again, with the same key.
    Thread: all requests on the background loop, with connections of the subtask's own.
    """

    retry: RetryPolicy | None = RetryPolicy()

    def __init__(
        self,
        *,
        url: str,
        headers: Mapping[str, str] | None = None,
        request_timeout: float = 60.0,
        max_connections: int = 100,
        **described: Any,
    ) -> None:
        """Describe the sub-agent; see `HttpJobSubagent` for the arguments.

        Args:
            url: Address of the service; `/calls` is appended to it.
            headers: Sent with every request.
            request_timeout: Seconds for connecting, and for each wait for a part of the answer: longer than the work takes.
            max_connections: Requests of a subtask that are under way at once.
            **described: As for `BaseDeferredSubagentSetup`.

        Raises:
            DefinitionError: A value cannot work.
        """
        super().__init__(**described)
        self._headers = dict(headers or {})
        self._service = HttpService(url, request_timeout, max_connections)

    def check_prompt(self, prompt: Any) -> None:
        """Refuse what JSON cannot express (T9)."""
        normalize(prompt, "prompt")

    async def call(self, request: SubagentRequest) -> Any:
        """Ask once and return the result as the service gave it."""
        answer = await self._service.send("POST", "/calls", request, _content(request))
        return _result(answer) if answer.is_success else _refused(answer)


def _path(request: SubagentRequest) -> str:
    return f"/runs/{encoded(request.call_id)}"


def _content(request: SubagentRequest) -> bytes:
    """Return what a request for work says; the same whenever it is repeated, as a service may compare."""
    content = {"prompt": normalize(request.prompt, "prompt"), "session_id": request.session_id}
    return json.dumps(content, sort_keys=True, allow_nan=False).encode("ascii")


def _state(answer: Answer) -> RunState:
    try:
        return RunState(answer.content.get("state"))
    except ValueError as error:
        raise HttpServiceError(f"{answer.asked} was answered with something else than a state: {error}") from error


def _result(answer: Answer) -> Any:
    if not answer.is_success:
        raise answer.failure()
    if "result" not in answer.content:
        raise HttpServiceError(f"{answer.asked} was answered with {answer.status}, but without a result")
    try:
        return normalize(answer.content["result"], "result")
    except NotExpressibleError as error:
        # Nested too deep, or a number too long: what the journal could not keep must not fail the job (T9).
        return SubagentResult.error(error)


def _refused(answer: Answer) -> SubagentResult:
    """Turn a refusal into a failed result, unless it says that there is no such service at all."""
    if answer.status in _NO_SUCH_SERVICE:
        raise answer.failure()
    return SubagentResult.error(answer.describe())

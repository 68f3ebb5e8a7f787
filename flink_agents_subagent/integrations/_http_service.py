"""What HTTP sub-agents share: connections of one subtask, one request, and what an answer or its absence means.

Owns connections, timeouts and the classification of failures; must not know runs. httpx is imported when they are opened, so that
a job can be described where it is not installed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.integrations._http_values import encoded, json_object, seconds
from flink_agents_subagent.subagents import SubagentRequest

if TYPE_CHECKING:
    import httpx

__all__ = ["Answer", "HttpService", "HttpServiceError"]

_TRANSIENT = frozenset({408, 425, 429})
_SHOWN_CHARACTERS = 500
_LONGEST_PAUSE_S = 60.0
"""What a request that was put off waits at most before it fails; a cancelled submit waits for it, too."""


class HttpServiceError(Exception):
    """A service could not be asked, or its answer does not say what was asked; the message names request and answer."""

    # Journals name it by where users import it from.
    __module__ = "flink_agents_subagent.integrations.http_jobs"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: a success or a refusal."""

    asked: str
    """Method and path, for messages."""
    status: int
    content: Mapping[str, Any]
    """The JSON object; empty in a refusal without one."""
    retry_after: float | None
    """Seconds after which the service wants to be asked again."""

    @property
    def is_success(self) -> bool:
        """Whether the service did what it was asked for."""
        return 200 <= self.status < 300

    @property
    def is_refusal(self) -> bool:
        """Whether the service understood, did nothing, and would not do it the next time either."""
        return 400 <= self.status < 500 and self.status not in _TRANSIENT

    def describe(self) -> str:
        """Return what was asked and answered, for messages."""
        said = self.content.get("error")
        return f"{self.asked} was answered with {self.status}" + (f": {str(said)[:_SHOWN_CHARACTERS]}" if said else "")

    def failure(self) -> HttpServiceError:
        """Return the error for an answer from which nothing follows."""
        return HttpServiceError(self.describe())


class HttpService:
    """A service at one address, and the connections to it.

    Guarantee: at most `max_connections` requests are under way; the others wait in order.
    Thread: the background loop on which it was opened.
    """

    def __init__(self, url: str, request_timeout: float, max_connections: int) -> None:
        """Describe the service.

        Args:
            url: Its address; paths are appended to it.
            request_timeout: Seconds for connecting, for sending, and for each wait for a part of the answer.
            max_connections: Connections kept, and requests sent at once.

        Raises:
            DefinitionError: A value cannot work.
        """
        if not url.startswith(("http://", "https://")):
            raise DefinitionError(f"the address {url!r} of the service begins neither with http:// nor with https://")
        if not request_timeout > 0 or max_connections < 1:
            raise DefinitionError(
                f"request_timeout is {request_timeout!r} and max_connections {max_connections!r}; both must be above zero"
            )
        self._url = url.rstrip("/")
        self._request_timeout = request_timeout
        self._max_connections = max_connections
        self._clients: list[httpx.AsyncClient] = []
        self._idle: asyncio.LifoQueue[httpx.AsyncClient] = asyncio.LifoQueue()

    async def open(self, headers: Mapping[str, str]) -> None:
        """Make the connections, which send these headers with every request.

        Raises:
            DefinitionError: httpx is not installed where the job runs.
        """
        try:
            import httpx  # noqa: PLC0415 - behind an extra
        except ImportError as error:
            raise DefinitionError(
                "httpx is missing in the Python environment of the TaskManager; install flink-agents-subagent[http] there"
            ) from error
        # A client for each connection: in a pool of httpx every request looks at all connections, twice, which at a
        # hundred costs more than the request. The last one used is taken first, so that only those needed are kept.
        limits, context = httpx.Limits(max_connections=1), httpx.create_ssl_context()
        for _ in range(self._max_connections):
            client = httpx.AsyncClient(
                headers=dict(headers), timeout=self._request_timeout, limits=limits, verify=context
            )
            self._clients.append(client)
            self._idle.put_nowait(client)

    async def close(self) -> None:
        """Close the connections; also before or without `open`."""
        clients, self._clients = self._clients, []
        self._idle = asyncio.LifoQueue()
        for client in clients:
            await client.aclose()

    async def send(self, method: str, path: str, request: SubagentRequest, content: bytes | None = None) -> Answer:
        """Send a request once and return the answer; a `content` takes the call id along as the idempotency key.

        A request that is put off (429 or 503 with Retry-After) fails no sooner than the service wants it again.

        Raises:
            HttpServiceError: No answer; one that is neither a success nor a refusal (408, 425, 429, 5xx, a redirection); or a success
                that is no JSON object. What the service did is not known.
        """
        asked = f"{method} {path}"
        response = await self._exchange(asked, method, path, request, content)
        retry_after = seconds(response.headers.get("Retry-After"))
        found = json_object(response.content)
        answer = Answer(asked, response.status_code, found or {}, retry_after)
        if answer.is_refusal:
            return answer
        if not answer.is_success:
            await asyncio.sleep(min(retry_after or 0.0, _LONGEST_PAUSE_S))
            raise answer.failure()
        if found is None:
            raise HttpServiceError(
                f"{asked} was answered with {answer.status}, but with no JSON object: {response.text[:100]!r}"
            )
        return answer

    async def _exchange(
        self, asked: str, method: str, path: str, request: SubagentRequest, content: bytes | None
    ) -> httpx.Response:
        if not self._clients:
            raise HttpServiceError(f"{asked} cannot be sent: the connections are closed")
        import httpx  # noqa: PLC0415 - `open` has found it

        headers = {"traceparent": request.trace_parent}
        if content is not None:
            headers |= {"Content-Type": "application/json", "Idempotency-Key": encoded(request.call_id)}
        idle = self._idle
        client = await idle.get()
        try:
            return await client.request(method, self._url + path, content=content, headers=headers)
        except httpx.HTTPError as error:
            raise HttpServiceError(f"{asked} was not answered: {type(error).__name__}: {error}") from error
        finally:
            idle.put_nowait(client)

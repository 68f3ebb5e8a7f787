"""What connections to providers of chat models share: their settings, the key, the client's life, and how failures are told.

Owns what a status and an unreadable answer mean; must not know the wire format of a provider. SDKs are imported when connections are
opened, so that a job can be described where they are not installed.
"""

from __future__ import annotations

import enum
import os
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError
from typing_extensions import TypedDict

from flink_agents_subagent.chat import (
    BaseChatModelConnection,
    ChatMessage,
    ChatModelError,
    ChatModelUnavailableError,
    ToolMetadata,
)
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.integrations._chat_answer import Answer, Asked
from flink_agents_subagent.integrations._http_values import seconds

__all__ = ["Meaning", "ProviderConnection", "ProviderSettings", "Refusal"]

_SHOWN_CHARACTERS = 500
_TRANSIENT = frozenset({408, 409, 425, 429})
"""Besides 5xx: worth another attempt. 409 is what providers answer while an equal request holds a lock."""
_REMEDIES = {
    403: "the key may not use this model, or not from here",
    404: "check the name of the model and base_url",
}
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Meaning(enum.Enum):
    """What an exception of an SDK means for the request."""

    UNAVAILABLE = "another attempt may succeed"
    REFUSED = "another attempt would get the same"
    BY_STATUS = "the status of the answer decides"


class Refusal(NamedTuple):
    """An answer that is no success."""

    status: int
    headers: Mapping[str, str]
    said: str
    """What the provider says of it."""


class ProviderSettings(TypedDict, total=False):
    """What every connection may be given."""

    base_url: str | None
    """Where the server is; None: where the SDK finds it."""
    request_timeout: float
    """Seconds for connecting, for sending, and for each wait for a part of the answer; 120 when not given."""
    max_connections: int
    """Requests of a subtask that are under way at once; the others wait in order. 100 when not given."""
    headers: Mapping[str, str]
    """Sent with every request. They travel in the job's plan: no place for secrets."""
    parameters: Mapping[str, Any]
    """For every request, as the provider names them (`{"temperature": 0}`); those of a chat model's setup win."""


class _Client(Protocol):
    async def close(self) -> None: ...


_ClientT = TypeVar("_ClientT", bound=_Client)
_ReadT = TypeVar("_ReadT", bound=BaseModel)


class ProviderConnection(BaseChatModelConnection, Generic[_ClientT]):
    """A connection by way of a provider's SDK.

    Guarantee: one request per `chat`: the SDK's own retries are off. The key is read where the job runs and stands neither in the plan
        nor in a message.
    Thread: the background loop.
    """

    provider: ClassVar[str]
    sdk: ClassVar[str]
    """Name of the SDK, and of the extra that brings it."""
    failures: ClassVar[Mapping[str, Meaning]]
    """What the exceptions of the SDK mean, by class; a subclass means what its nearest base does."""
    length_parameter: ClassVar[str]
    """What limits the length of an answer."""

    def __init__(self, api_key_env: str | None, settings: ProviderSettings) -> None:
        """Describe the connection.

        Raises:
            DefinitionError: A value cannot work.
        """
        self._api_key_env = api_key_env
        self._base_url = settings.get("base_url")
        self._request_timeout = settings.get("request_timeout", 120.0)
        self._max_connections = settings.get("max_connections", 100)
        self._headers = dict(settings.get("headers") or {})
        self._parameters = dict(settings.get("parameters") or {})
        self._client: _ClientT | None = None
        self._secret: str | None = None
        self._check(set(settings) - ProviderSettings.__optional_keys__)

    def _check(self, unknown: set[str]) -> None:
        connection = type(self).__name__
        if unknown:
            raise DefinitionError(
                f"{connection} has no argument {', '.join(sorted(unknown))}; what is for the provider goes into parameters={{...}}"
            )
        if self._api_key_env is not None and not _VARIABLE.fullmatch(self._api_key_env):
            raise DefinitionError(
                f"api_key_env of {connection} is no name of an environment variable (it is not shown here, in case it is the key); "
                "put the key into a variable where the TaskManager runs, and give the variable's name"
            )
        if self._base_url is not None:
            _check_url(connection, self._base_url)
        timeout: object = self._request_timeout
        connections: object = self._max_connections
        if not isinstance(timeout, (int, float)) or not timeout > 0:
            raise DefinitionError(f"request_timeout of {connection} is {timeout!r}; give seconds above zero")
        if not isinstance(connections, int) or connections < 1:
            raise DefinitionError(f"max_connections of {connection} is {connections!r}; give a number above zero")

    async def open(self) -> None:
        """Read the key and make the client.

        Raises:
            DefinitionError: The SDK or the key is missing where the job runs.
        """
        self._secret = self._key()
        try:
            self._client = self._connect(self._secret)
        except ImportError as error:
            raise DefinitionError(
                f"{self.sdk} is missing in the Python environment of the TaskManager ({error}); "
                f"install flink-agents-subagent[{self.sdk}] there"
            ) from error

    async def close(self) -> None:
        """Close the client and forget the key; also before or without `open`."""
        client, self._client, self._secret = self._client, None, None
        if client is not None:
            await client.close()

    def _key(self) -> str | None:
        if self._api_key_env is None:
            return None
        key = os.environ.get(self._api_key_env, "").strip()
        if not key:
            raise DefinitionError(
                f"{self.provider} needs a key: the environment variable {self._api_key_env} is not set where the TaskManager runs; "
                "set it there, or name another one with api_key_env"
            )
        return key

    async def chat(self, messages: Sequence[ChatMessage], tools: Sequence[ToolMetadata], **kwargs: Any) -> ChatMessage:
        """Send the conversation once and return the answer.

        `extra_args` of the answer: `{"usage": {"input_tokens": ..., "output_tokens": ...}, "finish_reason": ..., "model": ...}`.

        Raises:
            ChatModelUnavailableError: No answer, one that breaks off, or 408, 409, 425, 429, 5xx.
            ChatModelError: The provider refuses the request, the model to answer; the answer is cut off, or cannot be read.
        """
        parameters = {**self._parameters, **kwargs}
        model, call_id = parameters.pop("model", None), parameters.pop("call_id", None)
        asked = Asked(str(model), parameters.pop("output_schema", None), call_id, parameters)
        if self._client is None:
            raise ChatModelError(f"{self.subject(asked)} cannot be asked: the connection is not open")
        if not model:
            raise ChatModelError(
                f"{self.provider} was asked without a model; give model='...' to the chat model's setup"
            )
        if parameters.get("stream"):
            raise ChatModelError(
                f"{self.subject(asked)} cannot be asked with stream={parameters['stream']!r}; leave it out"
            )
        answer = await self._ask(self._client, messages, tools, asked)
        self._check_answer(answer, asked)
        return answer.message()

    @abstractmethod
    def _connect(self, key: str | None) -> _ClientT:
        """Import the SDK and make its client."""

    @abstractmethod
    async def _ask(
        self, client: _ClientT, messages: Sequence[ChatMessage], tools: Sequence[ToolMetadata], asked: Asked
    ) -> Answer:
        """Send a request and return the answer, whatever it says."""

    @abstractmethod
    def _refusal(self, error: Any) -> Refusal:
        """Return what an exception that means `BY_STATUS` says."""

    def _check_answer(self, answer: Answer, asked: Asked) -> None:
        if answer.refusal is not None or answer.finish_reason == "content_filter":
            why = f": {self._shown(answer.refusal)}" if answer.refusal else ""
            raise ChatModelError(f"{self.subject(asked)} refused to answer, or a filter stopped it{why}")
        if answer.finish_reason == "length":
            raise ChatModelError(
                f"{self.subject(asked)} was cut off after {answer.output_tokens} tokens; "
                f"raise {self.length_parameter} or the model's context, or ask for less"
            )

    def subject(self, asked: Asked) -> str:
        """Return how messages begin."""
        where = "" if self._base_url is None else f" at {self._base_url}"
        return f"{self.provider}{where}, model {asked.model!r},"

    def failure(self, error: Exception, asked: Asked) -> ChatModelError:
        """Return what an exception of the SDK means."""
        named = (self.failures.get(kind.__name__) for kind in type(error).__mro__)
        meaning = next((known for known in named if known is not None), Meaning.REFUSED)
        if meaning is Meaning.BY_STATUS:
            return self._answered(self._refusal(error), asked)
        cause = error.__cause__ or error
        what = f"{self.subject(asked)} was not answered: {type(cause).__name__}: {self._shown(str(cause))}"
        if meaning is Meaning.REFUSED:
            return ChatModelError(what)
        hint = f" (request_timeout is {self._request_timeout:g} s)" if "Timeout" in type(cause).__name__ else ""
        return ChatModelUnavailableError(what + hint)

    def _answered(self, refusal: Refusal, asked: Asked) -> ChatModelError:
        what = f"{self.subject(asked)} answered {refusal.status}: {self._shown(refusal.said)}"
        if refusal.status in _TRANSIENT or refusal.status >= 500:
            return ChatModelUnavailableError(what, _retry_after(refusal.headers))
        remedy = self._key_remedy() if refusal.status == 401 else _REMEDIES.get(refusal.status)
        return ChatModelError(f"{what}; {remedy}" if remedy else what)

    def _key_remedy(self) -> str:
        if self._api_key_env is None:
            return "the server wants a key: name the environment variable that holds it with api_key_env"
        return f"check the key in the environment variable {self._api_key_env} where the TaskManager runs"

    def read(self, kind: type[_ReadT], content: str, asked: Asked) -> _ReadT:
        """Read a successful answer.

        Raises:
            ChatModelUnavailableError: It breaks off.
            ChatModelError: It is something else.
        """
        try:
            return kind.model_validate_json(content)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            if first["type"] == "json_invalid":
                raise self.no_json(content, asked) from error
            raise self.unlike(error, asked) from error

    def no_json(self, content: str, asked: Asked) -> ChatModelError:
        """Return the error for a successful answer that is no JSON."""
        if content.lstrip()[:1] in ("", "{"):
            return ChatModelUnavailableError(
                f"{self.subject(asked)} gave an answer that breaks off after {len(content)} characters"
            )
        return ChatModelError(
            f"{self.subject(asked)} gave an answer that is no JSON: {self._shown(content)}; check base_url"
        )

    def unlike(self, error: ValidationError, asked: Asked) -> ChatModelError:
        """Return the error for an answer of another shape."""
        return ChatModelError(
            f"{self.subject(asked)} gave an answer that is not as agreed: {self._first(error)}; "
            "check that base_url speaks this provider's protocol"
        )

    def unsendable(self, error: ValidationError, asked: Asked) -> ChatModelError:
        """Return the error for a request that the SDK refuses to send."""
        return ChatModelError(f"{self.subject(asked)} cannot be asked like this: {self._first(error)}")

    def _first(self, error: ValidationError) -> str:
        first = error.errors(include_url=False)[0]
        path = ".".join(map(str, first["loc"])) or "it"
        return f"{path}: {first['msg']}, got {self._shown(repr(first['input']))}"

    def _shown(self, text: str) -> str:
        """Return a text as it may stand in a message: without the key, and not too long."""
        shown = text.replace(self._secret, "(the key)") if self._secret else text
        return shown if len(shown) <= _SHOWN_CHARACTERS else f"{shown[:_SHOWN_CHARACTERS]}…"


def _check_url(connection: str, url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise DefinitionError(f"base_url of {connection} is {url!r}; give an address like 'http://localhost:8000/v1'")
    if parts.username is not None or parts.password is not None:
        raise DefinitionError(
            f"base_url of {connection} carries credentials, which would travel in the job's plan; name an environment variable with api_key_env"
        )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds after which the provider wants to be asked again."""
    exact = seconds(headers.get("retry-after-ms"))
    return seconds(headers.get("retry-after")) if exact is None else exact / 1000

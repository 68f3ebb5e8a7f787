"""Chat models of OpenAI, and of every server that speaks its chat completions API. Needs the extra `openai`.

Owns the mapping to and from that API; keys, clients and failures are in `_chat_provider`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from pydantic import BaseModel, Field
from typing_extensions import Unpack

from flink_agents_subagent.chat import ChatMessage, ChatModelError, MessageRole, ToolCall, ToolMetadata
from flink_agents_subagent.integrations._chat_answer import Answer, Asked, call_ids, compact, tool_call
from flink_agents_subagent.integrations._chat_provider import Meaning, ProviderConnection, ProviderSettings, Refusal

if TYPE_CHECKING:
    import openai

__all__ = ["OpenAIConnection"]

_FAILURES = {
    "OpenAIError": Meaning.REFUSED,
    "APIError": Meaning.REFUSED,
    "APIResponseValidationError": Meaning.REFUSED,
    "APIConnectionError": Meaning.UNAVAILABLE,
    "APITimeoutError": Meaning.UNAVAILABLE,
    # Those for single statuses and causes are derived from it.
    "APIStatusError": Meaning.BY_STATUS,
    "LengthFinishReasonError": Meaning.REFUSED,
    "ContentFilterFinishReasonError": Meaning.REFUSED,
    "SubjectTokenProviderError": Meaning.REFUSED,
    "WebSocketConnectionClosedError": Meaning.UNAVAILABLE,
    "WebSocketQueueFullError": Meaning.UNAVAILABLE,
}


class OpenAIConnection(ProviderConnection["openai.AsyncOpenAI"]):
    """A connection to OpenAI, or to a server that speaks its chat completions API (vLLM, llama.cpp, LM Studio, gateways).

    An `output_schema` is sent as `response_format` of type `json_schema`, not strict, because strict schemas must be written for it;
    a `response_format` among the parameters wins. Parameters go into the request's body as they are, also those that only some
    servers know.

    Guarantee: one request per `chat`. The call id is sent as `Idempotency-Key`, for gateways that know it; OpenAI promises nothing
        about it, so an answer that was lost on its way is paid for twice.
    Replay: a recorded answer is not asked for again.
    Thread: the background loop.
    """

    provider: ClassVar[str] = "OpenAI"
    sdk: ClassVar[str] = "openai"
    failures: ClassVar[Mapping[str, Meaning]] = _FAILURES
    length_parameter: ClassVar[str] = "max_completion_tokens"

    def __init__(self, *, api_key_env: str | None = "OPENAI_API_KEY", **settings: Unpack[ProviderSettings]) -> None:
        """Describe the connection.

        Args:
            api_key_env: The environment variable that holds the key where the job runs; None for a server that wants none.
            **settings: `base_url`, with the version (`http://localhost:8000/v1`), `request_timeout` (seconds), `max_connections`,
                `headers`, `parameters`.

        Raises:
            DefinitionError: A value cannot work.
        """
        super().__init__(api_key_env, settings)

    def _connect(self, key: str | None) -> openai.AsyncOpenAI:
        import httpx2  # noqa: PLC0415 - behind an extra
        import openai  # noqa: PLC0415

        # Waiting for a free connection is not the provider's fault, so that it has no limit here.
        timeout = httpx2.Timeout(self._request_timeout, pool=None)
        limits = httpx2.Limits(max_connections=self._max_connections)
        return openai.AsyncOpenAI(
            # The SDK wants one; it is not sent when there is none.
            api_key=key or "none",
            base_url=self._base_url,
            timeout=timeout,
            max_retries=0,
            default_headers=self._headers,
            http_client=openai.DefaultAsyncHttpxClient(timeout=timeout, limits=limits),
        )

    async def _ask(
        self, client: openai.AsyncOpenAI, messages: Sequence[ChatMessage], tools: Sequence[ToolMetadata], asked: Asked
    ) -> Answer:
        import openai  # noqa: PLC0415 - `open` has found it

        try:
            response = await client.chat.completions.with_raw_response.create(
                model=asked.model,
                messages=cast("Any", [_message(message) for message in messages]),
                extra_body=_body(tools, asked),
                extra_headers=self._request_headers(asked),
            )
        except openai.OpenAIError as error:
            raise self.failure(error, asked) from error
        return _answer(self.read(_Completion, response.http_response.text, asked), messages)

    def _request_headers(self, asked: Asked) -> dict[str, str | openai.Omit]:
        import openai  # noqa: PLC0415 - `open` has found it

        headers: dict[str, str | openai.Omit] = {**asked.headers()}
        if self._api_key_env is None and "authorization" not in map(str.lower, self._headers):
            headers["Authorization"] = openai.Omit()
        return headers

    def _refusal(self, error: openai.APIStatusError) -> Refusal:
        said = error.body.get("message") if isinstance(error.body, Mapping) else error.body
        return Refusal(error.status_code, error.response.headers, str(said or error.response.text))


def _body(tools: Sequence[ToolMetadata], asked: Asked) -> dict[str, Any]:
    body: dict[str, Any] = {}
    if tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.input_schema)},
            }
            for tool in tools
        ]
    if asked.output_schema is not None:
        schema = {"name": "answer", "schema": dict(asked.output_schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return {**body, **asked.parameters}


def _message(message: ChatMessage) -> dict[str, Any]:
    if message.role is MessageRole.TOOL:
        if message.tool_call_id is None:
            raise ChatModelError("a tool message says of no call that it answers it; give its tool_call_id")
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    mapped: dict[str, Any] = {"role": message.role.value, "content": message.content}
    if message.tool_calls:
        mapped["content"] = message.content or None
        mapped["tool_calls"] = [_call(call) for call in message.tool_calls]
    return mapped


def _call(call: ToolCall) -> dict[str, Any]:
    # Many servers parse the arguments of earlier calls, so that malformed ones would make the whole conversation fail.
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": compact(dict(call.arguments))},
    }


class _Function(BaseModel):
    name: str
    arguments: Any = None


class _Call(BaseModel):
    id: str | None = None
    function: _Function


class _Part(BaseModel):
    text: str = ""


class _Said(BaseModel):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(BaseModel):
    message: _Said
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    model: str | None = None
    usage: _Usage | None = None


def _answer(completion: _Completion, messages: Sequence[ChatMessage]) -> Answer:
    choice, usage = completion.choices[0], completion.usage or _Usage()
    said, ids = choice.message, call_ids(messages)
    text = said.content or ""
    return Answer(
        content=text if isinstance(text, str) else "".join(part.text for part in text),
        finish_reason=choice.finish_reason,
        model=completion.model,
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        tool_calls=[
            tool_call(call.id or position, call.function.name, call.function.arguments)
            for call, position in zip(said.tool_calls or (), ids, strict=False)
        ],
        refusal=said.refusal or None,
    )

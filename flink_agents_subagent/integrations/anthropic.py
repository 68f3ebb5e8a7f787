"""Chat models of Anthropic, and of servers that speak its messages API. Needs the extra `anthropic`.

Owns the mapping to and from that API; keys, clients and failures are in `_chat_provider`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from pydantic import BaseModel, ConfigDict, model_validator
from typing_extensions import Unpack

from flink_agents_subagent.chat import ChatMessage, ChatModelError, MessageRole, ToolMetadata
from flink_agents_subagent.integrations._chat_answer import Answer, Asked, grouped, tool_call
from flink_agents_subagent.integrations._chat_provider import Meaning, ProviderConnection, ProviderSettings, Refusal

if TYPE_CHECKING:
    import anthropic

__all__ = ["AnthropicConnection"]

_FAILURES = {
    "AnthropicError": Meaning.REFUSED,
    "APIError": Meaning.REFUSED,
    "APIResponseValidationError": Meaning.REFUSED,
    "APIWebhookValidationError": Meaning.REFUSED,
    "APIConnectionError": Meaning.UNAVAILABLE,
    "APITimeoutError": Meaning.UNAVAILABLE,
    # Those for single statuses and causes are derived from it.
    "APIStatusError": Meaning.BY_STATUS,
    "RetryableError": Meaning.UNAVAILABLE,
    "CredentialsError": Meaning.REFUSED,
    "IdentityTokenFileError": Meaning.REFUSED,
    "WorkloadIdentityError": Meaning.UNAVAILABLE,
}
_FINISH_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
_MAX_TOKENS = 4096
_BLOCKS = "blocks"
"""In `extra_args`: the blocks of an answer that has others than text and tool calls (thinking), as the next request carries them back."""


class AnthropicConnection(ProviderConnection["anthropic.AsyncAnthropic"]):
    """A connection to Anthropic, or to a server that speaks its messages API.

    An `output_schema` is sent as `output_config.format`, as the SDK's `transform_schema` puts it: constraints that the API does not
    know become part of descriptions. `max_tokens` is 4096 unless a parameter says otherwise. An answer with thinking is kept whole in
    `extra_args["blocks"]` and carried back as it came. Parameters go into the request's body as they are.

    Guarantee: one request per `chat`. The call id is sent as `Idempotency-Key`, for gateways that know it; Anthropic promises nothing
        about it, so an answer that was lost on its way is paid for twice.
    Replay: a recorded answer is not asked for again.
    Thread: the background loop.
    """

    provider: ClassVar[str] = "Anthropic"
    sdk: ClassVar[str] = "anthropic"
    failures: ClassVar[Mapping[str, Meaning]] = _FAILURES
    length_parameter: ClassVar[str] = "max_tokens"

    def __init__(self, *, api_key_env: str | None = "ANTHROPIC_API_KEY", **settings: Unpack[ProviderSettings]) -> None:
        """Describe the connection.

        Args:
            api_key_env: The environment variable that holds the key where the job runs; None: what the SDK finds by itself (a profile,
                workload identity).
            **settings: `base_url`, without the version, `request_timeout` (seconds), `max_connections`, `headers`, `parameters`.

        Raises:
            DefinitionError: A value cannot work.
        """
        super().__init__(api_key_env, settings)

    def _connect(self, key: str | None) -> anthropic.AsyncAnthropic:
        import anthropic  # noqa: PLC0415 - behind an extra
        import httpx2  # noqa: PLC0415

        # Waiting for a free connection is not the provider's fault, so that it has no limit here.
        timeout = httpx2.Timeout(self._request_timeout, pool=None)
        limits = httpx2.Limits(max_connections=self._max_connections)
        return anthropic.AsyncAnthropic(
            api_key=key,
            base_url=self._base_url,
            timeout=timeout,
            max_retries=0,
            default_headers=self._headers,
            http_client=anthropic.DefaultAsyncHttpxClient(timeout=timeout, limits=limits),
        )

    async def _ask(
        self,
        client: anthropic.AsyncAnthropic,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolMetadata],
        asked: Asked,
    ) -> Answer:
        import anthropic  # noqa: PLC0415 - `open` has found it

        body = {**_body(messages, tools), **asked.parameters}
        if asked.output_schema is not None:
            body["output_config"] = {"format": self._format(asked), **body.get("output_config", {})}
        try:
            response = await client.messages.with_raw_response.create(
                model=asked.model,
                max_tokens=body.pop("max_tokens", _MAX_TOKENS),
                messages=cast("Any", _turns(messages)),
                extra_body=body,
                extra_headers=asked.headers(),
            )
        except anthropic.AnthropicError as error:
            raise self.failure(error, asked) from error
        return _answer(self.read(_Message, response.http_response.text, asked))

    def _format(self, asked: Asked) -> dict[str, Any]:
        import anthropic  # noqa: PLC0415 - `open` has found it

        try:
            schema = anthropic.transform_schema(dict(asked.output_schema or {}))
        # What it raises for a part without a type, for several types at once, and for a part that is no object.
        except (ValueError, AssertionError, TypeError) as error:
            raise ChatModelError(
                f"{self.subject(asked)} cannot be given this output_schema: {error}; say of each part which one type it has, or which anyOf"
            ) from error
        return {"type": "json_schema", "schema": schema}

    def _refusal(self, error: anthropic.APIStatusError) -> Refusal:
        return Refusal(error.status_code, error.response.headers, error.api_message or error.response.text)


def _body(messages: Sequence[ChatMessage], tools: Sequence[ToolMetadata]) -> dict[str, Any]:
    body: dict[str, Any] = {}
    system = [message.content for message in messages if message.role is MessageRole.SYSTEM and message.content]
    if system:
        body["system"] = "\n\n".join(system)
    if tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.input_schema)}
            for tool in tools
        ]
    return body


def _turns(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """Return the messages that are not the system's; all results that answer one message stand in one turn, as the API wants them."""
    turns: list[dict[str, Any]] = []
    for role, several in grouped([message for message in messages if message.role is not MessageRole.SYSTEM]):
        if role is MessageRole.TOOL:
            turns.append({"role": "user", "content": [_result(message) for message in several]})
        elif role is MessageRole.USER:
            turns += [{"role": "user", "content": message.content} for message in several]
        else:
            # The API refuses a turn without blocks, and a block without text.
            said = [_blocks(message) for message in several]
            turns += [{"role": "assistant", "content": blocks} for blocks in said if blocks]
    return turns


def _result(message: ChatMessage) -> dict[str, Any]:
    if message.tool_call_id is None:
        raise ChatModelError("a tool message says of no call that it answers it; give its tool_call_id")
    return {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": message.content}


def _blocks(message: ChatMessage) -> list[Any]:
    if _BLOCKS in message.extra_args:
        return list(message.extra_args[_BLOCKS])
    text = [{"type": "text", "text": message.content}] if message.content else []
    return text + [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}
        for call in message.tool_calls
    ]


class _Usage(BaseModel):
    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None

    def prompt_tokens(self) -> int | None:
        """Return the tokens of the whole prompt; the API counts those in its cache apart."""
        if self.input_tokens is None:
            return None
        return self.input_tokens + (self.cache_creation_input_tokens or 0) + (self.cache_read_input_tokens or 0)


class _Details(BaseModel):
    category: str | None = None
    explanation: str | None = None


class _Block(BaseModel):
    model_config = ConfigDict(extra="allow")

    type: str
    text: str = ""
    id: str = ""
    name: str = ""
    input: Any = None

    @model_validator(mode="after")
    def _says_what_it_calls(self) -> _Block:
        if self.type == "tool_use" and not (self.id and self.name):
            raise ValueError("a tool_use block needs an id and a name")
        return self


class _Message(BaseModel):
    content: list[_Block]
    model: str | None = None
    stop_reason: str | None = None
    stop_details: _Details | None = None
    usage: _Usage = _Usage()


def _answer(message: _Message) -> Answer:
    usage, details = message.usage, message.stop_details
    is_plain = all(block.type in ("text", "tool_use") for block in message.content)
    return Answer(
        content="".join(block.text for block in message.content if block.type == "text"),
        finish_reason=_FINISH_REASONS.get(message.stop_reason or "", message.stop_reason),
        model=message.model,
        input_tokens=usage.prompt_tokens(),
        output_tokens=usage.output_tokens,
        tool_calls=[
            tool_call(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"
        ],
        refusal=None if details is None else details.explanation or details.category,
        carried={} if is_plain else {_BLOCKS: [block.model_dump(exclude_unset=True) for block in message.content]},
    )

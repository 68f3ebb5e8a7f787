"""Chat models that Ollama serves. Needs the extra `ollama`.

Owns the mapping to and from its chat API; keys, clients and failures are in `_chat_provider`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import ValidationError
from typing_extensions import Unpack

from flink_agents_subagent.chat import ChatMessage, ChatModelError, MessageRole, ToolMetadata
from flink_agents_subagent.integrations._chat_answer import Answer, Asked, call_ids, compact, tool_call
from flink_agents_subagent.integrations._chat_provider import Meaning, ProviderConnection, ProviderSettings, Refusal

if TYPE_CHECKING:
    import ollama

__all__ = ["OllamaConnection"]

_FAILURES = {
    "RequestError": Meaning.REFUSED,
    "ResponseError": Meaning.BY_STATUS,
    # The SDK lets through what its HTTP client raises, but for connections that fail.
    "ConnectionError": Meaning.UNAVAILABLE,
    "TransportError": Meaning.UNAVAILABLE,
    "DecodingError": Meaning.UNAVAILABLE,
    "TooManyRedirects": Meaning.REFUSED,
    "HTTPStatusError": Meaning.REFUSED,
    "HTTPError": Meaning.REFUSED,
}
_OF_THE_REQUEST = frozenset({"think", "logprobs", "top_logprobs", "keep_alive", "format"})
_KEPT_OF_SCHEMA = frozenset({"type", "properties", "required", "items", "$defs", "title", "additionalProperties"})
_KEPT_OF_PROPERTY = frozenset({"type", "items", "description", "enum", "title", "default"})


class OllamaConnection(ProviderConnection["ollama.AsyncClient"]):
    """A connection to an Ollama server, or to its cloud.

    An `output_schema` is sent as `format`, and told in a system message, because the server does not show it to the model. While tools
    are offered it is told only: with a `format` no model calls a tool. Tool calls, which have no ids here, are numbered by position.
    Of a tool's schema the SDK keeps little (no `anyOf`, no nested objects); where something would be lost, the whole schema is part of
    the description. Parameters other than `think`, `logprobs`, `top_logprobs`, `keep_alive`, `format` and `options` are taken for
    options of the model (`temperature`, `num_ctx`, `num_predict`).

    Guarantee: one request per `chat`. There is no idempotency key.
    Replay: a recorded answer is not asked for again.
    Thread: the background loop.
    """

    provider: ClassVar[str] = "Ollama"
    sdk: ClassVar[str] = "ollama"
    failures: ClassVar[Mapping[str, Meaning]] = _FAILURES
    length_parameter: ClassVar[str] = "num_predict"

    def __init__(self, *, api_key_env: str | None = None, **settings: Unpack[ProviderSettings]) -> None:
        """Describe the connection.

        Args:
            api_key_env: The environment variable that holds a key where the job runs, for the cloud or a proxy; None: none, or what the
                SDK finds in OLLAMA_API_KEY.
            **settings: `base_url`, `request_timeout` (seconds), `max_connections`, `headers`, `parameters`.

        Raises:
            DefinitionError: A value cannot work.
        """
        super().__init__(api_key_env, settings)

    def _connect(self, key: str | None) -> ollama.AsyncClient:
        import httpx  # noqa: PLC0415 - behind an extra
        import ollama  # noqa: PLC0415

        return ollama.AsyncClient(
            host=self._base_url,
            headers={**({"Authorization": f"Bearer {key}"} if key else {}), **self._headers},
            # Waiting for a free connection is not the server's fault, so that it has no limit here.
            timeout=httpx.Timeout(self._request_timeout, pool=None),
            limits=httpx.Limits(max_connections=self._max_connections),
        )

    async def _ask(
        self, client: ollama.AsyncClient, messages: Sequence[ChatMessage], tools: Sequence[ToolMetadata], asked: Asked
    ) -> Answer:
        import httpx  # noqa: PLC0415 - `open` has found them
        import ollama  # noqa: PLC0415

        try:
            response = await client.chat(
                asked.model,
                [*_told_schema(asked), *_messages(messages)],
                tools=[_tool(tool) for tool in tools],
                **_parameters(asked, offers_tools=bool(tools)),
            )
        except (ollama.ResponseError, ollama.RequestError, ConnectionError, httpx.HTTPError) as error:
            raise self.failure(error, asked) from error
        except json.JSONDecodeError as error:
            raise self.no_json(error.doc, asked) from error
        except TypeError as error:
            # The SDK takes whatever JSON there is for an object.
            raise ChatModelError(
                f"{self.subject(asked)} gave an answer that is no JSON object; check base_url"
            ) from error
        except ValidationError as error:
            is_of_answer = error.title == ollama.ChatResponse.__name__
            raise (self.unlike if is_of_answer else self.unsendable)(error, asked) from error
        return _answer(response, messages)

    def _refusal(self, error: ollama.ResponseError) -> Refusal:
        # The SDK hides its HTTP client's error, the only one that knows the headers.
        response = getattr(error.__context__, "response", None)
        return Refusal(error.status_code, {} if response is None else response.headers, str(error.error))


def _parameters(asked: Asked, *, offers_tools: bool) -> dict[str, Any]:
    given = dict(asked.parameters)
    options = {**given.pop("options", {})}
    of_request = {name: given.pop(name) for name in _OF_THE_REQUEST & given.keys()}
    if asked.output_schema is not None and not offers_tools:
        of_request = {"format": dict(asked.output_schema), **of_request}
    return {**of_request, "options": {**options, **given}}


def _told_schema(asked: Asked) -> list[dict[str, Any]]:
    if asked.output_schema is None:
        return []
    text = f"Give the final answer as JSON that fits this JSON schema, and nothing else: {compact(dict(asked.output_schema))}"
    return [{"role": "system", "content": text}]


def _messages(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    return [_message(message, names) for message in messages]


def _message(message: ChatMessage, names: Mapping[str, str]) -> dict[str, Any]:
    mapped: dict[str, Any] = {"role": message.role.value, "content": message.content}
    if message.role is MessageRole.TOOL:
        name = names.get(message.tool_call_id or "")
        if name is None:
            raise ChatModelError(
                f"a tool message answers the call {message.tool_call_id!r}, which no message of the conversation makes; "
                "give its tool_call_id, and the message of the model that it answers"
            )
        mapped["tool_name"] = name
    if message.role is MessageRole.ASSISTANT:
        mapped["thinking"] = message.extra_args.get("thinking")
        mapped["tool_calls"] = [
            {"function": {"name": call.name, "arguments": dict(call.arguments)}} for call in message.tool_calls
        ]
    return mapped


def _tool(tool: ToolMetadata) -> dict[str, Any]:
    schema, description = dict(tool.input_schema), tool.description
    if not _is_kept(schema):
        description = f"{description}\nThe arguments fit this JSON schema: {compact(schema)}"
    return {
        "type": "function",
        "function": {"name": tool.name, "description": description, "parameters": _narrowed(schema)},
    }


def _is_kept(schema: Mapping[str, Any]) -> bool:
    """Tell whether the SDK passes all of a schema on that matters to a model."""
    properties = schema.get("properties", {}).values()
    return schema.keys() <= _KEPT_OF_SCHEMA and all(
        isinstance(one, Mapping) and one.keys() <= _KEPT_OF_PROPERTY for one in properties
    )


def _narrowed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema that the SDK accepts."""
    properties = schema.get("properties", {}).items()
    kept = {name: one if isinstance(one, Mapping) else {} for name, one in properties}
    return {**schema, "type": "object", "properties": kept}


def _answer(response: ollama.ChatResponse, messages: Sequence[ChatMessage]) -> Answer:
    said, ids = response.message, call_ids(messages)
    return Answer(
        content=said.content or "",
        finish_reason="tool_calls" if said.tool_calls else response.done_reason,
        model=response.model,
        input_tokens=response.prompt_eval_count,
        output_tokens=response.eval_count,
        tool_calls=[
            tool_call(position, call.function.name, dict(call.function.arguments))
            for call, position in zip(said.tool_calls or (), ids, strict=False)
        ],
        carried={"thinking": said.thinking} if said.thinking else {},
    )

"""The providers of chat models as tests see them: what each answers on the wire, and a conversation with a canned server. Owns no claims."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flink_agents_subagent.chat import BaseChatModelConnection, ChatMessage, MessageRole, ToolCall, ToolMetadata
from flink_agents_subagent.integrations.anthropic import AnthropicConnection
from flink_agents_subagent.integrations.ollama import OllamaConnection
from flink_agents_subagent.integrations.openai import OpenAIConnection
from flink_agents_subagent.testing.http.loopback import Asked, Reply
from tests.unit.integrations.canned import CannedServer, canned

__all__ = [
    "ANTHROPIC",
    "KEY",
    "OLLAMA",
    "OPENAI",
    "PROVIDERS",
    "Provider",
    "answers",
    "ask",
    "body",
    "call",
    "said",
    "tool",
    "user",
]

KEY = "key-0123456789"


@dataclass(frozen=True)
class Provider:
    """A provider."""

    name: str
    connection: Callable[..., BaseChatModelConnection]
    path: str
    reply: Callable[[str], dict[str, Any]]
    """Makes the plain answer with a text, of 12 and 3 tokens."""
    calls: Callable[[str, dict[str, Any]], dict[str, Any]]
    """Makes the answer that calls a tool with arguments."""
    refusal: Callable[[str], dict[str, Any]]
    """Makes the content of an answer that is no success."""
    base: str = ""
    """What base_url ends in."""

    def connect(self, server: CannedServer, **settings: Any) -> BaseChatModelConnection:
        """Return a connection that reads its key from `TEST_KEY`."""
        return self.connection(**{"api_key_env": "TEST_KEY", "base_url": server.url + self.base, **settings})

    def exchange(self, folder: Path, reply: Any, *asked: Any, **kwargs: Any) -> tuple[ChatMessage, Mapping[str, Any]]:
        """Ask once, and return the answer and the content of the request."""
        with canned(folder, Reply(200, reply)) as server:
            answer = ask(self.connect(server), *asked, **kwargs)
        return answer, body(server.asked[0])


def openai_reply(text: str | None, finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    """Return an answer of OpenAI."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "model-1-2026",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish_reason}
        ],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
    }


def anthropic_reply(*blocks: dict[str, Any], stop_reason: str = "end_turn", **more: Any) -> dict[str, Any]:
    """Return an answer of Anthropic."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "model-1-2026",
        "content": list(blocks),
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 2,
            "cache_creation_input_tokens": 4,
            "cache_read_input_tokens": 6,
            "output_tokens": 3,
        },
        **more,
    }


def ollama_reply(text: str, done_reason: str = "stop", **message: Any) -> dict[str, Any]:
    """Return an answer of Ollama."""
    return {
        "model": "model-1-2026",
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": text, **message},
        "done": True,
        "done_reason": done_reason,
        "prompt_eval_count": 12,
        "eval_count": 3,
    }


OPENAI = Provider(
    name="openai",
    connection=OpenAIConnection,
    path="/v1/chat/completions",
    reply=openai_reply,
    calls=lambda name, arguments: openai_reply(
        None,
        "tool_calls",
        tool_calls=[
            {"id": "call_a", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        ],
    ),
    refusal=lambda said: {"error": {"message": said, "type": "some_error", "code": None}},
    base="/v1",
)
ANTHROPIC = Provider(
    name="anthropic",
    connection=AnthropicConnection,
    path="/v1/messages",
    reply=lambda text: anthropic_reply({"type": "text", "text": text}),
    calls=lambda name, arguments: anthropic_reply(
        {"type": "tool_use", "id": "toolu_a", "name": name, "input": arguments}, stop_reason="tool_use"
    ),
    refusal=lambda said: {"type": "error", "error": {"type": "some_error", "message": said}},
)
OLLAMA = Provider(
    name="ollama",
    connection=OllamaConnection,
    path="/api/chat",
    reply=ollama_reply,
    calls=lambda name, arguments: ollama_reply("", tool_calls=[{"function": {"name": name, "arguments": arguments}}]),
    refusal=lambda said: {"error": said},
)
PROVIDERS = [OPENAI, ANTHROPIC, OLLAMA]


def user(text: str = "hi") -> ChatMessage:
    """Return what a user says."""
    return ChatMessage(MessageRole.USER, text)


def said(text: str, *calls: ToolCall, **extra_args: Any) -> ChatMessage:
    """Return what the model says."""
    return ChatMessage(MessageRole.ASSISTANT, text, calls, extra_args=extra_args)


def answers(call_id: str, text: str) -> ChatMessage:
    """Return what a tool answers."""
    return ChatMessage(MessageRole.TOOL, text, tool_call_id=call_id)


def call(call_id: str, name: str, **arguments: Any) -> ToolCall:
    """Return a call of a tool."""
    return ToolCall(call_id, name, arguments)


def tool(name: str = "weather", **schema: Any) -> ToolMetadata:
    """Return a tool."""
    return ToolMetadata(
        name, f"Tells the {name}.", {"type": "object", "properties": {"city": {"type": "string"}}, **schema}
    )


def ask(
    connection: BaseChatModelConnection,
    messages: Sequence[ChatMessage] = (),
    tools: Sequence[ToolMetadata] = (),
    **kwargs: Any,
) -> ChatMessage:
    """Open the connection, send one request of the model `model-1`, close it, and return the answer."""

    async def do() -> ChatMessage:
        await connection.open()  # type: ignore[misc]
        try:
            return await connection.chat(messages or [user()], tools, **{"model": "model-1", **kwargs})  # type: ignore[misc]
        finally:
            await connection.close()  # type: ignore[misc]

    return asyncio.run(do())


def body(asked: Asked) -> Mapping[str, Any]:
    """Return the content of a request."""
    content: Mapping[str, Any] = json.loads(asked.body)
    return content

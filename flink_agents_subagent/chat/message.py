"""Messages between an agent and a chat model. Plain data: recorded, fingerprinted and mapped by each provider; must not know providers."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ChatMessage", "MessageRole", "ToolCall", "ToolMetadata"]


class MessageRole(str, enum.Enum):
    """Who says a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


_ROLES = {role.value: role for role in MessageRole}
"""Found faster than by `MessageRole(value)`."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A callable that the model wants called."""

    id: str
    """The model's own id of the call; the answer carries it back."""
    name: str
    """Name of the callable as it was offered."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """What the model gave, JSON values."""
    malformed: str | None = None
    """The text that the model gave instead of a JSON object; None when it gave one. Such a call is answered with the reason."""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation.

    Replay: equal messages come back from the journal; nothing in one is drawn by chance.
    """

    role: MessageRole
    content: str = ""
    tool_calls: Sequence[ToolCall] = ()
    """Of an ASSISTANT message: what the model wants called, in its order."""
    tool_call_id: str | None = None
    """Of a TOOL message: the id of the call that it answers."""
    extra_args: Mapping[str, Any] = field(default_factory=dict)
    """What else the provider said: token usage, finish reason, whatever its next request must carry back. JSON values."""


@dataclass(frozen=True, slots=True)
class ToolMetadata:
    """What a model is told of a callable: a tool, or a sub-agent under its prefixed name."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    """JSON schema of an object: the arguments."""


def packed(message: ChatMessage) -> list[Any]:
    """Return a message as plain data, which is recorded and fingerprinted several times faster than the object."""
    calls = [[call.id, call.name, dict(call.arguments), call.malformed] for call in message.tool_calls]
    return [message.role.value, message.content, calls, message.tool_call_id, dict(message.extra_args)]


def unpacked(data: Sequence[Any]) -> ChatMessage:
    """Return the message again."""
    role, content, calls, tool_call_id, extra_args = data
    tool_calls = tuple([ToolCall(*call) for call in calls]) if calls else ()
    return ChatMessage(_ROLES[role], content, tool_calls, tool_call_id, extra_args)


def chained(fingerprint: Callable[..., bytes], messages: Sequence[ChatMessage], digest: str = "") -> str:
    """Return the digest of a conversation: that of each message and of the digest of what was said before it."""
    for message in messages:
        digest = fingerprint(digest, packed(message)).hex()
    return digest

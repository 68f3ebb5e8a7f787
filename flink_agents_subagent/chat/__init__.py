"""Chat models: messages, the provider's port, and what a model may call."""

from __future__ import annotations

from flink_agents_subagent.chat.connection import BaseChatModelConnection, ChatModelError, ChatModelUnavailableError
from flink_agents_subagent.chat.message import ChatMessage, MessageRole, ToolCall, ToolMetadata

__all__ = [
    "BaseChatModelConnection",
    "ChatMessage",
    "ChatModelError",
    "ChatModelUnavailableError",
    "MessageRole",
    "ToolCall",
    "ToolMetadata",
]

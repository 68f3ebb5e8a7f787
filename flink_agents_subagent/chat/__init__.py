"""Chat models: messages, the provider's port, prompts, tools, and the events by which an agent asks a model."""

from __future__ import annotations

from flink_agents_subagent.chat.connection import BaseChatModelConnection
from flink_agents_subagent.chat.event import ChatRequestEvent, ChatResponseEvent, ToolRequestEvent, ToolResponseEvent
from flink_agents_subagent.chat.message import ChatMessage, MessageRole, ToolCall, ToolMetadata
from flink_agents_subagent.chat.output import OutputSchema
from flink_agents_subagent.chat.prompt import Prompt
from flink_agents_subagent.chat.response import ToolResponse
from flink_agents_subagent.chat.setup import BaseChatModelSetup
from flink_agents_subagent.chat.tool import FromConfig, FromMemory, Tool, tool
from flink_agents_subagent.errors import ChatModelError, ChatModelUnavailableError

__all__ = [
    "BaseChatModelConnection",
    "BaseChatModelSetup",
    "ChatMessage",
    "ChatModelError",
    "ChatModelUnavailableError",
    "ChatRequestEvent",
    "ChatResponseEvent",
    "FromConfig",
    "FromMemory",
    "MessageRole",
    "OutputSchema",
    "Prompt",
    "Tool",
    "ToolCall",
    "ToolMetadata",
    "ToolRequestEvent",
    "ToolResponse",
    "ToolResponseEvent",
    "tool",
]

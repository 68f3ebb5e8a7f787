"""Chat models: messages, the provider's port, prompts, tools, agents that reason with them, and the events by which an agent asks a model."""

from __future__ import annotations

from flink_agents_subagent.chat.connection import BaseChatModelConnection
from flink_agents_subagent.chat.event import ChatRequestEvent, ChatResponseEvent, ToolRequestEvent, ToolResponseEvent
from flink_agents_subagent.chat.message import ChatMessage, MessageRole, ToolCall, ToolMetadata
from flink_agents_subagent.chat.output import OutputSchema
from flink_agents_subagent.chat.prompt import Prompt
from flink_agents_subagent.chat.react import ReActAgent
from flink_agents_subagent.chat.response import ToolResponse
from flink_agents_subagent.chat.setup import BaseChatModelSetup
from flink_agents_subagent.chat.tool import FromConfig, FromMemory, Tool, tool
from flink_agents_subagent.errors import ChatModelError, ChatModelUnavailableError
from flink_agents_subagent.subagents.metadata import SubagentMetadataProvider

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
    "ReActAgent",
    "SubagentMetadataProvider",
    "Tool",
    "ToolCall",
    "ToolMetadata",
    "ToolRequestEvent",
    "ToolResponse",
    "ToolResponseEvent",
    "tool",
]

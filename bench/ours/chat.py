"""An agent that asks a chat model, which calls one tool and answers; neither does anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flink_agents_subagent import Agent, InputEvent, OutputEvent, ResourceType, RunnerContext, action
from flink_agents_subagent.chat import (
    BaseChatModelConnection,
    BaseChatModelSetup,
    ChatMessage,
    ChatRequestEvent,
    ChatResponseEvent,
    MessageRole,
    ToolCall,
    ToolMetadata,
    tool,
)

ROUNDS = 4
"""Rounds of a tool in each chat; one more call of the model brings the answer."""


class EagerModel(BaseChatModelConnection):
    """Asks for one tool after the other, then answers, without waiting."""

    async def chat(self, messages: Sequence[ChatMessage], tools: Sequence[ToolMetadata], **kwargs: Any) -> ChatMessage:
        """Answer at once."""
        del tools, kwargs
        if len(messages) < 2 * ROUNDS:
            call = ToolCall(str(len(messages)), "echo", {"text": "a question of some words"})
            return ChatMessage(MessageRole.ASSISTANT, tool_calls=(call,))
        return ChatMessage(MessageRole.ASSISTANT, "an answer of some words")


class ChatAgent(Agent):
    """Asks the model and sends on its answer."""

    def __init__(self) -> None:
        super().__init__("chat")
        self.add_resource("eager", ResourceType.CHAT_MODEL_CONNECTION, EagerModel())
        self.add_resource("model", ResourceType.CHAT_MODEL, BaseChatModelSetup("eager", "tiny", tools=["echo"]))

    @action(InputEvent)
    @staticmethod
    def handle(event: InputEvent, ctx: RunnerContext) -> None:
        """Ask."""
        said = ChatMessage(MessageRole.USER, f"a question about {event.input['key']}")
        ctx.send_event(ChatRequestEvent(model="model", messages=[said]))

    @action(ChatResponseEvent)
    @staticmethod
    def answered(event: ChatResponseEvent, ctx: RunnerContext) -> None:
        """Send on the answer."""
        ctx.send_event(OutputEvent(output=event.text))

    @tool
    @staticmethod
    async def echo(text: str) -> str:
        """Return the text."""
        return text

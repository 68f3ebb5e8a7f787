"""What the files with chat models name."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from flink_agents_subagent import (
    Agent,
    InputEvent,
    OutputEvent,
    ResourceDescriptor,
    ResourceType,
    RunnerContext,
    action,
)
from flink_agents_subagent.chat import BaseChatModelConnection, ChatMessage, MessageRole, Prompt, ReActAgent, ToolCall
from flink_agents_subagent.chat.setup import BaseChatModelSetup
from flink_agents_subagent.chat.tool import Tool


class Weather(BaseModel):
    """An answer."""

    degrees: int


class Echo(BaseChatModelConnection):
    """A model that calls each of its callables once and then says what came."""

    def __init__(self, *, mark: str = "") -> None:
        self._mark = mark

    async def chat(self, messages: Any, tools: Any, **kwargs: Any) -> ChatMessage:
        """Answer."""
        said = [message.content for message in messages if message.role is not MessageRole.ASSISTANT]
        if tools and messages[-1].role is not MessageRole.TOOL:
            calls = [ToolCall(str(place), tool.name, {"input": "Rome"}) for place, tool in enumerate(tools)]
            return ChatMessage(MessageRole.ASSISTANT, tool_calls=calls)
        return ChatMessage(MessageRole.ASSISTANT, self._mark + "|".join(said))


def look_up(input: str) -> str:  # noqa: A002 -- the model's name of it
    """Look something up.

    Args:
        input: What.
    """
    return f"{input} is warm"


def without_docstring(input: str) -> str:  # noqa: A002, D103 -- the model's name of it; that is what it is about
    return input


@action(InputEvent)
def echo(event: InputEvent, ctx: RunnerContext) -> None:
    """Answer with the input."""
    ctx.send_event(OutputEvent(output=event.input))


def asker() -> Agent:
    """Return the agent of the files by calls: a ReAct agent with a tool, and one inside it."""
    inner = ReActAgent("small", description="Knows the weather.", output_schema=Weather, name="inner")
    guide = Prompt.from_text("Tell of {topic}.", MessageRole.USER)
    inner.add_resource("guide", ResourceType.PROMPT, guide)
    inner.add_resource("look_up", ResourceType.TOOL, ResourceDescriptor(clazz=Tool, func=look_up, timeout=3))
    inner.add_resource(
        "small",
        ResourceType.CHAT_MODEL,
        ResourceDescriptor(clazz=BaseChatModelSetup, connection="echo", model="echo-1", timeout=20, tools=["look_up"]),
    )
    agent = ReActAgent("large", prompt="guide", name="asker")
    agent.add_resource("guide", ResourceType.PROMPT, guide)
    agent.add_resource("echo", ResourceType.CHAT_MODEL_CONNECTION, ResourceDescriptor(clazz=Echo, mark="> "))
    large = ResourceDescriptor(
        clazz=BaseChatModelSetup, connection="echo", model="echo-2", subagents=["weather"], temperature=0
    )
    agent.add_resource("large", ResourceType.CHAT_MODEL, large)
    agent.add_resource("weather", ResourceType.AGENT, inner)
    return agent

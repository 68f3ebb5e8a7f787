"""Agents with a scripted model, for the tests of chat requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flink_agents_subagent import Agent, InputEvent, OutputEvent, ResourceType, RunnerContext
from flink_agents_subagent.chat import (
    BaseChatModelConnection,
    BaseChatModelSetup,
    ChatMessage,
    ChatRequestEvent,
    ChatResponseEvent,
    MessageRole,
    Prompt,
    Tool,
    ToolCall,
)
from flink_agents_subagent.testing import LocalRunner, ScriptedModel

__all__ = ["agent_with", "ask", "call", "outputs_of", "said", "user"]


def user(text: str) -> ChatMessage:
    """Return what a user says."""
    return ChatMessage(MessageRole.USER, text)


def call(name: str, number: int = 1, **arguments: Any) -> ToolCall:
    """Return a call that a model wants made."""
    return ToolCall(str(number), name, arguments)


def said(messages: Sequence[ChatMessage], role: MessageRole = MessageRole.TOOL) -> list[str]:
    """Return what one side has said."""
    return [message.content for message in messages if message.role is role]


def asking(output_schema: Any) -> Any:
    """Return an action that asks the model: a text, or the arguments of a request."""

    async def ask(event: InputEvent, ctx: RunnerContext) -> None:
        given = event.input if isinstance(event.input, dict) else {"messages": [user(str(event.input))]}
        ctx.send_event(ChatRequestEvent(model="model", output_schema=output_schema, **given))

    return ask


ask = asking(None)


def answered(event: ChatResponseEvent, ctx: RunnerContext) -> None:
    """Send on what came of it."""
    found = event.error if event.error is not None else event.text
    ctx.send_event(OutputEvent(output=found if event.output is None else event.output))


def agent_with(
    answers: Sequence[Any] | BaseChatModelConnection,
    *,
    tools: Mapping[str, Any] | None = None,
    subagents: Mapping[str, Any] | None = None,
    prompt: Prompt | str | None = None,
    output_schema: Any = None,
    **described: Any,
) -> Agent:
    """Return an agent that asks a scripted model and sends on what it answers."""
    agent = (
        Agent("sample")
        .add_action("ask", InputEvent, asking(output_schema))
        .add_action("answered", ChatResponseEvent, answered)
    )
    for name, it in (tools or {}).items():
        agent.add_resource(name, ResourceType.TOOL, it if isinstance(it, Tool) else Tool.from_callable(it))
    for name, it in (subagents or {}).items():
        agent.add_resource(name, ResourceType.AGENT, it)
    model = answers if isinstance(answers, BaseChatModelConnection) else ScriptedModel(answers)
    agent.add_resource("connection", ResourceType.CHAT_MODEL_CONNECTION, model)
    setup = BaseChatModelSetup("connection", "tiny", prompt, list(tools or {}), list(subagents or {}), **described)
    return agent.add_resource("model", ResourceType.CHAT_MODEL, setup)


def outputs_of(agent: Agent, *inputs: Any, **options: Any) -> list[Any]:
    """Return what the agent makes of the inputs."""
    named = {name.replace("__", ".").replace("_", "-"): value for name, value in options.items()}
    return LocalRunner(agent, options=named).run([("ada", value) for value in inputs or ("hello",)]).values

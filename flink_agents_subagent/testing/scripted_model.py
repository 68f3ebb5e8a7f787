"""A chat model for tests that answers by a script. Decides by the conversation alone; must not count its calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from flink_agents_subagent.chat import BaseChatModelConnection, ChatMessage, MessageRole, ToolCall, ToolMetadata
from flink_agents_subagent.errors import ChatModelError, DefinitionError

__all__ = ["ScriptedAnswer", "ScriptedModel", "ScriptedRequest"]

ScriptedAnswer: TypeAlias = (
    str | ChatMessage | ToolCall | Sequence[ToolCall] | BaseException | Callable[[Sequence[ChatMessage]], Any]
)
"""A text, a message, calls that the model wants made, an exception to raise, or a function of the messages that returns one of these."""


@dataclass(frozen=True, slots=True)
class ScriptedRequest:
    """What the model was asked."""

    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolMetadata, ...]
    """Tools and sub-agents, as they were offered."""
    kwargs: Mapping[str, Any] = field(default_factory=dict)


class ScriptedModel(BaseChatModelConnection):
    """A connection whose model answers by a script: the n-th answer to a conversation in which it has spoken n times before.

    Guarantee: the answer depends on the messages alone, not on how often it was asked, so that a conversation that a crash cuts
        goes on as it would have. An exception is raised at every attempt.
    Thread: any. `requests` holds what it was asked, also by several conversations; in Flink each subtask has a copy.

    ::

        model = ScriptedModel([ToolCall("1", "add", {"a": 1, "b": 2}), "The sum is 3."])
        agent.add_resource("scripted", ResourceType.CHAT_MODEL_CONNECTION, model)
    """

    def __init__(self, answers: Sequence[ScriptedAnswer]) -> None:
        """Take the script.

        Raises:
            DefinitionError: It is empty, or a single text.
        """
        if isinstance(answers, str) or not answers:
            raise DefinitionError(f"the script is {answers!r}; give a list of answers, at least one")
        self._answers = list(answers)
        self.requests: list[ScriptedRequest] = []

    async def chat(self, messages: Sequence[ChatMessage], tools: Sequence[ToolMetadata], **kwargs: Any) -> ChatMessage:
        """Answer by the script; see `BaseChatModelConnection.chat`.

        Raises:
            ChatModelError: The script has no further answer.
        """
        self.requests.append(ScriptedRequest(tuple(messages), tuple(tools), dict(kwargs)))
        spoken = sum(message.role is MessageRole.ASSISTANT for message in messages)
        if spoken >= len(self._answers):
            raise ChatModelError(
                f"the script has {len(self._answers)} answers, and the conversation needs one more: {messages[-1]!r}"
            )
        answer: Any = self._answers[spoken]
        if callable(answer) and not isinstance(answer, BaseException):
            answer = answer(messages)
            if inspect.isawaitable(answer):
                answer = await answer
        return _message(answer)


def _message(answer: Any) -> ChatMessage:
    if isinstance(answer, BaseException):
        raise answer
    if isinstance(answer, ChatMessage):
        return replace(answer)
    if isinstance(answer, ToolCall):
        answer = (answer,)
    if isinstance(answer, str):
        return ChatMessage(MessageRole.ASSISTANT, answer)
    return ChatMessage(MessageRole.ASSISTANT, tool_calls=tuple(answer))

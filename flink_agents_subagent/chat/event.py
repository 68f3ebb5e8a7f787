"""Events between an agent and the built-in chat actions (C2). Data only; must not know how a model is called."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import Field, field_validator

from flink_agents_subagent.chat.message import ChatMessage, ToolCall
from flink_agents_subagent.chat.output import OutputSchema, output_schema
from flink_agents_subagent.chat.response import ToolResponse
from flink_agents_subagent.errors import ChatModelError
from flink_agents_subagent.events import Event

__all__ = ["ChatFailure", "ChatRequestEvent", "ChatResponseEvent", "ToolRequestEvent", "ToolResponseEvent"]

ChatFailure: TypeAlias = Literal["model", "rounds", "output"]
"""Why a request failed: the model could not be asked, it went on asking for tools, or its answer did not fit the schema."""


class ChatRequestEvent(Event):
    """Asks a chat model; answered by one `ChatResponseEvent`.

    Guarantee: each call of the model, and of each tool that it asks for, is a durable call of its own.
    Replay: what was recorded is not asked for again; another request in its place is a mismatch (E3.7).
    """

    model: str
    """Name of a resource of type `CHAT_MODEL`."""
    messages: list[ChatMessage] = Field(default_factory=list)
    """The conversation so far, oldest first; follows the messages of the model's prompt."""
    prompt_arguments: dict[str, Any] = Field(default_factory=dict)
    """Values of the placeholders in the model's prompt."""
    output_schema: Any = None
    """What the answer shall be: a pydantic model, a dataclass, or a JSON schema of an object. None: text.
    Read again, it is an `OutputSchema`."""
    request_id: str | None = Field(None, min_length=1)
    """Comes back in the answer, so that answers of several requests can be told apart; unique within the run. None: one is made."""

    @field_validator("output_schema")
    @classmethod
    def _describe(cls, given: Any) -> OutputSchema | None:
        return output_schema(given)


class ChatResponseEvent(Event):
    """What came of a `ChatRequestEvent`: an answer, or a failure with its reason."""

    request_id: str
    """Of the request."""
    response: ChatMessage | None = None
    """The model's answer; None in a failure."""
    output: Any = None
    """The answer as the request's `output_schema` wants it: an object of the class, or the value as JSON; None without one."""
    error: str | None = None
    """Why there is no answer; None when there is one."""
    reason: ChatFailure | None = None
    """The same for code that decides by it."""

    @property
    def is_success(self) -> bool:
        """Whether there is an answer."""
        return self.error is None

    @property
    def text(self) -> str:
        """What the model answered.

        Raises:
            ChatModelError: There is no answer; the message says why.
        """
        if self.response is None:
            raise ChatModelError(self.error)
        return self.response.content


class ToolRequestEvent(Event):
    """Has tools and sub-agents called that a model asked for; answered by one `ToolResponseEvent`.

    Guarantee: called concurrently; a tool is a durable call, a sub-agent is submitted to.
    """

    request_id: str
    model: str
    """Name of the chat model whose tools and sub-agents are meant."""
    calls: list[ToolCall]


class ToolResponseEvent(Event):
    """What came of a `ToolRequestEvent`."""

    request_id: str
    responses: list[ToolResponse]
    """One for each call, in the order of the calls."""

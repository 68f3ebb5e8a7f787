"""The port to a chat model's provider, and how its failures are told. Must not know agents, tools or journals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Sequence
from typing import Any, ClassVar

from flink_agents_subagent.chat.message import ChatMessage, ToolMetadata
from flink_agents_subagent.errors import AgentError
from flink_agents_subagent.resources import Resource

__all__ = ["BaseChatModelConnection", "ChatModelError", "ChatModelUnavailableError"]


class ChatModelError(AgentError):
    """The provider refused a request, or its answer cannot be read; another attempt would get the same."""

    code: ClassVar[str] = "chat_model"


class ChatModelUnavailableError(ChatModelError):
    """The provider could not be reached, was too busy, or broke down; another attempt may succeed."""

    code: ClassVar[str] = "chat_model_unavailable"
    retryable: ClassVar[bool] = True

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        """Say what happened.

        Args:
            message: Names the request and the answer.
            retry_after: Seconds after which the provider wants to be asked again; None when it did not say.
        """
        super().__init__(message)
        self.retry_after = retry_after


class BaseChatModelConnection(Resource, ABC):
    """A connection to a provider of chat models: a resource of type `CHAT_MODEL_CONNECTION`.

    Guarantee: opened once per subtask before the first call, closed once after the last (`Resource`).
    Replay: `chat` runs inside a durable call; a recorded answer is not asked for again.
    """

    @abstractmethod
    def chat(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolMetadata], **kwargs: Any
    ) -> ChatMessage | Awaitable[ChatMessage]:
        """Ask the model to go on with a conversation; may be `async`.

        Thread: the background loop when it is `async` (also that of `open`, so that a client made there serves), a worker otherwise.

        Args:
            messages: The conversation so far, oldest first.
            tools: Callables that the model may ask for; empty: none.
            kwargs: `model`, the name of the model; `output_schema`, a JSON schema that the answer shall fit, when one is asked for;
                `call_id`, the idempotency key; and whatever the setup was given for the provider.

        Raises:
            ChatModelUnavailableError: Worth another attempt.
            ChatModelError: Not worth one.
        """

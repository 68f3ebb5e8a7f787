"""The port to a chat model's provider. Must not know agents, tools or journals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Sequence
from typing import Any

from flink_agents_subagent.chat.message import ChatMessage, ToolMetadata
from flink_agents_subagent.errors import ChatModelError, ChatModelUnavailableError
from flink_agents_subagent.resources import Resource

__all__ = ["BaseChatModelConnection", "ChatModelError", "ChatModelUnavailableError"]


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

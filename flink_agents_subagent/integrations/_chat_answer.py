"""What connections to chat models share about requests and answers. Must not know providers, clients or failures."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flink_agents_subagent.chat import ChatMessage, MessageRole, ToolCall
from flink_agents_subagent.integrations._http_values import encoded, json_object

__all__ = ["Answer", "Asked", "call_ids", "compact", "grouped", "tool_call"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request is about besides its messages and tools."""

    model: str
    output_schema: Mapping[str, Any] | None
    call_id: str | None
    parameters: Mapping[str, Any]
    """For the provider, as it names them."""

    def headers(self) -> dict[str, str]:
        """Return the headers of this request: the idempotency key."""
        return {} if self.call_id is None else {"Idempotency-Key": encoded(self.call_id)}


@dataclass(frozen=True, slots=True)
class Answer:
    """A provider's answer in our words."""

    content: str
    finish_reason: str | None
    """`stop`, `tool_calls`, `length`, `content_filter`, or the provider's own word for something else."""
    model: str | None
    input_tokens: int | None
    """All of the prompt, cached or not; None when the provider does not say."""
    output_tokens: int | None
    tool_calls: Sequence[ToolCall] = ()
    refusal: str | None = None
    """Why the model, or a filter, does not answer."""
    carried: Mapping[str, Any] = field(default_factory=dict)
    """What the next request must carry back, for `ChatMessage.extra_args`."""

    def message(self) -> ChatMessage:
        """Return it as a message; token usage, finish reason and model have the same names for every provider."""
        told = {
            "usage": {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens},
            "finish_reason": self.finish_reason,
            "model": self.model,
        }
        return ChatMessage(
            MessageRole.ASSISTANT, self.content, tuple(self.tool_calls), extra_args={**told, **self.carried}
        )


def compact(value: Any) -> str:
    """Return a value as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def tool_call(call_id: str, name: str, given: Any) -> ToolCall:
    """Return a call with the arguments that a model gave, as text or as a value; malformed when they are no JSON object.

    Models give an empty text, or null, for no arguments.
    """
    text = given if isinstance(given, str) else "" if given is None else compact(given)
    arguments = json_object(text) if text.strip() else {}
    if arguments is None:
        return ToolCall(call_id, name, malformed=text)
    return ToolCall(call_id, name, arguments)


def call_ids(messages: Sequence[ChatMessage]) -> Iterator[str]:
    """Yield ids for the calls of the next answer, for a provider that gives none: the positions in the conversation."""
    known = sum(len(message.tool_calls) for message in messages)
    return (f"call_{position}" for position in itertools.count(known))


def grouped(messages: Sequence[ChatMessage]) -> Iterator[tuple[MessageRole, list[ChatMessage]]]:
    """Yield runs of messages of one role, in order."""
    for role, several in itertools.groupby(messages, lambda message: message.role):
        yield role, list(several)

"""The connection of both models: a script, or the provider that the environment names. Owns the script."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import re
from collections.abc import Callable, Sequence
from typing import Any

from flink_agents_subagent.chat import BaseChatModelConnection, ChatMessage, MessageRole, ToolCall, ToolMetadata

__all__ = ["Model"]


class Model(BaseChatModelConnection):
    """Answers by a script; with `REACT_PROVIDER` and `REACT_MODEL` in the environment of the job by a real model.

    `REACT_PROVIDER` is the class of a connection, as in `flink_agents_subagent.integrations.openai:OpenAIConnection`; it reads its key itself.
    The environment is read where the agent runs, so that the plan carries no secret.
    """

    def __init__(self) -> None:
        self._provider: BaseChatModelConnection | None = None

    async def open(self) -> None:
        """Connect to the provider, if there is one."""
        named = os.environ.get("REACT_PROVIDER")
        if named:
            module, _, clazz = named.partition(":")
            self._provider = getattr(importlib.import_module(module), clazz)()
            self._provider.bind_name(self.name)
            await _finished(self._provider.open())

    async def close(self) -> None:
        """Let go of the provider."""
        if self._provider is not None:
            await _finished(self._provider.close())

    async def chat(self, messages: Sequence[ChatMessage], tools: Sequence[ToolMetadata], **kwargs: Any) -> ChatMessage:
        """Answer."""
        if self._provider is None:
            return _scripted(kwargs["model"], messages)
        answer: ChatMessage = await _finished(
            self._provider.chat(messages, tools, **{**kwargs, "model": os.environ["REACT_MODEL"]})
        )
        return answer


async def _finished(returned: Any) -> Any:
    return await returned if inspect.isawaitable(returned) else returned


def _scripted(model: str, messages: Sequence[ChatMessage]) -> ChatMessage:
    """Answer by what was said alone: so a conversation that a crash cuts goes on as it would have."""
    turn = sum(message.role is MessageRole.ASSISTANT for message in messages)
    answer = _SCRIPTS[model][min(turn, len(_SCRIPTS[model]) - 1)](messages)
    if isinstance(answer, str):
        return ChatMessage(MessageRole.ASSISTANT, answer)
    return ChatMessage(MessageRole.ASSISTANT, tool_calls=answer)


def _ask_around(messages: Sequence[ChatMessage]) -> list[ToolCall]:
    city, nights = _trip(messages)
    return [
        ToolCall("distance", "distance_km", {"city": city}),
        ToolCall("hotel", "subagent_hotels", {"city": city, "nights": nights}),
        ToolCall("packing", "subagent_packer", {"input": f"{nights} nights in {city}"}),
    ]


def _ask_rate(messages: Sequence[ChatMessage]) -> list[ToolCall]:
    return [ToolCall("rate", "exchange_rate", {"currency": _answer(messages, "hotel")["currency"]})]


def _plan(messages: Sequence[ChatMessage]) -> str:
    offer = _answer(messages, "hotel")
    return json.dumps(
        {
            "city": _trip(messages)[0],
            "distance_km": _answer(messages, "distance"),
            "hotel": offer["hotel"],
            "price_eur": round(offer["price"] / _answer(messages, "rate"), 2),
            "packing": _said(messages, "packing"),
        }
    )


def _forecast_of(day: int) -> Callable[[Sequence[ChatMessage]], list[ToolCall]]:
    return lambda messages: [ToolCall(f"day {day}", "forecast", {"city": _trip(messages)[0], "day": day})]


def _pack(messages: Sequence[ChatMessage]) -> str:
    weather = {message.content for message in messages if message.role is MessageRole.TOOL}
    things = {"snow": "warm boots", "rain": "an umbrella", "sun": "sunglasses"}
    return "Take " + " and ".join(things[one] for one in sorted(weather)) + "."


_SCRIPTS: dict[str, list[Callable[[Sequence[ChatMessage]], str | list[ToolCall]]]] = {
    "planner-1": [_ask_around, _ask_rate, _plan],
    "packer-1": [_forecast_of(1), _forecast_of(2), _forecast_of(3), _pack],
}


def _trip(messages: Sequence[ChatMessage]) -> tuple[str, int]:
    """Read the request: both models are told `<nights> nights in <city>`."""
    request = next(message.content for message in messages if message.role is MessageRole.USER)
    found = re.search(r"(\d+) nights in (\w+)", request)
    if found is None:
        raise ValueError(f"the script knows requests with '<nights> nights in <city>', not {request!r}")
    return found[2], int(found[1])


def _said(messages: Sequence[ChatMessage], call: str) -> str:
    return next(message.content for message in messages if message.tool_call_id == call)


def _answer(messages: Sequence[ChatMessage], call: str) -> Any:
    return json.loads(_said(messages, call))

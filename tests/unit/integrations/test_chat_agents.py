"""Agents whose chat model is behind a provider's wire format, with a tool, through failures and crashes."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from flink_agents_subagent import (
    Agent,
    InputEvent,
    OutputEvent,
    ResourceDescriptor,
    ResourceType,
    RetryPolicy,
    RunnerContext,
    action,
)
from flink_agents_subagent.chat import (
    BaseChatModelSetup,
    ChatMessage,
    ChatRequestEvent,
    ChatResponseEvent,
    MessageRole,
    Tool,
)
from flink_agents_subagent.testing import Fault, LocalRunner, simulate_crashes
from flink_agents_subagent.testing.http.loopback import Asked, Reply
from tests.unit.integrations.canned import CannedServer, canned
from tests.unit.integrations.chatting import PROVIDERS, Provider, body

_EVERY = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
_DEGREES = "18 degrees"


def weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"{_DEGREES} in {city}"


class Sky(BaseModel):
    degrees: int


class Forecaster(Agent):
    """Asks the model, and gives on what it says."""

    @action(InputEvent)
    def ask(self, event: InputEvent, ctx: RunnerContext) -> None:
        """Ask."""
        wanted = Sky if event.input == "data" else None
        question = ChatMessage(MessageRole.USER, f"weather: {event.input}")
        ctx.send_event(ChatRequestEvent(model="model", messages=[question], output_schema=wanted))

    @action(ChatResponseEvent)
    def tell(self, event: ChatResponseEvent, ctx: RunnerContext) -> None:
        """Tell."""
        answer = event.error if event.response is None else event.output or event.response.content
        ctx.send_event(OutputEvent(output=answer))


def talking(provider: Provider, answer: str = "Mild.") -> Any:
    """Return what a model answers: a call of the tool, and once it has the result, an answer."""

    def reply(asked: Asked) -> Reply:
        is_known = _DEGREES in str(body(asked)["messages"])
        return Reply(200, provider.reply(answer) if is_known else provider.calls("weather", {"city": "Ulm"}))

    return reply


def forecaster(provider: Provider, server: CannedServer) -> Agent:
    """Return an agent whose model is this server."""
    where = {"api_key_env": "TEST_KEY", "base_url": server.url + provider.base}
    retry = RetryPolicy(max_attempts=3, initial=timedelta(seconds=1))
    agent = Forecaster()
    agent.add_resource(
        "provider", ResourceType.CHAT_MODEL_CONNECTION, ResourceDescriptor(clazz=provider.connection, **where)
    )
    agent.add_resource("weather", ResourceType.TOOL, Tool.from_callable(weather))
    setup = BaseChatModelSetup("provider", "model-1", tools=["weather"], retry=retry)
    return agent.add_resource("model", ResourceType.CHAT_MODEL, setup)


@_EVERY
def test_a_conversation_with_a_tool_survives_crashes(provider: Provider, tmp_path: Path) -> None:
    """The model calls a tool and answers with its result, wherever the process dies [C1, C2, E3.5]."""
    with canned(tmp_path, talking(provider)) as server:
        report = simulate_crashes(forecaster(provider, server), [("ada", "Ulm")], seeds=0)

    assert report.differences == [] and report.result.values == ["Mild."]


@_EVERY
def test_a_busy_provider_is_asked_again(provider: Provider, tmp_path: Path) -> None:
    """After what the hint says, on timers; what is refused fails the request with the provider's words [C1, C2, E3.9]."""
    with canned(tmp_path, talking(provider)) as server:
        server.replace_faults([Fault("status", status=429, retry_after_s=90), Fault("cut")])
        agent = forecaster(provider, server)
        values = LocalRunner(agent).run([("ada", "Ulm")]).values
        server.replace_faults([Fault("status", status=400)])
        (refused,) = LocalRunner(agent).run([("ada", "Ulm")]).values

    assert values == ["Mild."]
    assert "answered 400" in refused


@_EVERY
def test_an_answer_becomes_what_was_asked_for(provider: Provider, tmp_path: Path) -> None:
    """An output schema is told to the provider in every round, and the answer read by it [C1, A2]."""
    with canned(tmp_path, talking(provider, '{"degrees": 18}')) as server:
        (value,) = LocalRunner(forecaster(provider, server)).run([("ada", "data")]).values

    assert value == Sky(degrees=18)
    assert len(server.asked) == 2 and all(
        '"degrees"' in asked.body.decode().replace("\\", "") for asked in server.asked
    )

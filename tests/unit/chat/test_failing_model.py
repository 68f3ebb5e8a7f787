from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from flink_agents_subagent import (
    Agent,
    ChatModelError,
    ChatModelUnavailableError,
    InputEvent,
    OutputEvent,
    ResourceType,
    RetryPolicy,
    RunnerContext,
)
from flink_agents_subagent.chat import (
    BaseChatModelConnection,
    BaseChatModelSetup,
    ChatMessage,
    ChatResponseEvent,
    MessageRole,
    ToolMetadata,
)
from flink_agents_subagent.testing import LocalRunner, ManualClock
from tests.unit.chat.models import agent_with, answered, ask, outputs_of


class Flaky(BaseChatModelConnection):
    """Fails as often as its errors last; blocks a thread like a client without asyncio."""

    def __init__(self, clock: ManualClock, *errors: Exception) -> None:
        self.errors = list(errors)
        self.clock = clock
        self.asked_at: list[int] = []

    def chat(self, messages: Sequence[ChatMessage], tools: Sequence[ToolMetadata], **kwargs: Any) -> Any:
        """Fail, or answer."""
        self.asked_at.append(self.clock.now_ms)
        if self.errors:
            raise self.errors.pop(0)
        return "text" if kwargs["model"] == "wrong" else ChatMessage(MessageRole.ASSISTANT, "done")


def run_flaky(*errors: Exception, model: str = "tiny", **described: Any) -> tuple[list[Any], list[int]]:
    """Return the outputs, and when the model was asked, in milliseconds since the first time."""
    clock = ManualClock()
    connection = Flaky(clock, *errors)
    agent = Agent("sample").add_action("ask", InputEvent, ask).add_action("answered", ChatResponseEvent, answered)
    agent.add_resource("connection", ResourceType.CHAT_MODEL_CONNECTION, connection)
    agent.add_resource("model", ResourceType.CHAT_MODEL, BaseChatModelSetup("connection", model, **described))
    values = LocalRunner(agent, clock=clock).run([("ada", "go")]).values
    return values, [at - connection.asked_at[0] for at in connection.asked_at]


def test_what_may_succeed_is_asked_again_and_never_too_soon() -> None:
    """Pauses grow on timers; one that the provider asks for is kept [C2, E3.9]."""
    errors = [
        ChatModelUnavailableError("busy"),
        ChatModelUnavailableError("busy", retry_after=30),
        ChatModelUnavailableError("busy", retry_after=0.5),
    ]

    assert run_flaky(*errors, retry=RetryPolicy(max_attempts=4)) == (["done"], [0, 1_000, 31_000, 35_000])


@pytest.mark.parametrize(
    ("errors", "described", "expected", "asked"),
    [
        ([ChatModelError("bad key")], {}, "ChatModelError: bad key", 1),
        ([KeyError("x")], {}, "KeyError: 'x'", 1),
        ([ChatModelUnavailableError("busy")] * 3, {}, "ChatModelUnavailableError: busy", 3),
        ([ChatModelUnavailableError("busy")], {"retry": None}, "ChatModelUnavailableError: busy", 1),
        ([KeyError("x")], {"retry": RetryPolicy(retry_on=(KeyError,))}, "done", 2),
        ([], {"model": "wrong"}, "ChatModelError: the connection answered with a str, which is no ChatMessage", 1),
    ],
)
def test_a_model_that_fails_for_good_is_a_failed_response(
    errors: list[Exception], described: dict[str, Any], expected: str, asked: int
) -> None:
    """With the reason; the job goes on. Only what may succeed is asked again [C2, C3]."""
    values, times = run_flaky(*errors, **described)

    assert (values, len(times)) == ([expected], asked)


def test_a_model_that_takes_too_long_is_a_failed_response() -> None:
    """The time-out covers all attempts [C2]."""

    async def never(messages: Any) -> str:
        await asyncio.sleep(1000)
        return "late"

    (output,) = outputs_of(agent_with([never], timeout=timedelta(seconds=3)))

    assert "did not finish within 3000 ms" in output


def test_a_failed_response_says_so() -> None:
    """By a reason for code, a text for readers, and an exception for who wants the answer [C3]."""

    def look(event: ChatResponseEvent, ctx: RunnerContext) -> None:
        with pytest.raises(ChatModelError, match="bad key"):
            _ = event.text
        ctx.send_event(OutputEvent(output=(event.is_success, event.reason, event.error)))

    agent = agent_with([ChatModelError("bad key")]).add_action("look", ChatResponseEvent, look)

    assert outputs_of(agent)[1] == (False, "model", "ChatModelError: bad key")

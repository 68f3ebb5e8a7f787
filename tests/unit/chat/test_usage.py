"""What chat models cost, as metrics."""

from __future__ import annotations

from typing import Any

import pytest

from flink_agents_subagent._engine.effects import StartCall
from flink_agents_subagent.chat import ChatMessage, MessageRole
from flink_agents_subagent.context import CallSpec, RunnerContext
from flink_agents_subagent.events import InputEvent, OutputEvent
from flink_agents_subagent.testing import LocalRunner
from tests.unit._engine.host import Disk, Host, agent_of
from tests.unit.chat.models import agent_with, call


def answer(usage: Any, **more: Any) -> ChatMessage:
    """Return an answer of which the provider says what it cost."""
    return ChatMessage(MessageRole.ASSISTANT, "Hi.", extra_args={"usage": usage}, **more)


def add(a: int) -> int:
    """Add nothing."""
    return a


def test_tokens_of_every_answer_are_counted() -> None:
    """Those of all rounds of a request add up [C2, E7.1]."""
    asking = answer({"input_tokens": 7, "output_tokens": 2}, tool_calls=[call("add", a=1)])
    agent = agent_with([asking, answer({"input_tokens": 30, "output_tokens": 4})], tools={"add": add})

    metrics = LocalRunner(agent).run([("ada", "go")]).metrics

    assert (metrics["input_tokens"], metrics["output_tokens"]) == (37, 6)


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": None, "output_tokens": None}, "many"])
def test_a_provider_that_does_not_say_costs_nothing(usage: Any) -> None:
    """Whatever stands in the place of the figures, the answer counts [C1, E7.1]."""
    result = LocalRunner(agent_with([answer(usage)])).run([("ada", "go")])

    assert result.values == ["Hi."]
    assert "input_tokens" not in result.metrics


async def _spend(event: InputEvent, ctx: RunnerContext) -> None:
    spec = CallSpec(_seven, "spend", b"", is_coroutine=True, label="chat:model", used=lambda value: {"tokens": value})
    ctx.send_event(OutputEvent(output=await ctx._open_call(spec)))


async def _seven() -> int:
    return 7


def test_an_answer_from_the_journal_is_not_counted_again() -> None:
    """Only what was returned in this life has cost something [E7.1]."""
    first = Host(agent_of(_spend))
    first.input(1)
    first.run()
    again = Host(agent_of(_spend), Disk(log=list(first.disk.log)), now_ms=5_000_000)
    again.start()

    again.input(1)

    assert first.counted("tokens") == 7
    assert again.outputs == first.outputs == [7]
    assert again.of(StartCall) == []
    assert again.counted("tokens") == 0

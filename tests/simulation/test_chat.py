"""Chat requests under crashes: with tools, delegations, failing attempts and corrections."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from flink_agents_subagent import BaseDeferredSubagentSetup, ChatModelUnavailableError, RetryPolicy, SubagentRequest
from flink_agents_subagent.chat import BaseChatModelConnection, ChatMessage, MessageRole, ToolMetadata
from flink_agents_subagent.testing import LocalRunner, ScriptedModel, simulate_crashes
from tests.unit.chat.models import agent_with, call, said

TASK = {"type": "object", "properties": {"task": {"type": "string"}}}


class Helper(BaseDeferredSubagentSetup):
    """Answers, after some time, with a failure or with a value that JSON cannot express."""

    async def call(self, request: SubagentRequest) -> Any:
        """Do what the prompt says."""
        await asyncio.sleep(request.prompt.get("seconds", 0))
        if request.prompt["task"] == "fail":
            raise ValueError("no luck")
        return {"odd": {1: 2}} if request.prompt["task"] == "odd" else {"did": request.prompt["task"]}


async def wait(seconds: float) -> float:
    """Wait."""
    await asyncio.sleep(seconds)
    return seconds


def add(a: int, b: int) -> float:
    """Add; too large a sum is no number."""
    return a + b if a < 100 else float("nan")


def broken(a: int) -> int:
    """Fail."""
    raise ValueError(f"no {a}")


def last(messages: Sequence[ChatMessage]) -> str:
    """Answer with what the callables said."""
    return " | ".join(said(messages))


TOOLS = {"wait": wait, "add": add, "broken": broken}


@pytest.mark.logs_warning
def test_a_chat_with_tools_and_delegations_survives_a_crash_at_every_point() -> None:
    """The same answer after any crash; no recorded call of model, tool or sub-agent is made again [C2, T15, E8.2]."""
    script = [
        [call("add", 1, a=1, b=2), call("subagent_helper", 2, task="x", seconds=2), call("wait", 3, seconds=1)],
        [call("subagent_helper", 4, task="fail"), call("broken", 5, a=1), call("subagent_helper", 6, task="odd")],
        last,
    ]
    agent = agent_with(script, tools=TOOLS, subagents={"helper": Helper(input_schema=TASK)}, tool_timeout=100_000)

    report = simulate_crashes(agent, [("ada", "go"), ("ben", "go")], seeds=5)

    (answer,) = set(report.result.values)
    assert answer.split(" | ") == [
        "3",
        '{"did":"x"}',
        "1.0",
        "Error: ValueError: no luck",
        "Error: ValueError: no 1",
        "Error: result.odd has a key that is no text: 1",
    ]
    assert report.differences == []
    assert report.crashes > 50


class Verdict(BaseModel):
    score: int


def test_a_correction_survives_a_crash_at_every_point() -> None:
    """The answer that does not fit, and the one that mends it, are recorded apart [C2, C3]."""
    agent = agent_with(["three", '{"score": 3}'], output_schema=Verdict)

    report = simulate_crashes(agent, [("ada", "go")], seeds=3)

    assert report.result.values == [Verdict(score=3)]
    assert report.differences == []


class Busy(BaseChatModelConnection):
    """Fails the first two attempts of each call."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    async def chat(self, messages: Sequence[ChatMessage], tools: Sequence[ToolMetadata], **kwargs: Any) -> ChatMessage:
        """Fail, or answer."""
        self.asked[kwargs["call_id"]] += 1
        if self.asked[kwargs["call_id"]] < 3:
            raise ChatModelUnavailableError("busy", retry_after=40)
        return ChatMessage(MessageRole.ASSISTANT, "done")


def test_the_key_of_a_call_is_the_same_after_a_crash() -> None:
    """Attempts of one call, of several lives too, carry one key, so that the provider can tell them apart from others [C2, E3.9]."""
    model = Busy()
    agent = agent_with(model, retry=RetryPolicy(max_attempts=9, initial=timedelta(seconds=1)))

    report = simulate_crashes(agent, [("ada", "go")], seeds=2)

    assert report.result.values == ["done"]
    assert len(model.asked) == 1


@pytest.mark.logs_warning
def test_fifty_calls_of_one_message_are_all_answered_in_order() -> None:
    """Ten delegations, one tool that hangs, one that raises, one that returns NaN: fifty answers, and nothing is left [C2, T9, T15]."""
    calls = [
        call("subagent_helper", place, task=str(place), seconds=place % 7)
        if place % 5 == 0
        else call("add", place, a=place, b=1)
        for place in range(50)
    ]
    calls[7], calls[13], calls[31] = call("wait", 7, seconds=1e9), call("broken", 13, a=3), call("add", 31, a=100, b=1)
    model = ScriptedModel([calls, last])
    agent = agent_with(model, tools=TOOLS, subagents={"helper": Helper(input_schema=TASK)}, tool_timeout=60)

    result = LocalRunner(agent).run([("ada", "go")])

    expected = [f'{{"did":"{place}"}}' if place % 5 == 0 else str(place + 1) for place in range(50)]
    expected[7] = "Error: tool 'wait' did not answer within 60000 ms"
    expected[13] = "Error: ValueError: no 3"
    expected[31] = "Error: result is NaN, which JSON cannot express"
    assert said(model.requests[1].messages) == expected
    assert [message.tool_call_id for message in model.requests[1].messages[2:]] == [str(place) for place in range(50)]
    assert {name: count for name, count in result.metrics.items() if count and name in GAUGES} == {}


GAUGES = {"active_runs", "parked_executions", "calls_in_flight", "calls_waiting", "abandoned_calls_running"}

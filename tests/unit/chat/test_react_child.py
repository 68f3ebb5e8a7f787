"""The ReAct agent inside another: what its model is offered and told, what its caller gets, and that nothing of it is done twice."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import pytest
from pydantic import BaseModel

from flink_agents_subagent import (
    Agent,
    ChatModelError,
    Event,
    InputEvent,
    OutputEvent,
    ResourceDescriptor,
    ResourceType,
    RunnerContext,
    SubagentResult,
    action,
)
from flink_agents_subagent.chat import BaseChatModelSetup, ChatMessage, ReActAgent, Tool, ToolCall
from flink_agents_subagent.testing import LocalRunner, ScriptedModel, simulate_crashes


class Reading(BaseModel):
    city: str
    degrees: int


class Place(BaseModel):
    city: str


class Ask(Agent):
    """Submits what comes in to its sub-agent, and tells what it gave."""

    def __init__(self, helper: Any) -> None:
        super().__init__()
        self.add_resource("helper", ResourceType.AGENT, helper)

    @action(InputEvent)
    @staticmethod
    async def ask(event: InputEvent, ctx: RunnerContext) -> None:
        """Submit, and send the result on."""
        result: SubagentResult = await ctx.get_resource("helper", ResourceType.AGENT).submit(ctx, event.input)
        ctx.send_event(OutputEvent(output=result))


def model(connection: str, **more: Any) -> ResourceDescriptor:
    """Describe a chat model of a scripted connection."""
    return ResourceDescriptor(clazz=BaseChatModelSetup, connection=connection, model="script-1", **more)


def measure(city: str, day: int = 1) -> int:
    """Tell how warm it is."""
    return len(city) + day


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def helper(*answers: Any, **described: Any) -> tuple[ReActAgent, ScriptedModel]:
    """Return a ReAct agent with a model and a tool of its own, and its scripted connection."""
    agent = ReActAgent(model("inner", tools=["measure"]), name="inner", **described)
    agent.add_resource("measure", ResourceType.TOOL, Tool.from_callable(measure))
    connection = ScriptedModel(answers)
    agent.add_resource("inner", ResourceType.CHAT_MODEL_CONNECTION, connection)
    return agent, connection


def caller(inside: Any, *answers: Any) -> tuple[ReActAgent, ScriptedModel]:
    """Return a ReAct agent that has another inside and a tool of its own, and its scripted connection."""
    agent = ReActAgent(model("outer", tools=["add"], subagents=["helper"]), name="outer")
    agent.add_resource("add", ResourceType.TOOL, Tool.from_callable(add))
    agent.add_resource("helper", ResourceType.AGENT, inside)
    connection = ScriptedModel(answers)
    agent.add_resource("outer", ResourceType.CHAT_MODEL_CONNECTION, connection)
    return agent, connection


def roles(messages: Sequence[ChatMessage]) -> list[tuple[str, str]]:
    """Return who said what."""
    return [(message.role.value, message.content) for message in messages]


_MEASURE = ToolCall("m", "measure", {"city": "Rome"})
_DELEGATE = ToolCall("d", "subagent_helper", {"input": "How warm is Rome?"})


def last(messages: Sequence[ChatMessage]) -> str:
    """Say what the last message says."""
    return f"It is {messages[-1].content}."


def test_the_model_of_the_child_is_offered_exactly_the_childs_tools() -> None:
    """And that of the caller its own tool and the child [A5, T1, T2]."""
    inside, inner = helper(_MEASURE, last)
    agent, outer = caller(inside, _DELEGATE, last)

    assert LocalRunner(agent).run([("k", "How warm?")]).values == ["It is It is 5.."]
    assert [tool.name for tool in inner.requests[0].tools] == ["measure"]
    assert [tool.name for tool in outer.requests[0].tools] == ["add", "subagent_helper"]


def test_the_loop_stays_in_the_child() -> None:
    """Answers of its tools enter its conversation as TOOL messages; the caller's has the final answer alone [A5, N1, N2]."""
    inside, inner = helper(_MEASURE, last)
    agent, outer = caller(inside, _DELEGATE, last)

    LocalRunner(agent).run([("k", "How warm?")])

    assert roles(inner.requests[-1].messages) == [("user", "How warm is Rome?"), ("assistant", ""), ("tool", "5")]
    assert roles(outer.requests[-1].messages) == [("user", "How warm?"), ("assistant", ""), ("tool", "It is 5.")]


def test_without_metadata_the_child_offers_its_input_key() -> None:
    """As one text, with the generic description and the mark of a delegation [A4, A1, T3]."""
    inside, _ = helper("yes")
    agent, outer = caller(inside, "done")

    LocalRunner(agent).run([("k", "How warm?")])

    offered = outer.requests[0].tools[1]
    assert offered.input_schema == {
        "type": "object",
        "properties": {"input": {"type": "string"}},
        "required": ["input"],
    }
    assert offered.description.startswith("The sub-agent helper. ")


def test_the_metadata_of_the_child_is_offered() -> None:
    """The model's arguments arrive at the child as they are [A1, A3, T7]."""
    schema = {"type": "object", "properties": {"city": {"type": "string"}, "unit": {"type": "string"}}}
    inside, inner = helper("5", prompt="How warm is {city} in {unit}?", description="Measures.", input_schema=schema)
    call = ToolCall("d", "subagent_helper", {"city": "Rome", "unit": "K"})
    agent, outer = caller(inside, call, last)

    assert LocalRunner(agent).run([("k", "How warm?")]).values == ["It is 5."]
    assert outer.requests[0].tools[1].input_schema == schema
    assert outer.requests[0].tools[1].description.startswith("Measures. ")
    assert roles(inner.requests[0].messages) == [("user", "How warm is Rome in K?")]


class Plain(Agent):
    """An agent that says nothing of itself."""

    @action(InputEvent)
    @staticmethod
    def answer(event: InputEvent, ctx: RunnerContext) -> None:
        """Send the input back."""
        ctx.send_event(OutputEvent(output=event.input))


@pytest.mark.logs_warning
def test_another_agent_without_metadata_is_not_offered() -> None:
    """The others are, and code may submit to it all the same [A4, A1, T2]."""
    agent, outer = caller(Plain(), "done")

    assert LocalRunner(agent).run([("k", "How warm?")]).values == ["done"]
    assert [tool.name for tool in outer.requests[0].tools] == ["add"]
    assert LocalRunner(Ask(Plain())).run([("k", 7)]).values == [SubagentResult.ok([7])]


@pytest.mark.parametrize(
    ("prompt", "value", "told"),
    [
        (None, "Rome?", "Rome?"),
        (None, {"input": "Rome?"}, "Rome?"),
        ("In {city}?", {"city": "Rome"}, "In Rome?"),
        ("In {city}?", Place(city="Rome"), "In Rome?"),
    ],
)
def test_code_submits_what_an_input_may_be(prompt: str | None, value: Any, told: str) -> None:
    """A text, a dict, an object; metadata is not needed [A3, A4, A2]."""
    inside, inner = helper("5", prompt=prompt)

    assert LocalRunner(Ask(inside)).run([("k", value)]).values == [SubagentResult.ok("5")]
    assert roles(inner.requests[0].messages) == [("user", told)]


def test_the_result_is_the_final_answer() -> None:
    """A text, or the structured object; not the list of outputs [A5]."""
    plain, _ = helper(_MEASURE, last)
    structured, _ = helper(_MEASURE, '{"city": "Rome", "degrees": 5}', output_schema=Reading)

    assert LocalRunner(Ask(plain)).run([("k", "Rome?")]).values == [SubagentResult.ok("It is 5.")]
    assert LocalRunner(Ask(structured)).run([("k", "Rome?")]).values == [
        SubagentResult.ok(Reading(city="Rome", degrees=5))
    ]


def test_a_structured_answer_reaches_a_model_as_json() -> None:
    """Compact, with sorted keys [A5, T8, T14]."""
    inside, _ = helper('{"city": "Rome", "degrees": 5}', output_schema=Reading)
    agent, outer = caller(inside, _DELEGATE, "done")

    LocalRunner(agent).run([("k", "How warm?")])

    assert outer.requests[1].messages[-1].content == '{"city":"Rome","degrees":5}'


@pytest.mark.logs_warning
@pytest.mark.parametrize(
    ("answer", "value", "message"),
    [
        (
            ChatModelError("no credit"),
            "Rome?",
            "ChatModelError: agent 'inner' has no answer: ChatModelError: no credit",
        ),
        (
            "5",
            {"town": "Rome"},
            "DefinitionError: there is no prompt that names the fields of the input; expected a text",
        ),
    ],
)
def test_a_child_without_an_answer_is_a_failed_result(answer: Any, value: Any, message: str) -> None:
    """The caller goes on, and reads why [A2, A3, N4, V1]."""
    inside, _ = helper(answer)

    (result,) = LocalRunner(Ask(inside)).run([("k", value)]).values

    assert not result.is_success
    assert result.error_message.startswith(message)


@pytest.mark.logs_warning
def test_a_child_without_an_answer_is_told_to_the_callers_model() -> None:
    """Which answers all the same [A2, T10]."""
    inside, _ = helper(ChatModelError("no credit"))
    agent, _ = caller(inside, _DELEGATE, lambda messages: messages[-1].content)

    (value,) = LocalRunner(agent).run([("k", "How warm?")]).values

    assert value == "Error: ChatModelError: agent 'inner' has no answer: ChatModelError: no credit"


def test_a_child_may_use_the_model_of_its_caller() -> None:
    """By name: what it does not have is looked up around it [A2, A5, N1]."""
    inside = ReActAgent("outer", prompt="Be brief.", name="inner")
    agent, outer = caller(inside, lambda messages: _DELEGATE if messages[0].content == "How warm?" else "5", last)

    assert LocalRunner(agent).run([("k", "How warm?")]).values == ["It is 5."]
    assert roles(outer.requests[1].messages) == [("system", "Be brief."), ("user", "How warm is Rome?")]


class Step(Event):
    """Asks for one more step."""

    number: int


class Counter(Agent):
    """Takes thousands of steps, every hundredth with a durable call, and tells how many threads there were at the end."""

    @action(InputEvent)
    @staticmethod
    def begin(event: InputEvent, ctx: RunnerContext) -> None:
        """Take the first step."""
        ctx.send_event(Step(number=1))

    @action(Step)
    @staticmethod
    async def go_on(event: Step, ctx: RunnerContext) -> None:
        """Take one more, or end."""
        if event.number % 100 == 0:
            await ctx.durable_execute_async(add, event.number, 1)
        if event.number < 3000:
            ctx.send_event(Step(number=event.number + 1))
        else:
            ctx.send_event(OutputEvent(output=(event.number, threading.active_count())))


def test_a_child_may_take_thousands_of_steps_while_its_caller_waits() -> None:
    """The caller holds no thread meanwhile [N5]."""
    before = threading.active_count()

    (result,) = LocalRunner(Ask(Counter())).run([("k", None)]).values

    assert result == SubagentResult.ok([(3000, before)])


def three_rounds(log: list[tuple[str, Any]]) -> ReActAgent:
    """Return an agent whose child calls its tool in three rounds; whatever is called tells the log."""

    def look(city: str, day: int) -> int:
        """Tell how warm it is."""
        log.append(("tool", day))
        return measure(city, day)

    def logged(name: str, answer: Any) -> Any:
        def say(messages: Sequence[ChatMessage]) -> Any:
            log.append((name, roles(messages)))
            return answer(messages) if callable(answer) else answer

        return say

    inside = ReActAgent(model("inner", tools=["look"]), name="inner")
    inside.add_resource("look", ResourceType.TOOL, Tool.from_callable(look))
    rounds = [ToolCall(str(day), "look", {"city": "Rome", "day": day}) for day in (1, 2, 3)]
    answers = [logged("inner", it) for it in (*rounds, last)]
    inside.add_resource("inner", ResourceType.CHAT_MODEL_CONNECTION, ScriptedModel(answers))
    return caller(inside, logged("outer", _DELEGATE), logged("outer", last))[0]


def test_killed_in_any_round_of_the_child_no_earlier_round_is_repeated() -> None:
    """At every point: neither model nor tool of a recorded round is called again, the child's conversation is the same, and so is the answer [A5, N2, N3, E8.2]."""
    expected: list[tuple[str, Any]] = []
    inputs = [("k", "How warm?")]
    assert LocalRunner(three_rounds(expected)).run(inputs).values == ["It is It is 7.."]
    assert [name for name, _ in expected] == ["outer", *["inner", "tool"] * 3, "inner", "outer"]
    log: list[tuple[str, Any]] = []
    agent = three_rounds(log)

    report = simulate_crashes(agent, inputs, seeds=0)

    assert (report.differences, report.crashes) == ([], report.points)
    for point in range(1, report.points + 1):
        log.clear()
        simulate_crashes(agent, inputs, only=f"point {point}")
        reference, crashed = log[: len(expected)], log[len(expected) :]
        assert reference == expected
        # What was in flight may be called again, with the same conversation; nothing before it.
        assert [call for call, _ in groupby(crashed)] == expected
        assert len(crashed) <= len(expected) + 1

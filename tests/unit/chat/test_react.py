"""The ReAct agent on a stream: what its model is told, and what comes out. As a sub-agent: tests/unit/chat/test_react_child.py."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from flink_agents_subagent import (
    ActionError,
    ChatModelError,
    DefinitionError,
    Record,
    ResourceDescriptor,
    ResourceType,
)
from flink_agents_subagent.chat import BaseChatModelSetup, ChatMessage, MessageRole, Prompt, ReActAgent, Tool, ToolCall
from flink_agents_subagent.subagents.metadata import SubagentMetadata, metadata_of
from flink_agents_subagent.testing import LocalRunner, ScriptedModel, simulate_crashes

_MODEL = ResourceDescriptor(clazz=BaseChatModelSetup, connection="scripted", model="script-1")


class Review(BaseModel):
    product: str
    points: int


class Ticket(BaseModel):
    product: str


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def scripted(agent: ReActAgent, *answers: Any) -> ScriptedModel:
    """Give an agent the connection that its model names, and return it."""
    model = ScriptedModel(answers)
    agent.add_resource("scripted", ResourceType.CHAT_MODEL_CONNECTION, model)
    return model


def told(agent: ReActAgent, value: Any) -> list[tuple[str, str]]:
    """Return what the model is told of an input."""
    model = scripted(agent, "yes")
    assert LocalRunner(agent).run([("k", value)]).values == ["yes"]
    return [(message.role.value, message.content) for message in model.requests[0].messages]


@pytest.mark.parametrize(
    "model",
    [_MODEL, BaseChatModelSetup("scripted", "script-1")],
    ids=["descriptor", "setup"],
)
def test_a_model_that_is_given_is_registered_under_the_agents_name(model: Any) -> None:
    """The agent needs no other name for it, and asks it [A2]."""
    agent = ReActAgent(model, name="guide")

    assert agent.resources["guide", ResourceType.CHAT_MODEL] is model
    assert told(agent, "Where?") == [("user", "Where?")]


def test_a_model_may_be_named() -> None:
    """It is found among the agent's resources [A2]."""
    agent = ReActAgent("mine", name="guide")
    agent.add_resource("mine", ResourceType.CHAT_MODEL, _MODEL)

    assert told(agent, "Where?") == [("user", "Where?")]


@pytest.mark.parametrize("model", [None, "", 5, BaseChatModelSetup])
def test_what_is_no_model_is_refused(model: Any) -> None:
    """The message names the agent and what can be given [A2, R2]."""
    with pytest.raises(
        DefinitionError, match=r"the chat model of agent 'guide' is .*; give the name of a resource, a Res"
    ):
        ReActAgent(model, name="guide")


def test_a_resource_that_is_no_model_fails_the_input() -> None:
    """Whatever it is, the message says what to register [A2, R2]."""
    agent = ReActAgent("mine")
    agent.add_resource("mine", ResourceType.CHAT_MODEL, object())

    with pytest.raises(
        ActionError, match="chat model 'mine' is a object, which is no BaseChatModelSetup; register one"
    ):
        LocalRunner(agent).run([("k", "Where?")])


@pytest.mark.parametrize(
    ("prompt", "value", "expected"),
    [
        (None, {"input": "Where?"}, [("user", "Where?")]),
        ("Be kind.", "Where?", [("system", "Be kind."), ("user", "Where?")]),
        ("Review {product}.", {"product": "lamp"}, [("user", "Review lamp.")]),
        ("Review {product}.", Ticket(product="lamp"), [("user", "Review lamp.")]),
        ("Review {product}.", Record(("product", "n"), ("lamp", 2)), [("user", "Review lamp.")]),
        ("{input}", "Where?", [("user", "Where?")]),
        (Prompt.from_text("Be kind."), "Where?", [("system", "Be kind."), ("user", "Where?")]),
        (
            Prompt.from_messages([ChatMessage(MessageRole.SYSTEM, "Be {tone}.")]),
            {"tone": "kind", "input": "Where?"},
            [("system", "Be kind."), ("user", "Where?")],
        ),
        ("named", "Where?", [("system", "Be brief."), ("user", "Where?")]),
    ],
)
def test_the_model_is_told_the_prompt_and_the_input(prompt: Any, value: Any, expected: Any) -> None:
    """Instructions, then the request; or the request as the prompt words it [A2, A3]."""
    agent = ReActAgent(_MODEL, prompt)
    agent.add_resource("named", ResourceType.PROMPT, Prompt.from_text("Be brief."))

    assert told(agent, value) == expected


def test_the_input_fills_the_prompt_of_the_model_too() -> None:
    """Which begins each of its conversations [A3, C1]."""
    model = BaseChatModelSetup("scripted", "script-1", prompt=Prompt.from_text("You sell {product}s."))

    assert told(ReActAgent(model), {"product": "lamp", "input": "Why?"}) == [
        ("system", "You sell lamps."),
        ("user", "Why?"),
    ]


@pytest.mark.parametrize("prompt", ["", "  ", 5, ["Be kind."]])
def test_what_is_no_prompt_is_refused(prompt: Any) -> None:
    """The message names the agent and what can be given [A2, R2]."""
    with pytest.raises(DefinitionError, match=r"the prompt of agent 'ReActAgent' is .*; give a text, the name of a"):
        ReActAgent("m", prompt)


def test_an_input_that_does_not_fit_fails_with_what_was_expected() -> None:
    """Before the model is asked [A3]."""
    agent = ReActAgent(_MODEL, name="guide")
    model = scripted(agent, "yes")

    with pytest.raises(
        ActionError, match="expected a text, or a mapping whose only key is 'input', not a dict with 'q'"
    ):
        LocalRunner(agent).run([("k", {"q": "Where?"})])
    assert model.requests == []


def test_the_answer_is_what_the_schema_says() -> None:
    """An object of the class, or a JSON value; the model is told the schema [A2]."""
    agent = ReActAgent(_MODEL, output_schema=Review)
    model = scripted(agent, '{"product": "lamp", "points": 3}')

    assert LocalRunner(agent).run([("k", "lamp")]).values == [Review(product="lamp", points=3)]
    assert model.requests[0].kwargs["output_schema"]["required"] == ["product", "points"]

    by_schema = ReActAgent(_MODEL, output_schema={"type": "object", "required": ["points"]})
    scripted(by_schema, '{"points": 3}')
    assert LocalRunner(by_schema).run([("k", "lamp")]).values == [{"points": 3}]


def test_a_model_without_an_answer_fails_the_input() -> None:
    """The error names the agent and the model's failure [A2]."""
    agent = ReActAgent(_MODEL, name="guide")
    scripted(agent, ChatModelError("no credit"))

    with pytest.raises(ActionError, match="agent 'guide' has no answer: ChatModelError: no credit"):
        LocalRunner(agent).run([("k", "Where?")])


def test_without_metadata_it_offers_its_input_key() -> None:
    """An object with one text; without a description, which leaves the generic one [A4, A1]."""
    schema = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}

    assert metadata_of("guide", ReActAgent("m")) == SubagentMetadata(None, schema, "input")


@pytest.mark.parametrize("as_text", [False, True])
def test_metadata_that_is_given_is_offered(as_text: bool) -> None:
    """As it is; its only property is the input key [A1, A4]."""
    schema = {"type": "object", "properties": {"question": {"type": "string"}}}
    given: Any = str(schema).replace("'", '"') if as_text else schema
    agent = ReActAgent(_MODEL, description="Guides.", input_schema=given)

    assert metadata_of("guide", agent) == SubagentMetadata("Guides.", given, "question")
    assert told(agent, {"question": "Where?"}) == [("user", "Where?")]


def test_a_subclass_may_override_its_metadata() -> None:
    """By attribute; the input key decides what is offered and bound [A1, A3, A4]."""

    class Guide(ReActAgent):
        description = "Guides."
        input_key = "question"

    agent = Guide(_MODEL)

    assert metadata_of("guide", agent).input_schema == {
        "type": "object",
        "properties": {"question": {"type": "string"}},
        "required": ["question"],
    }
    assert told(agent, {"question": "Where?"}) == [("user", "Where?")]


@pytest.mark.parametrize(
    ("given", "message"), [({"description": " "}, "description ' '"), ({"input_schema": "{"}, "no JSON")]
)
def test_metadata_that_says_nothing_is_refused(given: Any, message: str) -> None:
    """When the agent is made [A1, R2, T13]."""
    with pytest.raises(DefinitionError, match=message):
        ReActAgent("m", **given)


def calculator() -> ReActAgent:
    """Return an agent whose model calls a tool in two rounds."""
    model = ResourceDescriptor(clazz=BaseChatModelSetup, connection="scripted", model="script-1", tools=["add"])
    agent = ReActAgent(model, name="calculator")
    agent.add_resource("add", ResourceType.TOOL, Tool.from_callable(add))
    scripted(
        agent,
        ToolCall("1", "add", {"a": 1, "b": 2}),
        [ToolCall("2", "add", {"a": 3, "b": 3}), ToolCall("3", "add", {"a": 3, "b": 4})],
        lambda messages: f"It is {messages[-2].content} and {messages[-1].content}.",
    )
    return agent


def test_the_model_reasons_with_its_tools_until_it_has_the_answer() -> None:
    """Each round calls what the model asks for; the answer is the output [A2, C2]."""
    result = LocalRunner(calculator()).run([("ada", "1 + 2?"), ("bob", "1 + 2?")])

    assert result.values == ["It is 6 and 7.", "It is 6 and 7."]
    names = ["chat:calculator", "tool:add", "chat:calculator", "tool:add", "tool:add", "chat:calculator"]
    assert sorted(call.name for call in result.calls) == sorted(names * 2)


def test_no_recorded_round_is_repeated_after_a_crash() -> None:
    """Killed at every point: the same answer, and neither model nor tools are called twice [A2, C2, E8.2]."""
    report = simulate_crashes(calculator(), [("ada", "1 + 2?"), ("bob", "1 + 2?")], seeds=0)

    assert report.differences == []

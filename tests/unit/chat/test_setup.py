from __future__ import annotations

from typing import Any

import pytest

from flink_agents_subagent import (
    ActionError,
    Agent,
    DefinitionError,
    InputEvent,
    NotExpressibleError,
    ResourceDescriptor,
    ResourceType,
)
from flink_agents_subagent._plan import compile_agent, dump_plan, load_plan
from flink_agents_subagent.chat import (
    BaseChatModelSetup,
    Prompt,
    Tool,
    ToolResponse,
)
from flink_agents_subagent.testing import ScriptedModel
from tests.unit.chat.models import agent_with, ask, outputs_of


def add(a: int, b: int = 2) -> int:
    """Add numbers."""
    return a + b


@pytest.mark.parametrize(
    ("described", "message"),
    [
        ({"connection": " "}, "connection of a chat model is ' '"),
        ({"model": ""}, "model of a chat model is ''"),
        ({"prompt": 7}, "prompt of a chat model is 7"),
        ({"tools": "add"}, "tools of a chat model are 'add'; give a list"),
        ({"subagents": [7]}, "subagents of a chat model are"),
        ({"retry": 3}, "retry of a chat model is 3"),
        ({"timeout": 0}, "the timeout of a chat model is 0"),
        ({"tool_timeout": -1}, "the tool_timeout of a chat model is -1"),
        ({"top": {1, 2}}, "kwargs.top is of type set"),
    ],
)
def test_a_model_that_cannot_work_is_refused(described: dict[str, Any], message: str) -> None:
    """Where it is described, with the value and the remedy [C1]."""
    with pytest.raises(DefinitionError, match=message):
        BaseChatModelSetup(**{"connection": "c", "model": "m", **described})


@pytest.mark.parametrize(
    ("described", "message"),
    [
        ({"tools": ["nobody"]}, r"there is no resource 'nobody' of type tool; there are \['add'\]"),
        ({"tools": ["add", "add"]}, "chat model 'model' offers 'add' more than once"),
        ({"prompt": "nobody"}, "there is no resource 'nobody' of type prompt"),
        ({"prompt": "wrong"}, "the prompt 'wrong', which is a str and no Prompt"),
        ({"connection": "wrong"}, "the chat_model_connection 'wrong', which is a str and no BaseChatModelConnection"),
    ],
)
def test_what_a_model_is_made_of_has_to_be_there(described: dict[str, Any], message: str) -> None:
    """Opening fails with the model, the name and those that there are [C1, T13]."""
    agent = Agent("sample").add_action("ask", InputEvent, ask)
    agent.add_resource("add", ResourceType.TOOL, Tool.from_callable(add))
    agent.add_resource("wrong", ResourceType.PROMPT, "a text")
    agent.add_resource("wrong", ResourceType.CHAT_MODEL_CONNECTION, "a text")
    agent.add_resource("connection", ResourceType.CHAT_MODEL_CONNECTION, ScriptedModel(["x"]))
    agent.add_resource(
        "model", ResourceType.CHAT_MODEL, BaseChatModelSetup(**{"connection": "connection", "model": "m", **described})
    )

    with pytest.raises(DefinitionError, match=message):
        outputs_of(agent)


def test_the_prompt_may_be_a_resource() -> None:
    """Several models may share it [C1]."""
    model = ScriptedModel(["done"])
    agent = agent_with(model, prompt="kind").add_resource("kind", ResourceType.PROMPT, Prompt.from_text("Be kind."))

    assert outputs_of(agent) == ["done"]
    assert model.requests[0].messages[0].content == "Be kind."


def test_the_actions_are_in_every_plan_with_a_model() -> None:
    """Also when the model is the environment's; not without one; and their names are taken [C2]."""
    model = {
        ("model", ResourceType.CHAT_MODEL): ResourceDescriptor(clazz=BaseChatModelSetup, connection="c", model="m")
    }
    plain = Agent("plain").add_action("ask", InputEvent, ask)

    assert set(compile_agent(plain).actions) == {"ask"}
    assert set(load_plan(dump_plan(plain, model)).actions) == {"ask", "__chat__", "__tools__"}
    with pytest.raises(DefinitionError, match="has an action '__chat__', the name of a built-in one"):
        compile_agent(Agent("own").add_action("__chat__", InputEvent, ask), model)


def test_a_request_for_what_is_no_model_fails_the_action() -> None:
    """It names the resource and what it is [C2]."""
    agent = Agent("sample").add_action("ask", InputEvent, ask).add_resource("model", ResourceType.CHAT_MODEL, object())

    with pytest.raises(ActionError, match="chat model 'model' is a object, which is no BaseChatModelSetup"):
        outputs_of(agent)


def test_a_response_of_a_tool_is_json() -> None:
    """What it cannot express is refused with its path [C1, T9]."""
    assert ToolResponse.success({"a": (1, 2)}) == ToolResponse(is_success=True, result={"a": [1, 2]})
    assert ToolResponse.error(KeyError("x")).text == "Error: KeyError: 'x'"
    with pytest.raises(NotExpressibleError, match=r"result\.a\[0\] is of type object"):
        ToolResponse.success({"a": [object()]})

"""Connections, chat models, tools, prompts and ReAct agents: what the entries of a file make, and what is refused."""

from __future__ import annotations

import importlib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from flink_agents_subagent import ResourceType, RetryPolicy
from flink_agents_subagent._descriptor.chat_entry import ChatModelEntry, ReActEntry, ToolEntry
from flink_agents_subagent.chat import BaseChatModelSetup, ChatMessage, MessageRole, Prompt, ReActAgent, Tool
from flink_agents_subagent.resources import parameters_of
from tests.unit._descriptor.files import agent_of, problems_of

town = importlib.import_module("model_town")


def resources_of(folder: Path, *lists: str) -> Any:
    """Return the resources of an agent with these lists."""
    return agent_of(
        folder, f"agents:\n  - name: a\n    actions: [{{function: model_town:echo}}]\n{_in_agent(lists)}"
    ).resources


def _in_agent(lists: tuple[str, ...]) -> str:
    return "".join(f"    {one}\n" for one in lists)


def test_a_connection_is_its_class_with_arguments(tmp_path: Path) -> None:
    """Built where it runs, as by a descriptor [R1, C1]."""
    (found,) = resources_of(
        tmp_path, "chat_model_connections: [{name: c, class: model_town:Echo, args: {mark: x}}]"
    ).items()

    assert found[0] == ("c", ResourceType.CHAT_MODEL_CONNECTION)
    assert (found[1].clazz, found[1].arguments) == (town.Echo, {"mark": "x"})


def test_a_chat_model_has_what_its_entry_says(tmp_path: Path) -> None:
    """Keys become the arguments of the setup; `args` are the provider's [R1, C1]."""
    model = (
        "chat_models: [{name: m, connection: c, model: gpt, prompt: p, tools: [look_up], subagents: [s], timeout: 20, tool_timeout: 3, "
        "retry: {max_attempts: 2, initial: 0.5}, tool_config: {tenant: t}, args: {temperature: 0.5}}]"
    )
    found = resources_of(
        tmp_path,
        model,
        "chat_model_connections: [{name: c, class: model_town:Echo}]",
        "prompts: [{name: p, text: Be kind.}]",
        "tools: [{function: model_town:look_up}]",
        "subagents: [{name: s, class: wares:Simple}]",
    )["m", ResourceType.CHAT_MODEL]

    assert found.clazz is BaseChatModelSetup
    assert found.arguments == {
        "connection": "c",
        "model": "gpt",
        "prompt": "p",
        "tools": ["look_up"],
        "subagents": ["s"],
        "timeout": 20,
        "tool_timeout": 3,
        "retry": RetryPolicy(max_attempts=2, initial=timedelta(seconds=0.5)),
        "tool_config": {"tenant": "t"},
        "temperature": 0.5,
    }


def test_a_tool_is_a_function_under_its_name(tmp_path: Path) -> None:
    """Without a name it is that of the function; description and time-out go before its own [R1, C1]."""
    found = resources_of(
        tmp_path,
        "tools: [{function: model_town:look_up}, {function: model_town:look_up, name: find, description: Finds., timeout: 2}]",
    )

    plain, named = (found[name, ResourceType.TOOL] for name in ("look_up", "find"))
    assert (plain.clazz, plain.arguments) == (Tool, {"func": town.look_up})
    assert named.arguments == {"func": town.look_up, "description": "Finds.", "timeout": 2}


def test_a_prompt_is_a_text_or_messages(tmp_path: Path) -> None:
    """A text is one system message [R1, C1]."""
    found = resources_of(
        tmp_path,
        "prompts: [{name: a, text: Be kind.}, {name: b, messages: [{role: user, content: 'Tell of {x}.'}, {role: assistant, content: No.}]}]",
    )

    assert found["a", ResourceType.PROMPT] == Prompt.from_text("Be kind.")
    assert found["b", ResourceType.PROMPT] == Prompt.from_messages(
        [ChatMessage(MessageRole.USER, "Tell of {x}."), ChatMessage(MessageRole.ASSISTANT, "No.")]
    )


def test_the_file_has_every_argument_that_the_classes_have() -> None:
    """What Python takes by name, the file takes by the same name [R1]."""

    def keys(model: Any, *own: str) -> set[str]:
        return {field.alias or name for name, field in model.model_fields.items()} - set(own)

    assert keys(ChatModelEntry, "name", "class", "args") == set(parameters_of(BaseChatModelSetup).known)
    assert keys(ToolEntry, "name", "function") == set(parameters_of(Tool).known) - {"func"}
    assert keys(ReActEntry, "output_type") == set(parameters_of(ReActAgent).known) - {"name"}


_REACT = """\
    agents:
      - name: guide
        react: {%s}
        chat_models: [{name: m, connection: c, model: x}]
        chat_model_connections: [{name: c, class: model_town:Echo}]
"""


def test_a_react_agent_is_what_its_entry_says(tmp_path: Path) -> None:
    """Its name, prompt, answer and metadata are those of the file [R1, A1, A2]."""
    agent = agent_of(
        tmp_path,
        _REACT % "chat_model: m, prompt: Be kind., output_type: model_town:Weather, description: Guides., "
        "input_schema: {type: object, properties: {town: {type: string}}}",
    )

    assert isinstance(agent, ReActAgent)
    assert (agent.name, agent.description, agent.input_key) == ("guide", "Guides.", "town")
    assert agent.resources["guide", ResourceType.PROMPT] == Prompt.from_text("Be kind.")


def test_a_react_agent_may_have_actions_too(tmp_path: Path) -> None:
    """They come after its own [R1, A2]."""
    agent = agent_of(tmp_path, _REACT % "chat_model: m" + "        actions: [{function: model_town:echo}]\n")

    assert [one.name for one in agent.actions] == ["ask_model", "give_answer", "echo"]


@pytest.mark.parametrize(
    ("react", "problem"),
    [
        ("chat_model: m, promt: x", "3:28: a ReAct agent has no key 'promt'; did you mean 'prompt'?"),
        ("prompt: Be kind.", "3:12: a ReAct agent needs the key 'chat_model'; add it"),
        ("chat_model: 5", "3:25: 'chat_model' is 5; give a text"),
        (
            "chat_model: m, output_type: model_town:Wether",
            "3:41: the module 'model_town' has no 'Wether'; did you mean 'Weather'?",
        ),
        ("chat_model: m, output_type: model_town:echo", "3:41: model_town:echo is <function echo"),
        ("chat_model: m, output_type: builtins:int", "3:12: output_schema is <class 'int'>; give a pydantic model"),
        (
            "chat_model: m, output_type: model_town:Weather, output_schema: {type: object}",
            "3:61: there is an 'output_type', too; leave one of them out",
        ),
        ("chat_model: m, output_schema: text", "3:43: 'output_schema' is 'text'; give a mapping"),
        ("chat_model: m, output_schema: {}", "3:12: output_schema is {}; give a pydantic model"),
        ("chat_model: m, input_schema: {}", "3:12: the input schema of agent 'guide' is {}; give"),
        ("chat_model: m, prompt: ~", "3:28: 'prompt' is empty; give it a value, or leave it out"),
    ],
)
def test_a_react_agent_that_cannot_be_is_refused_at_its_place(tmp_path: Path, react: str, problem: str) -> None:
    """One problem each, with the remedy [R2, A2]."""
    found = problems_of(tmp_path, _REACT % react)

    assert [it.startswith(problem) for it in found] == [True], found


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("chat_models: [{name: m, connection: c}]", "5:15: a chat model needs the key 'model'; add it"),
        ("chat_models: [{name: m, conection: c, model: x}]", "5:15: a chat model needs the key 'connection'; add it"),
        ("chat_models: [{name: m, connection: c, model: x, tools: t}]", "5:57: 'tools' is 't'; give a list"),
        (
            "chat_models: [{name: m, connection: c, model: x, tools: [5]}]",
            "5:58: an element of 'tools' is 5; give a text",
        ),
        (
            "chat_models: [{name: m, connection: c, model: x, class: wares:Rats}]",
            "5:57: the module 'wares' has no 'Rats'",
        ),
        (
            "chat_models: [{name: m, connection: c, model: x, class: wares:Rates}]",
            "5:15: Rates, the class of chat model 'm', needs the argument 'base'",
        ),
        (
            "chat_models: [{name: m, connection: c, model: x, args: {model: y}}]",
            "5:57: 'model' is given twice; leave it out of 'args'",
        ),
        (
            "chat_models: [{name: m, connection: c, model: x, retry: {retry_on: [wares:Rates]}}]",
            "5:69: wares:Rates is no class of exceptions",
        ),
        ("chat_model_connections: [{name: k, class: model_town:Ecko}]", "5:43: the module 'model_town' has no 'Ecko'"),
        (
            "chat_model_connections: [{name: k, class: model_town:Echo, args: {marc: 1}}]",
            "5:67: Echo, the class of chat model connection 'k', has no argument 'marc'; did you mean 'mark'?",
        ),
        ("tools: [{function: model_town:look}]", "5:20: the module 'model_town' has no 'look'; did you mean"),
        (
            "tools: [{function: model_town:without_docstring}]",
            "5:20: tool without_docstring has no description, so that no model could know when to call it",
        ),
        (
            "tools: [{function: model_town:look_up, name: subagent_x}]",
            "5:46: tool 'subagent_x' begins with 'subagent_'",
        ),
        ("tools: [{function: model_town:look_up, nme: x}]", "5:40: a tool has no key 'nme'; did you mean 'name'?"),
        (
            "tools: [{function: model_town:look_up}, {function: model_town:look_up}]",
            "5:52: there is a resource 'look_up' of type 'tool' already, in line 5",
        ),
        ("prompts: [{name: p}]", "5:11: prompt 'p' needs the key 'text', or 'messages'; add one of them"),
        (
            "prompts: [{name: p, text: a, messages: [{role: user, content: b}]}]",
            "5:11: prompt 'p' has a 'text' and 'messages'; leave one of them out",
        ),
        ("prompts: [{name: p, messages: [{role: usr, content: b}]}]", "5:39: 'role' is 'usr'; did you mean 'user'?"),
        (
            "prompts: [{name: p, messages: [{role: agent, content: b}]}]",
            "5:39: 'role' is 'agent'; give one of system, user",
        ),
    ],
)
def test_an_entry_that_makes_nothing_is_refused_at_its_place(tmp_path: Path, more: str, problem: str) -> None:
    """Keys, types, references and the checks of every declaration [R2, C1]."""
    text = f"""\
        agents:
          - name: a
            actions: [{{function: model_town:echo}}]
        resources: [{{name: c, type: chat_model_connection, class: model_town:Echo}}]
        {more}
    """

    found = problems_of(tmp_path, text)

    assert found[0].startswith(problem), found

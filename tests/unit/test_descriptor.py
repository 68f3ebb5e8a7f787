"""Agents in YAML: the same plan as by decorators, loading, choosing, refusing."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from flink_agents_subagent import Agent, DefinitionError, InputEvent, ResourceDescriptor, ResourceType, load_agents
from flink_agents_subagent._plan import dump_plan, load_plan
from flink_agents_subagent.descriptor import check_agents
from flink_agents_subagent.testing import LocalRunner, simulate_crashes
from tests.unit._descriptor.files import parts_of, written

wares = importlib.import_module("wares")
model_town = importlib.import_module("model_town")

_RESOURCES = """\
    resources:
      - {name: rates, type: object, class: wares:Rates, args: {base: EUR, digits: 4}}
    subagents:
      - {name: reviewer, class: wares:Reviewer, args: {factor: 3, timeout: 30}, result_type: builtins:int}
"""
_OF_METHODS = (
    """\
agents:
  - name: desk
    actions:
      - function: wares:Decorated.take
      - function: wares:Decorated.review
"""
    + _RESOURCES
)
_OF_FUNCTIONS = (
    """\
options:
  call-threads: 3
  journal.max-record-bytes: 1 MiB
agents:
  - name: desk
    actions:
      - function: wares:take
        events: [InputEvent]
      - function: wares:review
        events: [wares:Order]
        where: wares:is_large
        config: {tone: kind, limit: 2}
"""
    + _RESOURCES
)


_WITH_MODELS = """\
prompts:
  - name: guide
    messages: [{role: user, content: "Tell of {topic}."}]
agents:
  - name: asker
    react: {chat_model: large, prompt: guide}
    chat_model_connections: [{name: echo, class: model_town:Echo, args: {mark: "> "}}]
    chat_models:
      - {name: large, connection: echo, model: echo-2, subagents: [weather], args: {temperature: 0}}
    subagents: [{name: weather, agent: inner}]
  - name: inner
    react: {chat_model: small, output_type: model_town:Weather, description: Knows the weather.}
    tools: [{function: model_town:look_up, timeout: 3}]
    chat_models: [{name: small, connection: echo, model: echo-1, timeout: 20, tools: [look_up]}]
"""

_SEVERAL = """\
subagents: [{name: reviewer, class: wares:Reviewer, args: {factor: 2}}]
agents:
  - {name: buyer, actions: [{function: wares:take, events: [InputEvent]}, {function: wares:decorated_review}]}
  - {name: seller, actions: [{function: wares:Decorated.take}, {function: wares:Decorated.review}]}
"""


def loaded(folder: Path, text: str, name: str | None = None) -> Agent:
    """Return an agent of a file."""
    return load_agents(written(folder, text)).agent(name)


def test_a_file_gives_the_plan_of_decorators(tmp_path: Path) -> None:
    """Methods with @action, resources and a sub-agent: the same bytes from YAML and from the class [R1]."""
    assert dump_plan(loaded(tmp_path, _OF_METHODS)) == dump_plan(wares.Decorated())


def test_a_file_gives_the_plan_of_calls(tmp_path: Path) -> None:
    """Functions with triggers of the file: the same bytes as by add_action and add_resource [R1]."""
    agent = Agent("desk").add_action("take", InputEvent, wares.take)
    agent.add_action("review", wares.Order, wares.review, where=wares.is_large, tone="kind", limit=2)
    for (name, resource_type), resource in wares.Decorated().resources.items():
        agent.add_resource(name, resource_type, resource)

    assert dump_plan(loaded(tmp_path, _OF_FUNCTIONS)) == dump_plan(agent)


def test_a_file_with_models_gives_the_plan_of_calls(tmp_path: Path) -> None:
    """A ReAct agent, its connection, model, prompt and tool, and one inside it: the same from YAML and from calls [R1, A2, C1, N1]."""
    plan = parts_of(loaded(tmp_path, _WITH_MODELS, "asker"))
    changes = [
        ('content: "Tell', 'content: "Talk'),
        ("temperature: 0", "temperature: 1"),
        ('"> "', '">> "'),
        ("Knows the", "Tells the"),
        ("function: model_town:look_up, timeout: 3", "function: model_town:look_up, timeout: 4"),
        ("timeout: 20, tools: [look_up]", "timeout: 20"),
        ("prompt: guide", "prompt: Be kind."),
        (", output_type: model_town:Weather", ""),
    ]

    assert plan == parts_of(model_town.asker())
    for old, new in changes:
        assert parts_of(loaded(tmp_path, _WITH_MODELS.replace(old, new), "asker")) != plan, old


def test_any_difference_is_another_plan(tmp_path: Path) -> None:
    """The comparison above sees each part of an agent [R1]."""
    plan = dump_plan(loaded(tmp_path, _OF_FUNCTIONS))
    changes = [
        ("limit: 2", "limit: 3"),
        ("name: desk", "name: disk"),
        ("        where: wares:is_large\n", ""),
        ("factor: 3", "factor: 4"),
        ("builtins:int", "builtins:str"),
        ("events: [wares:Order]", "events: [wares:Order, InputEvent]"),
    ]

    assert [old for old, new in changes if dump_plan(loaded(tmp_path, _OF_FUNCTIONS.replace(old, new))) == plan] == []


@pytest.mark.parametrize("text", [_OF_METHODS, _OF_FUNCTIONS])
def test_an_agent_of_a_file_runs(tmp_path: Path, text: str) -> None:
    """In process, with the options of the file, and killed at every point [R1, E8.2]."""
    file = load_agents(written(tmp_path, text))
    inputs = [("ada", 12), ("ada", 3), ("bob", 20)]
    outputs = [{"review": 36, "tone": "kind", "limit": 2}, {"review": 60, "tone": "kind", "limit": 2}]

    assert LocalRunner(file.agent(), options=file.options).run(inputs).values == outputs
    assert simulate_crashes(file.agent(), inputs, seeds=0).differences == []


def test_a_plan_of_a_file_is_the_same_agent_again(tmp_path: Path) -> None:
    """The other end builds the resources that the file describes [R1]."""
    compiled = load_plan(dump_plan(loaded(tmp_path, _OF_FUNCTIONS)))

    rates = compiled.resources["rates", ResourceType.OBJECT]
    assert (rates.base, rates.digits, rates.name) == ("EUR", 4, "rates")
    assert compiled.resources["reviewer", ResourceType.AGENT].result_type is int


def test_agents_are_chosen_by_name(tmp_path: Path) -> None:
    """A file has any number of agents, in its order; what it has for all, each of them has [R1]."""
    file = load_agents(written(tmp_path, _SEVERAL))

    assert list(file.agents) == ["buyer", "seller"]
    assert [len(agent.resources) for agent in file.agents.values()] == [1, 1]
    assert file.agent("seller").name == "seller"
    with pytest.raises(DefinitionError, match="describes 2 agents; name one of 'buyer', 'seller'"):
        file.agent()
    with pytest.raises(DefinitionError, match="has no agent 'sellar'; did you mean 'seller'"):
        file.agent("sellar")
    with pytest.raises(DefinitionError, match="has no agent 'x'; it has 'buyer', 'seller'"):
        file.agent("x")


def test_options_are_those_of_the_file(tmp_path: Path) -> None:
    """They are as written, which is what set_option and LocalRunner take."""
    file = load_agents(written(tmp_path, _OF_FUNCTIONS))

    assert file.options == {"call-threads": 3, "journal.max-record-bytes": "1 MiB"}


def test_a_wrong_file_is_refused_with_all_its_problems(tmp_path: Path) -> None:
    """One error, a line for each problem, in the form that editors and terminals make a link of [R2]."""
    file = written(tmp_path, _OF_FUNCTIONS.replace("wares:take", "wares:tke").replace("digits: 4", "digit: 4"))

    with pytest.raises(DefinitionError) as caught:
        load_agents(file)

    assert str(caught.value).splitlines() == [
        f"{file} has 2 problems:",
        f"{file}:7:19: the module 'wares' has no 'tke'; did you mean 'take'?",
        f"{file}:14:75: Rates, the class of resource 'rates', has no argument 'digit'; did you mean 'digits'?",
    ]
    assert [problem.position.line for problem in check_agents(file)] == [7, 14]


def test_a_file_that_is_not_there_is_no_problem_of_its_content(tmp_path: Path) -> None:
    """The error of the operating system comes through."""
    with pytest.raises(FileNotFoundError):
        load_agents(tmp_path / "gone.yaml")


def test_values_of_a_file_are_not_shared(tmp_path: Path) -> None:
    """Two agents that use one anchor have arguments of their own [R1]."""
    text = """\
        agents:
          - name: one
            actions: &actions [{function: wares:take, events: [InputEvent]}]
            resources: &all [{name: r, type: object, class: builtins:dict, args: {a: [1]}}]
          - {name: two, actions: *actions, resources: *all}
    """
    one, two = (
        agent.resources["r", ResourceType.OBJECT] for agent in load_agents(written(tmp_path, text)).agents.values()
    )

    assert isinstance(one, ResourceDescriptor) and isinstance(two, ResourceDescriptor)
    assert one.arguments == two.arguments == {"a": [1]}
    assert one.arguments["a"] is not two.arguments["a"]

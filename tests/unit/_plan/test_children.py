"""Agents inside agents in the plan: compiled with their caller, shipped with it, their resources opened with its (N1, G1, R3)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

import pytest

from flink_agents_subagent import (
    Agent,
    DefinitionError,
    Event,
    InputEvent,
    OutputEvent,
    Resource,
    ResourceDescriptor,
    ResourceType,
    RunnerContext,
    SubagentResult,
    action,
)
from flink_agents_subagent._engine.effects import FailTask
from flink_agents_subagent._plan import ResourceLifecycle, compile_agent, dump_plan, load_plan
from flink_agents_subagent.subagents.internal import InternalSubagent
from flink_agents_subagent.subagents.metadata import SubagentMetadataProvider
from tests.unit._engine.host import Host

trace: list[str] = []


class Traced(Resource):
    """Writes down when it is opened and closed."""

    def __init__(self, label: str) -> None:
        self.label = label

    def open(self) -> None:
        """Open."""
        trace.append(f"open {self.label}")

    def close(self) -> None:
        """Close."""
        trace.append(f"close {self.label}")


def nothing(event: Any, ctx: Any) -> None:
    """Do nothing."""


def plain(name: str) -> Agent:
    """Return an agent that does nothing."""
    return Agent(name).add_action("act", InputEvent, nothing)


def with_child(name: str, child: Any, agent_name: str = "outer") -> Agent:
    """Return an agent with a sub-agent."""
    return plain(agent_name).add_resource(name, ResourceType.AGENT, child)


def lifecycle(agent: Agent) -> ResourceLifecycle:
    """Return the lifecycle of an agent's resources."""
    trace.clear()

    def run_async(coroutine: Coroutine[Any, Any, None]) -> None:
        asyncio.run(coroutine)

    return ResourceLifecycle(compile_agent(agent).resources, run_async)


def test_a_cycle_of_agents_is_refused_with_the_chain_of_names() -> None:
    """Found before anything runs, whichever agent one starts from [G1]."""
    first, second = plain("first"), plain("second")
    first.add_resource("helper", ResourceType.AGENT, second)
    second.add_resource("back", ResourceType.AGENT, first)

    with pytest.raises(DefinitionError, match="in a cycle: first > helper > back"):
        compile_agent(first)
    with pytest.raises(DefinitionError, match="in a cycle: second > back > helper"):
        dump_plan(second)


def test_one_agent_may_stand_in_several_places_that_are_no_cycle() -> None:
    """Each registration has a plan of its own, under its own name [N1]."""
    shared = plain("shared")
    agent = with_child("a", shared).add_resource("b", ResourceType.AGENT, with_child("c", shared, "middle"))

    resources = load_plan(dump_plan(agent)).resources
    first, middle = resources["a", ResourceType.AGENT], resources["b", ResourceType.AGENT]
    inner = middle.agent.resources["c", ResourceType.AGENT]

    assert [setup.name for setup in (first, middle, inner)] == ["a", "b", "c"]
    assert [setup.agent.name for setup in (first, middle, inner)] == ["shared", "middle", "shared"]
    assert first.agent is not inner.agent


def test_a_child_that_is_made_in_a_function_travels_with_its_caller() -> None:
    """Its actions, events, reduction and description go by value; its types are those of the plan [P9, N1, A1]."""

    class Asked(Event):
        text: str

    @dataclass
    class Answer:
        text: str

    class Child(SubagentMetadataProvider, Agent):
        description = "answers"

        def __init__(self, mark: str) -> None:
            super().__init__("child")
            self.mark = mark

        @action(InputEvent)
        def begin(self, event: InputEvent, ctx: RunnerContext) -> None:
            """Send an event of the function's own class."""
            ctx.send_event(Asked(text=event.input))

        @action(Asked)
        def answer(self, event: Asked, ctx: RunnerContext) -> None:
            """Answer with an attribute of the agent."""
            ctx.send_event(OutputEvent(output=Answer(event.text + self.mark)))

        def subagent_result(self, outputs: list[Any]) -> Any:
            """Give the one answer."""
            return outputs[0]

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        result = await ctx.get_resource("child", ResourceType.AGENT).submit(ctx, event.input)
        ctx.send_event(OutputEvent(output=result))

    # Actions of the same name in both: what travels by value must not take the other's place.
    agent = Agent("outer").add_action("begin", InputEvent, act).add_resource("child", ResourceType.AGENT, Child("!"))
    compiled = load_plan(dump_plan(agent))
    child = compiled.resources["child", ResourceType.AGENT]

    host = Host(compiled)
    host.input("yes")

    assert host.of(FailTask) == []
    (result,) = host.outputs
    assert isinstance(result, SubagentResult) and vars(result.result) == {"text": "yes!"}
    assert type(result.result) in compiled.types.values()
    assert isinstance(child, InternalSubagent) and child.description == "answers"


def test_resources_of_children_open_with_those_of_the_caller() -> None:
    """In the order of declaration, closed in reverse; described ones once per registration, an instance once [R3]."""
    instance = Traced("instance")
    child = plain("child").add_resource(
        "described", ResourceType.OBJECT, ResourceDescriptor(clazz=Traced, label="built")
    )
    child.add_resource("shared", ResourceType.OBJECT, instance)
    agent = plain("outer").add_resource("first", ResourceType.OBJECT, Traced("first"))
    agent.add_resource("one", ResourceType.AGENT, child).add_resource("two", ResourceType.AGENT, child)
    agent.add_resource("shared", ResourceType.OBJECT, instance)
    life = lifecycle(agent)

    life.open()
    opened = list(trace)
    life.close()

    assert opened == ["open first", "open built", "open instance", "open built"]
    assert trace[len(opened) :] == [f"close {label.removeprefix('open ')}" for label in reversed(opened)]


def test_a_resource_of_a_child_that_cannot_be_opened_says_whose_it_is() -> None:
    """The chain of sub-agents stands before the name [R3]."""

    class Broken(Resource):
        def open(self) -> None:
            raise OSError("no disk")

    child = plain("child").add_resource("disk", ResourceType.OBJECT, Broken())
    life = lifecycle(with_child("a", with_child("b", child, "middle")))

    with pytest.raises(
        DefinitionError, match=r"sub-agent 'a': sub-agent 'b': resource 'disk' \(object\) cannot be opened"
    ):
        life.open()


def test_one_instance_has_one_name_in_a_caller_and_its_children() -> None:
    """Its name is part of what it does, so two are a mistake wherever they are [R2]."""
    instance = Traced("x")
    child = plain("child").add_resource("theirs", ResourceType.OBJECT, instance)

    with pytest.raises(DefinitionError, match="are one instance"):
        compile_agent(with_child("child", child).add_resource("ours", ResourceType.OBJECT, instance))


def test_a_child_of_an_agent_with_a_chat_model_has_the_actions_of_chat_requests() -> None:
    """The model is visible to it, so that its requests have to be answered in its own scope [C2, N1]."""
    agent = with_child("child", plain("child")).add_resource("model", ResourceType.CHAT_MODEL, object())

    compiled = compile_agent(agent)
    child = compiled.resources["child", ResourceType.AGENT].agent

    assert child.actions.keys() == compiled.actions.keys() != {"act"}
    assert compile_agent(with_child("child", plain("child"))).actions.keys() == {"act"}

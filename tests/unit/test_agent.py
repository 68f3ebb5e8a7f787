"""Agents: what a subclass and an instance declare."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from flink_agents_subagent.actions import action
from flink_agents_subagent.agent import Agent, subagent
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.events import Event, InputEvent
from flink_agents_subagent.resources import ResourceDescriptor, ResourceType
from flink_agents_subagent.subagents import BaseDeferredSubagentSetup, SubagentRequest


class Ping(Event):
    """An event."""


def handle(event: Any, ctx: Any) -> None:
    """Do nothing."""


class Reviewer(BaseDeferredSubagentSetup):
    """A sub-agent."""

    def call(self, request: SubagentRequest) -> str:
        """Answer."""
        return "fine"


class Base(Agent):
    """An agent with its own constructor, which does not call the base's."""

    def __init__(self, factor: int = 2) -> None:
        self.factor = factor

    @action(InputEvent)
    @staticmethod
    def first(event: Any, ctx: Any) -> str:
        """Return a text."""
        return f"first {event}"

    @action(Ping, where=bool)
    def second(self, event: Any, ctx: Any) -> int:
        """Use an attribute."""
        return self.factor * int(event)


class Derived(Base):
    """Overrides one action and adds another."""

    @action(Ping)
    def second(self, event: Any, ctx: Any) -> int:
        """Override."""
        return -1

    @action(InputEvent, config={"a": 1})
    async def third(self, event: Any, ctx: Any) -> None:
        """Do nothing, later."""


def test_decorated_methods_are_actions_in_order() -> None:
    """Base classes come before subclasses, an override keeps the place of what it overrides."""
    actions = Derived().actions

    assert [found.name for found in actions] == ["first", "second", "third"]
    assert [found.function("1", None) for found in actions[:2]] == ["first 1", -1]
    assert actions[1].where is None
    assert (actions[2].is_async, actions[2].config) == (True, {"a": 1})


def test_instance_methods_see_the_instance() -> None:
    """An action that is an instance method is bound to the agent."""
    assert Base(factor=5).actions[1].function("2", None) == 10


def test_an_override_without_decorator_is_refused() -> None:
    """An override that silently would be no action is an error that says so."""

    class Silent(Base):
        def second(self, event: Any, ctx: Any) -> int:
            return 0

    with pytest.raises(DefinitionError, match=r"Silent\.second overrides an action without being one"):
        _ = Silent().actions


def test_added_actions_follow_the_methods() -> None:
    """`add_action` takes one event type or several, and a config of keywords."""
    agent = Base().add_action("extra", Ping, handle, level=3).add_action("more", [Ping, InputEvent], handle, where=bool)

    extra, more = agent.actions[2:]

    assert (extra.name, extra.events, extra.config) == ("extra", (Ping,), {"level": 3})
    assert (more.events, more.where) == ((Ping, InputEvent), bool)


@pytest.mark.parametrize("name", ["extra", "first"])
def test_action_names_are_unique(name: str) -> None:
    """A name that a method or an added action has already is refused with the agent named [R2]."""
    agent = Base().add_action("extra", Ping, handle)

    with pytest.raises(DefinitionError, match=f"agent 'Base' already has an action '{name}'"):
        agent.add_action(name, Ping, handle)


def test_the_name_is_given_or_that_of_the_class() -> None:
    """A subclass may have the name of its class; a plain agent needs one [E5.1]."""
    assert (Base().name, Agent("x").name) == ("Base", "x")
    with pytest.raises(DefinitionError, match="needs a name"):
        Agent()


@pytest.mark.parametrize("name", ["", "  ", 3, None])
def test_names_are_texts(name: Any) -> None:
    """Blank names and names of another type are refused."""
    agent = Base()

    with pytest.raises(DefinitionError, match="the name of an action is"):
        agent.add_action(name, Ping, handle)
    with pytest.raises(DefinitionError, match="the name of a resource is"):
        agent.add_resource(name, ResourceType.OBJECT, 1)
    with pytest.raises(DefinitionError, match=r"the name of an agent is|needs a name"):
        Agent(name)


def test_arguments_in_another_order_are_told() -> None:
    """A type in the place of the name is a text for Python, and would be one [R2]."""
    with pytest.raises(
        DefinitionError, match=r"is ResourceType.AGENT; the order is add_resource\(name, type, resource\)"
    ):
        Base().add_resource(ResourceType.AGENT, "x", 1)


@pytest.mark.parametrize("events", ["Ping", ["Ping"], None, {Ping}])
def test_events_are_classes_or_a_list_of_them(events: Any) -> None:
    """A text is not taken for a list of letters [R2]."""
    with pytest.raises(
        DefinitionError, match=r"action 'x' listens to ('Ping'|None|\{.*\}), which is not a subclass of Event"
    ):
        Base().add_action("x", events, handle)


def test_a_config_is_given_by_its_entries() -> None:
    """What the decorator takes as `config=` would be an entry of that name here [R2]."""
    with pytest.raises(DefinitionError, match=r"action 'x' is given config={'a': 1}; add_action takes the entries as"):
        Base().add_action("x", Ping, handle, config={"a": 1})
    assert Base().add_action("x", Ping, handle, config=1, more=2).actions[-1].config == {"config": 1, "more": 2}


def test_resource_names_are_unique_within_a_type() -> None:
    """A tool and another kind of resource may share a name, two of one kind may not [R2]."""
    agent = Base().add_resource("x", ResourceType.TOOL, 1).add_resource("x", ResourceType.OBJECT, 2)

    assert dict(agent.resources) == {("x", ResourceType.TOOL): 1, ("x", ResourceType.OBJECT): 2}
    with pytest.raises(DefinitionError, match="already has a resource 'x' of type 'object'"):
        agent.add_resource("x", ResourceType.OBJECT, 3)


def test_a_decorator_gives_all_agents_of_a_class_a_sub_agent() -> None:
    """It is there before what is added, for subclasses too, in the order in which it is read [R1]."""

    @subagent("kind", ResourceDescriptor(clazz=Reviewer))
    @subagent("strict", ResourceDescriptor(clazz=Reviewer, timeout=5))
    class Editor(Base):
        pass

    @subagent("third", ResourceDescriptor(clazz=Reviewer))
    class Better(Editor):
        pass

    agent = Better().add_resource("own", ResourceType.AGENT, Reviewer())

    assert [name for name, _ in agent.resources] == ["kind", "strict", "third", "own"]
    assert [name for name, _ in Editor().resources] == ["kind", "strict"] and not Base().resources
    assert dict(pickle.loads(pickle.dumps(Base())).resources) == {}


def test_a_decorator_refuses_what_add_resource_refuses() -> None:
    """Taken names, things that are none, and classes that are no agents [R1, R2]."""
    with pytest.raises(
        DefinitionError, match=r"cannot be built as Reviewer.*there is no argument 'timout'; its arguments are desc"
    ):
        subagent("x", ResourceDescriptor(clazz=Reviewer, timout=5))
    with pytest.raises(DefinitionError, match="stands above a subclass of Agent, not <class 'int'>"):
        subagent("x", Reviewer())(int)  # type: ignore[type-var]  # a mistake

    @subagent("x", Reviewer())
    class Editor(Base):
        pass

    with pytest.raises(DefinitionError, match="Editor already has a sub-agent 'x'"):
        subagent("x", Reviewer())(Editor)
    with pytest.raises(DefinitionError, match="already has a resource 'x' of type 'agent'"):
        Editor().add_resource("x", ResourceType.AGENT, Reviewer())


def test_a_copy_holds_attributes_only() -> None:
    """What was added travels in the plan and not with the instance, which need not be picklable as a whole."""
    agent = Base(factor=7).add_resource("lambda", ResourceType.OBJECT, lambda: None)

    copy = pickle.loads(pickle.dumps(agent))

    assert (copy.factor, dict(copy.resources)) == (7, {})


def test_the_result_of_a_sub_agent_call_is_the_list_of_its_outputs_by_default() -> None:
    """Also when there is none, and when there is one [N1]."""
    agent = Agent("inner")

    assert [agent.subagent_result(outputs) for outputs in ([], [1], [1, 2])] == [[], [1], [1, 2]]

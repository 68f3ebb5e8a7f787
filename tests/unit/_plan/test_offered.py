"""A chat model that offers a Java sub-agent is refused, however both are declared."""

from __future__ import annotations

from typing import Any

import pytest

from flink_agents_subagent import (
    Agent,
    BaseDeferredSubagentSetup,
    DefinitionError,
    InputEvent,
    JavaSubagent,
    ResourceDescriptor,
    ResourceType,
    SubagentRequest,
)
from flink_agents_subagent._plan import compile_agent, dump_plan, load_plan


class Model:
    """As much of a chat model as is known of one."""

    def __init__(self, subagents: Any = ()) -> None:
        self.subagents = subagents


class FixedModel(Model):
    """Decides itself what it offers."""

    def __init__(self) -> None:
        super().__init__(["helper", "pricer"])


class Helper(BaseDeferredSubagentSetup):
    """A sub-agent in Python."""

    def call(self, request: SubagentRequest) -> Any:
        """Answer."""
        return request.prompt


HANDLES = [
    JavaSubagent("com.acme.Pricer"),
    ResourceDescriptor(clazz=JavaSubagent, class_name="com.acme.Pricer"),
    ResourceDescriptor(clazz="flink_agents_subagent:JavaSubagent", class_name="com.acme.Pricer"),
]
MESSAGE = "chat model 'judge' offers the sub-agent 'pricer', which is the Java class com.acme.Pricer: a cross-language callable is not offered"


def agent(model: Any, handle: Any) -> Agent:
    """Return an agent with a model and sub-agents of both languages."""
    made = Agent("shop").add_action("act", InputEvent, act)
    made.add_resource("helper", ResourceType.AGENT, Helper()).add_resource("pricer", ResourceType.AGENT, handle)
    # A tool may have the same name; it is not meant.
    made.add_resource("pricer", ResourceType.TOOL, object())
    return made.add_resource("judge", ResourceType.CHAT_MODEL, model)


def act(event: InputEvent, ctx: Any) -> None:
    """Do nothing."""


@pytest.mark.parametrize("handle", HANDLES, ids=["instance", "described", "named"])
@pytest.mark.parametrize(
    "model",
    [
        Model(["helper", "pricer"]),
        ResourceDescriptor(clazz=Model, subagents=["helper", "pricer"]),
        ResourceDescriptor(clazz=FixedModel),
    ],
    ids=["instance", "described", "fixed"],
)
def test_a_java_subagent_is_not_offered_to_a_model(model: Any, handle: Any) -> None:
    """Compiling refuses it with model, sub-agent, class and the reason [B6, T13]."""
    with pytest.raises(DefinitionError, match=MESSAGE):
        compile_agent(agent(model, handle))


@pytest.mark.parametrize("handle", HANDLES[:2], ids=["instance", "described"])
def test_a_submission_is_refused_when_it_can_be_seen(handle: Any) -> None:
    """Before anything is sent to a cluster [B6]."""
    with pytest.raises(DefinitionError, match=MESSAGE):
        dump_plan(agent(Model(["pricer"]), handle))
    with pytest.raises(DefinitionError, match=MESSAGE):
        dump_plan(agent(ResourceDescriptor(clazz=Model, subagents=["pricer"]), handle))


def test_what_shows_late_is_refused_where_it_is_opened() -> None:
    """A class in text, and a model that decides itself, are seen when the plan is read [B6]."""
    plan = dump_plan(agent(ResourceDescriptor(clazz=FixedModel), HANDLES[2]))

    with pytest.raises(DefinitionError, match=MESSAGE):
        load_plan(plan)


@pytest.mark.parametrize("offered", [(), ["helper"], None, "pricer", ["nobody"], [7]])
def test_other_models_are_not_looked_at_here(offered: Any) -> None:
    """Sub-agents in Python are offered; names that are none, and what is no list, are for delegation to judge [B6]."""
    assert compile_agent(agent(Model(offered), HANDLES[0])).name == "shop"

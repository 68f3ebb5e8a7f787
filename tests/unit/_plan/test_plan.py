"""Plans: round trip of importable agents, and refusals when one is compiled or read."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from flink_agents_subagent import (
    Agent,
    BaseDeferredSubagentSetup,
    DefinitionError,
    Event,
    InputEvent,
    OutputEvent,
    ResourceDescriptor,
    ResourceType,
    SubagentRequest,
    UnknownVersionError,
    action,
)
from flink_agents_subagent._plan import compile_agent, dump_plan, load_plan

LOCK = threading.Lock()


class Ping(Event):
    """An event."""


class Helper(BaseDeferredSubagentSetup):
    """A sub-agent."""

    def call(self, request: SubagentRequest) -> Any:
        """Answer."""
        return request.prompt


class Failing(Helper):
    """Cannot be built."""

    def __init__(self) -> None:
        raise OSError("no disk")


class Importable(Agent):
    """An agent of a module that can be imported."""

    @action(InputEvent, Ping)
    @staticmethod
    def handle(event: Any, ctx: Any) -> None:
        """Do nothing."""


def use_lock(event: Any, ctx: Any) -> Any:
    """Use what cannot travel."""
    return LOCK


def agent_with(resource: Any, resource_type: ResourceType = ResourceType.AGENT) -> Agent:
    """Return an agent with one resource."""
    return Importable().add_resource("helper", resource_type, resource)


def test_what_can_be_imported_is_named() -> None:
    """An importable static method is a reference, so that a new version of its module is used after a restart [E4.8]."""
    tree = json.loads(dump_plan(Importable()))

    assert tree["actions"][0]["function"] == f"{__name__}:Importable.handle"
    assert tree["actions"][0]["events"][0] == "flink_agents_subagent.events:InputEvent"


def test_a_plan_is_the_same_agent_again() -> None:
    """Names, routes, functions and resources survive [R1]."""
    compiled = load_plan(dump_plan(agent_with(Helper(description="helps")), {("n", ResourceType.OBJECT): 3}))

    assert compiled.name == "Importable"
    assert compiled.actions["handle"].function is Importable.handle
    assert [list(compiled.routes), *[route.action.name for route in compiled.routes[Ping]]] == [
        [InputEvent, Ping],
        "handle",
    ]
    assert compiled.resources["helper", ResourceType.AGENT].description == "helps"
    assert compiled.resources["n", ResourceType.OBJECT] == 3


def test_local_functions_and_classes_travel() -> None:
    """Lambdas and what a function defines go by value, and are registered by name [P9]."""

    class Local(Event):
        number: int

    agent = Agent("local").add_action("act", [InputEvent, Local], lambda event, ctx: Local(number=2))

    compiled = load_plan(dump_plan(agent))

    made = compiled.actions["act"].function(None, None)
    assert type(made) is list(compiled.routes)[1]
    assert type(made).__qualname__ in {name.partition(":")[2] for name in compiled.types}


def test_compiling_in_process_copies_nothing() -> None:
    """The local runner uses the very instance that a test holds, also one that could not be pickled."""
    helper = Helper()
    helper.lock = LOCK  # type: ignore[attr-defined]  # what an author's constructor would do

    compiled = compile_agent(agent_with(helper))

    assert compiled.resources["helper", ResourceType.AGENT] is helper
    assert helper.name == "helper"


def test_compiling_in_process_knows_local_types() -> None:
    """What the cluster would register by name is registered here too, so that a test sees the same [P9]."""

    class Local(Event):
        number: int

    agent = Agent("local").add_action("act", InputEvent, lambda event, ctx: Local(number=2))

    assert Local in compile_agent(agent).types.values()


def test_a_function_that_cannot_travel_names_what_it_uses() -> None:
    """The message leads from the action to the variable [R2]."""

    def act(event: Any, ctx: Any) -> Any:
        return held

    held = {"inner": LOCK}
    agent = Agent("local").add_action("act", InputEvent, act)

    with pytest.raises(
        DefinitionError, match=r"action 'act' cannot be sent .* because of held \(dict\) → inner \(lock\): "
    ):
        dump_plan(agent)


def test_an_instance_that_cannot_travel_is_named() -> None:
    """A resource names its attribute and the remedy [R2]."""
    helper = Helper()
    helper.lock = LOCK  # type: ignore[attr-defined]  # what an author's constructor would do

    with pytest.raises(
        DefinitionError, match=r"resource 'helper' \(agent\) cannot be sent .*lock \(lock\).*ResourceDescriptor"
    ):
        dump_plan(agent_with(helper))


def test_an_importable_function_may_use_anything() -> None:
    """What is imported where it runs is not pickled, nor what it uses."""
    agent = Agent("local").add_action("act", InputEvent, use_lock)

    assert load_plan(dump_plan(agent)).actions["act"].function is use_lock


@pytest.mark.parametrize(
    ("agent", "says"),
    [
        (Agent("idle"), "agent 'idle' has no action for InputEvent"),
        (Agent("idle").add_action("act", Ping, use_lock), "has no action for InputEvent"),
        (Importable, "an agent is an instance of Agent, not <class"),
        (
            agent_with(3),
            "sub-agent 'helper' is a int, which is no SubagentSetup; give one, a ResourceDescriptor of one, or an Agent",
        ),
        (
            agent_with(ResourceDescriptor(clazz=Importable)),
            "sub-agent 'helper' is described as the agent Importable; give an instance of it",
        ),
        (
            agent_with(Agent("idle")),
            "agent 'idle' has no action for InputEvent",
        ),
        (agent_with(ResourceDescriptor(clazz=dict)), "sub-agent 'helper' is described as a dict"),
        (agent_with(ResourceDescriptor(clazz=Helper, description=" ")), "sub-agent 'helper' has the description ' '"),
        (
            agent_with(ResourceDescriptor(clazz=Helper, input_schema="{")),
            "input schema of sub-agent 'helper' is no JSON",
        ),
    ],
)
def test_wrong_agents_are_refused(agent: Any, says: str) -> None:
    """Mistakes that concern a whole agent are found when it is compiled, and name it [R2]."""
    with pytest.raises(DefinitionError, match=says):
        dump_plan(agent)


def test_shared_resources_do_not_hide_own_ones() -> None:
    """A name that environment and agent both use is refused [R2]."""
    with pytest.raises(DefinitionError, match="'Importable' and its environment both have a resource 'helper'"):
        dump_plan(agent_with(Helper()), {("helper", ResourceType.AGENT): Helper()})


def test_one_setup_has_one_name() -> None:
    """The name is part of a call's identity, so that one instance under two names is refused [D1]."""
    helper = Helper()

    with pytest.raises(DefinitionError, match=r"resource 'helper' .* and resource 'second' .* are one instance"):
        dump_plan(agent_with(helper).add_resource("second", ResourceType.AGENT, helper))


def test_a_resource_that_cannot_be_built_is_named() -> None:
    """The exception of its class is the cause [R3]."""
    plan = dump_plan(agent_with(ResourceDescriptor(clazz=Failing)))

    with pytest.raises(
        DefinitionError, match=r"resource 'helper' \(agent\) cannot be built as Failing.*OSError: no disk"
    ) as caught:
        load_plan(plan)
    assert isinstance(caught.value.__cause__, OSError)


@pytest.mark.parametrize(
    ("clazz", "says"),
    [
        (
            "nowhere.at_all:Thing",
            r"needs the module 'nowhere.at_all', which cannot be imported by Python 3\.\d+ at .*python\.files",
        ),
        ("json:Thing", "is not in .*json.* as 'Thing'"),
        ("json:dumps", "which is no class"),
        ("builtins:dict", "is a dict, which is no SubagentSetup"),
    ],
)
def test_a_described_class_is_looked_up_where_it_runs(clazz: str, says: str) -> None:
    """A module that is missing in the TaskManager is named with interpreter and remedy [P2]."""
    plan = dump_plan(agent_with(ResourceDescriptor(clazz=clazz)))

    with pytest.raises(DefinitionError, match=says):
        load_plan(plan)


def changed(**changes: Any) -> bytes:
    """Return a plan with other header fields."""
    return json.dumps({**json.loads(dump_plan(Importable())), **changes}).encode()


def test_another_python_is_refused() -> None:
    """Code by value is not read by another minor version; the message names both and the option [P2, E4.8]."""
    with pytest.raises(
        DefinitionError, match=r"submitted by Python 2\.7, but is run by Python 3.*set python\.executable"
    ):
        load_plan(changed(python="2.7"))


def test_a_newer_plan_is_refused() -> None:
    """A format that this release does not know is named [P6]."""
    with pytest.raises(UnknownVersionError, match="the plan has version 99, this release reads 1"):
        load_plan(changed(version=99))


def test_a_missing_function_is_named() -> None:
    """An action that its module no longer has says so [P2]."""
    tree = json.loads(dump_plan(Importable()))
    tree["actions"][0]["function"] = f"{__name__}:Importable.gone"

    with pytest.raises(DefinitionError, match=r"action 'handle' is not in .* as 'Importable.gone'"):
        load_plan(json.dumps(tree).encode())


def test_outputs_trigger_nothing() -> None:
    """No route can exist for what leaves the operator [E1.2]."""
    with pytest.raises(DefinitionError, match="triggers nothing"):
        Agent("x").add_action("act", [InputEvent, OutputEvent], use_lock)

"""An agent as it was declared, checked as a whole. Owns the rules that concern more than one declaration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from flink_agents_subagent.actions import ActionDefinition
from flink_agents_subagent.agent import Agent
from flink_agents_subagent.chat.action import builtin_actions
from flink_agents_subagent.chat.tool import check_tool_name
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.events import InputEvent
from flink_agents_subagent.resources import Resource, ResourceDescriptor, ResourceType
from flink_agents_subagent.subagents.offer import check_offered, offered_by
from flink_agents_subagent.subagents.setup import SubagentSetup, check_description

__all__ = ["AgentDefinition", "ResourceDefinition", "check_subagent", "define"]


@dataclass(frozen=True, slots=True)
class ResourceDefinition:
    """A resource as it was declared: a descriptor or an instance."""

    name: str
    type: ResourceType
    resource: Any

    def __str__(self) -> str:
        return f"resource {self.name!r} ({self.type.value})"


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """A whole agent, checked."""

    name: str
    actions: tuple[ActionDefinition, ...]
    resources: tuple[ResourceDefinition, ...]


def define(agent: Agent, shared: Mapping[tuple[str, ResourceType], Any] | None = None) -> AgentDefinition:
    """Check an agent together with the resources of its environment.

    Raises:
        DefinitionError: Names what is wrong (R2).
    """
    if not isinstance(agent, Agent):
        raise DefinitionError(f"an agent is an instance of Agent, not {agent!r}{'; call it' if agent is Agent else ''}")
    actions = agent.actions
    if not any(issubclass(event, InputEvent) for action in actions for event in action.events):
        raise DefinitionError(
            f"agent {agent.name!r} has no action for InputEvent, so that no input would ever be handled; "
            "decorate one with @action(InputEvent)"
        )
    for name, resource_type in agent.resources:
        if (name, resource_type) in (shared or {}):
            raise DefinitionError(
                f"agent {agent.name!r} and its environment both have a resource {name!r} of type "
                f"{resource_type.value!r}; names are unique within a type"
            )
    declared = {**(shared or {}), **agent.resources}
    actions = _with_builtin_actions(agent.name, actions, declared)
    resources = tuple(ResourceDefinition(name, kind, resource) for (name, kind), resource in declared.items())
    _check_resources(resources)
    return AgentDefinition(agent.name, actions, resources)


def _with_builtin_actions(
    agent: str, actions: tuple[ActionDefinition, ...], resources: Iterable[tuple[str, ResourceType]]
) -> tuple[ActionDefinition, ...]:
    """Add the actions of chat requests where a chat model is visible (C2)."""
    if not any(kind is ResourceType.CHAT_MODEL for _, kind in resources):
        return actions
    builtin = builtin_actions()
    taken = {action.name for action in actions} & {action.name for action in builtin}
    if taken:
        raise DefinitionError(
            f"agent {agent!r} has an action {taken.pop()!r}, the name of a built-in one; give it another name"
        )
    return (*actions, *builtin)


def _check_resources(resources: tuple[ResourceDefinition, ...]) -> None:
    check_models({(resource.name, resource.type): resource.resource for resource in resources})
    seen: dict[int, ResourceDefinition] = {}
    for resource in resources:
        if resource.type is ResourceType.AGENT:
            check_subagent(resource)
        if resource.type is ResourceType.TOOL:
            check_tool_name(resource.name)
        if isinstance(resource.resource, Resource):
            other = seen.setdefault(id(resource.resource), resource)
            if other is not resource:
                raise DefinitionError(
                    f"{other} and {resource} are one instance; give each its own, because its name is part of what it does"
                )


def check_models(resources: Mapping[tuple[str, ResourceType], Any]) -> None:
    """Refuse chat models that offer what no model can call (B6).

    Raises:
        DefinitionError: Names the model, the sub-agent and the remedy.
    """
    subagents = {name: resource for (name, kind), resource in resources.items() if kind is ResourceType.AGENT}
    for (name, kind), resource in resources.items():
        if kind is ResourceType.CHAT_MODEL:
            check_offered(name, offered_by(resource), subagents)


def check_subagent(definition: ResourceDefinition) -> None:
    """Refuse what is registered as a sub-agent and is none (R2).

    Raises:
        DefinitionError: Names the sub-agent and what is wrong.
    """
    resource = definition.resource
    owner = f"sub-agent {definition.name!r}"
    if isinstance(resource, Agent):
        raise DefinitionError(
            f"{owner} is an Agent ({resource.name!r}); this version runs no agent inside another: "
            "give a SubagentSetup, or put the agent's steps into actions of the caller"
        )
    if isinstance(resource, ResourceDescriptor):
        clazz, arguments = resource.clazz, resource.arguments
        if isinstance(clazz, type) and not issubclass(clazz, SubagentSetup):
            raise DefinitionError(
                f"{owner} is described as a {clazz.__qualname__}, which is no SubagentSetup; describe a subclass of one"
            )
        check_description(owner, arguments.get("description"), arguments.get("input_schema"))
    elif isinstance(resource, SubagentSetup):
        check_description(owner, resource.description, resource.input_schema)
    else:
        raise DefinitionError(
            f"{owner} is a {type(resource).__qualname__}, which is no SubagentSetup; give one, or a ResourceDescriptor of one"
        )

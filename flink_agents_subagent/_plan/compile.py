"""A definition → what the engine runs: routes by event type, resources built. Owns no checks of declarations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flink_agents_subagent._plan.compiled import CompiledAction, CompiledAgent, Route
from flink_agents_subagent._plan.definition import AgentDefinition, ChildDefinition, ResourceDefinition, check_models
from flink_agents_subagent._plan.reference import resolve_reference
from flink_agents_subagent.actions import ActionDefinition
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.events import Event
from flink_agents_subagent.resources import Resource, ResourceDescriptor, ResourceType
from flink_agents_subagent.subagents.internal import InternalSubagent
from flink_agents_subagent.subagents.setup import SubagentSetup

__all__ = ["bind_resources", "compile_definition", "finder"]

Find = Callable[[str, ResourceType], Any]


def compile_definition(
    definition: AgentDefinition, types: Mapping[str, type[Any]], outer: Find | None = None
) -> CompiledAgent:
    """Return the agent ready to run, with its resources built and named, not opened.

    Args:
        definition: The agent.
        types: Those that came by value.
        outer: Finds the resources of the caller, for an agent inside another.

    Raises:
        DefinitionError: A resource cannot be built; names it, the cause is the exception of its class.
    """
    actions = {action.name: _compile_action(action) for action in definition.actions}
    routes: dict[type[Event], list[Route]] = {}
    for action in definition.actions:
        for event in dict.fromkeys(action.events):
            routes.setdefault(event, []).append(Route(actions[action.name], action.where))
    resources: dict[tuple[str, ResourceType], Any] = {}
    # Agents inside find them once all are there.
    find = finder(resources, outer)
    for resource in definition.resources:
        resources[resource.name, resource.type] = _build(resource, types, find)
    # Again, because what a described model offers, and what a class in text is, shows only now.
    check_models(resources)
    bind_resources(resources, find)
    return CompiledAgent(
        name=definition.name,
        routes={event: tuple(several) for event, several in routes.items()},
        actions=actions,
        resources=resources,
        types=types,
    )


def finder(resources: Mapping[tuple[str, ResourceType], Any], outer: Find | None = None) -> Find:
    """Return what finds a resource by name and type, and raises `DefinitionError` naming those that there are; then looks in `outer`, if there is one."""

    def find(name: str, kind: ResourceType) -> Any:
        if (name, kind) not in resources and outer is not None:
            return outer(name, kind)
        if (name, kind) not in resources:
            known = sorted(known for known, other in resources if other is kind)
            raise DefinitionError(
                f"there is no resource {name!r} of type {kind.value}; there are {known or 'none of this type'}"
            )
        return resources[name, kind]

    return find


def bind_resources(resources: Mapping[tuple[str, ResourceType], Any], find: Find) -> None:
    """Show resources the way to each other."""
    for resource in resources.values():
        if isinstance(resource, Resource):
            resource.bind_resources(find)


def _compile_action(action: ActionDefinition) -> CompiledAction:
    return CompiledAction(action.name, action.function, action.is_async, action.config)


def _build(definition: ResourceDefinition, types: Mapping[str, type[Any]], find: Find) -> Any:
    resource = definition.resource
    if isinstance(resource, ChildDefinition):
        child = compile_definition(resource.agent, types, find)
        resource = InternalSubagent(child, resource.reduce, resource.metadata)
    if isinstance(resource, ResourceDescriptor):
        resource = _build_described(definition, resource)
    if isinstance(resource, Resource):
        resource.bind_name(definition.name)
    if isinstance(resource, SubagentSetup) and definition.input_schema is not None:
        resource.take_offered_schema(definition.input_schema)
    return resource


def _build_described(definition: ResourceDefinition, descriptor: ResourceDescriptor) -> Any:
    clazz = descriptor.clazz
    if isinstance(clazz, str):
        clazz = resolve_reference(clazz, str(definition))
    if not isinstance(clazz, type):
        raise DefinitionError(f"{definition} is described by {descriptor.clazz!r}, which is no class")
    try:
        built = clazz(**descriptor.arguments)
    except Exception as error:
        raise DefinitionError(
            f"{definition} cannot be built as {clazz.__qualname__}(...): {type(error).__name__}: {error}"
        ) from error
    if definition.type is ResourceType.AGENT and not isinstance(built, SubagentSetup):
        raise DefinitionError(f"{definition} is a {clazz.__qualname__}, which is no SubagentSetup")
    return built

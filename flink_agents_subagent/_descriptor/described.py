"""What entries of every kind of resource need: the class, the description, the checks of every declaration. Must not know the lists of a file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from flink_agents_subagent._descriptor.arguments import check_arguments
from flink_agents_subagent._descriptor.field import RetryEntry
from flink_agents_subagent._descriptor.node import Node
from flink_agents_subagent._descriptor.problem import Position, Problems
from flink_agents_subagent._descriptor.reference import UnknownReferenceError, find
from flink_agents_subagent._plan.definition import ResourceDefinition, check_subagent
from flink_agents_subagent.context import RetryPolicy
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.resources import ResourceDescriptor, ResourceType, check_resource

__all__ = ["Described", "class_of", "described", "passes", "retry_of"]


class Described(NamedTuple):
    """A resource of the file, checked."""

    name: str
    type: ResourceType
    resource: Any
    position: Position


def retry_of(entry: RetryEntry, node: Node, problems: Problems) -> RetryPolicy:
    """Return the policy under `retry` of an entry; what is wrong with its classes is reported.

    Args:
        entry: The policy as it is written.
        node: What has the `retry`.
        problems: Takes what is wrong.
    """
    given: dict[str, Any] = entry.model_dump(exclude_none=True)
    for key in ("initial", "max_interval"):
        if key in given:
            given[key] = timedelta(seconds=given[key])
    if entry.retry_on is not None:
        places = [(reference, node.at("retry", "retry_on", number)) for number, reference in enumerate(entry.retry_on)]
        found = (_exception(reference, place, problems) for reference, place in places)
        given["retry_on"] = tuple(clazz for clazz in found if clazz is not None)
    return RetryPolicy(**given)


def _exception(reference: str, position: Position, problems: Problems) -> type[Any] | None:
    clazz = class_of(reference, position, problems)
    if clazz is None or issubclass(clazz, BaseException):
        return clazz
    problems.add(position, f"{reference} is no class of exceptions; give one, as in builtins:ConnectionError")
    return None


def class_of(reference: str, position: Position, problems: Problems) -> type[Any] | None:
    """Return the class that a reference names; None when it names none, which is reported."""
    try:
        found = find(reference)
    except UnknownReferenceError as error:
        problems.add(position, str(error))
        return None
    if isinstance(found, type):
        return found
    problems.add(position, f"{reference} is {found!r}; give a class")
    return None


def described(
    owner: str, reference: str, arguments: Mapping[str, Any], node: Node, problems: Problems
) -> ResourceDescriptor | None:
    """Return the description of a class with its arguments; None when they do not fit, which is reported.

    Args:
        owner: What the class is of, for the messages.
        reference: The class.
        arguments: By name.
        node: The entry.
        problems: Takes what is wrong.
    """
    clazz = class_of(reference, node.at("class"), problems)
    if clazz is None:
        return None
    before = len(problems)
    check_arguments(owner, clazz, arguments, node, problems)
    return ResourceDescriptor(clazz=clazz, **arguments) if len(problems) == before else None


def passes(name: str, resource_type: ResourceType, resource: Any, node: Node, problems: Problems) -> bool:
    """Tell whether the checks that every declaration has to pass have nothing against a resource."""
    try:
        check_resource(name, resource_type, resource)
        if resource_type is ResourceType.AGENT:
            check_subagent(ResourceDefinition(name, resource_type, resource))
    except DefinitionError as error:
        problems.add(node.at("class"), str(error))
        return False
    return True

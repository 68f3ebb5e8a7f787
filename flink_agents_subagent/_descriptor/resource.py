"""Entries of `resources` and `subagents` → what `add_resource` takes. Owns the checks of classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from flink_agents_subagent._descriptor.arguments import check_arguments
from flink_agents_subagent._descriptor.model import ResourceEntry, RetryEntry, SubagentEntry
from flink_agents_subagent._descriptor.node import Node
from flink_agents_subagent._descriptor.problem import Position, Problems
from flink_agents_subagent._descriptor.reference import UnknownReferenceError, find, report_unknown
from flink_agents_subagent._descriptor.shape import read_entry
from flink_agents_subagent._plan.definition import ResourceDefinition, check_subagent
from flink_agents_subagent.context import RetryPolicy
from flink_agents_subagent.errors import ContextMisuseError, DefinitionError, NotExpressibleError
from flink_agents_subagent.resources import ResourceDescriptor, ResourceType, check_resource
from flink_agents_subagent.subagents import JavaSubagent

__all__ = ["Described", "described_by"]

_OWN_KEYS = frozenset({"name", "class", "java", "args"})
"""Of the entry of a sub-agent: what is no argument of every sub-agent."""


class Described(NamedTuple):
    """A resource of the file, checked."""

    name: str
    type: ResourceType
    resource: Any
    position: Position


def described_by(owner: Node, problems: Problems, inherited: Sequence[Described] = ()) -> list[Described]:
    """Return the resources and sub-agents of an agent, or of the file; wrong ones are left out and reported.

    Args:
        owner: What has the lists.
        problems: Takes what is wrong.
        inherited: Those of the file, whose names are taken.
    """
    found = [*_resources(owner, problems), *_subagents(owner, problems)]
    first = {(one.name, one.type): one.position for one in inherited}
    for one in found:
        if (one.name, one.type) in first:
            line = first[one.name, one.type].line
            problems.add(
                one.position,
                f"there is a resource {one.name!r} of type {one.type.value!r} already, in line {line}; "
                "give one of them another name",
            )
        first.setdefault((one.name, one.type), one.position)
    return found


def _resources(owner: Node, problems: Problems) -> Iterator[Described]:
    for node in owner.elements("resources"):
        entry = read_entry(ResourceEntry, node)
        if entry is None:
            report_unknown(node, problems)
            continue
        resource_type = ResourceType(entry.type)
        description = _described(f"resource {entry.name!r}", entry.clazz, entry.args, node, problems)
        if description is not None and _passes(entry.name, resource_type, description, node, problems):
            yield Described(entry.name, resource_type, description, node.at("name"))


def _subagents(owner: Node, problems: Problems) -> Iterator[Described]:
    for node in owner.elements("subagents"):
        entry = read_entry(SubagentEntry, node)
        if entry is None:
            report_unknown(node, problems)
            continue
        resource = _subagent(entry, node, problems)
        if resource is not None and _passes(entry.name, ResourceType.AGENT, resource, node, problems):
            yield Described(entry.name, ResourceType.AGENT, resource, node.at("name"))


def _subagent(entry: SubagentEntry, node: Node, problems: Problems) -> Any:
    owner = f"sub-agent {entry.name!r}"
    common = _common_arguments(entry, node, problems)
    if entry.java is not None and entry.clazz is not None:
        problems.add(node.key_at("java"), f"{owner} has a 'class' and a 'java'; leave one of them out")
    elif entry.java is not None:
        return _java_subagent(entry, common, node, problems)
    elif entry.clazz is not None:
        for key in common.keys() & entry.args.keys():
            problems.add(node.key_at("args", key), f"{key!r} is given twice; leave it out of 'args'")
        return _described(owner, entry.clazz, {**entry.args, **common}, node, problems)
    else:
        problems.add(node.position, f"{owner} needs the key 'class', or 'java' for one in Java; add it")
    return None


def _java_subagent(entry: SubagentEntry, common: Mapping[str, Any], node: Node, problems: Problems) -> Any:
    """Describe one in Java: not an instance, because agents of a file may share the description."""
    arguments = {"class_name": entry.java, "args": entry.args, **common}
    try:
        JavaSubagent(**arguments)
    except (DefinitionError, NotExpressibleError, ContextMisuseError) as error:
        problems.add(node.at("args"), f"sub-agent {entry.name!r}: {error}")
        return None
    return ResourceDescriptor(clazz=JavaSubagent, **arguments)


def _common_arguments(entry: SubagentEntry, node: Node, problems: Problems) -> dict[str, Any]:
    """Return the arguments that sub-agents of every class have: the keys beside `args`."""
    # As they are written: the models make a float of each number.
    given = {key: value for key, value in node.plain().items() if key not in _OWN_KEYS}
    for key in ("input_type", "result_type"):
        if key in given:
            given[key] = _class(given[key], node.at(key), problems)
    if entry.retry is not None:
        given["retry"] = _retry(entry.retry, node, problems)
    return given


def _retry(entry: RetryEntry, node: Node, problems: Problems) -> RetryPolicy:
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
    clazz = _class(reference, position, problems)
    if clazz is None or issubclass(clazz, BaseException):
        return clazz
    problems.add(position, f"{reference} is no class of exceptions; give one, as in builtins:ConnectionError")
    return None


def _class(reference: str, position: Position, problems: Problems) -> type[Any] | None:
    try:
        found = find(reference)
    except UnknownReferenceError as error:
        problems.add(position, str(error))
        return None
    if isinstance(found, type):
        return found
    problems.add(position, f"{reference} is {found!r}; give a class")
    return None


def _described(
    owner: str, reference: str, arguments: Mapping[str, Any], node: Node, problems: Problems
) -> ResourceDescriptor | None:
    clazz = _class(reference, node.at("class"), problems)
    if clazz is None:
        return None
    before = len(problems)
    check_arguments(owner, clazz, arguments, node, problems)
    return ResourceDescriptor(clazz=clazz, **arguments) if len(problems) == before else None


def _passes(name: str, resource_type: ResourceType, resource: Any, node: Node, problems: Problems) -> bool:
    """Tell whether the checks that every declaration has to pass have nothing against a resource."""
    try:
        check_resource(name, resource_type, resource)
        if resource_type is ResourceType.AGENT:
            check_subagent(ResourceDefinition(name, resource_type, resource))
    except DefinitionError as error:
        problems.add(node.at("class"), str(error))
        return False
    return True

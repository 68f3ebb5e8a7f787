"""Entries of `resources` and `subagents` → what `add_resource` takes. Owns the checks of classes and arguments."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from flink_agents_subagent._descriptor.model import ResourceEntry, SubagentEntry
from flink_agents_subagent._descriptor.node import Node
from flink_agents_subagent._descriptor.problem import Position, Problems
from flink_agents_subagent._descriptor.reference import UnknownReferenceError, find, report_unknown
from flink_agents_subagent._descriptor.shape import read_entry
from flink_agents_subagent._plan.definition import ResourceDefinition, check_subagent
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.resources import ResourceDescriptor, ResourceType, check_resource

__all__ = ["Described", "described_by"]


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
    types = _types(entry, node, problems)
    if entry.java is not None and entry.clazz is not None:
        problems.add(node.key_at("java"), f"{owner} has a 'class' and a 'java'; leave one of them out")
    elif entry.java is not None:
        problems.add(node.key_at("java"), f"{owner} is in Java, which this release does not call; describe a 'class'")
    elif entry.clazz is not None:
        return _described(owner, entry.clazz, {**entry.args, **types}, node, problems)
    else:
        problems.add(node.position, f"{owner} needs the key 'class', or 'java' for one in Java; add it")
    return None


def _types(entry: SubagentEntry, node: Node, problems: Problems) -> dict[str, Any]:
    given = {"input_type": entry.input_type, "result_type": entry.result_type}
    found = {}
    for key, reference in given.items():
        if reference is None:
            continue
        if key in entry.args:
            problems.add(node.key_at("args", key), f"{key!r} is given twice; leave it out of 'args'")
        found[key] = _class(reference, node.at(key), problems)
    return found


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
    _check_arguments(owner, clazz, arguments, node, problems)
    return ResourceDescriptor(clazz=clazz, **arguments) if len(problems) == before else None


def _check_arguments(owner: str, clazz: type[Any], given: Mapping[str, Any], node: Node, problems: Problems) -> None:
    try:
        parameters = inspect.signature(clazz).parameters.values()
    except ValueError:
        # Some built-in classes have no signature; they are checked when they are built.
        return
    by_name = {one.name: one for one in parameters if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)}
    missing = [name for name, one in by_name.items() if one.default is one.empty and name not in given]
    # What a class hands on to its base shows when it is built; but a misspelt name leaves a gap.
    takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters)
    for name in [name for name in given if name not in by_name]:
        near = difflib.get_close_matches(name, missing if takes_any else by_name, n=1)
        if near or not takes_any:
            place = node.key_at(*([name] if node.get(name) else ["args", name]))
            remedy = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(by_name) or 'none'}"
            problems.add(place, f"{clazz.__qualname__}, the class of {owner}, has no argument {name!r}; {remedy}")
            missing = [other for other in missing if other not in near]
    for name in missing:
        place = node.at("args") if node.get("args") else node.position
        problems.add(
            place, f"{clazz.__qualname__}, the class of {owner}, needs the argument {name!r}; add it to 'args'"
        )


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

"""Entries of `resources` and `subagents` → what `add_resource` takes. Owns the checks of classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flink_agents_subagent._descriptor.chat import chat_resources
from flink_agents_subagent._descriptor.described import Described, class_of, described, passes, retry_of
from flink_agents_subagent._descriptor.model import ResourceEntry, SubagentEntry
from flink_agents_subagent._descriptor.node import Node
from flink_agents_subagent._descriptor.problem import Problems
from flink_agents_subagent._descriptor.reference import report_unknown
from flink_agents_subagent._descriptor.shape import read_entry
from flink_agents_subagent.agent import Agent
from flink_agents_subagent.errors import ContextMisuseError, DefinitionError, NotExpressibleError
from flink_agents_subagent.resources import ResourceDescriptor, ResourceType
from flink_agents_subagent.subagents import JavaSubagent

__all__ = ["described_by"]

_OWN_KEYS = frozenset({"name", "class", "java", "agent", "args"})
"""Of the entry of a sub-agent: what is no argument of every sub-agent."""


def described_by(
    owner: Node, agents: Mapping[str, Agent], problems: Problems, inherited: Sequence[Described] = ()
) -> list[Described]:
    """Return the resources and sub-agents of an agent, or of the file; wrong ones are left out and reported.

    Args:
        owner: What has the lists.
        agents: Those of the file, by the names under which a sub-agent may be one of them.
        problems: Takes what is wrong.
        inherited: Those of the file, whose names are taken.
    """
    found = [
        *chat_resources(owner, problems),
        *_resources(owner, problems),
        *_subagents(owner, agents, problems),
    ]
    first = {(one.name, one.type): one for one in inherited}
    for one in found:
        other = first.setdefault((one.name, one.type), one)
        if other is not one:
            problems.add(
                one.position,
                f"there is a resource {one.name!r} of type {one.type.value!r} already, in line {other.position.line}; "
                "give one of them another name",
            )
    return [one for one in found if first[one.name, one.type] is one]


def _resources(owner: Node, problems: Problems) -> Iterator[Described]:
    for node in owner.elements("resources"):
        entry = read_entry(ResourceEntry, node)
        if entry is None:
            report_unknown(node, problems)
            continue
        resource_type = ResourceType(entry.type)
        description = described(f"resource {entry.name!r}", entry.clazz, entry.args, node, problems)
        if description is not None and passes(entry.name, resource_type, description, node, problems):
            yield Described(entry.name, resource_type, description, node.at("name"))


def _subagents(owner: Node, agents: Mapping[str, Agent], problems: Problems) -> Iterator[Described]:
    for node in owner.elements("subagents"):
        entry = read_entry(SubagentEntry, node)
        if entry is None:
            report_unknown(node, problems)
            continue
        if entry.agent is not None:
            yield from _internal(entry, agents, node, problems)
            continue
        resource = _subagent(entry, node, problems)
        if resource is not None and passes(entry.name, ResourceType.AGENT, resource, node, problems):
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
        return described(owner, entry.clazz, {**entry.args, **common}, node, problems)
    else:
        problems.add(
            node.position,
            f"{owner} needs the key 'class', 'java' for one in Java, or 'agent' for one of the file; add it",
        )
    return None


def _internal(entry: SubagentEntry, agents: Mapping[str, Agent], node: Node, problems: Problems) -> Iterator[Described]:
    """Go through the one agent of the file that runs inside another; not yet complete, it is checked with the other."""
    for key in node.plain().keys() - {"name", "agent"}:
        problems.add(
            node.key_at(key),
            f"sub-agent {entry.name!r} is an agent of the file, which has no {key!r} here; leave it out",
        )
    agent = agents.get(entry.agent or "")
    # An unknown one is left to the check of names.
    if agent is not None:
        yield Described(entry.name, ResourceType.AGENT, agent, node.at("name"))


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
            given[key] = class_of(given[key], node.at(key), problems)
    if entry.retry is not None:
        given["retry"] = retry_of(entry.retry, node, problems)
    return given

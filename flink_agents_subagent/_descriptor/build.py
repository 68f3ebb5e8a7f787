"""A tree → agents, as `add_action` and `add_resource` would make them. Owns actions and what concerns a whole agent."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from flink_agents_subagent._descriptor.chat import react_agent
from flink_agents_subagent._descriptor.described import Described
from flink_agents_subagent._descriptor.model import ActionEntry
from flink_agents_subagent._descriptor.names import check_names, text_at
from flink_agents_subagent._descriptor.node import Node
from flink_agents_subagent._descriptor.problem import Position, Problems
from flink_agents_subagent._descriptor.reference import UnknownReferenceError, find, report_unknown
from flink_agents_subagent._descriptor.resource import described_by
from flink_agents_subagent._descriptor.shape import read_entry
from flink_agents_subagent._plan.definition import define
from flink_agents_subagent.actions import (
    ActionDefinition,
    check_condition,
    check_config,
    check_events,
    check_function,
    trigger_of,
)
from flink_agents_subagent.agent import Agent
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.events import Event, InputEvent
from flink_agents_subagent.options import parse_option

__all__ = ["build_agents", "read_options"]

_BUILT_IN = {"InputEvent": InputEvent}


def read_options(root: Node, problems: Problems) -> dict[str, Any]:
    """Return the options of the file as they are written there; wrong ones are reported."""
    node = root.get("options")
    options = node.plain() if node is not None else {}
    if node is None or not isinstance(options, dict):
        return {}
    for name, value in options.items():
        try:
            parse_option(name, value)
        except DefinitionError as error:
            problems.add(node.key_at(name), str(error))
    return options


class _Begun(NamedTuple):
    """An agent that does not have yet what it is described with, because others of the file may have it as a sub-agent."""

    agent: Agent
    node: Node
    is_usable: bool
    """Whether it can be told what kind of agent it is."""


def build_agents(root: Node, problems: Problems) -> dict[str, Agent]:
    """Return the agents of the file by name; what is wrong is reported and left out."""
    check_names(root, problems)
    begun = [_begin(node, problems) for node in root.elements("agents")]
    _report_repeated(begun, problems)
    agents = {it.agent.name: it.agent for it in begun if text_at(it.node, "name") is not None}
    shared = described_by(root, agents, problems)
    # What is inside is looked at in any case, so that all problems of the file come at once.
    whole = [it for it in begun if _complete(it, agents, shared, problems)]
    for it in whole:
        # One that has others inside is looked at with them.
        if not problems or not any(isinstance(one, Agent) for one in it.agent.resources.values()):
            _try(problems, it.node.position, functools.partial(define, it.agent))
    return agents


def _begin(node: Node, problems: Problems) -> _Begun:
    name, react = text_at(node, "name") or "nameless", node.get("react")
    if react is not None:
        agent = react_agent(name, react, problems)
        return _Begun(Agent(name) if agent is None else agent, node, agent is not None)
    if isinstance(node.content, dict) and "actions" not in node.content:
        problems.add(node.position, "an agent needs the key 'actions', or 'react' for a ReAct agent; add it")
    return _Begun(Agent(name), node, bool(node.elements("actions")))


def _complete(begun: _Begun, agents: Mapping[str, Agent], shared: Sequence[Described], problems: Problems) -> bool:
    """Give an agent its actions and resources; tell whether it has all of them."""
    agent, node, is_usable = begun
    before = len(problems)
    actions = _actions(node, problems)
    resources = [*shared, *described_by(node, agents, problems, shared)]
    if len(problems) > before or not is_usable or len(actions) < len(node.elements("actions")):
        return False
    for one in resources:
        _try(problems, one.position, functools.partial(agent.add_resource, one.name, one.type, one.resource))
    for action in actions:
        _try(problems, node.at("actions"), functools.partial(agent._add, action))
    return len(problems) == before


def _try(problems: Problems, position: Position, declare: Callable[[], object]) -> None:
    """Do what an author would do, and report what is refused."""
    try:
        declare()
    except DefinitionError as error:
        problems.add(position, str(error))


def _report_repeated(begun: Sequence[_Begun], problems: Problems) -> None:
    first: dict[str, Position] = {}
    for _, node, _ in begun:
        name, position = text_at(node, "name"), node.at("name")
        if name is not None and name in first:
            problems.add(
                position,
                f"there is an agent {name!r} already, in line {first[name].line}; "
                "give this one another name, by which savepoints find its state",
            )
        if name is not None:
            first.setdefault(name, position)


def _actions(agent: Node, problems: Problems) -> list[ActionDefinition]:
    found: list[ActionDefinition] = []
    first: dict[str, Position] = {}
    for node in agent.elements("actions"):
        entry = read_entry(ActionEntry, node)
        if entry is None:
            report_unknown(node, problems)
            continue
        name = entry.name or re.split("[:.]", entry.function)[-1]
        position = node.at("name" if entry.name else "function")
        if name in first:
            problems.add(
                position,
                f"there is an action {name!r} already, in line {first[name].line}; give this one another name: 'name: ...'",
            )
        first.setdefault(name, position)
        action = _action(name, entry, node, problems)
        if action is not None:
            found.append(action)
    return found


def _action(name: str, entry: ActionEntry, node: Node, problems: Problems) -> ActionDefinition | None:
    before = len(problems)
    function = _found(entry.function, node.at("function"), problems)
    marked = trigger_of(function)
    if marked is not None:
        events, where, config = marked.events, marked.where, {**marked.config, **entry.config}
        _refuse_second_trigger(entry, node, problems)
    else:
        events, where, config = (
            _events(name, entry, node, problems),
            _condition(name, entry, node, problems),
            entry.config,
        )
    if _is_instance_method(function):
        owner = function.__qualname__.rpartition(".")[0]
        problems.add(
            node.at("function"),
            f"{entry.function} is a method of {owner}, which needs an instance; name a function or a static method",
        )
    elif function is not None:
        _check(problems, node.at("function"), check_function, name, function)
    _check(problems, node.at("config"), check_config, name, config)
    return ActionDefinition(name, function, events, where, config) if len(problems) == before else None


def _is_instance_method(function: Any) -> bool:
    return inspect.isfunction(function) and next(iter(inspect.signature(function).parameters), "") == "self"


def _refuse_second_trigger(entry: ActionEntry, node: Node, problems: Problems) -> None:
    for key, given in (("events", entry.events), ("where", entry.where)):
        if given is not None:
            problems.add(
                node.key_at(key), f"{entry.function} has its trigger from @action; leave out {key!r}, or the decorator"
            )


def _events(name: str, entry: ActionEntry, node: Node, problems: Problems) -> tuple[type[Event], ...]:
    if entry.events is None:
        problems.add(
            node.at("function"),
            f"{entry.function} is no action: it is not decorated with @action, and the file names no events; "
            "add 'events', as in 'events: [InputEvent]'",
        )
        return ()
    found = []
    for number, reference in enumerate(entry.events):
        position = node.at("events", number)
        event = _BUILT_IN.get(reference) or _found(reference, position, problems)
        if event is not None:
            _check(problems, position, check_events, name, [event])
            found.append(event)
    return tuple(found)


def _condition(name: str, entry: ActionEntry, node: Node, problems: Problems) -> Callable[[Any], bool] | None:
    if entry.where is None:
        return None
    where: Callable[[Any], bool] | None = _found(entry.where, node.at("where"), problems)
    _check(problems, node.at("where"), check_condition, name, where)
    return where


def _found(reference: str, position: Position, problems: Problems) -> Any:
    """Return what a reference names, None when it names nothing, which is reported."""
    try:
        found = find(reference)
    except UnknownReferenceError as error:
        problems.add(position, str(error))
        return None
    if found is None:
        problems.add(position, f"{reference} is None; name something else")
    return found


def _check(problems: Problems, position: Position, check: Callable[[str, Any], None], name: str, given: Any) -> None:
    try:
        check(name, given)
    except DefinitionError as error:
        problems.add(position, str(error))

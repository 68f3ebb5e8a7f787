"""Entries of connections, chat models, tools, prompts and ReAct agents → what `add_resource` takes, and agents. Owns no checks of names that mean other entries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from pydantic import BaseModel

from flink_agents_subagent._descriptor.chat_entry import (
    ChatModelEntry,
    ConnectionEntry,
    PromptEntry,
    ReActEntry,
    ToolEntry,
)
from flink_agents_subagent._descriptor.described import Described, class_of, described, passes, retry_of
from flink_agents_subagent._descriptor.node import Node
from flink_agents_subagent._descriptor.problem import Position, Problems
from flink_agents_subagent._descriptor.reference import UnknownReferenceError, find, report_unknown
from flink_agents_subagent._descriptor.shape import read_entry
from flink_agents_subagent.chat.message import ChatMessage, MessageRole
from flink_agents_subagent.chat.prompt import Prompt
from flink_agents_subagent.chat.react import ReActAgent
from flink_agents_subagent.chat.setup import BaseChatModelSetup
from flink_agents_subagent.chat.tool import Tool, check_tool_name
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.resources import ResourceDescriptor, ResourceType

__all__ = ["chat_resources", "react_agent"]

E = TypeVar("E", bound=BaseModel)

_SETUP = f"{BaseChatModelSetup.__module__}:{BaseChatModelSetup.__qualname__}"
_OWN_KEYS = frozenset({"name", "class", "args", "retry"})
"""Of the entry of a chat model: what is no argument of the class under its own name."""


def chat_resources(owner: Node, problems: Problems) -> Iterator[Described]:
    """Go through the connections, chat models, tools and prompts of an agent, or of the file; wrong ones are left out and reported."""
    yield from _several(owner, "chat_model_connections", ConnectionEntry, _connection, problems)
    yield from _several(owner, "prompts", PromptEntry, _prompt, problems)
    yield from _several(owner, "tools", ToolEntry, _tool, problems)
    yield from _several(owner, "chat_models", ChatModelEntry, _chat_model, problems)


def react_agent(name: str, node: Node, problems: Problems) -> ReActAgent | None:
    """Return the ReAct agent under `react` of an agent; None when something is wrong with it, which is reported."""
    entry = read_entry(ReActEntry, node)
    if entry is None:
        report_unknown(node, problems)
        return None
    before = len(problems)
    output: Any = entry.output_schema
    if entry.output_type is not None:
        output = class_of(entry.output_type, node.at("output_type"), problems)
        if entry.output_schema is not None:
            problems.add(node.key_at("output_schema"), "there is an 'output_type', too; leave one of them out")
    if len(problems) > before:
        return None
    try:
        return ReActAgent(
            entry.chat_model,
            prompt=entry.prompt,
            output_schema=output,
            description=entry.description,
            input_schema=entry.input_schema,
            name=name,
        )
    except DefinitionError as error:
        problems.add(node.position, str(error))
        return None


def _several(
    owner: Node,
    key: str,
    model: type[E],
    describe: Callable[[E, Node, Problems], Described | None],
    problems: Problems,
) -> Iterator[Described]:
    for node in owner.elements(key):
        entry = read_entry(model, node)
        if entry is None:
            report_unknown(node, problems)
            continue
        one = describe(entry, node, problems)
        if one is not None and passes(one.name, one.type, one.resource, node, problems):
            yield one


def _connection(entry: ConnectionEntry, node: Node, problems: Problems) -> Described | None:
    what = f"chat model connection {entry.name!r}"
    resource = described(what, entry.clazz, entry.args, node, problems)
    return _named(entry.name, ResourceType.CHAT_MODEL_CONNECTION, resource, node.at("name"))


def _chat_model(entry: ChatModelEntry, node: Node, problems: Problems) -> Described | None:
    # As they are written: the models make a float of each number.
    given = {key: value for key, value in node.plain().items() if key not in _OWN_KEYS}
    for key in given.keys() & entry.args.keys():
        problems.add(node.key_at("args", key), f"{key!r} is given twice; leave it out of 'args'")
    if entry.retry is not None:
        given["retry"] = retry_of(entry.retry, node, problems)
    arguments = {**given, **entry.args}
    resource = described(f"chat model {entry.name!r}", entry.clazz or _SETUP, arguments, node, problems)
    return _named(entry.name, ResourceType.CHAT_MODEL, resource, node.at("name"))


def _tool(entry: ToolEntry, node: Node, problems: Problems) -> Described | None:
    name = entry.name or re.split("[:.]", entry.function)[-1]
    try:
        function = find(entry.function)
    except UnknownReferenceError as error:
        problems.add(node.at("function"), str(error))
        return None
    given = {key: value for key, value in node.plain().items() if key in ("description", "timeout")}
    place = node.at("name" if entry.name else "function")
    try:
        check_tool_name(name)
        Tool(function, **given)
    except DefinitionError as error:
        problems.add(place, str(error))
        return None
    # Not an instance, which agents of one file would share.
    return _named(name, ResourceType.TOOL, ResourceDescriptor(clazz=Tool, func=function, **given), place)


def _prompt(entry: PromptEntry, node: Node, problems: Problems) -> Described | None:
    if (entry.text is None) == (entry.messages is None):
        remedy = "leave one of them out" if entry.text is not None else "add one of them"
        has = "has a 'text' and 'messages'" if entry.text is not None else "needs the key 'text', or 'messages'"
        problems.add(node.position, f"prompt {entry.name!r} {has}; {remedy}")
        return None
    if entry.text is not None:
        prompt = Prompt.from_text(entry.text)
    else:
        prompt = Prompt.from_messages([ChatMessage(MessageRole(it.role), it.content) for it in entry.messages or ()])
    return _named(entry.name, ResourceType.PROMPT, prompt, node.at("name"))


def _named(name: str, resource_type: ResourceType, resource: Any, place: Position) -> Described | None:
    return None if resource is None else Described(name, resource_type, resource, place)

"""A tree → what is wrong with its shape: unknown and missing keys, types, texts. Owns the messages; what the models refuse is said here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from flink_agents_subagent._descriptor.chat_entry import (
    ChatModelEntry,
    ConnectionEntry,
    MessageEntry,
    PromptEntry,
    ReActEntry,
    ToolEntry,
)
from flink_agents_subagent._descriptor.field import EMPTY, WANTED, RetryEntry
from flink_agents_subagent._descriptor.model import (
    ActionEntry,
    AgentEntry,
    FileEntry,
    ResourceEntry,
    SubagentEntry,
)
from flink_agents_subagent._descriptor.node import Node
from flink_agents_subagent._descriptor.problem import Problems, nearest

__all__ = ["check_shape", "read_entry"]

E = TypeVar("E", bound=BaseModel)


class _Kind(NamedTuple):
    """What stands in a list."""

    name: str
    model: type[BaseModel]

    @property
    def keys(self) -> list[str]:
        return [field.alias or name for name, field in self.model.model_fields.items()]


_FILE = _Kind("the file", FileEntry)
_KINDS: Mapping[str, _Kind] = {
    "agents": _Kind("an agent", AgentEntry),
    "actions": _Kind("an action", ActionEntry),
    "resources": _Kind("a resource", ResourceEntry),
    "subagents": _Kind("a sub-agent", SubagentEntry),
    "retry": _Kind("a retry policy", RetryEntry),
    "chat_model_connections": _Kind("a chat model connection", ConnectionEntry),
    "chat_models": _Kind("a chat model", ChatModelEntry),
    "tools": _Kind("a tool", ToolEntry),
    "prompts": _Kind("a prompt", PromptEntry),
    "messages": _Kind("a message", MessageEntry),
    "react": _Kind("a ReAct agent", ReActEntry),
}


def check_shape(root: Node, problems: Problems) -> None:
    """Report all that the models refuse, each at its place."""
    try:
        FileEntry.model_validate(root.plain())
    except ValidationError as refused:
        for error in refused.errors(include_url=False):
            _report(root, error, problems)


def read_entry(model: type[E], node: Node) -> E | None:
    """Return an entry of the file, None when its shape is wrong, which `check_shape` reports."""
    try:
        return model.model_validate(node.plain())
    except ValidationError:
        return None


def _report(root: Node, error: ErrorDetails, problems: Problems) -> None:
    *owner, last = error["loc"] or (_FILE.name,)
    kind = next((_KINDS[step] for step in reversed(owner) if isinstance(step, str) and step in _KINDS), _FILE)
    if error["type"] == "extra_forbidden":
        remedy = nearest(str(last), kind.keys, f"it has {', '.join(kind.keys)}")
        problems.add(root.key_at(*error["loc"]), f"{kind.name} has no key {last!r}; {remedy}")
    elif error["type"] == "missing":
        problems.add(root.at(*owner), f"{kind.name} needs the key {last!r}; add it")
    else:
        shown = f"an element of {owner[-1]!r}" if isinstance(last, int) else f"{last!r}"
        say = _MESSAGES.get(error["type"], _as_pydantic_says)
        # An empty value begins where the next thing does.
        place = root.key_at if error["input"] is None and error["loc"] else root.at
        problems.add(place(*error["loc"]), f"{shown if error['loc'] else last} {say(error)}")


def _wanted(what: str) -> Callable[[ErrorDetails], str]:
    return lambda error: f"is {_shown(error['input'])}; give {what}"


def _pattern(error: ErrorDetails) -> str:
    return f"is {_shown(error['input'])}; give {WANTED[error['ctx']['pattern']]}"


def _choice(error: ErrorDetails) -> str:
    choices = re.findall(r"'(\w+)'", error["ctx"]["expected"])
    given = error["input"] if isinstance(error["input"], str) else ""
    if given == "agent" and error["loc"][-1] == "type":
        return "is 'agent'; list a sub-agent under 'subagents'"
    remedy = nearest(given, choices, f"give one of {', '.join(choices)}")
    return f"is {_shown(error['input'])}; {remedy}"


def _as_pydantic_says(error: ErrorDetails) -> str:
    return f"is {_shown(error['input'])}: {error['msg']}"


_MESSAGES: Mapping[str, Callable[[ErrorDetails], str]] = {
    EMPTY: lambda _: "is empty; give it a value, or leave it out",
    "dict_type": _wanted("a mapping of keys and values"),
    "finite_number": _wanted("a finite number"),
    "float_type": _wanted("a number"),
    "greater_than": _wanted("a number above zero"),
    "greater_than_equal": _wanted("a number of at least 1"),
    "int_type": _wanted("a whole number"),
    "list_type": _wanted("a list"),
    "literal_error": _choice,
    "model_type": _wanted("a mapping of keys and values"),
    "string_pattern_mismatch": _pattern,
    "string_type": _wanted("a text, in quotes if it looks like something else"),
    "too_short": _wanted("at least one element"),
}


def _shown(value: Any) -> str:
    if value is None:
        return "empty"
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    return repr(value)

"""Names in a file that mean other entries of it: who may name what, and agents that would run inside themselves. Owns no entry; looks at nodes alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from flink_agents_subagent._descriptor.node import Node
from flink_agents_subagent._descriptor.problem import Position, Problems, nearest
from flink_agents_subagent.chat.react import is_name
from flink_agents_subagent.resources import ResourceType

__all__ = ["check_names", "text_at"]

_Known: TypeAlias = Mapping[ResourceType, frozenset[str]]

_LISTS = {
    "chat_model_connections": ResourceType.CHAT_MODEL_CONNECTION,
    "chat_models": ResourceType.CHAT_MODEL,
    "prompts": ResourceType.PROMPT,
    "tools": ResourceType.TOOL,
    "subagents": ResourceType.AGENT,
}
_SHOWN = {
    ResourceType.CHAT_MODEL_CONNECTION: "chat model connection",
    ResourceType.CHAT_MODEL: "chat model",
    ResourceType.PROMPT: "prompt",
    ResourceType.TOOL: "tool",
    ResourceType.AGENT: "sub-agent",
}


def text_at(node: Node, key: str) -> str | None:
    """Return the text under a key; None when there is none, or it is blank."""
    found = node.get(key)
    return found.content if found is not None and isinstance(found.content, str) and found.content.strip() else None


def check_names(root: Node, problems: Problems) -> None:
    """Report names that mean nothing, and sub-agents by which an agent would run inside itself (G1).

    An agent sees its own entries, those of the file, and those of agents of the file that it is a sub-agent of. Entries that are wrong
    in another way count: they are reported as what they are.
    """
    agents = {name: node for node in root.elements("agents") if (name := text_at(node, "name")) is not None}
    of_file = _declared(root)
    inner = {name: [*_inner(root), *_inner(node)] for name, node in agents.items()}
    for place, name in (it for owner in (root, *agents.values()) for it in _inner(owner)):
        if name not in agents:
            problems.add(place, f"there is no agent {name!r} in the file; {nearest(name, agents, _has(agents))}")
    _check_cycles(inner, problems)
    _check_models(root, of_file, problems)
    for name, node in agents.items():
        outer = [_declared(agents[one]) for one in _callers_of(name, inner)]
        known = _joined([of_file, _declared(node), *outer])
        _check_models(node, known, problems)
        _check_react(node, known, problems)


def _declared(owner: Node) -> _Known:
    """Return the names in the lists of the file or an agent."""
    found: dict[ResourceType, set[str]] = {kind: set() for kind in _SHOWN}
    for key, kind in _LISTS.items():
        for node in owner.elements(key):
            name = text_at(node, "name") or _name_of_function(node)
            if name is not None:
                found[kind].add(name)
    for node in owner.elements("resources"):
        for kind, names in found.items():
            name = text_at(node, "name")
            if text_at(node, "type") == kind.value and name is not None:
                names.add(name)
    return {kind: frozenset(names) for kind, names in found.items()}


def _name_of_function(node: Node) -> str | None:
    function = text_at(node, "function")
    return None if function is None else re.split("[:.]", function)[-1]


def _joined(several: Iterable[_Known]) -> _Known:
    several = list(several)
    return {kind: frozenset().union(*(known[kind] for known in several)) for kind in _SHOWN}


def _inner(owner: Node) -> list[tuple[Position, str]]:
    """Return the agents of the file that are sub-agents of an owner, each with its place."""
    several = ((node.at("agent"), text_at(node, "agent")) for node in owner.elements("subagents"))
    return [(place, name) for place, name in several if name is not None]


def _callers_of(name: str, inner: Mapping[str, list[tuple[Position, str]]]) -> set[str]:
    found: set[str] = set()
    left = [name]
    while left:
        inside = left.pop()
        callers = {caller for caller, several in inner.items() if any(one == inside for _, one in several)}
        left.extend(callers - found)
        found |= callers
    return found - {name}


def _check_cycles(inner: Mapping[str, list[tuple[Position, str]]], problems: Problems) -> None:
    done: set[str] = set()
    for name in inner:
        for place, chain in _cycles_from((name,), inner, done):
            problems.add(
                place, f"agent {chain[0]!r} would run inside itself: {' → '.join(chain)}; take one of them out"
            )


def _cycles_from(
    chain: tuple[str, ...], inner: Mapping[str, list[tuple[Position, str]]], done: set[str]
) -> Iterator[tuple[Position, tuple[str, ...]]]:
    """Go through what runs inside the last of a chain; each agent once, so that every cycle is found once."""
    if chain[-1] in done:
        return
    for place, name in inner.get(chain[-1], ()):
        if name in chain:
            yield place, (*chain[chain.index(name) :], name)
        else:
            yield from _cycles_from((*chain, name), inner, done)
    done.add(chain[-1])


def _check_models(owner: Node, known: _Known, problems: Problems) -> None:
    for node in owner.elements("chat_models"):
        what = f"chat model {text_at(node, 'name') or 'nameless'!r}"
        _check_one(node, "connection", ResourceType.CHAT_MODEL_CONNECTION, what, known, problems)
        _check_one(node, "prompt", ResourceType.PROMPT, what, known, problems)
        for key in ("tools", "subagents"):
            for named in node.elements(key):
                if isinstance(named.content, str):
                    _check_known(named.content, named.position, _LISTS[key], what, known, problems)


def _check_react(agent: Node, known: _Known, problems: Problems) -> None:
    node = agent.get("react")
    if node is not None:
        what = f"agent {text_at(agent, 'name')!r}"
        _check_one(node, "chat_model", ResourceType.CHAT_MODEL, what, known, problems)
        if is_name(text_at(node, "prompt") or ""):
            _check_one(node, "prompt", ResourceType.PROMPT, what, known, problems)


def _check_one(node: Node, key: str, kind: ResourceType, what: str, known: _Known, problems: Problems) -> None:
    name = text_at(node, key)
    if name is not None:
        _check_known(name, node.at(key), kind, what, known, problems)


def _check_known(name: str, place: Position, kind: ResourceType, what: str, known: _Known, problems: Problems) -> None:
    if name not in known[kind]:
        remedy = nearest(name, known[kind], _has(known[kind]))
        problems.add(place, f"{what} names the {_SHOWN[kind]} {name!r}, which there is not; {remedy}")


def _has(known: Iterable[str]) -> str:
    listed = ", ".join(map(repr, sorted(known)))
    return f"there is {listed}" if listed else "there is none that it could name"

"""A tree that knows the place of everything in it. Owns looking things up; must not know what the tree means, nor how it was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from flink_agents_subagent._descriptor.problem import Position

__all__ = ["Entry", "Node", "Scalar"]

Scalar: TypeAlias = str | int | float | bool | None


class Entry(NamedTuple):
    """A key's place, and its value."""

    key: Position
    value: Node


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place; that of an alias is where its anchor is."""

    position: Position
    content: Scalar | list[Node] | dict[str, Entry]
    size: int = 1
    """Values in it, itself included."""
    height: int = 1
    """Levels of values, itself included."""

    def plain(self) -> Any:
        """Return the value as Python has it, sharing nothing with the tree."""
        if isinstance(self.content, dict):
            return {key: entry.value.plain() for key, entry in self.content.items()}
        if isinstance(self.content, list):
            return [node.plain() for node in self.content]
        return self.content

    def get(self, key: str) -> Node | None:
        """Return the value of a key, None when there is none or this is no mapping."""
        entry = self.content.get(key) if isinstance(self.content, dict) else None
        return None if entry is None else entry.value

    def elements(self, key: str) -> list[Node]:
        """Return the elements of the list under a key; of anything else none."""
        node = self.get(key)
        return node.content if node is not None and isinstance(node.content, list) else []

    def at(self, *path: str | int) -> Position:
        """Return the place of what a path leads to, or of the last thing on the way that is there."""
        return self._find(path).position

    def key_at(self, *path: str | int) -> Position:
        """Return the place of the key that ends a path, or of the last thing on the way that is there."""
        *way, key = path
        owner = self._find(way)
        entry = owner.content.get(str(key)) if isinstance(owner.content, dict) else None
        return owner.position if entry is None else entry.key

    def _find(self, path: Sequence[str | int]) -> Node:
        node = self
        for step in path:
            found = node._step(step)
            if found is None:
                break
            node = found
        return node

    def _step(self, step: str | int) -> Node | None:
        if isinstance(step, str):
            return self.get(step)
        return self.content[step] if isinstance(self.content, list) and step < len(self.content) else None

"""Resources: everything that an agent finds by name and type. Owns the kinds and the descriptor; must not know how resources are opened."""

from __future__ import annotations

import enum
from typing import Any

__all__ = ["ResourceDescriptor", "ResourceType"]


class ResourceType(str, enum.Enum):
    """The kinds of resource; a name is unique within a kind (R2)."""

    AGENT = "agent"
    CHAT_MODEL = "chat_model"
    CHAT_MODEL_CONNECTION = "chat_model_connection"
    PROMPT = "prompt"
    TOOL = "tool"
    OBJECT = "object"


class ResourceDescriptor:
    """A resource described by class and arguments; built where it runs, once per subtask.

    Guarantee: `clazz(**arguments)` is called once per subtask, before first use.
    Thread: task thread.
    """

    __slots__ = ("arguments", "clazz")

    def __init__(self, *, clazz: type[Any] | str, **arguments: Any) -> None:
        """Describe `clazz(**arguments)`; `clazz` may be the text `module:QualifiedName`."""
        self.clazz = clazz
        self.arguments = arguments

    def __repr__(self) -> str:
        name = self.clazz if isinstance(self.clazz, str) else f"{self.clazz.__module__}:{self.clazz.__qualname__}"
        return f"ResourceDescriptor({name})"

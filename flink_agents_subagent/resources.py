"""Resources: everything that an agent finds by name and type. Owns the kinds, the descriptor and what a resource must be; must not know how resources are opened."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Awaitable
from typing import Any

from flink_agents_subagent.errors import ContextMisuseError, DefinitionError

__all__ = ["Resource", "ResourceDescriptor", "ResourceType", "check_resource"]


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


class Resource:
    """Base of resources that must know their name, or have something to acquire and release.

    Guarantee: `open` is called once per subtask before first use, in the order of declaration; `close` once at shutdown, in
        reverse order, also when `open` failed (R3).
    Thread: task thread when `open` and `close` are plain methods; when they are `async`, the background loop that also
        runs the coroutine calls, so that a client made there may be used by them.
    """

    _name: str | None = None

    @property
    def name(self) -> str:
        """The name under which the resource is registered.

        Raises:
            ContextMisuseError: It was not registered.
        """
        if self._name is None:
            raise ContextMisuseError(
                f"this {type(self).__qualname__} is not registered as a resource; "
                "add it with add_resource(name, type, ...) and get it from the context"
            )
        return self._name

    def bind_name(self, name: str) -> None:
        """Take the name under which the resource is registered; called by the framework before `open`."""
        self._name = name

    def open(self) -> Awaitable[None] | None:
        """Acquire what is needed; may be `async`."""
        return None

    def close(self) -> Awaitable[None] | None:
        """Release what `open` acquired; may be `async`. Copes with an `open` that failed half-way."""
        return None


def check_resource(name: str, resource_type: Any, resource: Any) -> None:
    """Refuse what cannot be a resource of the type, as far as it shows before it is built (R2).

    Raises:
        DefinitionError: Names the resource, what it is and what it should be.
    """
    if not isinstance(resource_type, ResourceType):
        raise DefinitionError(f"resource {name!r} has the type {resource_type!r}; give a ResourceType")
    if resource is None:
        raise DefinitionError(f"resource {name!r} of type {resource_type.value!r} is None")
    if isinstance(resource, type):
        raise DefinitionError(
            f"resource {name!r} is the class {resource.__qualname__}; give an instance, "
            f"or ResourceDescriptor(clazz={resource.__qualname__}, ...) to have it built where it runs"
        )
    if isinstance(resource, ResourceDescriptor):
        _check_descriptor(name, resource)


def _check_descriptor(name: str, descriptor: ResourceDescriptor) -> None:
    clazz = descriptor.clazz
    if isinstance(clazz, str):
        module, _, qualified = clazz.partition(":")
        if not module or not qualified:
            raise DefinitionError(
                f"the descriptor of resource {name!r} names the class {clazz!r}; write it as 'module:QualifiedName'"
            )
        return
    if not isinstance(clazz, type):
        raise DefinitionError(f"the descriptor of resource {name!r} holds {clazz!r}, which is no class")
    if inspect.isabstract(clazz):
        missing = ", ".join(sorted(getattr(clazz, "__abstractmethods__", ())))
        raise DefinitionError(f"resource {name!r} cannot be built: {clazz.__qualname__} does not implement {missing}")
    try:
        inspect.signature(clazz).bind(**descriptor.arguments)
    except ValueError:
        # Some built-in classes have no signature; they are checked when they are built.
        return
    except TypeError as error:
        raise DefinitionError(f"resource {name!r} cannot be built as {clazz.__qualname__}(...): {error}") from error
